"""Evaluates full rankings by Hamming distance: codes in words, distances counted, nothing sorted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import DimensionError, InputError, first_few
from visual_search.evaluation.full_rankings import Asked, CountRanks, RightAnswers, evaluate_gallery
from visual_search.evaluation.label_codes import check_rows, evaluate_labelled
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.protocols.presets import Preset
from visual_search.evaluation.result import IntervalMaker, Result
from visual_search.evaluation.slices import Attribute
from visual_search.evaluation.ties import TieRule
from visual_search.formats.arrays import as_matrix
from visual_search.ground_truth.shared_labels import SharedLabels
from visual_search.ids import Ids
from visual_search.kernels.dispatch import kernels
from visual_search.kernels.joined import RankHits
from visual_search.rankings.parts import row_ids

__all__ = ["evaluate_codes", "packed_codes"]

Codes: TypeAlias = npt.NDArray[np.uint64]
Int64Array: TypeAlias = npt.NDArray[np.int64]

_ROWS = 256


def evaluate_codes(
    query_codes: Any,
    gallery_codes: Any,
    relevance: RightAnswers | SharedLabels,
    measures: Iterable[str | Measure] | None = None,
    *,
    packed: bool = False,
    ties: TieRule | None = None,
    preset: str | Preset | None = None,
    query_ids: Iterable[Any] | None = None,
    gallery_ids: Iterable[Any] | None = None,
    groups: Attribute | None = None,
    interval: IntervalMaker | None = None,
) -> Result:
    """Measure the ranking of a whole gallery by Hamming distance, for each query.

    Parameters
    ----------
    query_codes, gallery_codes : array-like of shape (n, bits) and (m, bits)
        Codes of 0 and 1, or of -1 and 1, one element a bit; with ``packed`` uint8 of shape (n, bytes), eight bits a
        byte.
    relevance : Relevance, SharedLabels, or mapping
        What the right answers are; as for `visual_search.evaluate_similarity`. With `SharedLabels` of the same rows no
        pair is written down: a histogram of distances a query is enough, whatever share of the gallery is relevant.
    measures : iterable of str or Measure, optional
        As for `visual_search.evaluate`; they may be left out with a preset.
    packed : bool
        Whether the codes have eight bits a byte.
    ties : {"expected", "best", "worst"}, optional
        What is done with codes at one distance, of which there are many. The default is the preset's, or
        ``"expected"``.
    preset : str or Preset, optional
        A field's rules.
    query_ids, gallery_ids : iterable, optional
        Ids of the codes, as the relevance names them; 0, 1, 2, ... by default.
    groups, interval
        As for `visual_search.evaluate`.

    Returns
    -------
    Result

    Raises
    ------
    InputError, DimensionError
        Elements that are no bits (zeros among -1 and 1 come from the sign of 0), codes of two lengths, ids or options
        that are not allowed; nothing in common between codes and relevance.

    Convention
    ----------
    A code has at most ``bits`` + 1 distances, so most of a gallery is tied with something. Tools that sort such
    distances report the order of their sort; the expectation does not depend on any. Codes that are all equal score
    as random retrieval does.

    Examples
    --------
    >>> from visual_search import Relevance
    >>> codes = [[1, -1, 1, -1], [-1, -1, 1, -1], [-1, -1, 1, -1], [1, 1, -1, -1], [-1, 1, -1, -1], [1, 1, -1, 1]]
    >>> relevance = Relevance.from_labels([1], [1, 1, 0, 0, 1, 0])
    >>> round(evaluate_codes([[1, -1, 1, 1]], codes, relevance, ["AP"])["AP"].mean, 6)
    0.740741
    """
    asked = Asked(measures, ties, preset, groups, interval)
    query_codes = as_matrix(query_codes, what="query_codes")
    gallery_codes = as_matrix(gallery_codes, what="gallery_codes")
    labels = relevance if isinstance(relevance, SharedLabels) else None
    queries = _named(query_ids, query_codes, "query_ids", None if labels is None else labels.queries)
    items = _named(gallery_ids, gallery_codes, "gallery_ids", None if labels is None else labels.items)
    gallery = _CodeGallery(
        packed_codes(query_codes, what="query_codes", ids=queries, packed=packed),
        packed_codes(gallery_codes, what="gallery_codes", ids=items, packed=packed),
    )
    if isinstance(relevance, SharedLabels):
        check_rows(relevance, queries, items)
        return evaluate_labelled(*gallery.words, relevance, asked)
    return evaluate_gallery(gallery, queries, items, relevance, asked, block=_ROWS, metric="hamming")


def _named(ids: Iterable[Any] | None, codes: Any, what: str, of_labels: Ids | None) -> Ids:
    """Ids as given, else those of the labels, where there are as many, else the row numbers."""
    if ids is None and of_labels is not None and len(of_labels) == len(codes):
        return of_labels
    return row_ids(ids, len(codes), what=what)


class _CodeGallery:
    """Codes in words, compared when ranks are counted."""

    def __init__(self, queries: tuple[Codes, int], gallery: tuple[Codes, int]) -> None:
        if queries[1] != gallery[1]:
            raise DimensionError(
                f"query_codes have {counted(queries[1], 'bit', 'bits')} and gallery_codes "
                f"{gallery[1]}; both must come from one model"
            )
        self._queries, self._gallery = queries[0], gallery[0]

    @property
    def words(self) -> tuple[Codes, Codes]:
        """Codes of the queries and of the gallery."""
        return self._queries, self._gallery

    @property
    def rows(self) -> int:
        """How many queries may be opened at a time."""
        return _ROWS

    @contextmanager
    def opened(self, chosen: Int64Array) -> Iterator[CountRanks]:
        """Let ranks be counted for the chosen queries."""
        codes = self._queries[chosen]

        def count(
            first: int, last: int, offsets: Int64Array, columns: Int64Array, ignored: npt.NDArray[np.bool_]
        ) -> RankHits:
            return kernels().count_code_ranks(
                codes[first:last], self._gallery, offsets, columns, ignored, threads=1
            )

        yield count


def packed_codes(codes: Any, *, what: str, ids: Ids, packed: bool) -> tuple[Codes, int]:
    """Codes as rows of 64-bit words, the last filled up with zeros, and how many bits a code has.

    Raises
    ------
    InputError
        Elements that are no bits; the first codes with them are named.
    """
    matrix = as_matrix(codes, what=what)
    if packed:
        if matrix.dtype != np.uint8:
            raise InputError(f"{what}: dtype {matrix.dtype}; packed codes are uint8, eight bits a byte")
        octets, bits = matrix, 8 * matrix.shape[1]
    else:
        octets, bits = np.packbits(_bits(matrix, what, ids), axis=1), matrix.shape[1]
    if bits == 0:
        raise InputError(f"{what}: shape {matrix.shape}; a code has at least one bit")
    words = np.zeros((len(octets), -(-octets.shape[1] // 8) * 8), dtype=np.uint8)
    words[:, : octets.shape[1]] = octets
    return words.view(np.uint64), bits


def _bits(matrix: npt.NDArray[Any], what: str, ids: Ids) -> npt.NDArray[np.bool_]:
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"{what}: dtype {matrix.dtype}; 0 and 1, or -1 and 1, are needed")
    if matrix.dtype == np.bool_:
        return matrix
    signed = bool((matrix == -1).any()) if matrix.dtype.kind != "u" else False
    low = -1 if signed else 0
    wrong = np.flatnonzero(~((matrix == low) | (matrix == 1)).all(axis=1))
    if len(wrong):
        named = first_few(ids.take(wrong[:5].tolist()))
        raise InputError(
            f"{what}: {counted(len(wrong), 'code holds', 'codes hold')} other values than {low} and "
            f"1, first {named}; the sign of 0 is 0: decide "
            "which bit it is before evaluating (values > 0, for example)"
        )
    bits: npt.NDArray[np.bool_] = matrix > 0
    return bits
