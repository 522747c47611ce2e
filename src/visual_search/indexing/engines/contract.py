"""What a search engine is: rows and vectors in, nearest rows out.

An engine knows rows (int64, chosen by the caller, never reused) and vectors; ids, metrics' normalisation and files'
manifests are the index's. Every engine passes ``visual_search.testing.engine_contract``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

__all__ = ["Engine", "Metric"]

Metric: TypeAlias = Literal["cosine", "ip", "l2"]
Int64Array: TypeAlias = npt.NDArray[np.int64]
Vectors: TypeAlias = npt.NDArray[np.float32]


@runtime_checkable
class Engine(Protocol):
    """Builds, saves, loads, adds, removes, searches; tells its metric, settings, memory and whether it is exact.

    Vectors arrive float32, C-contiguous, finite, and of unit length under ``cosine``.
    """

    @property
    def name(self) -> str: ...
    @property
    def metric(self) -> Metric: ...
    @property
    def dimension(self) -> int: ...
    @property
    def exact(self) -> bool:
        """Whether every search scans all vectors."""
        ...

    @property
    def settings(self) -> Mapping[str, int | float | str | bool]:
        """Every setting that changes answers or cost, build and search alike."""
        ...

    @property
    def needs_training(self) -> bool:
        """Whether ``train`` must be called before the first ``add``."""
        ...

    @property
    def memory_bytes(self) -> int:
        """Bytes the index holds in memory, vectors included."""
        ...

    def __len__(self) -> int:
        """Live vectors (removed ones not counted)."""
        ...

    def configure(self, **settings: int | float | str | bool) -> None:
        """Change search-time settings (``ef_search``, ``nprobe``); an unknown one is an error that lists them."""
        ...

    def train(self, vectors: Vectors) -> None:
        """Learn from a sample of shape (n, dimension); a no-op where none is needed."""
        ...

    def add(self, rows: Int64Array, vectors: Vectors) -> None:
        """Add vectors of shape (n, dimension) under new rows of shape (n,)."""
        ...

    def remove(self, rows: Int64Array) -> None:
        """Take rows out, by tombstone where the structure cannot."""
        ...

    def vectors(self, rows: Int64Array) -> Vectors:
        """Vectors as stored, shape (n, dimension), for the rows given."""
        ...

    def search(self, queries: Vectors, k: int) -> tuple[Int64Array, Vectors]:
        """Nearest rows and scores, both of shape (n, k).

        Scores are higher-is-better (inner product; minus the plain distance under ``l2``) and do not rise along a
        row. Where fewer than k were found the row is padded with -1 and the score with -inf.
        """
        ...

    def save(self, path: Path) -> None:
        """Write one file."""
        ...

    @classmethod
    def load(cls, path: Path, *, metric: Metric, settings: Mapping[str, int | float | str | bool]) -> Self:
        """Read that file back."""
        ...
