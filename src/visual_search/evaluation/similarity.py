"""Evaluates full rankings of a gallery without ever making them: products in blocks, ranks by counting."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, first_few
from visual_search.evaluation.measures.measure import Measure, MeasureValues
from visual_search.evaluation.positions import Positions
from visual_search.evaluation.products import Metric, Products
from visual_search.evaluation.protocols.presets import Preset, preset_named
from visual_search.evaluation.result import IntervalMaker, Result
from visual_search.evaluation.scoring import assembled, chosen_measures, values_of
from visual_search.evaluation.slices import Attribute
from visual_search.evaluation.ties import TieRule, checked_tie_rule
from visual_search.formats.ragged import offsets_of
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id, Ids
from visual_search.kernels.dispatch import kernels
from visual_search.kernels.joined import hit_offsets
from visual_search.kernels.threads import one_blas_thread, thread_count
from visual_search.rankings.parts import row_ids

__all__ = ["evaluate_similarity"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
Made = TypeVar("Made")

_WITHOUT_ORDER: tuple[TieRule, ...] = ("expected", "best", "worst")

# Judged pairs whose positions are measured at a time; the arrays over them then stay in the caches.
_PAIRS = 1 << 17


def evaluate_similarity(
    query_vectors: Any,
    gallery_vectors: Any,
    relevance: Relevance,
    measures: Iterable[str | Measure] | None = None,
    *,
    metric: Metric = "cosine",
    ties: TieRule | None = None,
    preset: str | Preset | None = None,
    query_ids: Iterable[Any] | None = None,
    gallery_ids: Iterable[Any] | None = None,
    block: int = 256,
    groups: Attribute | None = None,
    interval: IntervalMaker | None = None,
) -> Result:
    """Measure the ranking of a whole gallery by similarity, for each query.

    Nothing is sorted and no matrix of all similarities is made: of each query's similarities only those that the
    judged items stand above and level with are counted.

    Parameters
    ----------
    query_vectors : array-like of shape (n, d)
        Vectors of the queries; tensors of other libraries are taken without a copy where possible.
    gallery_vectors : array-like of shape (m, d)
        Vectors of the gallery.
    relevance : Relevance
        What the right answers are. Ignored pairs are taken out of the ranking; judged items that are not in the
        gallery stay in R and cannot be found. A query of it without a vector has an empty list.
    measures : iterable of str or Measure, optional
        As for `visual_search.evaluate`; they may be left out with a preset.
    metric : {"cosine", "ip", "l2"}
        Higher cosine, higher inner product, or smaller Euclidean distance is more similar.
    ties : {"expected", "best", "worst"}, optional
        What is done with items of equal similarity. The default is the preset's, or ``"expected"``. Rules that read
        the order of a list have none to read here; make a `Ranking.from_similarity` for them.
    preset : str or Preset, optional
        A field's rules.
    query_ids, gallery_ids : iterable, optional
        Ids of the vectors, as the relevance names them; 0, 1, 2, ... by default.
    block : int
        Queries whose similarities are in memory at a time for each thread, at most; fewer where the gallery is large.
    groups, interval
        As for `visual_search.evaluate`.

    Returns
    -------
    Result

    Raises
    ------
    InputError, DimensionError, NonFiniteError, ZeroVectorError
        Vectors, ids or options that are not allowed; nothing in common between vectors and relevance.

    Convention
    ----------
    Two items tie when their float32 similarities are equal. Each similarity is computed in a product of one fixed
    shape, so that results are the same for any ``block`` and any number of threads. On another machine or with another
    NumPy the last bit of a similarity may differ, and with it which items are told apart.

    How to read it
    --------------
    As any result; every list is the whole gallery, so that R items are always found somewhere.

    Examples
    --------
    >>> relevance = Relevance.from_labels(["cat", "dog"], ["dog", "cat", "cat"])
    >>> gallery = [[0.0, 1.0], [1.0, 0.1], [1.0, -1.0]]
    >>> evaluate_similarity([[1.0, 0.0], [0.1, 1.0]], gallery, relevance, ["AP", "RR"])["AP"].values.tolist()
    [1.0, 1.0]
    """
    rules = None if preset is None else preset_named(preset)
    chosen = chosen_measures(measures, rules)
    rule = checked_tie_rule(ties or (rules.ties if rules else "expected"))
    _refuse_order(chosen, rule)
    if block < 1:
        raise InputError(f"block={block}: at least 1 query is in memory at a time")
    task = _Task.of(query_vectors, gallery_vectors, relevance, metric, query_ids, gallery_ids)

    def values(positions: Positions) -> list[MeasureValues]:
        return [values_of(measure, positions, rule, rules) for measure in chosen]

    parts = task.each_part(values, block)
    joined = {measure: _joined(column) for measure, column in zip(chosen, zip(*parts, strict=True), strict=True)}
    return assembled(
        task.outline(), joined, ties=rule, rules=rules, notes=task.notes(), groups=groups, interval=interval
    )


def _refuse_order(measures: Iterable[Measure], ties: TieRule) -> None:
    reading = sorted({rule for measure in measures if (rule := measure.tie_rule(ties)) not in _WITHOUT_ORDER})
    if reading:
        raise InputError(
            f"ties={reading[0]!r}: a full ranking by similarity has no order within ties; use one of "
            f"{', '.join(_WITHOUT_ORDER)}, or evaluate a Ranking.from_similarity"
        )


def _joined(parts: Iterable[MeasureValues]) -> MeasureValues:
    columns = [(part.numerator, part.denominator, part.value) for part in parts]
    return MeasureValues(*(np.concatenate(column) for column in zip(*columns, strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """Vectors and right answers that fit each other, query by query of the relevance."""

    products: Products
    relevance: Relevance
    gallery_size: int
    vector: Int64Array  # row of each query's vector, -1 where it has none
    column: Int64Array  # gallery row of each item of the relevance, -1 where it is not there
    unjudged_queries: tuple[Id, ...]

    @classmethod
    def of(
        cls,
        query_vectors: Any,
        gallery_vectors: Any,
        relevance: Relevance,
        metric: Metric,
        query_ids: Iterable[Any] | None,
        gallery_ids: Iterable[Any] | None,
    ) -> _Task:
        """Match vectors with the names of the relevance."""
        queries = row_ids(query_ids, len(query_vectors), what="query_ids")
        gallery = row_ids(gallery_ids, len(gallery_vectors), what="gallery_ids")
        vector = _rows_of(queries, relevance.queries, "query")
        column = _rows_of(gallery, relevance.items, "gallery")
        judged = np.zeros(len(queries), dtype=np.bool_)
        judged[vector[vector >= 0]] = True
        return cls(
            Products(query_vectors, gallery_vectors, metric, query_ids=queries, gallery_ids=gallery),
            relevance,
            len(gallery),
            vector,
            column,
            tuple(queries.take(np.flatnonzero(~judged).tolist())),
        )

    def each_part(self, values: Callable[[Positions], Made], block: int) -> list[Made]:
        """Call ``values`` with the positions of all queries, some at a time and in their order."""
        step = min(block, self.products.rows)
        begins = range(0, max(len(self.relevance), 1), step)
        count = min(thread_count(), len(begins))
        buffers: SimpleQueue[npt.NDArray[np.float32]] = SimpleQueue()
        for _ in range(count):
            buffers.put(self.products.buffer())

        def measured(begin: int) -> list[Made]:
            buffer = buffers.get()
            try:
                end = min(begin + step, len(self.relevance))
                similarity = self.products.block(np.maximum(self.vector[begin:end], 0), buffer)
                return [
                    values(self._positions(first, last, similarity[first - begin : last - begin]))
                    for first, last in self._parts(begin, end)
                ]
            finally:
                buffers.put(buffer)

        with one_blas_thread(), ThreadPoolExecutor(count) as pool:
            return [part for parts in pool.map(measured, begins) for part in parts]

    def _parts(self, begin: int, end: int) -> list[tuple[int, int]]:
        """Queries in runs that have about `_PAIRS` judged pairs together; one run even where there is no query."""
        offsets, bounds = self.relevance.offsets, [begin]
        while bounds[-1] < end:
            stop = int(np.searchsorted(offsets, offsets[bounds[-1]] + _PAIRS, side="right")) - 1
            bounds.append(min(max(stop, bounds[-1] + 1), end))
        return list(pairwise(bounds)) or [(begin, end)]

    def _positions(self, first: int, last: int, similarity: npt.NDArray[np.float32]) -> Positions:
        """Positions of some queries from their similarities with the gallery."""
        relevance = self.relevance
        span = slice(int(relevance.offsets[first]), int(relevance.offsets[last]))
        offsets = relevance.offsets[first : last + 1] - span.start
        columns, ignored = self.column[relevance.rows[span]], relevance.ignored[span]
        missing = self.vector[first:last] < 0
        there = (columns >= 0) & np.repeat(~missing, np.diff(offsets))
        kept = offsets_of(there)[offsets]
        hits = kernels().count_ranks(similarity, kept, columns[there], ignored[there], threads=1)
        grades = relevance.grades[span]
        out = hit_offsets(kept, ~ignored[there])
        judged_offsets, judged_grades = _falling(hit_offsets(offsets, ignored), grades[~ignored])
        n_ignored = np.diff(out)
        return Positions(
            queries=Ids(relevance.queries[first:last], what="queries"),
            offsets=hits.offsets,
            grades=grades[there][hits.entry],
            above=hits.above,
            tied=hits.tied,
            lengths=np.where(missing, 0, self.gallery_size - n_ignored),
            judged_offsets=judged_offsets,
            judged_grades=judged_grades,
            ignored=n_ignored,
            missing=missing,
            unjudged_queries=(),
            cut_ties=np.zeros(last - first, dtype=np.bool_),
            gallery=self.gallery_size,
            places=None,
        )

    def outline(self) -> Positions:
        """Queries and list lengths, without any hit."""
        n = len(self.relevance)
        missing = self.vector < 0
        nothing = np.zeros(n + 1, dtype=np.int64)
        none = np.zeros(0, dtype=np.int64)
        return Positions(
            queries=self.relevance.queries,
            offsets=nothing,
            grades=np.zeros(0),
            above=none,
            tied=none,
            lengths=np.where(missing, 0, self.gallery_size),
            judged_offsets=nothing,
            judged_grades=np.zeros(0),
            ignored=np.zeros(n, dtype=np.int64),
            missing=missing,
            unjudged_queries=self.unjudged_queries,
            cut_ties=np.zeros(n, dtype=np.bool_),
            gallery=self.gallery_size,
            places=None,
        )

    def notes(self) -> tuple[str, ...]:
        """What a reader should know of judged items that are not in the gallery."""
        absent = np.flatnonzero(self.column < 0)
        if not len(absent):
            return ()
        named = first_few(self.relevance.items.take(absent[:5].tolist()))
        more = "; none is, so check that both name the items alike" if len(absent) == len(self.column) else ""
        note = (
            f"{len(absent)} of {len(self.column)} judged or ignored items are not in the gallery and cannot be found, "
            f"first {named}{more}"
        )
        return (note,)


def _rows_of(there: Ids, wanted: Ids, what: str) -> Int64Array:
    """Row of each wanted id, -1 where it is not there."""
    if wanted is there or (len(wanted) == len(there) and wanted == there):
        return np.arange(len(wanted), dtype=np.int64)
    if len(wanted) and len(there) and wanted.kind is not there.kind:
        raise InputError(
            f"{what}_ids are {there.kind.__name__} ({first_few(there, 2)}) and the relevance has "
            f"{wanted.kind.__name__} ({first_few(wanted, 2)}); nothing would match: give {what}_ids as it names them"
        )
    rows = there.rows(wanted)
    if what == "query" and len(wanted) and len(there) and (rows < 0).all():
        raise InputError(
            f"query_ids and relevance have no query in common: {first_few(there, 3)} against {first_few(wanted, 3)}; "
            "both must name the queries alike"
        )
    return rows


def _falling(offsets: Int64Array, grades: npt.NDArray[np.float64]) -> tuple[Int64Array, npt.NDArray[np.float64]]:
    """The grades sorted to fall within each query, which those of labels do as they are."""
    rises = grades[1:] > grades[:-1]
    begins = offsets[1:-1] - 1
    rises[begins[(begins >= 0) & (begins < len(rises))]] = False
    if not rises.any():
        return offsets, grades
    query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return offsets, grades[np.lexsort((-grades, query))]
