"""Full rankings by Hamming distance: as a ranking of the same distances, in any packing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from visual_search import Ranking, Relevance, evaluate, evaluate_codes
from visual_search.errors import DimensionError, InputError
from visual_search.evaluation.result import Result
from visual_search.kernels import compiled, dispatch, plain

Array = np.ndarray[Any, Any]
MEASURES = ["AP", "AP(denominator=found)@5", "nDCG@10", "RR", "Precision@3", "HitRate@2", "INP", "AP@R"]


@pytest.fixture(params=[compiled, plain], ids=["compiled", "plain"])
def twin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "_chosen", lambda: (request.param, None))


def same(one: Result, other: Result) -> None:
    for name in one:
        assert np.array_equal(one[name].values, other[name].values, equal_nan=True), name


@pytest.mark.usefixtures("twin")
@pytest.mark.parametrize("bits", [1, 7, 64, 65, 130])
@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
def test_equals_the_ranking_of_its_distances(bits: int, ties: Any) -> None:
    rng = np.random.default_rng(bits)
    queries, gallery = rng.integers(0, 2, (20, bits)), rng.integers(0, 2, (80, bits))
    relevance = Relevance.from_labels(rng.integers(0, 5, 20), rng.integers(0, 4, 80))
    mine = evaluate_codes(queries, gallery, relevance, MEASURES, ties=ties)
    distances = (queries[:, None] != gallery).sum(axis=2)
    same(mine, evaluate(Ranking.from_similarity(-distances.astype(float)), relevance, MEASURES, ties=ties))


def test_every_form_of_a_code_is_the_same_code() -> None:
    rng = np.random.default_rng(1)
    queries, gallery = rng.integers(0, 2, (10, 24)), rng.integers(0, 2, (50, 24))
    relevance = Relevance.from_labels(rng.integers(0, 3, 10), rng.integers(0, 3, 50))
    first = evaluate_codes(queries, gallery, relevance, MEASURES)
    forms: list[Callable[[Array], Array]] = [
        lambda codes: codes.astype(bool),
        lambda codes: 2 * codes - 1,
        lambda codes: (2 * codes - 1).astype(np.float32),
        lambda codes: codes.astype(np.uint8),
    ]
    for form in forms:
        same(evaluate_codes(form(queries), form(gallery), relevance, MEASURES), first)
    packed = np.packbits(queries, axis=1), np.packbits(gallery, axis=1)
    same(evaluate_codes(*packed, relevance, MEASURES, packed=True), first)


@pytest.mark.parametrize(("size", "value"), [(20, 0.22305), (100, 0.13807), (1000, 0.10584), (10_000, 0.10079)])
def test_collapsed_codes_score_as_random_retrieval(size: int, value: float) -> None:
    labels = np.repeat(np.arange(10), size // 10)  # a gallery sorted by class, where a sort would score 1
    relevance = Relevance.from_labels([0, 3], labels)
    result = evaluate_codes(np.ones((2, 16)), np.ones((size, 16)), relevance, ["AP"])
    assert result["AP"].mean == pytest.approx(value, abs=5e-6)


CODES = [[1, -1, 1, -1], [-1, -1, 1, -1], [-1, -1, 1, -1], [1, 1, -1, -1], [-1, 1, -1, -1], [1, 1, -1, 1]]


@pytest.mark.parametrize(("ties", "value"), [("expected", 20 / 27), ("best", 5 / 6), ("worst", 2 / 3)])
def test_a_code_of_four_bits(ties: Any, value: float) -> None:
    relevance = Relevance.from_labels([1], [1, 1, 0, 0, 1, 0])
    assert evaluate_codes([[1, -1, 1, 1]], CODES, relevance, ["AP"], ties=ties)["AP"].mean == pytest.approx(value)


RELEVANCE = Relevance.from_dict({0: {0: 1}})


@pytest.mark.parametrize(
    ("queries", "gallery", "options", "error", "words"),
    [
        ([[1, 0]], [[1, 0, 1]], {}, DimensionError, "query_codes have 2 bits and gallery_codes 3"),
        (
            [[1, -1]],
            [[1, 0], [1, -1]],
            {},
            InputError,
            "gallery_codes: 1 code holds other values than -1 and 1, first 0",
        ),
        ([[1, 0]], [[1, 2]], {}, InputError, "gallery_codes: 1 code holds other values than 0 and 1"),
        ([[1.0, np.nan]], [[1, 0]], {}, InputError, "query_codes: 1 code holds NaN or infinity, first 0"),
        ([["a"]], [[1]], {}, InputError, "query_codes: dtype"),
        ([[1, 0]], [[1, 0]], {"packed": True}, InputError, "packed codes are uint8"),
        (np.zeros((1, 0)), np.zeros((1, 0)), {}, InputError, "a code has at least one bit"),
        ([1, 0], [[1, 0]], {}, InputError, "query_codes: shape"),
        ([[1, 0]], [[1, 0]], {"ties": "listed"}, InputError, "ties='listed': a full ranking of a gallery"),
    ],
)
def test_refusals(queries: Any, gallery: Any, options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        evaluate_codes(queries, gallery, RELEVANCE, ["AP"], **options)
