"""Codes of hashing: the cross-modal note's examples, its loop re-written, and what collapsed codes must score.

The note's loop (calc_map_k of the cross-modal hashing field, as many repositories carry it) takes, for each query, the
first min(k, R) relevant items of the sorted gallery, and averages j / rank_j over them; queries without a relevant item
add 0 and stay in the divisor. DeepHash's CalcTopMap divides by the relevant items among the first k, counts 0 where
there are none; HashNet's and its descendants' leaves such queries out.
"""

from typing import Any

import numpy as np
import pytest

from visual_search import Relevance, SharedLabels, evaluate_codes
from visual_search.evaluation.code_conventions import code_band, code_conventions

Array = np.ndarray[Any, Any]

QUERY = np.array([[1, -1, 1, 1]])
CODES = np.array([[1, -1, 1, -1], [-1, -1, 1, -1], [-1, -1, 1, -1], [1, 1, -1, -1], [-1, 1, -1, -1], [1, 1, -1, 1]])
LABELS = [1, 1, 0, 0, 1, 0]


def codes_at(distances: list[int], bits: int = 8) -> Array:
    """A code at each distance from the query of all ones."""
    return np.array([[-1] * distance + [1] * (bits - distance) for distance in distances])


def note_map(labels: list[int], preset: str, k: int) -> float:
    """The preset's value for items at distances 0, 1, 2, ..., which cannot tie."""
    codes = codes_at(list(range(len(labels))))
    result = evaluate_codes(np.ones((1, 8)), codes, SharedLabels.of([1], labels), [f"AP@{k}"], preset=preset)
    return result[f"AP@{k}"].mean


def test_the_notes_distances() -> None:
    # Printed there as 1 2 2 3 4 2: an item alone is at its distance's radius.
    from visual_search.evaluation.code_histograms import code_histograms

    found = [code_histograms(QUERY, CODES[row : row + 1], SharedLabels.of([1], [1])) for row in range(6)]
    assert [int(each.retrieved[0].argmax()) for each in found] == [1, 2, 2, 3, 4, 2]


def test_the_notes_numbers() -> None:
    assert note_map([0, 0, 1, 1, 1, 0], "cross-modal-hashing", 6) == pytest.approx(0.4778, abs=5e-5)
    # Ranks 1, 3, 4 give .8056; the note prints .9167, which is that of ranks 1, 2, 4.
    assert note_map([1, 0, 1, 1, 0], "cross-modal-hashing", 5) == pytest.approx(0.8056, abs=5e-5)
    assert note_map([1, 1, 0, 1, 0], "cross-modal-hashing", 5) == pytest.approx(0.9167, abs=5e-5)
    assert note_map([1, 0, 1, 1, 0], "cross-modal-hashing", 2) == pytest.approx(0.8333, abs=5e-5)


@pytest.mark.parametrize("truth", [SharedLabels.of([1], LABELS), Relevance.from_labels([1], LABELS)])
def test_the_notes_codes_tie_and_have_a_band(truth: Any) -> None:
    # Its printed order 0 0 1 1 1 0 puts an item at distance 4 before one at 2 and is no sort of its distances.
    band = code_band(QUERY, CODES, truth, ["AP"])
    found = [result["AP"].mean for result in (band.expected, band.best, band.worst)]
    assert found == pytest.approx([20 / 27, 5 / 6, 2 / 3], abs=1e-15)
    assert not 2 / 3 <= 0.4778 <= 5 / 6


def without_ties(seed: int, gallery: int = 60) -> tuple[Array, Array]:
    """Two queries, and a gallery with one code at each distance from each of them."""
    rng = np.random.default_rng(seed)
    bits = gallery
    first = rng.choice([-1, 1], bits)
    queries = np.stack([first, -first])
    flips = np.tril(np.ones((gallery, bits), dtype=int), -1)[rng.permutation(gallery)][:, rng.permutation(bits)]
    return queries, np.where(flips == 1, -first, first)


