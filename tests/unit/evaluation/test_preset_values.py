"""Presets: each field's number on one run, worked by hand or by a naive copy of the field's rule."""

import math
from typing import Any

import numpy as np
import pytest

from visual_search import Ranking, Relevance, evaluate
from visual_search.errors import InputError, UnknownNameError
from visual_search.evaluation.protocols.presets import PRESETS, preset_named

# q1: relevant at ranks 1, 3, 4 of 5 and one more never found; q2: none found of two; q3: nothing relevant;
# q4: missing from the run.
RANKING = Ranking.from_arrays(
    [["a", "x", "b", "c", "y"], ["x", "y", "z"], ["x", "y"]], query_ids=["q1", "q2", "q3"]
)
RELEVANCE = Relevance.from_dict(
    {
        "q1": {"a": 1, "b": 1, "c": 1, "never": 1},
        "q2": {"n1": 1, "n2": 1},
        "q3": {"x": 0},
        "q4": {"a": 1},
    }
)
AP_SUM = 1 + 2 / 3 + 3 / 4


def mean(text: str, preset: str) -> float:
    return evaluate(RANKING, RELEVANCE, [text], preset=preset)[text].mean


def test_one_run_under_every_field() -> None:
    assert mean("AP@3", "textbook") == pytest.approx((1 + 2 / 3) / 3 / 3)
    assert mean("AP@3", "guide") == pytest.approx((1 + 2 / 3) / 4 / 3)
    # The first min(2, R) relevant items, wherever they rank; q3 counts 0.
    assert mean("AP@2", "cross-modal-hashing") == pytest.approx((1 + 2 / 3) / 2 / 4)
    assert mean("AP", "trec_eval") == pytest.approx(AP_SUM / 4 / 4)
    assert mean("AP@100", "gldv2") == pytest.approx(AP_SUM / 4 / 3)
    assert mean("AP@5", "deephash") == pytest.approx(AP_SUM / 3 / 4)
    assert mean("AP@5", "deephash-thulab") == pytest.approx(AP_SUM / 3)
    assert mean("AP@5", "mteb") == pytest.approx(AP_SUM / 4 / 3)
    assert mean("AP@5", "torchmetrics") == 0  # ranks without scores are falling negatives, dropped there
    trapezoid = ((1 + 1) + (1 / 2 + 2 / 3) + (2 / 3 + 3 / 4)) / 2 / 4
    assert mean("AP", "revisitop-medium") == pytest.approx(trapezoid / 3)
    assert mean("HitRate@1", "textbook") == 1 / 4
    assert mean("HitRate@1", "market1501") == 1 / 3
    assert mean("HitRate@1", "image-text") == 1 / 4


def test_each_result_names_its_preset_its_reason_and_what_it_left_out() -> None:
    for name, preset in PRESETS.items():
        if preset.truth == "neighbors":
            continue
        result = evaluate(RANKING, RELEVANCE, preset=name)
        assert result.preset == name
        assert result.notes[0].startswith(f"preset {name}: {preset.why}")
        assert preset.exclusions in result.notes[0]
        assert result.ties == preset.ties
        assert [str(measure) for measure in preset.measures_at()] == list(result)
        left_out = {q for found in result.values() for q in found.undefined_queries}
        if preset.empty == "left out":
            assert all("q3" in found.undefined_queries for found in result.values())
        if preset.missing == "left out":
            assert all("q4" in found.undefined_queries for found in result.values())
            assert any("is left out: 'q4'" in note for note in result.notes)
        elif preset.empty == "zero":
            assert left_out <= {"q2", "q3", "q4"}


def test_a_field_s_own_spelling_finds_its_measure() -> None:
    result = evaluate(RANKING, RELEVANCE, ["AP@3"], preset="textbook")
    assert list(result) == ["AP(denominator=min)@3"]
    assert result["AP@3"] is result["AP(denominator=min)@3"]
    with pytest.raises(UnknownNameError):
        result["AP(denominator=all)@3"]


def test_ties_of_the_call_go_before_the_preset_s() -> None:
    ranking, relevance = Ranking.from_similarity(np.zeros((1, 4))), Relevance.from_matrix([[0, 0, 0, 1]])
    assert evaluate(ranking, relevance, ["RR"], preset="guide")["RR"].mean == 0.25
    assert evaluate(ranking, relevance, ["RR"], preset="guide", ties="best")["RR"].mean == 1


def test_measures_at_other_depths() -> None:
    guide = preset_named("guide")
    texts = [str(measure) for measure in guide.measures_at([3, 7])]
    assert "AP(denominator=all)@7" in texts
    assert "Recall(denominator=all)@3" in texts
    assert len(texts) == len(set(texts)) == 10
    with pytest.raises(InputError, match="no k given"):
        guide.measures_at([])
    assert preset_named(guide) is guide


def test_unknown_presets_list_what_there_is() -> None:
    with pytest.raises(
        UnknownNameError, match=r"no preset 'trec', did you mean trec_eval\?; there are textbook, guide"
    ):
        preset_named("trec")


