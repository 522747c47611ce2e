"""Codes with label sets: as with the pairs written down, and refusals."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from visual_search import Relevance, SharedLabels, evaluate_codes
from visual_search.errors import InputError
from visual_search.evaluation.code_study import study_codes
from visual_search.evaluation.label_codes import NO_ANSWER
from visual_search.evaluation.result import Result
from visual_search.formats.bit_rows import BitRows, pack_rows
from visual_search.ground_truth import shared_labels
from visual_search.kernels import compiled, dispatch, plain

Array = np.ndarray[Any, Any]
MEASURES = [
    *(
        "AP",
        "AP@7",
        "AP(cut=relevant)@5",
        "AP(denominator=found)@6",
        "AP(denominator=min)@9",
        "nDCG(gain=binary)@8",
    ),
    *(
        "nDCG(gain=binary)",
        "RR",
        "Precision@4",
        "Recall@9",
        "HitRate@2",
        "INP",
        "RPrecision",
        "AP@R",
        "RBP",
        "F1@3",
    ),
]


@pytest.fixture(params=[compiled, plain], ids=["compiled", "plain"])
def twin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "_chosen", lambda: (request.param, None))


def close(one: Result, other: Result) -> None:
    assert list(one) == list(other)
    assert one.queries == other.queries
    for name in one:
        for part in ("numerator", "denominator", "value"):
            mine, theirs = getattr(one[name].parts, part), getattr(other[name].parts, part)
            assert np.allclose(mine, theirs, rtol=0, atol=1e-12, equal_nan=True), (name, part)


def made(seed: int, bits: int, labels: int, share: float) -> tuple[Array, Array, Array, Array]:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (12, bits)), rng.integers(0, 2, (70, bits))
    return *codes, rng.random((12, labels)) < share, rng.random((70, labels)) < share


@pytest.mark.usefixtures("twin")
@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
@pytest.mark.parametrize(("bits", "labels"), [(5, 3), (64, 24), (70, 66)])
def test_equals_the_pairs_written_down(bits: int, labels: int, ties: Any) -> None:
    queries, gallery, mine, theirs = made(bits, bits, labels, 0.1)
    sets = SharedLabels.of(mine, theirs)
    found = evaluate_codes(queries, gallery, sets, MEASURES, ties=ties)
    close(found, evaluate_codes(queries, gallery, Relevance.from_labels(mine, theirs), MEASURES, ties=ties))
    close(found, evaluate_codes(queries, gallery, sets.relevance(), MEASURES, ties=ties))


@pytest.mark.usefixtures("twin")
@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
def test_graded_by_the_number_of_labels_shared(ties: Any) -> None:
    queries, gallery, mine, theirs = made(3, 6, 5, 0.5)
    graded = Relevance.from_matrix((mine.astype(int) @ theirs.T.astype(int)).astype(float))
    measures = [*MEASURES, "nDCG", "nDCG(gain=exponential)@5", "ERR(max_grade=5)", "DCG@4", "AP(rel=2)"]
    found = evaluate_codes(queries, gallery, SharedLabels.of(mine, theirs, grade="number"), measures, ties=ties)
    close(found, evaluate_codes(queries, gallery, graded, measures, ties=ties))


@pytest.mark.usefixtures("twin")
@pytest.mark.parametrize("classes", [np.arange(70) % 6, np.array(list("abcdef"))[np.arange(70) % 6]])
def test_classes_of_one_set_leave_each_query_out_of_its_own_answer(classes: Array) -> None:
    codes = np.random.default_rng(5).integers(0, 2, (70, 9))
    found = evaluate_codes(codes, codes, SharedLabels.of(classes), MEASURES)
    close(found, evaluate_codes(codes, codes, Relevance.from_labels(classes), MEASURES))


def test_ids_of_both_sides_and_sparse_labels() -> None:
    queries, gallery, mine, theirs = made(1, 8, 10, 0.2)
    names, items = [f"q{row}" for row in range(12)], [f"q{row}" for row in range(70)]
    sets = SharedLabels.of(mine, theirs, query_ids=names, gallery_ids=items, shared_ids=True)
    pairs = Relevance.from_labels(mine, theirs, query_ids=names, gallery_ids=items, shared_ids=True)
    expected = evaluate_codes(queries, gallery, pairs, MEASURES, query_ids=names, gallery_ids=items)
    close(evaluate_codes(queries, gallery, sets, MEASURES), expected)
    thin = SharedLabels.of(
        sparse.csr_matrix(mine), sparse.coo_matrix(theirs), query_ids=names, gallery_ids=items, shared_ids=True
    )
    assert np.array_equal(thin.item_words, sets.item_words)
    close(evaluate_codes(queries, gallery, thin, MEASURES), expected)


def test_a_query_that_shares_no_label_is_undefined_and_counted() -> None:
    codes = [[0, 1], [1, 1]]
    result = evaluate_codes(codes, codes, SharedLabels.of([[1, 0], [0, 1]], [[1, 0], [1, 0]]), ["AP", "HitRate@1"])
    assert (result["AP"].counted, result["AP"].undefined_queries) == (1, (1,))
    assert result["HitRate@1"].values.tolist() == [1, 0]


@pytest.mark.parametrize("ties", ["listed", "id_desc"])
def test_there_is_no_order_within_distances(ties: Any) -> None:
    with pytest.raises(InputError, match="no order within ties"):
        evaluate_codes([[0]], [[0]], SharedLabels.of([0], [0]), ["AP"], ties=ties)


@pytest.mark.parametrize(
    ("mine", "theirs", "options", "words"),
    [
        ([[1, 2]], [[1, 0]], {}, r"hold 0 and 1; got 2"),
        ([[1, 0]], [[1, 0, 1]], {}, "2 labels and gallery_labels 3"),
        ([1.5], [1.0], {}, "classes"),
        ([1], ["a"], {}, "of two kinds"),
        ([1], [1], {"grade": "number"}, "a class is one label"),
        ([1], [1], {"grade": "some"}, "one of any, number"),
        ([1, 2], [1], {"query_ids": ["a"]}, "1 id for 2 rows"),
    ],
)
def test_labels_that_are_refused(mine: Any, theirs: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        SharedLabels.of(mine, theirs, **options)


def test_labels_of_other_rows_are_refused() -> None:
    labels = SharedLabels.of([0, 1], [0, 1, 1], query_ids=["a", "b"])
    with pytest.raises(InputError, match="query_codes has 1 rows and the labels 2"):
        evaluate_codes([[0]], [[0], [1], [1]], labels, ["AP"])
    with pytest.raises(InputError, match=r"in 1 rows, first \(code, label\): \('x', 'b'\)"):
        evaluate_codes([[0], [1]], [[0], [1], [1]], labels, ["AP"], query_ids=["a", "x"])


def test_sparse_labels_are_made_dense_a_few_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = sparse.random(40, 3000, 0.01, format="csr", random_state=1).astype(bool)
    wanted = SharedLabels.of(wide.toarray(), wide.toarray())
    sizes: list[int] = []

    def watched(dense: Array) -> BitRows:
        sizes.append(dense.size)
        return pack_rows(dense)

    monkeypatch.setattr(shared_labels, "_SPARSE_ELEMENTS", 7000)
    monkeypatch.setattr(shared_labels, "pack_rows", watched)
    found = SharedLabels.of(wide, wide)
    assert np.array_equal(found.item_words, wanted.item_words)
    assert max(sizes) <= 7000
    monkeypatch.setattr(shared_labels, "_SPARSE_ELEMENTS", 10)  # a row at least
    assert np.array_equal(SharedLabels.of(wide, wide).item_words, wanted.item_words)


@pytest.mark.parametrize("labels", [sparse.csr_matrix((2, 0)), sparse.coo_array(np.array([1, 0, 1]))])
def test_sparse_labels_without_columns_or_rows_are_refused(labels: Any) -> None:
    with pytest.raises(InputError, match=r"query_labels: shape .*; multi-hot rows \(n, labels\) are needed"):
        SharedLabels.of(labels, labels)


def test_classes_beyond_64_bits_are_refused() -> None:
    with pytest.raises(InputError, match="64 bits"):
        SharedLabels.of([2**70], [2**70])


def test_no_shared_label_anywhere_is_told() -> None:
    codes = [[0, 1], [1, 1]]
    none = SharedLabels.of(["a", "b"], ["A", "B"])
    assert NO_ANSWER in evaluate_codes(codes, codes, none, ["AP"]).notes
    study = study_codes(codes, codes, none, ["AP"])
    assert study.sentences()[0] == NO_ANSWER
    assert study.as_json()["notes"].count(NO_ANSWER) == 1
    alone = SharedLabels.of(["a", "b"])  # each is left out of its own answers
    assert NO_ANSWER in evaluate_codes(codes, codes, alone, ["AP"]).notes
    some = SharedLabels.of(["a", "b"], ["A", "b"])
    assert NO_ANSWER not in evaluate_codes(codes, codes, some, ["AP"]).notes
