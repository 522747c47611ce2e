"""Parts of a ranking from what engines, files and matrices give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import DepthError, InputError, NonFiniteError, Problems, UnknownIdError, first_few
from visual_search.formats.arrays import AnyArray, as_float64, as_matrix, as_numpy, check_no_flags, comparable
from visual_search.formats.ragged import grouped, offsets_of
from visual_search.ids import Ids

__all__ = ["RankingParts", "check_pad", "of_arrays", "of_lines", "of_rank_matrix", "of_similarity", "row_ids"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

# Cells of one block of a similarity matrix, 32 MiB of float64.
_BLOCK_CELLS = 1 << 22
_KIND_OF = {"i": "integers", "u": "integers", "U": "texts", "S": "texts", "f": "floats", "b": "true and false"}
# Rows of a gallery that are named by their numbers without being asked, some 10 GB of ids.
_ROWS_MADE = 1 << 28
# A table over all integers up to the largest id costs less than sorting the ids when it is not much longer.
_TABLE_FACTOR = 4


@dataclass(frozen=True, slots=True, eq=False)
class RankingParts:
    """The arguments of `Ranking`."""

    queries: Ids
    items: Ids
    offsets: Int64Array
    rows: Int64Array
    scores: AnyArray
    cut_ties: BoolArray | None = None
    notes: tuple[str, ...] = ()
    scored: bool = True


def row_ids(ids: Iterable[Any] | None, count: int, *, what: str) -> Ids:
    """Ids as given, or 0..count - 1.

    Raises
    ------
    InputError
        Not as many ids as rows.
    """
    named = Ids(range(count) if ids is None else ids, what=what)
    if len(named) != count:
        raise InputError(
            f"{what}: {counted(len(named), 'id', 'ids')} for {counted(count, 'row', 'rows')}; give "
            "one per row, in order"
        )
    return named


def of_lines(
    queries: Sequence[Any], query: Int64Array, items: Sequence[Any], item: Int64Array, scores: AnyArray
) -> RankingParts:
    """From one line per result: lines of a query are brought together and sorted by falling score.

    Equal scores stay in the order of the lines. Queries and items are distinct.
    """
    offsets, order = grouped(query, len(queries), falling=scores)
    if order is not None:
        item, scores = item[order], scores[order]
    named = Ids.distinct(queries, what="queries"), Ids.distinct(items, what="items")
    return RankingParts(*named, offsets, item, scores)


def of_similarity(
    similarity: Any, *, query_ids: Iterable[Any] | None, gallery_ids: Iterable[Any] | None, k: int | None
) -> RankingParts:
    """From a matrix of similarities: every row sorted, or its k highest; equal ones by gallery row."""
    matrix = as_matrix(similarity, what="similarity")
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"similarity: dtype {matrix.dtype}; numbers are needed")
    n, size = matrix.shape
    queries = row_ids(query_ids, n, what="query_ids")
    items = row_ids(gallery_ids, size, what="gallery_ids")
    if k is not None and not 1 <= k <= size:
        raise DepthError(
            f"k={k}: the gallery has {counted(size, 'item', 'items')}; give k from 1 to {size}, or none for all"
        )
    depth = size if k is None else k
    rows = np.empty((n, depth), dtype=np.int64)
    scores = np.empty((n, depth), dtype=np.float32 if matrix.dtype in (np.float16, np.float32) else np.float64)
    cut = np.zeros(n, dtype=np.bool_)
    block = max(_BLOCK_CELLS // max(size, 1), 1)
    for first in range(0, n, block):
        part = slice(first, first + block)
        values = matrix[part] if matrix.dtype == scores.dtype else _scores_of(matrix[part], "similarity")
        _check_finite(values, queries, items, first)
        if k is None or k == size:
            rows[part] = np.argsort(-values, axis=1, kind="stable")
        else:
            rows[part], cut[part] = _highest(values, k)
        scores[part] = np.take_along_axis(values, rows[part], axis=1)
    offsets = np.arange(n + 1, dtype=np.int64) * depth
    return RankingParts(queries, items, offsets, rows.ravel(), scores.ravel(), cut)


def _scores_of(values: AnyArray, what: str) -> AnyArray:
    """float32 where that holds them as they came, else float64 where that does."""
    return values.astype(np.float32) if values.dtype in (np.float16, np.float32) else as_float64(values, what=what)


def _check_finite(values: AnyArray, queries: Ids, items: Ids, first: int) -> None:
    finite = np.isfinite(values)
    if not finite.all():
        # Named here: a NaN that is cut off would otherwise never be seen.
        pairs = [(queries[row + first], items[column]) for row, column in np.argwhere(~finite)[:5].tolist()]
        count = int((~finite).sum())
        raise NonFiniteError(
            f"similarity: {counted(count, 'value is', 'values are')} NaN or infinite, first (query, "
            f"item): {first_few(pairs)}; mend "
            "the vectors they come from"
        )


def _highest(values: AnyArray, k: int) -> tuple[Int64Array, BoolArray]:
    """Rows of the k highest values of each line, sorted, and whether the k-th ties with one left out."""
    kth = -np.partition(-values, k - 1, axis=1)[:, k - 1 : k]
    above, equal = values > kth, values == kth
    quota = k - above.sum(axis=1, keepdims=True)
    chosen = above | (equal & (np.cumsum(equal, axis=1) <= quota))
    rows = np.nonzero(chosen)[1].reshape(len(values), k)
    order = np.argsort(-np.take_along_axis(values, rows, axis=1), axis=1, kind="stable")
    return np.take_along_axis(rows, order, axis=1), equal.sum(axis=1) > quota[:, 0]


def of_rank_matrix(
    ranks: Any, *, query_ids: Iterable[Any] | None, gallery_ids: Iterable[Any] | None
) -> RankingParts:
    """From a matrix whose rows hold gallery rows, best first; there are no ties."""
    matrix = as_matrix(ranks, what="rank_matrix")
    if matrix.dtype.kind not in "iu":
        raise InputError(f"rank_matrix: dtype {matrix.dtype}; gallery rows are integers")
    n, depth = matrix.shape
    highest = int(matrix.max(initial=0)) if matrix.size else -1
    if gallery_ids is not None:
        items = Ids(gallery_ids, what="gallery_ids")
    elif highest < max(depth, _ROWS_MADE):
        items = Ids(range(max(highest + 1, depth)), what="gallery_ids")
    else:
        raise InputError(
            f"rank_matrix: row {highest}, of a gallery of more than {_ROWS_MADE:,} items that nothing names; these "
            "look like ids: use from_arrays, or give gallery_ids"
        )
    if highest >= 2**63:  # as signed integers these would be others
        raise InputError(f"rank_matrix: row {highest}; rows must lie in 0..{len(items) - 1}")
    scores = np.tile(-np.arange(1, depth + 1, dtype=np.float64), n)
    offsets = np.arange(n + 1, dtype=np.int64) * depth
    queries = row_ids(query_ids, n, what="query_ids")
    return RankingParts(queries, items, offsets, matrix.ravel().astype(np.int64), scores, scored=False)


def check_pad(pad: Any) -> None:
    """Refuse a pad that is neither an integer nor None: it would pad nothing.

    Raises
    ------
    InputError
        Of another type.
    """
    if pad is not None and (isinstance(pad, (bool, np.bool_)) or not isinstance(pad, (int, np.integer))):
        raise InputError(f"pad={pad!r}: the integer of places that are not filled, or None where all are")


def of_arrays(
    ids: Any,
    scores: Any | None,
    *,
    query_ids: Iterable[Any] | None,
    gallery_ids: Iterable[Any] | None,
    pad: int | None,
) -> RankingParts:
    """From lists of ids with their scores, one list a query, as search engines return them."""
    check_pad(pad)
    flat, lengths = _flat(ids, what="ids")
    values = _flat_scores(scores, lengths)
    if flat.dtype.kind in "iu" and pad is not None:
        kept = flat != pad
        if not kept.all():
            before = offsets_of(kept)
            lengths = np.diff(before[offsets_of(lengths)])
            flat, values = flat[kept], values[kept]
    items, rows = _vocabulary(flat, gallery_ids)
    queries = row_ids(query_ids, len(lengths), what="query_ids")
    return RankingParts(queries, items, offsets_of(lengths), rows, values, scored=scores is not None)


def _flat(lists: Any, *, what: str) -> tuple[AnyArray, Int64Array]:
    """All lists one after the other, and their lengths."""
    nested = isinstance(lists, (list, tuple)) and all(_is_list(one) for one in lists)
    if nested and len({len(one) for one in lists}) != 1:
        parts = [as_numpy(one, what=f"{what}[{row}]") for row, one in enumerate(lists)]
        lengths = np.array([len(part) for part in parts], dtype=np.int64)
        return _joined([part for part in parts if len(part)], what), lengths
    matrix = as_matrix(lists, what=what)
    if nested and matrix.dtype.kind in "iu":
        check_no_flags(chain.from_iterable(one for one in lists if isinstance(one, (list, tuple))), what=what)
    return matrix.ravel(), np.full(len(matrix), matrix.shape[1], dtype=np.int64)


def _joined(parts: list[AnyArray], what: str) -> AnyArray:
    """Lists of one kind in one array; numpy would write integers beside texts as texts, and True as 1."""
    if not parts:
        return np.zeros(0, dtype=np.int64)
    kinds = {_KIND_OF[part.dtype.kind] for part in parts}
    if len(kinds) > 1 and not (what == "scores" and "texts" not in kinds):
        raise InputError(f"{what}: lists of {' and of '.join(sorted(kinds))}; all must be of one kind")
    if kinds == {"integers"} and len({part.dtype for part in parts}) > 1:
        signed = [part.astype(np.int64) for part in parts if part.dtype != np.uint64]
        large = [part for part in parts if part.dtype == np.uint64]
        small, great = (
            np.concatenate([*signed, np.zeros(0, np.int64)]),
            np.concatenate([*large, np.zeros(0, np.uint64)]),
        )
        common = comparable(small, great, what=what)[1].dtype
        if common.kind == "O":
            raise InputError(f"{what}: from {small.min()} to {great.max()}; integers of 64 bits are needed")
        return np.concatenate([part.astype(common) for part in parts])
    return np.concatenate(parts)


def _is_list(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))


def _flat_scores(scores: Any | None, lengths: Int64Array) -> AnyArray:
    if scores is None:
        # Without scores the order is all there is: falling numbers, no two equal.
        starts = np.repeat(offsets_of(lengths)[:-1], lengths)
        return (starts - np.arange(int(lengths.sum())) - 1).astype(np.float64)
    values, score_lengths = _flat(scores, what="scores")
    if not np.array_equal(lengths, score_lengths):
        problems = Problems("from_arrays")
        if len(lengths) != len(score_lengths):
            problems.add(f"{counted(len(lengths), 'list', 'lists')} of ids and {len(score_lengths)} of scores")
        else:
            wrong = np.flatnonzero(lengths != score_lengths)
            problems.add(
                f"{counted(len(wrong), 'list has', 'lists have')} other numbers of ids and scores, "
                f"first rows: {first_few(wrong.tolist())}"
            )
        problems.raise_if_any(InputError)
    if values.dtype.kind not in "biuf":
        raise InputError(f"scores: dtype {values.dtype}; numbers are needed")
    return values if values.dtype == np.float32 else as_float64(values, what="scores")


def _vocabulary(flat: AnyArray, gallery_ids: Iterable[Any] | None) -> tuple[Ids, Int64Array]:
    """The distinct ids (or the gallery's), and for each entry its row among them."""
    if flat.size and flat.dtype.kind not in "iuUS":
        raise InputError(f"ids: dtype {flat.dtype}; ids are integers or strings, never floats")
    distinct, rows = _distinct_integers(flat) if flat.dtype.kind in "iu" else _distinct_strings(flat)
    if gallery_ids is None:
        return Ids(distinct, what="items"), rows
    items = gallery_ids if isinstance(gallery_ids, Ids) else Ids(gallery_ids, what="gallery_ids")
    row_of = items.rows(distinct)
    unknown = [name for name, row in zip(distinct, row_of.tolist(), strict=True) if row < 0]
    if unknown:
        raise UnknownIdError(
            f"ids: {len(unknown)} are not among the {len(items)} gallery_ids, first: {first_few(unknown)}; "
            "if these are row numbers, leave gallery_ids out or build the ranking from rows"
        )
    return items, row_of[rows]


def _distinct_integers(flat: AnyArray) -> tuple[list[int], Int64Array]:
    # Ids that only unsigned 64 bits hold stay as they are; as signed ones they would be others.
    fits = flat.dtype != np.uint64 or int(flat.max(initial=0)) < 2**63
    values = flat.astype(np.int64) if fits else flat
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    if low < 0 or high > _TABLE_FACTOR * max(len(values), 1 << 20):
        distinct, rows = np.unique(values, return_inverse=True)
        return distinct.tolist(), rows.astype(np.int64)
    there = np.zeros(high + 1, dtype=np.bool_)
    there[values] = True
    return np.flatnonzero(there).tolist(), (np.cumsum(there) - 1)[values]


def _distinct_strings(flat: AnyArray) -> tuple[list[str], Int64Array]:
    texts = [text.decode() if isinstance(text, bytes) else text for text in flat.tolist()]
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return list(places), np.fromiter((places[text] for text in texts), dtype=np.int64, count=len(texts))
