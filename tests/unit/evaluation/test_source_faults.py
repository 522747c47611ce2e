"""What a dictionary, an array or a text form must not say, wherever in it that stands."""

import time
from typing import Any

import numpy as np
import pytest

from visual_search import (
    IdLists,
    Ranking,
    Relevance,
    RunFile,
    SharedLabels,
    evaluate,
    evaluate_codes,
    evaluate_similarity,
    parse_measure,
)
from visual_search.errors import InputError, NonFiniteError
from visual_search.evaluation.statistics.measure_intervals import MeanBootstrap
from visual_search.kernels import compiled, plain

TRUTH = {"q": {"a": 1}, "r": {"a": 1}}
NAN = float("nan")


@pytest.mark.parametrize("kernels", [compiled, plain])
@pytest.mark.parametrize(
    ("run", "error"),
    [
        ({"q": {"a": 2, 1: 3}}, InputError),
        ({"q": {"a": 2}, "r": {1: 3}}, InputError),
        ({"q": {"a": 2}, "unjudged": {1: 3}}, InputError),
        ({"q": {"a": 2}, 5: {"a": 3}}, InputError),
        ({"q": {"a": 2}, 5.0: {"a": 3}}, InputError),
        ({"q": {"a": 2, 1.0: 3}}, InputError),
        ({"q": {"a": 2, True: 3}}, InputError),
        ({"q": {"a": 2, "": 3}}, InputError),
        ({"q": {"a": 2}, "unjudged": {"": 3}}, InputError),
        ({"q": {"a": 2}, "": {"a": 3}}, InputError),
        ({"q": {"a": 2}, "unjudged": {"x": NAN}}, NonFiniteError),
        ({"q": {"a": 2}, "unjudged": {"x": None}}, InputError),
        ({"q": {"a": 2}, "unjudged": {"x": 2**53 + 1}}, InputError),
    ],
)
def test_a_dictionary_is_refused_as_the_ranking_made_of_it(
    kernels: Any, run: Any, error: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("visual_search.evaluation.joining_dicts.kernels", lambda: kernels)
    with pytest.raises(error):
        Ranking.from_dict(run)
    with pytest.raises(error):
        evaluate(run, TRUTH, ["RR"])


@pytest.mark.parametrize("kernels", [compiled, plain])
def test_numpy_ids_and_numbers_are_taken(kernels: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("visual_search.evaluation.joining_dicts.kernels", lambda: kernels)
    run: dict[str, Any] = {"q": {np.str_("a"): np.float64(2), "b": np.int64(1)}, "r": {"b": True, "a": 0}}
    assert evaluate(run, TRUTH, ["RR"])["RR"].values.tolist() == [1.0, 0.5]
    whole = {1: {np.int64(7): 2.0, 8: 2**60}}
    assert evaluate(whole, {1: {7: 1}}, ["RR"])["RR"].mean == 0.5


def test_judged_ids_beyond_what_lists_hold() -> None:
    with pytest.raises(InputError, match="beyond 64 bits, first 11805916"):
        evaluate(IdLists([[1, 2]], query_ids=["q"]), {"q": {2**70: 1}}, ["RR"])


def test_scores_beyond_float32_tie_under_every_source(tmp_path: Any) -> None:
    """As trec_eval, whose scores are float32: 1e300 and 1e299 are infinite there, and equal."""
    path = tmp_path / "run.trec"
    path.write_text("1 Q0 1 1 1e300 t\n1 Q0 2 2 1e299 t\n1 Q0 3 3 3.4e38 t\n1 Q0 4 4 -1e300 t\n")
    scores = [1e300, 1e299, 3.4e38, -1e300]
    text = {"1": {"1": 1}}
    for source, truth in (
        (RunFile(path), text),
        (Ranking.from_trec(path), text),
        ({"1": dict(zip("1234", scores, strict=True))}, text),
        (IdLists([[1, 2, 3, 4]], [scores], query_ids=["1"]), {"1": {1: 1}}),
    ):
        assert evaluate(source, truth, ["RR"], preset="trec_eval")["RR"].mean == 0.5


def test_no_queries_have_no_interval() -> None:
    result = evaluate({"q": {"a": 1.0}}, {}, ["AP", "HitRate@1", "FirstRank"], interval=MeanBootstrap())
    assert [found.interval for found in result.values()] == [None] * 3


@pytest.mark.parametrize(
    "text", ["nDCG@5_0", "nDCG@\u0665", "HitRate@9223372036854775808", "HitRate@" + "9" * 5000]
)
def test_depths_no_one_means(text: str) -> None:
    with pytest.raises(InputError, match="HitRate: k|nDCG: k"):
        parse_measure(text)


@pytest.mark.parametrize("form", [None, b"AP", 5])
def test_forms_that_are_no_text(form: Any) -> None:
    with pytest.raises(InputError, match="a text form is needed"):
        parse_measure(form)


def test_a_preset_is_one_name() -> None:
    with pytest.raises(InputError, match="one name is needed"):
        evaluate({"q": {"a": 1.0}}, TRUTH, ["AP"], preset=["guide"])  # type: ignore[arg-type]


def test_zero_is_no_worst_rank() -> None:
    with pytest.raises(InputError, match="would be the best of all values"):
        parse_measure("FirstRank(empty=zero)")


@pytest.mark.parametrize(
    ("text", "grade"),
    [("nDCG(gain=exponential)", 1100), ("DCG(gain=exponential)", 1100), ("nDCG", 1.7e308), ("DCG@1", 1.7e308)],
)
def test_gains_that_overflow(text: str, grade: float) -> None:
    with pytest.raises(InputError, match="gain that float64 cannot add up, .*first for query 'q'"):
        evaluate({"q": {"a": 1.0}}, {"q": {"a": grade, "b": grade}}, [text])


def test_scales_beyond_float64() -> None:
    with pytest.raises(InputError, match="max_grade=2000"):
        parse_measure("ERR(max_grade=2000)@5")
    with pytest.raises(InputError, match="max_grade is beyond"):
        parse_measure("ERR(max_grade=1" + "0" * 400 + ")@5")


def test_err_of_a_long_tie_group_reads_what_counts() -> None:
    """All 80,000 items tie; only the first places matter, and the sum is that of the draws without replacement."""
    n, r, k = 80_000, 40_000, 20
    lists = IdLists(np.arange(n)[None], np.zeros((1, n)))
    relevance = Relevance.from_arrays(np.zeros(r, dtype=int), np.arange(r))
    start = time.perf_counter()
    cut, whole = (
        found.mean for found in evaluate(lists, relevance, [f"ERR(max_grade=2)@{k}", "ERR(max_grade=2)"]).values()
    )
    assert time.perf_counter() - start < 10
    # With so many items, draws are all but independent: each stops with chance 1/2 * 1/4.
    stop = r / n * 0.25
    assert cut == pytest.approx(sum(stop * (1 - stop) ** (rank - 1) / rank for rank in range(1, k + 1)), rel=1e-4)
    assert whole == pytest.approx(-stop / (1 - stop) * np.log(stop), rel=1e-4)


def test_err_of_a_group_is_the_mean_over_all_orders() -> None:
    from itertools import permutations

    grades = [3, 1, 1, 0, 2]
    stops = [(2**grade - 1) / 8 for grade in grades]
    for k in (1, 3, 5):
        total = 0.0
        orders = list(permutations(stops))
        for order in orders:
            reached = 1.0
            for rank, stop in enumerate(order[:k], 1):
                total += reached * stop / rank
                reached *= 1 - stop
        found = evaluate(
            {"q": dict.fromkeys("abcde", 1.0)},
            {"q": dict(zip("abcde", grades, strict=True))},
            [f"ERR(max_grade=3)@{k}"],
        )
        assert next(iter(found.values())).mean == pytest.approx(total / len(orders), rel=1e-12)


VECTORS = np.ones((1, 2))


@pytest.mark.parametrize(
    ("queries", "truth", "options", "said"),
    [
        (np.ones((0, 2)), {0: {0: 1}}, {}, "none came"),
        (5, {0: {0: 1}}, {}, "shape"),
        (None, {0: {0: 1}}, {}, "None; an array is needed"),
        ((row for row in [[1.0, 2.0]]), {0: {0: 1}}, {}, "generator"),
        (VECTORS, {0: {0: 1}}, {"block": 1.5}, "block=1.5"),
        (VECTORS, SharedLabels.of([1], [1]), {}, "SharedLabels"),
    ],
)
def test_vectors_that_are_refused(queries: Any, truth: Any, options: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        evaluate_similarity(queries, VECTORS, truth, ["AP"], **options)


def test_right_answers_in_a_dictionary() -> None:
    assert evaluate_similarity(VECTORS, VECTORS, {0: {0: 1}}, ["AP"])["AP"].mean == 1
    assert evaluate_codes([[1, 0]], [[1, 0]], {0: {0: 1}}, ["AP"])["AP"].mean == 1
    with pytest.raises(InputError, match="none came"):
        evaluate_codes(np.zeros((0, 2)), [[1, 0]], {0: {0: 1}}, ["AP"])
    with pytest.raises(InputError, match="None; an array is needed"):
        evaluate_codes(None, [[1, 0]], {0: {0: 1}}, ["AP"])
