"""A ranking that stays in the arrays a search engine returned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError
from visual_search.formats.arrays import as_float64, as_matrix
from visual_search.ids import Ids
from visual_search.rankings.parts import check_pad, row_ids
from visual_search.rankings.ranking import Ranking

__all__ = ["IdLists"]

IntegerMatrix: TypeAlias = npt.NDArray[np.integer[Any]]
FloatMatrix: TypeAlias = npt.NDArray[np.floating[Any]]


class IdLists:
    """Lists of integer ids of one depth, with their scores, looked at only when they are evaluated.

    `Ranking.from_arrays` numbers all ids; here only the judged ones are ever looked for, and repeats, rising scores
    and scores that are not finite are found in the same pass, when the lists are evaluated.

    Parameters
    ----------
    ids : integer array-like of shape (n, k)
        Ids, best first. Tensors of other libraries are taken without a copy where possible.
    scores : float array-like of shape (n, k), optional
        Higher is better, not rising along a list. Without scores the order alone counts and nothing ties.
    query_ids : iterable, optional
        One id per list; 0, 1, 2, ... by default.
    pad : int or None
        Entries with this id are places an engine could not fill, and are left out.

    Raises
    ------
    InputError
        Not matrices of one shape, or ids that are not integers.

    Examples
    --------
    >>> from visual_search import Relevance, evaluate
    >>> relevance = Relevance.from_dict({"q1": {3: 1}})
    >>> evaluate(IdLists([[7, 3]], [[0.9, 0.2]], query_ids=["q1"]), relevance, ["RR"])["RR"].mean
    0.5
    """

    __slots__ = ("ids", "pad", "queries", "scores")

    def __init__(
        self,
        ids: Any,
        scores: Any | None = None,
        *,
        query_ids: Iterable[Any] | None = None,
        pad: int | None = -1,
    ) -> None:
        check_pad(pad)
        matrix = as_matrix(ids, what="ids")
        if matrix.dtype.kind not in "iu" or matrix.dtype == np.uint64:
            raise InputError(
                f"ids: dtype {matrix.dtype}; integers up to 64 bits with a sign are needed; for strings use "
                "Ranking.from_arrays"
            )
        values = None if scores is None else as_matrix(scores, what="scores")
        if values is not None and values.shape != matrix.shape:
            raise InputError(f"scores: shape {values.shape}; ids have {matrix.shape}, and both must be equal")
        if values is not None and values.dtype.kind not in "biuf":
            raise InputError(f"scores: dtype {values.dtype}; numbers are needed")
        self.ids: IntegerMatrix = matrix
        self.scores: FloatMatrix | None = (
            values if values is None or values.dtype.kind == "f" else as_float64(values, what="scores")
        )
        self.queries: Ids = row_ids(query_ids, len(matrix), what="query_ids")
        # No list holds an id beyond 64 bits, so that such a pad leaves nothing out.
        self.pad = None if pad is None or not -(2**63) <= pad < 2**63 else int(pad)

    def __len__(self) -> int:
        return len(self.ids)

    def ranking(self) -> Ranking:
        """The same lists as a `Ranking`."""
        return Ranking.from_arrays(self.ids, self.scores, query_ids=self.queries, pad=self.pad)

    def __repr__(self) -> str:
        return f"IdLists({counted(len(self), 'query', 'queries')}, {self.ids.shape[1]} deep)"