def loop(queries: Array, gallery: Array, mine: Array, theirs: Array, k: int) -> tuple[float, float, float]:
    """The three conventions, straight: a query at a time, distances sorted, hits looked up."""
    cross: list[float] = []
    deep: list[float] = []
    thulab: list[float] = []
    for query, label in zip(queries, mine, strict=True):
        relevant = (theirs @ label > 0)[np.argsort((gallery.shape[1] - gallery @ query) / 2, kind="stable")]
        ranks = np.flatnonzero(relevant) + 1
        first = ranks[: min(k, len(ranks))]
        cross.append(float(np.mean(np.arange(1, len(first) + 1) / first)) if len(first) else 0.0)
        found = ranks[ranks <= k]
        if len(found):
            thulab.append(float(np.mean(np.arange(1, len(found) + 1) / found)))
        deep.append(thulab[-1] if len(found) else 0.0)
    return float(np.mean(cross)), float(np.mean(deep)), float(np.mean(thulab)) if thulab else float("nan")


@pytest.mark.parametrize("k", [1, 5, 20, 60, 100])
@pytest.mark.parametrize("seed", range(4))
def test_the_fields_loops_where_nothing_ties(seed: int, k: int) -> None:
    queries, gallery = without_ties(seed)
    rng = np.random.default_rng(seed)
    mine, theirs = rng.random((2, 7)) < 0.3, rng.random((60, 7)) < 0.1
    mine, theirs = mine.astype(int), theirs.astype(int)
    bands = code_conventions(queries, gallery, SharedLabels.of(mine, theirs), k_values=[k])
    for band, wanted in zip(bands.values(), loop(queries, gallery, mine, theirs, k), strict=True):
        for result in (band.expected, band.best, band.worst):
            assert result[f"AP@{k}"].mean == pytest.approx(wanted, abs=1e-12, nan_ok=True)
        assert band.sentence() is None


@pytest.mark.parametrize("k", [3, 50, 200])
def test_the_fields_loops_stay_inside_the_band_where_codes_tie(k: int) -> None:
    rng = np.random.default_rng(k)
    queries, gallery = rng.choice([-1, 1], (6, 8)), rng.choice([-1, 1], (200, 8))
    mine, theirs = (rng.random((6, 9)) < 0.3).astype(int), (rng.random((200, 9)) < 0.2).astype(int)
    bands = code_conventions(queries, gallery, SharedLabels.of(mine, theirs), k_values=[k])
    seen = []
    for _ in range(20):
        order = rng.permutation(200)
        seen.append(loop(queries, gallery[order], mine, theirs[order], k))
    for number, (name, band) in enumerate(bands.items()):
        low, mid, high = (result[f"AP@{k}"].mean for result in (band.worst, band.expected, band.best))
        printed = [each[number] for each in seen]
        note = band.expected.notes[-1]
        if name == "deephash-thulab":  # the order decides which queries enter the mean, and may leave the band
            assert "or beyond, since the order also decides which queries enter its mean" in note
        else:
            assert low - 1e-12 <= min(printed) < max(printed) <= high + 1e-12
        assert low < mid < high
        assert "a tool that sorts could have printed anything between" in note
        assert f"{low:.4f} to {high:.4f}" in note, name


def test_a_preset_alone_tells_its_band_and_a_named_rule_does_not() -> None:
    truth = SharedLabels.of([1], LABELS)
    result = evaluate_codes(QUERY, CODES, truth, preset="deephash")
    assert result.ties == "expected"
    assert result["AP@1000"].mean == pytest.approx(20 / 27, abs=1e-15)
    assert "0.6667 to 0.8333" in result.notes[-1]
    best = evaluate_codes(QUERY, CODES, truth, preset="deephash", ties="best")
    assert best["AP@1000"].mean == pytest.approx(5 / 6)
    assert not any("a tool that sorts" in note for note in best.notes)


@pytest.mark.parametrize("order", ["by class", "shuffled"])
def test_collapsed_codes_are_random_retrieval_and_a_sort_could_print_one(order: str) -> None:
    labels = np.repeat(np.arange(10), 10)
    if order == "shuffled":
        labels = np.random.default_rng(0).permutation(labels)
    collapsed = np.ones((100, 16), dtype=int)
    band = code_band(collapsed[:1], collapsed, SharedLabels.of([0], labels), ["AP"])
    assert band.expected["AP"].mean == pytest.approx(0.13807, abs=5e-6)  # one of ten classes, a hundred items
    assert band.best["AP"].mean == 1
    assert band.worst["AP"].mean == pytest.approx(np.mean(np.arange(1, 11) / np.arange(91, 101)), abs=1e-12)