def test_zero_is_no_rank() -> None:
    # An undefined first rank counted as 0 would be the best rank of all.
    result = evaluate(RANKING, RELEVANCE, preset="image-text")
    assert result["FirstRank"].counted == 1
    assert result["FirstRank"].mean == 1


def naive_revisitop(ranks: list[str], ok: set[str], junk: set[str], k: int) -> tuple[float, float]:
    kept = [item for item in ranks if item not in junk]
    places = [place for place, item in enumerate(kept) if item in ok]
    area = sum(
        ((hits / place if place else 1.0) + (hits + 1) / (place + 1)) / 2 for hits, place in enumerate(places)
    )
    depth = min(max(places) + 1, k)
    return area / len(ok), sum(place < depth for place in places) / depth


@pytest.mark.parametrize("seed", range(20))
def test_revisited_oxford_against_a_naive_copy_of_its_rule(seed: int) -> None:
    rng = np.random.default_rng(seed)
    items = [f"i{number}" for number in rng.permutation(15)]
    kinds = dict(zip(items, rng.choice(["easy", "hard", "junk", "none"], 15, p=[0.3, 0.2, 0.2, 0.3]), strict=True))
    kinds[items[0]], kinds[items[-1]] = "easy", "hard"
    protocols: dict[str, tuple[set[str], set[str]]] = {
        "revisitop-easy": ({"easy"}, {"junk", "hard"}),
        "revisitop-medium": ({"easy", "hard"}, {"junk"}),
        "revisitop-hard": ({"hard"}, {"junk", "easy"}),
    }
    for name, (positive, junk) in protocols.items():
        ok = {item for item in items if kinds[item] in positive}
        left_out = {item for item in items if kinds[item] in junk}
        relevance = Relevance.from_dict({"q": dict.fromkeys(ok, 1)}, ignored={"q": sorted(left_out)})
        result = evaluate(Ranking.from_arrays([items], query_ids=["q"]), relevance, preset=name)
        for k in (1, 5, 10):
            area, precision = naive_revisitop(items, ok, left_out, k)
            assert result["AP"].mean == pytest.approx(area, abs=1e-14)
            assert result[f"Precision@{k}"].mean == pytest.approx(precision, abs=1e-14)


def naive_reid(
    distances: Any, pids: Any, cams: Any, gallery_pids: Any, gallery_cams: Any
) -> tuple[float, float, float]:
    hits, aps, inps = [], [], []
    for row, line in enumerate(distances):
        order = np.argsort(line, kind="stable")
        keep = ~((gallery_pids[order] == pids[row]) & (gallery_cams[order] == cams[row]))
        match = (gallery_pids[order] == pids[row])[keep]
        if not match.any():
            continue
        ranks = np.flatnonzero(match) + 1
        hits.append(ranks[0] == 1)
        aps.append(np.mean(np.arange(1, len(ranks) + 1) / ranks))
        inps.append(len(ranks) / ranks[-1])
    return float(np.mean(hits)), float(np.mean(aps)), float(np.mean(inps))


@pytest.mark.parametrize("seed", range(10))
def test_person_reidentification_against_a_naive_copy_of_its_rule(seed: int) -> None:
    rng = np.random.default_rng(seed)
    distances = rng.random((8, 30))
    pids, cams = rng.integers(0, 5, 8), rng.integers(0, 2, 8)
    gallery_pids, gallery_cams = rng.integers(1, 6, 30), rng.integers(0, 2, 30)
    relevance = Relevance.from_groups(pids, gallery_pids, query_views=cams, gallery_views=gallery_cams)
    result = evaluate(Ranking.from_similarity(-distances), relevance, preset="market1501")
    rank1, ap, inp = naive_reid(distances, pids, cams, gallery_pids, gallery_cams)
    assert result["HitRate@1"].mean == pytest.approx(rank1)
    assert result["AP"].mean == pytest.approx(ap)
    assert result["INP"].mean == pytest.approx(inp)
    assert 0 < result["AP(interpolation=trapezoid)"].mean <= 1


@pytest.mark.parametrize("seed", range(10))
def test_deep_hashing_against_naive_copies_of_both_rules(seed: int) -> None:
    rng = np.random.default_rng(seed)
    similarity, relevant = rng.integers(0, 6, (12, 25)), rng.random((12, 25)) < 0.08
    ranking, relevance = Ranking.from_similarity(similarity), Relevance.from_matrix(relevant.astype(int))
    values = []
    for row in range(12):
        top = relevant[row][np.argsort(-similarity[row], kind="stable")][:10]
        ranks = np.flatnonzero(top) + 1
        values.append(float(np.mean(np.arange(1, len(ranks) + 1) / ranks)) if len(ranks) else math.nan)
    counted = evaluate(ranking, relevance, ["AP@10"], preset="deephash")["AP@10"].mean
    left_out = evaluate(ranking, relevance, ["AP@10"], preset="deephash-thulab")["AP@10"].mean
    assert counted == pytest.approx(np.nan_to_num(values).mean(), abs=1e-14)
    assert left_out == pytest.approx(np.nanmean(values), abs=1e-14)
