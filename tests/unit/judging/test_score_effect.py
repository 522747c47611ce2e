"""What judgements do to a score: intervals that know the judges, bounds, judged share, and the forecast."""

import numpy as np
import pytest
from scipy.stats import t

from visual_search import Ranking, evaluate
from visual_search.errors import InputError
from visual_search.evaluation.statistics.interval import Resampling
from visual_search.evaluation.statistics.measure_intervals import with_intervals
from visual_search.judging.aggregation import relevance_of_judgements
from visual_search.judging.judge_intervals import judge_intervals
from visual_search.judging.judgement_table import JudgementTable
from visual_search.judging.judgements_needed import groups_to_separate, judgements_needed
from visual_search.judging.score_effect import score_effect
from visual_search.testing.simulated_judgements import simulated_study

FEW = Resampling(resamples=300)
MEASURES = ["nDCG@5", "AP@10"]


def test_the_interval_over_queries_is_the_one_every_score_has_and_the_other_is_wider() -> None:
    ranking, table = simulated_study(30, 3, seed=2)
    truth = relevance_of_judgements(table, "majority")
    plain = with_intervals(evaluate(ranking, truth, MEASURES))
    for found in judge_intervals(ranking, table, MEASURES, rule="majority"):
        assert found.queries_only == plain[found.measure].interval
        assert found.mean == plain[found.measure].mean
        assert found.interval is not None
        assert found.queries_only is not None
        assert found.interval.low < found.queries_only.low < found.queries_only.high < found.interval.high
        assert 0 < found.share < 1


def test_intervals_that_know_the_judges_cover_where_those_over_queries_do_not() -> None:
    """Of 60 simulations; benchmarks/agreement_coverage.py counts more, over more designs."""
    true = float(
        np.mean(
            [
                evaluate(ranking, relevance_of_judgements(table, "mean"), MEASURES)[MEASURES[1]].mean
                for ranking, table in (simulated_study(60, 3, seed=10_000 + seed) for seed in range(150))
            ]
        )
    )
    held = {"queries": 0, "judges": 0}
    for seed in range(60):
        ranking, table = simulated_study(40, 3, seed=seed)
        (found,) = judge_intervals(ranking, table, MEASURES[1:], rule="mean", resampling=FEW)
        assert found.queries_only is not None
        assert found.interval is not None
        held["queries"] += true in found.queries_only
        held["judges"] += true in found.interval
    assert held["judges"] >= 52  # once in 300 fewer where 95 % is true
    assert held["queries"] < 52


def test_judges_who_agree_on_everything_add_nothing() -> None:
    ranking, table = simulated_study(20, 3, spread=0, noise=0, seed=1)
    (found,) = judge_intervals(ranking, table, ["AP@10"], rule="mean")
    assert found.interval == found.queries_only
    assert found.share == 0


@pytest.mark.parametrize(
    ("judges", "overlap", "rule", "why"),
    [
        (1, 1.0, "majority", "1 judge gave grades"),
        (3, 0.0, "majority", "cannot be told from the pairs"),
        (3, 1.0, "agreed", "rule=agreed leaves out"),
    ],
)
def test_where_judges_cannot_be_drawn_it_says_why(judges: int, overlap: float, rule: str, why: str) -> None:
    ranking, table = simulated_study(20, judges, overlap=overlap, seed=1)
    (found,) = judge_intervals(ranking, table, ["AP@10"], rule=rule)
    assert found.interval is None
    assert found.queries_only is not None
    assert why in found.reason
    assert np.isnan(found.share)
    assert found.as_json()["interval"] is None


def test_many_judges_are_drawn_at_random_by_the_seed() -> None:
    ranking, table = simulated_study(15, 9, seed=3)
    one, same, other = (
        judge_intervals(ranking, table, ["AP@10"], resampling=Resampling(resamples=200, seed=seed))[0]
        for seed in (1, 1, 2)
    )
    assert one == same
    assert one != other


def test_an_adjudicated_pair_does_not_move_with_the_judges() -> None:
    columns = {
        "judge": ["a", "b", "a", "b", "head", "a", "b"],
        "query": ["p", "p", "q", "q", "q", "r", "r"],
        "item": ["x"] * 7,
        "grade": [1, 1, 0, 1, 1, 0, 0],
        "adjudicated": [False] * 4 + [True] + [False] * 2,
    }
    table = JudgementTable.from_table(columns)
    ranking = Ranking.from_dict({query: {"x": 1.0} for query in "pqr"})
    decided, open_to_judges = (
        judge_intervals(ranking, table, ["Precision@1"], rule=rule)[0] for rule in ("adjudicated", "majority")
    )
    assert decided.interval == decided.queries_only
    assert open_to_judges.interval != open_to_judges.queries_only


