"""The indexes that are looked through, each under a short name of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from visual_search.errors import UnknownNameError, first_few
from visual_search.indexing.index_table import VectorIndex
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch

__all__ = ["ExploredIndex", "ExploredIndexes"]


@dataclass(frozen=True, slots=True)
class ExploredIndex:
    """One index with the name under which pages know it.

    Attributes
    ----------
    name : str
        Distinct among those explored together; never read as a path.
    path : Path
    service : NearestNeighborSearch
    """

    name: str
    path: Path
    service: NearestNeighborSearch

    @property
    def index(self) -> VectorIndex:
        """The vectors."""
        return self.service.index

    def facts(self) -> dict[str, Any]:
        """What it is, as a JSON object: size, engine and settings, metric, embedder, whether it has images."""
        index = self.index
        embedder = index.embedder
        return {
            "name": self.name,
            "items": len(index),
            "dimension": index.dimension,
            "metric": index.metric,
            "engine": index.engine,
            "exact": index.exact,
            "settings": dict(index.settings),
            "index_bytes": index.index_bytes,
            "memory_bytes": index.memory_bytes,
            "embedder": None if embedder is None else embedder.as_json(),
            "ledger": self.service.ledger_counts(),
        }


class ExploredIndexes:
    """Indexes by name.

    Parameters
    ----------
    paths : iterable of path
        Folders that ``VectorIndex.save`` wrote; a name is the folder's, with a number where two are alike.

    Raises
    ------
    FileFormatError
        No index there, or one that cannot be read.
    """

    def __init__(self, paths: Iterable[str | os.PathLike[str]]) -> None:
        self._by_name: dict[str, ExploredIndex] = {}
        for path in map(Path, paths):
            name = _distinct(path.resolve().name, self._by_name)
            self._by_name[name] = ExploredIndex(name, path, NearestNeighborSearch(VectorIndex.open(path)))

    def __iter__(self) -> Iterator[ExploredIndex]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def named(self, name: str | None) -> ExploredIndex:
        """The index of a name; the first where none is given.

        Raises
        ------
        UnknownNameError
            None has it, or there are none.
        """
        if not self._by_name:
            raise UnknownNameError("index: none is served; start again with --index INDEX")
        if name is None:
            return next(iter(self._by_name.values()))
        if name not in self._by_name:
            raise UnknownNameError(f"index: none is named {name[:200]!r}; there are {first_few(self._by_name)}")
        return self._by_name[name]


def _distinct(name: str, taken: Iterable[str]) -> str:
    names = set(taken)
    number, found = 1, name
    while found in names:
        number += 1
        found = f"{name} ({number})"
    return found
