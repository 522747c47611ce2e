"""Curves of codes: the two relevances agree, choices are named, and values of a small case by hand."""

import json
from typing import Any

import numpy as np
import pytest

from visual_search import Relevance, SharedLabels, evaluate_codes
from visual_search.errors import InputError
from visual_search.evaluation.code_curves import precision_at_n, spread_ranks, within_radius
from visual_search.evaluation.code_histograms import CodeHistograms, code_histograms
from visual_search.evaluation.code_precision_recall import precision_recall_curve
from visual_search.evaluation.ties import TieRule

Arrays = tuple[Any, Any]


def made(bits: int = 12) -> tuple[CodeHistograms, Arrays, Arrays]:
    rng = np.random.default_rng(bits)
    codes = rng.integers(0, 2, (15, bits)), rng.integers(0, 2, (90, bits))
    labels = rng.random((15, 5)) < 0.3, rng.random((90, 5)) < 0.3
    return code_histograms(*codes, SharedLabels.of(*labels)), codes, labels


def test_labels_and_pairs_give_the_same_counts() -> None:
    found, codes, labels = made(70)
    pairs = code_histograms(*codes, Relevance.from_labels(*labels))
    for name in ("retrieved", "relevant", "total"):
        assert np.array_equal(getattr(found, name), getattr(pairs, name)), name
    assert found.retrieved.shape == (15, 71)


def test_a_dictionary_says_what_a_relevance_says() -> None:
    codes, answers = ([[0, 0], [1, 1]], [[0, 0], [0, 1], [1, 1]]), {0: {0: 1, 2: 1}, 1: {1: 0, 2: 2}}
    found, told = code_histograms(*codes, answers), code_histograms(*codes, Relevance.from_dict(answers))
    assert found.relevant.tolist() == told.relevant.tolist() == [[1, 0, 1], [1, 0, 0]]
    assert found.total.tolist() == [2, 1]


def test_a_query_is_left_out_of_its_own_ball() -> None:
    codes, classes = np.zeros((4, 8), dtype=int), [0, 0, 1, 1]
    for truth in (SharedLabels.of(classes), Relevance.from_labels(classes)):
        found = code_histograms(codes, codes, truth)
        assert found.retrieved[:, 0].tolist() == [3] * 4
        assert found.relevant[:, 0].tolist() == [1] * 4


def test_precision_at_n_is_the_measure() -> None:
    rules: dict[TieRule, str] = {"expected": "precision", "best": "best_precision", "worst": "worst_precision"}
    found, codes, labels = made()
    curve = precision_at_n(found, [1, 7, 200])
    for ties, column in rules.items():
        result = evaluate_codes(
            *codes,
            SharedLabels.of(*labels),
            [f"Precision@{n}" for n in (1, 7, 200)],
            ties=ties,
        )
        assert getattr(curve, column) == pytest.approx([each.mean for each in result.values()], abs=1e-12)
    micro = evaluate_codes(*codes, SharedLabels.of(*labels), ["Recall(average=micro)@7"])
    assert curve.micro_recall[1] == pytest.approx(micro["Recall(average=micro)@7"].mean)


def test_what_an_empty_ball_is_must_be_said() -> None:
    found = code_histograms([[0, 0], [1, 1]], [[0, 0], [0, 1]], SharedLabels.of([1, 1], [1, 0]))
    left_out, zero = (within_radius(found, empty=empty) for empty in ("undefined", "zero"))
    assert left_out.macro_precision.tolist() == [1, 0.25, 0.5]
    assert zero.macro_precision.tolist() == [0.5, 0.25, 0.5]
    assert left_out.empty_balls.tolist() == [1, 0, 0]
    assert np.array_equal(left_out.micro_precision, zero.micro_precision)
    with pytest.raises(TypeError):
        within_radius(found)  # type: ignore[call-arg]
    with pytest.raises(InputError, match="one of undefined, zero"):
        within_radius(found, empty="one")  # type: ignore[arg-type]


def test_a_ball_that_is_empty_for_all_is_null_and_recall_needs_something_relevant() -> None:
    found = code_histograms([[0, 0], [0, 0]], [[1, 1]], SharedLabels.of([[1, 0], [0, 1]], [[1, 0]]))
    told = within_radius(found, empty="undefined").as_json()
    assert told["macro_precision"] == [None, None, 0.5]
    assert told["macro_recall"] == [0, 0, 1]
    json.dumps(told, allow_nan=False)


@pytest.mark.parametrize("average", ["macro", "micro"])
@pytest.mark.parametrize("by", ["radius", "rank"])
def test_precision_against_recall_ends_at_the_whole_gallery(by: Any, average: Any) -> None:
    found, _, _ = made()
    curve = precision_recall_curve(found, by=by, average=average)
    assert curve.recall[-1] == pytest.approx(1)
    assert curve.precision[-1] == pytest.approx(found.total.mean() / 90)
    assert (np.diff(curve.recall) >= -1e-12).all()
    assert curve.as_json()["empty_ball"] == ("undefined" if by == "radius" else None)


def test_refusals() -> None:
    found, _, _ = made()
    with pytest.raises(InputError, match="by='depth': one of radius, rank"):
        precision_recall_curve(found, by="depth")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least 1"):
        precision_at_n(found, [0, 3])
    with pytest.raises(InputError, match="no code for 1 queries of the relevance, first 5"):
        code_histograms([[0]], [[0]], Relevance.from_dict({5: {0: 1}, 0: {0: 1}}))
    assert spread_ranks(found)[[0, -1]].tolist() == [1, 90]


@pytest.mark.parametrize("ranks", [5, ["a"], [1.5], [0], [], [True], [2**70], [np.nan]])
def test_ranks_that_are_none(ranks: Any) -> None:
    found = code_histograms([[0, 0]], [[0, 0], [0, 1]], SharedLabels.of([1], [1, 0]))
    with pytest.raises(InputError, match="ranks: .*whole numbers of at least 1"):
        precision_at_n(found, ranks)
    assert precision_at_n(found, iter([2, np.int64(1), 2])).ranks.tolist() == [1, 2]  # type: ignore[arg-type]