def test_the_effect_has_all_parts_and_they_stand_in_order() -> None:
    ranking, table = simulated_study(12, 3, seed=5)
    some = table.take(table.item < 6)  # four of ten items nobody judged
    found = score_effect(ranking, some, ["nDCG@5", "AP", "HitRate@1"], resampling=FEW)
    truth = relevance_of_judgements(some)
    for one in found.measures:
        assert one.listed.low <= one.score.mean <= one.listed.high
        assert one.gallery.low <= one.listed.low
        assert one.gallery.high == one.listed.high
        assert one.judged == evaluate(ranking, truth, [f"Judged@{one.depth}"])[f"Judged@{one.depth}"].mean
        assert one.judged < 1
    assert [one.depth for one in found.measures] == [5, 10, 1]
    assert found.bpref == evaluate(ranking, truth, ["Bpref"])["Bpref"].mean
    told = found.as_json()
    assert told["measures"][0]["bounds_of_lists"]["low"] == found.measures[0].listed.low


def test_the_forecast_counts_pairs_and_grows_with_what_is_wanted() -> None:
    ranking, table = simulated_study(30, 2, seed=6)
    rng = np.random.default_rng(0)
    other = Ranking.from_similarity(rng.normal(size=(30, 10)), query_ids=ranking.queries, gallery_ids=ranking.items)
    some = table.take(table.item < 8)
    clear = judgements_needed(ranking, other, some, "nDCG@5")
    assert clear.separated
    assert clear.queries_more == 0
    near = Ranking.from_similarity(
        _scores(ranking) + 0.1 * rng.normal(size=(30, 10)), query_ids=ranking.queries, gallery_ids=ranking.items
    )
    once, twice = (judgements_needed(ranking, near, some, "nDCG@5", judges_per_pair=number) for number in (1, 2))
    assert not once.separated
    assert once.queries_more == twice.queries_more
    assert once.queries_more is not None
    assert once.judgements_more is not None
    assert twice.judgements_more is not None
    assert abs(twice.judgements_more - 2 * once.judgements_more) <= 1
    assert once.unjudged == _unjudged(ranking, near, some, 5)
    assert "if further queries are like these" in once.words
    surer = judgements_needed(ranking, near, some, "nDCG@5", chance=0.9)
    assert surer.queries_more is not None
    assert surer.queries_more > once.queries_more


def _scores(ranking: Ranking) -> np.ndarray:
    return np.array([[dict(ranking.listed(query))[item] for item in ranking.items] for query in ranking.queries])


def _unjudged(first: Ranking, second: Ranking, table: JudgementTable, depth: int) -> int:
    truth = relevance_of_judgements(table)
    return sum(
        item not in truth.judged(query)
        for query in truth.queries
        for item in {item for one in (first, second) for item, _ in one.listed(query)[:depth]}
    )


def test_no_forecast_where_nothing_tells() -> None:
    ranking, table = simulated_study(5, 2, seed=6)
    same = judgements_needed(ranking, ranking, table, "nDCG@5")
    assert same.judgements_more is None
    assert "all queries differ by the same" in same.words
    with pytest.raises(InputError, match="judges_per_pair is 0"):
        judgements_needed(ranking, ranking, table, "AP", judges_per_pair=0)
    with pytest.raises(InputError, match="chance is 1"):
        groups_to_separate(0.1, 0.2, 10, chance=1)


def test_the_forecast_holds_as_often_as_it_says() -> None:
    """Differences drawn from a wide distribution, of which nothing was known: 80 % meant, 150 forecasts."""
    rng, groups = np.random.default_rng(5), 20
    held: list[bool] = []
    while len(held) < 150:
        true = rng.uniform(-1, 1)
        seen = true + rng.standard_normal(groups)
        if _apart(seen):
            continue
        more = groups_to_separate(float(seen.mean()), float(seen.std(ddof=1)), groups)
        held.append(_apart(np.concatenate((seen, true + rng.standard_normal(more)))))
    assert 0.71 <= np.mean(held) <= 0.89


def _apart(values: np.ndarray) -> bool:
    edge = t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return bool(abs(values.mean()) > edge)


def test_bounds_reckon_with_every_grade_that_a_judge_gave() -> None:
    marks = {"judge": ["a", "b", "a"], "query": ["q"] * 3, "item": ["x", "x", "y"], "grade": [1, 2, 0]}
    ranking = Ranking.from_dict({"q": {"z": 3.0, "x": 2.0, "y": 1.0}})
    (found,) = score_effect(ranking, JudgementTable.from_table(marks), ["DCG@1"], rule="min").measures
    assert (found.listed.low, found.listed.high) == (0, 2)  # the rule made 1 of x, but z may be a 2
