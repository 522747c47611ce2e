"""Where each query's rows begin and end in a table whose rows of one query stand together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.ids import Id

__all__ = ["QueryRuns"]


class QueryRuns:
    """Runs of rows with one query each, in the order of the rows.

    Parameters
    ----------
    owners : sequence of ids
        The query of each run; a query whose rows stand in several places comes several times.
    lengths : sequence of int
        Rows of each run, all above 0.

    Examples
    --------
    >>> runs = QueryRuns(["b", "a", "c", "a"], [5, 1, 3, 2])
    >>> runs.of("c"), runs.of("a"), runs.of("d"), len(runs)
    ((6, 9), None, None, 3)
    """

    def __init__(self, owners: Sequence[Id], lengths: Sequence[int]) -> None:
        self._owners = owners
        self._starts: npt.NDArray[np.int64] = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])

    @classmethod
    def of_column(cls, column: Any) -> QueryRuns:
        """The runs of a column of queries, a pyarrow chunked array, encoded by a dictionary or not."""
        owners: list[Id] = []
        starts: list[npt.NDArray[np.int64]] = []
        before = 0
        for chunk in column.chunks:
            # Each chunk has a dictionary of its own where the file has one; whole numbers have none.
            encoded = chunk if hasattr(chunk, "dictionary") else chunk.dictionary_encode()
            codes = encoded.indices.to_numpy(zero_copy_only=False)
            if not len(codes):
                continue
            names = encoded.dictionary.to_pylist()
            changes = np.concatenate([[0], np.flatnonzero(codes[1:] != codes[:-1]) + 1])
            begun: list[Id] = [names[code] for code in codes[changes].tolist()]
            goes_on = bool(owners) and begun[0] == owners[-1]
            owners += begun[1:] if goes_on else begun
            starts.append((changes[1:] if goes_on else changes).astype(np.int64) + before)
            before += len(codes)
        return cls(owners, np.diff(np.concatenate([*starts, [before]])).tolist())

    @cached_property
    def _places(self) -> dict[Id, int]:
        """Number of each query's run; -1 where it has several."""
        places = {owner: number for number, owner in enumerate(self._owners)}
        if len(places) < len(self._owners):
            seen: set[Id] = set()
            for owner in self._owners:
                if owner in seen:
                    places[owner] = -1
                seen.add(owner)
        return places

    def __len__(self) -> int:
        return len(self._places)

    @property
    def rows(self) -> int:
        """Rows in all."""
        return int(self._starts[-1])

    def of(self, query: Id) -> tuple[int, int] | None:
        """First row and the one behind the last; None where the query has no run, or several."""
        place = self._places.get(query, -1)
        return None if place < 0 else (int(self._starts[place]), int(self._starts[place + 1]))

    def as_json(self) -> dict[str, Any]:
        """As a JSON value, of which ``QueryRuns(**value)`` makes the same again."""
        return {"owners": list(self._owners), "lengths": np.diff(self._starts).tolist()}
