"""What a search engine is: rows and vectors in, nearest rows out.

An engine knows rows (int64, chosen by the caller, never reused) and vectors; ids, metrics' normalisation and files'
manifests are the index's. Every engine passes ``visual_search.testing.engine_contract``.

Under ``hamming`` the vectors are binary codes: ``dimension`` is their number of bits, and they come and go as uint8
rows of ceil(dimension / 8) bytes as ``numpy.packbits`` makes them, the places beyond ``dimension`` 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol, Self, TypeAlias, get_args, runtime_checkable

import numpy as np
import numpy.typing as npt

__all__ = ["METRICS", "VECTOR_METRICS", "Engine", "Metric", "Settings"]

Metric: TypeAlias = Literal["cosine", "ip", "l2", "hamming"]
METRICS: tuple[Metric, ...] = get_args(Metric)
VECTOR_METRICS: tuple[Metric, ...] = ("cosine", "ip", "l2")
Settings: TypeAlias = Mapping[str, int | float | str | bool]
Int64Array: TypeAlias = npt.NDArray[np.int64]
Vectors: TypeAlias = npt.NDArray[Any]  # float32; under hamming uint8
Scores: TypeAlias = npt.NDArray[np.float32]


@runtime_checkable
class Engine(Protocol):
    """Builds, saves, loads, adds, removes, searches; tells its metric, settings, memory and whether it is exact.

    A class that is an engine is made by ``EngineClass(dimension=, metric=, settings=)``. Vectors arrive float32,
    C-contiguous, finite, and of unit length under ``cosine``; under ``hamming`` as packed codes. Searches may run side
    by side in several threads; while ``add``, ``remove``, ``train`` or ``configure`` runs, nothing else does (the index
    holds the lock).

    An engine whose settings are not of use to every structure that it makes may have a method
    ``settings_without_use()``: the names of those that this one has nothing for, each with the reason. A sweep then
    leaves them to its other engines.

    Attributes
    ----------
    name : str
        The name it is registered under in the group ``visual_search.engines``.
    metrics : tuple of str
        The metrics it can be made for, the one that is meant where none is named first; the class has it too.
    metric : "cosine", "ip", "l2" or "hamming"
        What its scores mean.
    dimension : int
        Length of a vector, in bits under ``hamming``.
    library : str
        The library that does the work and its version, as ``"faiss 1.15.1"``; kept in the index manifest.
    file_suffix : str
        Suffix of the file that ``save`` writes, without the dot.
    tombstones : int
        Removed vectors the structure still holds; 0 where removal is real. An index with many is rebuilt.
    """

    @property
    def library(self) -> str: ...
    @property
    def file_suffix(self) -> str: ...
    @property
    def tombstones(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def metrics(self) -> tuple[Metric, ...]: ...
    @property
    def metric(self) -> Metric: ...
    @property
    def dimension(self) -> int: ...
    @property
    def exact(self) -> bool:
        """Whether every search scans all vectors."""
        ...

    @property
    def settings(self) -> Settings:
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

    @property
    def index_bytes(self) -> int:
        """Bytes a search goes through: without whole vectors that are kept only to be given back."""
        ...

    def __len__(self) -> int:
        """Live vectors (removed ones not counted)."""
        ...

    def configure(self, **settings: int | float | str | bool) -> None:
        """Change search-time settings (``ef_search``, ``nprobe``); an unknown one is an error that lists them."""
        ...

    def train(self, vectors: Vectors) -> None:
        """Learn from a sample of shape (n, dimension); a no-op where none is needed.

        Raises
        ------
        NotTrainedError
            The sample is too small; the message says how many vectors are wanted.
        """
        ...

    def add(self, rows: Int64Array, vectors: Vectors) -> None:
        """Add vectors of shape (n, dimension) under new rows of shape (n,).

        Raises
        ------
        NotTrainedError
            Training is needed and has not been done.
        DuplicateIdError
            A row is there already, or twice in the call; nothing is added.
        """
        ...

    def remove(self, rows: Int64Array) -> None:
        """Take rows out, by tombstone where the structure cannot; a removed row is never returned again.

        Raises
        ------
        UnknownIdError
            A row is not there; nothing is removed.
        """
        ...

    def vectors(self, rows: Int64Array) -> Vectors:
        """Vectors as stored, bit for bit, shape (n, dimension), for the rows given; a copy.

        Raises
        ------
        UnknownIdError
            A row is not there.
        """
        ...

    def search(self, queries: Vectors, k: int) -> tuple[Int64Array, Scores]:
        """Nearest rows and scores, both of shape (n, k).

        Scores are float32, higher-is-better (inner product; minus the plain distance under ``l2``, minus the number
        of bits that differ under ``hamming``) and do not rise along a row; among equal scores the lower row comes
        first. Where fewer than k were found the row is padded with -1 and the score with -inf.
        """
        ...

    def save(self, path: Path) -> None:
        """Write one file."""
        ...

    @classmethod
    def load(cls, path: Path, *, metric: Metric, settings: Settings) -> Self:
        """Read that file back.

        Raises
        ------
        FileFormatError
            Truncated, foreign, or of another metric or structure than asked for.
        """
        ...
