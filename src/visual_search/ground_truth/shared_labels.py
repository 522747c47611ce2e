"""Right answers told by label sets, kept as bits: relevant where a label is shared, however many pairs that makes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, first_few
from visual_search.formats.arrays import as_numpy, comparable
from visual_search.formats.bit_rows import pack_rows
from visual_search.ground_truth.parts import named_rows
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Ids
from visual_search.kernels.joined import LabelRule

__all__ = ["GradeBy", "SharedLabels"]

Words: TypeAlias = npt.NDArray[np.uint64]
Int64Array: TypeAlias = npt.NDArray[np.int64]
GradeBy: TypeAlias = Literal["any", "number"]

# Elements of a sparse matrix that are made dense at a time, 32 MiB of float64; at least a row.
_SPARSE_ELEMENTS = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class SharedLabels:
    """Label sets of queries and of a gallery; a pair is relevant when it shares a label.

    It says the same as `Relevance.from_labels` and takes n + m rows of bits instead of one entry for each relevant
    pair: with two dozen labels, a third of all pairs are relevant. `visual_search.evaluate_codes` takes it as it is.

    Attributes
    ----------
    queries, items : Ids
    query_words, item_words : uint64 arrays of shape (n, words) and (m, words)
        A bit for each label, or the class as a number.
    rule : {"any shared", "equal", "number shared"}
    labels : int
        Labels that a set is drawn from; 1 for classes.
    own : int64 array of shape (n,)
        The gallery row that is the query itself, which is ignored; -1 where there is none.

    Examples
    --------
    >>> labels = SharedLabels.of([[1, 0, 1]], [[0, 0, 1], [0, 1, 0], [1, 0, 1]])
    >>> labels.relevance().rows.tolist()
    [0, 2]
    """

    queries: Ids
    items: Ids
    query_words: Words
    item_words: Words
    rule: LabelRule
    labels: int
    own: Int64Array

    @classmethod
    def of(
        cls,
        query_labels: Any,
        gallery_labels: Any | None = None,
        *,
        grade: GradeBy = "any",
        query_ids: Iterable[Any] | None = None,
        gallery_ids: Iterable[Any] | None = None,
        shared_ids: bool = False,
    ) -> SharedLabels:
        """Take labels of both sides.

        Parameters
        ----------
        query_labels, gallery_labels : array-like
            Classes (integers or texts) of shape (n,) and (m,), or multi-hot rows of 0 and 1 of shape (n, labels) and
            (m, labels), dense or a sparse matrix with ``tocsr``. Without ``gallery_labels`` the queries are the
            gallery, and each is ignored for itself.
        grade : {"any", "number"}
            Grade 1 for any shared label, or the number of labels shared.
        query_ids, gallery_ids : iterable, optional
            0, 1, 2, ... by default.
        shared_ids : bool
            Whether equal ids on both sides are one item, which is then ignored for itself.

        Raises
        ------
        InputError
            Labels of two shapes or kinds, elements that are no 0 or 1, as many ids as there are not rows.
        """
        if grade not in get_args(GradeBy):
            raise InputError(f"grade={grade!r}: one of {', '.join(get_args(GradeBy))}")
        one_set = gallery_labels is None
        sides = _packed(query_labels, query_labels if one_set else gallery_labels)
        if grade == "number" and sides.classes:
            raise InputError("grade='number': a class is one label; give multi-hot rows to grade by shared labels")
        queries = named_rows(query_ids, len(sides.query), what="query_ids")
        items = (
            queries
            if one_set and gallery_ids is None
            else named_rows(gallery_ids, len(sides.item), what="gallery_ids")
        )
        own = np.arange(len(queries)) if one_set else np.full(len(queries), -1, dtype=np.int64)
        if shared_ids and not one_set:
            own = items.rows(queries)
        rule: LabelRule = "equal" if sides.classes else "number shared" if grade == "number" else "any shared"
        return cls(queries, items, sides.query, sides.item, rule, sides.labels, own)

    def relevance(self) -> Relevance:
        """The same as pairs; memory for each relevant pair."""
        offsets, rows, grades = [0], [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
        ignored = [np.zeros(0, dtype=np.bool_)]
        for query in range(len(self.queries)):
            grade = self.grades_of(query)
            own = int(self.own[query])
            kept = grade > 0
            if own >= 0:
                kept[own] = True
            found = np.flatnonzero(kept)
            rows.append(found)
            ignored.append(found == own)
            grades.append(np.where(found == own, 0.0, grade[found]))
            offsets.append(offsets[-1] + len(found))
        return Relevance(
            self.queries,
            self.items,
            np.array(offsets, dtype=np.int64),
            np.concatenate(rows),
            np.concatenate(grades),
            np.concatenate(ignored),
        )

    def grades_of(self, query: int) -> Int64Array:
        """Grade of every gallery item for a query, the query itself not left out; int64 of shape (m,)."""
        mine = self.query_words[query]
        shared: Words = self.item_words & mine
        if self.rule != "number shared":
            relevant: npt.NDArray[np.bool_]
            equal = self.rule == "equal"
            relevant = (self.item_words == mine).all(axis=1) if equal else (shared != 0).any(axis=1)
            return relevant.astype(np.int64)
        bits = np.unpackbits(np.ascontiguousarray(shared).view(np.uint8), axis=1)
        counts: Int64Array = bits.sum(axis=1, dtype=np.int64)
        return counts

    def __len__(self) -> int:
        return len(self.queries)

    def __repr__(self) -> str:
        return f"SharedLabels({len(self.queries)} x {len(self.items)}, {self.rule}, {self.labels} labels)"


@dataclass(frozen=True, slots=True, eq=False)
class _Sides:
    query: Words
    item: Words
    labels: int
    classes: bool


def _packed(mine: Any, theirs: Any) -> _Sides:
    if _sparse(mine) or _sparse(theirs) or as_numpy(mine, what="query_labels").ndim == 2:
        query, labels = _sets(mine, "query_labels")
        item, others = _sets(theirs, "gallery_labels")
        if labels != others:
            raise InputError(
                f"labels: query_labels have {labels} labels and gallery_labels {others}; both need the same columns"
            )
        return _Sides(query, item, labels, classes=False)
    first, second = as_numpy(mine, what="query_labels"), as_numpy(theirs, what="gallery_labels")
    for array, what in ((first, "query_labels"), (second, "gallery_labels")):
        if array.ndim != 1 or array.dtype.kind not in "iuUSb":
            raise InputError(
                f"{what}: shape {array.shape}, dtype {array.dtype}; give classes (integers or texts) of shape (n,), or "
                "multi-hot rows of 0 and 1"
            )
    first, second = comparable(first, second, what="query_labels and gallery_labels")
    _, codes = np.unique(np.concatenate((first, second)), return_inverse=True)
    words = codes.reshape(-1, 1).astype(np.uint64)
    return _Sides(words[: len(first)], words[len(first) :], 1, classes=True)


def _sparse(labels: Any) -> bool:
    return hasattr(labels, "tocsr") and hasattr(labels, "shape")


def _sets(labels: Any, what: str) -> tuple[Words, int]:
    """Rows of 0 and 1 as words, and how many labels there are."""
    if _sparse(labels):
        if len(labels.shape) != 2 or labels.shape[1] == 0:
            raise InputError(f"{what}: shape {labels.shape}; multi-hot rows (n, labels) are needed on both sides")
        rows = labels.tocsr()
        step = max(_SPARSE_ELEMENTS // rows.shape[1], 1)
        parts = [
            _words(np.asarray(rows[first : first + step].toarray()), what)
            for first in range(0, rows.shape[0], step)
        ]
        width = max(-(-rows.shape[1] // 64), 1)
        return np.concatenate([np.zeros((0, width), dtype=np.uint64), *parts]), int(rows.shape[1])
    dense = as_numpy(labels, what=what)
    if dense.ndim != 2 or dense.shape[1] == 0:
        raise InputError(f"{what}: shape {dense.shape}; multi-hot rows (n, labels) are needed on both sides")
    return _words(dense, what), dense.shape[1]


def _words(dense: npt.NDArray[Any], what: str) -> Words:
    rows = pack_rows(dense) if dense.dtype.kind in "biuf" else None
    if rows is None or rows.signed or len(rows.strange):
        strange = dense[(dense != 0) & (dense != 1)]
        raise InputError(f"{what}: multi-hot rows hold 0 and 1; got {first_few(strange[:5].tolist())}")
    return rows.words
