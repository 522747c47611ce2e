"""What an index loses apart from what its vectors lose, as values, a table and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError, first_few
from visual_search.evaluation.statistics.bootstrap import bootstrap_mean
from visual_search.evaluation.statistics.interval import Interval
from visual_search.evaluation.text_table import decimals, text_table
from visual_search.ids import Id, Ids
from visual_search.tuning.search_stages import SearchStages

__all__ = ["IndexAttribution", "LossAtK"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
_NAMED = 10


@dataclass(frozen=True, slots=True, eq=False)
class LossAtK:
    """Quality of the exact search and of the index among the first k, query by query.

    Attributes
    ----------
    k : int
    queries : Ids
    exact, index : float64 arrays of shape (n,)
        HitRate@k of both: 1 where a right item is among the first k; between 0 and 1 where a tie at the cut decides.
    overlap : float64 array of shape (n,)
        NeighborRecall@k of the index.
    """

    k: int
    queries: Ids
    exact: FloatArray
    index: FloatArray
    overlap: FloatArray

    @property
    def representation_loss(self) -> float:
        """What the exact search misses: 1 less its HitRate@k. No index mends it."""
        return float(1 - self.exact.mean())

    @property
    def index_loss(self) -> float:
        """What the index misses beyond that: mean of exact less index; below 0 where its mistakes happened to help."""
        return float((self.exact - self.index).mean())

    @property
    def index_loss_interval(self) -> Interval | None:
        """Paired bootstrap over queries, 95 %, seed 0."""
        return bootstrap_mean(self.exact - self.index)

    @property
    def lost(self) -> tuple[Id, ...]:
        """Queries that the exact search answers better than the index."""
        return tuple(self.queries.take(np.flatnonzero(self.exact > self.index).tolist()))

    @property
    def gained(self) -> tuple[Id, ...]:
        """Queries that the index answers better than the exact search: a wrong neighbour was not found."""
        return tuple(self.queries.take(np.flatnonzero(self.index > self.exact).tolist()))

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        interval = self.index_loss_interval
        return {
            "k": self.k,
            "exact": float(self.exact.mean()),
            "index": float(self.index.mean()),
            "representation_loss": self.representation_loss,
            "index_loss": self.index_loss,
            "index_loss_interval": None if interval is None else interval.as_json(),
            "overlap": float(np.nanmean(self.overlap)),
            "exact_right_index_wrong": list(self.lost),
            "index_right_exact_wrong": list(self.gained),
        }


@dataclass(frozen=True, slots=True, eq=False)
class IndexAttribution:
    """The loss of an index apart from the loss of the vectors; a sequence of `LossAtK`.

    Attributes
    ----------
    rows : tuple of LossAtK
    index : str
        What was searched with.
    validity : str
        What the numbers hold for, and what not.
    stages : SearchStages or None
        Which step of the search lost the neighbours.
    notes : tuple of str
    """

    rows: tuple[LossAtK, ...]
    index: str
    validity: str
    stages: SearchStages | None = None
    notes: tuple[str, ...] = ()

    def __getitem__(self, k: int) -> LossAtK:
        """The row of a depth k."""
        for row in self.rows:
            if row.k == k:
                return row
        raise InputError(f"k={k}: measured were {', '.join(str(row.k) for row in self.rows)}")

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "index": self.index,
            "num_queries": len(self.rows[0].queries),
            "rows": [row.as_json() for row in self.rows],
            "stages": None if self.stages is None else self.stages.as_json(),
            "validity": self.validity,
            "notes": list(self.notes),
        }

    def text(self) -> str:
        """A table, the queries that pay, and what it all holds for."""
        header = ["k", "R@k exact", "R@k index", "vectors miss", "index misses", "95 %", "overlap@k"]
        table = text_table(header, [_cells(row) for row in self.rows])
        lines = [f"index: {self.index}", "", table, ""]
        for row in self.rows:
            lines += [
                f"k = {row.k}: exact right, index wrong: {_named(row.lost)}",
                f"k = {row.k}: index right, exact wrong: {_named(row.gained)}",
            ]
        if self.stages is not None:
            lines += ["", self.stages.words()]
        return "\n".join([*lines, "", *self.notes, self.validity])


def _cells(row: LossAtK) -> list[str]:
    interval = row.index_loss_interval
    return [
        str(row.k),
        decimals(float(row.exact.mean()), 4),
        decimals(float(row.index.mean()), 4),
        decimals(row.representation_loss, 4),
        decimals(row.index_loss, 4),
        "-" if interval is None else f"{interval.low:.4f} to {interval.high:.4f}",
        decimals(float(np.nanmean(row.overlap)), 4),
    ]


def _named(queries: Sequence[Id]) -> str:
    return f"{counted(len(queries), 'query', 'queries')}" + (f" ({first_few(queries, _NAMED)})" if queries else "")
