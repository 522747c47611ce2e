from hypothesis import given, settings

from visual_search.evaluation.scoring import evaluate
from visual_search.evaluation.statistics.bootstrap import bootstrap_ratios
from visual_search.evaluation.statistics.interval import Resampling
from visual_search.evaluation.statistics.measure_intervals import MeanBootstrap, measure_intervals, with_intervals
from visual_search.ground_truth.relevance import Relevance
from visual_search.rankings.ranking import Ranking
from visual_search.testing.strategies import Case, cases

MEASURES = ["Recall@3", "Recall(average=micro)@3", "RR(average=median)", "HitRate@1", "nDCG@2"]


def test_a_micro_mean_is_resampled_by_numerators_and_denominators() -> None:
    run = {f"q{n}": {"a": 3.0, "b": 2.0, "c": 1.0} for n in range(6)}
    truth = {f"q{n}": dict.fromkeys("abcd"[: 1 + n % 4], 1.0) for n in range(6)}
    result = evaluate(Ranking.from_dict(run), Relevance.from_dict(truth), ["Recall(average=micro)@2", "Recall@2"])
    parts = result["Recall(average=micro)@2"].parts
    [expected] = bootstrap_ratios(parts.numerator[:, None], parts.denominator[:, None])
    micro, macro = measure_intervals(result).values()
    assert micro == expected
    assert macro != expected


@settings(deadline=None)
@given(cases(max_queries=5))
def test_all_together_and_one_by_one_give_the_same_intervals(case: Case) -> None:
    settings = Resampling(resamples=100, seed=2)
    groups = [f"g{row % 3}" for row in range(len(case.relevance))]
    plain = evaluate(case.ranking, case.relevance, MEASURES)
    single = evaluate(case.ranking, case.relevance, MEASURES, groups=groups, interval=MeanBootstrap(settings))
    together = measure_intervals(plain, groups=groups, resampling=settings)
    for found in single.values():
        other = together[found.measure]
        assert (found.interval is None) == (other is None)
        if found.interval is not None and other is not None:
            assert abs(found.interval.low - other.low) < 1e-12
            assert abs(found.interval.high - other.high) < 1e-12
            assert found.interval.as_json()["groups"] == other.groups
    attached = with_intervals(plain, groups=groups, resampling=settings)
    assert [found.interval for found in attached.values()] == [together[m] for m in attached.measures]
    assert [found.mean for found in attached.values() if found.counted] == [
        found.mean for found in plain.values() if found.counted
    ]
