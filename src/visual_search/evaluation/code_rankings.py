"""Full rankings by Hamming distance: codes and right answers that fit each other, measured under any tie rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import DimensionError
from visual_search.evaluation.full_rankings import Asked, CountRanks, RightAnswers, evaluate_gallery
from visual_search.evaluation.label_codes import check_rows, evaluate_labelled
from visual_search.evaluation.result import Result
from visual_search.evaluation.ties import TieRule
from visual_search.formats.arrays import as_matrix
from visual_search.formats.binary_codes import BinaryCodes
from visual_search.ground_truth.relevance import Relevance
from visual_search.ground_truth.shared_labels import SharedLabels
from visual_search.ids import Ids
from visual_search.kernels.dispatch import kernels
from visual_search.kernels.joined import RankHits
from visual_search.rankings.parts import row_ids

__all__ = ["CodeRankings"]

Int64Array: TypeAlias = npt.NDArray[np.int64]

_ROWS = 256


@dataclass(frozen=True, slots=True, eq=False)
class CodeRankings:
    """A gallery of codes, ranked for each query, and what is right.

    Attributes
    ----------
    queries, gallery : BinaryCodes
        Of as many bits.
    query_ids, gallery_ids : Ids
        Names of their rows.
    relevance : Relevance or SharedLabels
        What the right answers are; the labels are those of these rows.
    """

    queries: BinaryCodes
    gallery: BinaryCodes
    query_ids: Ids
    gallery_ids: Ids
    relevance: Relevance | SharedLabels

    @classmethod
    def of(
        cls,
        query_codes: Any,
        gallery_codes: Any,
        relevance: RightAnswers | SharedLabels,
        *,
        packed: bool = False,
        query_ids: Iterable[Any] | None = None,
        gallery_ids: Iterable[Any] | None = None,
    ) -> CodeRankings:
        """Take codes and right answers; as for `visual_search.evaluate_codes`, which tells what is refused."""
        right = relevance if isinstance(relevance, (Relevance, SharedLabels)) else Relevance.from_dict(relevance)
        labels = right if isinstance(right, SharedLabels) else None
        names = (
            _named(query_ids, query_codes, "query_ids", None if labels is None else labels.queries),
            _named(gallery_ids, gallery_codes, "gallery_ids", None if labels is None else labels.items),
        )
        queries, gallery = BinaryCodes.both(query_codes, gallery_codes, packed=packed, ids=names)
        if queries.bits != gallery.bits:
            raise DimensionError(
                f"query_codes have {counted(queries.bits, 'bit', 'bits')} and gallery_codes {gallery.bits}; both must "
                "come from one model"
            )
        if labels is not None:
            check_rows(labels, *names)
        return cls(queries, gallery, *names, right)

    def results(self, asked: Asked, ties: Sequence[TieRule]) -> list[Result]:
        """A result for each tie rule; distances are counted once for all of them."""
        if isinstance(self.relevance, SharedLabels):
            return evaluate_labelled(self.queries.words, self.gallery.words, self.relevance, asked, ties=ties)
        gallery = _CodeGallery(self.queries.words, self.gallery.words)
        return evaluate_gallery(
            gallery,
            self.query_ids,
            self.gallery_ids,
            self.relevance,
            asked,
            block=_ROWS,
            metric="hamming",
            ties=ties,
        )


def _named(ids: Iterable[Any] | None, codes: Any, what: str, of_labels: Ids | None) -> Ids:
    """Ids as given, else those of the labels, where there are as many, else the row numbers."""
    rows = len(
        codes if isinstance(codes, BinaryCodes) else as_matrix(codes, what=f"{what.removesuffix('ids')}codes")
    )
    if ids is None and of_labels is not None and len(of_labels) == rows:
        return of_labels
    return row_ids(ids, rows, what=what)


@dataclass(frozen=True, slots=True, eq=False)
class _CodeGallery:
    """Codes in words, compared when ranks are counted."""

    queries: npt.NDArray[np.uint64]
    gallery: npt.NDArray[np.uint64]

    @property
    def rows(self) -> int:
        """How many queries may be opened at a time."""
        return _ROWS

    @contextmanager
    def opened(self, chosen: Int64Array) -> Iterator[CountRanks]:
        """Let ranks be counted for the chosen queries."""
        codes = self.queries[chosen]

        def count(
            first: int, last: int, offsets: Int64Array, columns: Int64Array, ignored: npt.NDArray[np.bool_]
        ) -> RankHits:
            return kernels().count_code_ranks(codes[first:last], self.gallery, offsets, columns, ignored, threads=1)

        yield count
