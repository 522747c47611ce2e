"""A gallery read block by block, so that one larger than memory can be searched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.formats.mapped_pages import release_pages

__all__ = ["Block", "block_borders", "blocks_of", "rows_at"]

AnyArray: TypeAlias = npt.NDArray[Any]

# Larger blocks gain nothing; smaller ones leave each query longer without a good k-th distance.
_COMFORTABLE = 1 << 29
_SCATTERED = 64  # rows to read here and there before their pages are released


@dataclass(frozen=True, slots=True)
class Block:
    """Rows of a gallery as they are, and the number of the first."""

    rows: AnyArray
    first: int


def block_borders(rows: int, row_bytes: int, *, memory_bytes: int, least: int) -> list[int]:
    """Row numbers at which blocks begin, and the end.

    Parameters
    ----------
    rows, row_bytes : int
        Of the gallery; bytes that a row takes while its block is searched.
    memory_bytes : int
        For a block.
    least : int
        Rows that a block has at any rate, where there are so many.

    Examples
    --------
    >>> block_borders(10, 100, memory_bytes=450, least=1)
    [0, 4, 8, 10]
    """
    step = max(least, min(memory_bytes, _COMFORTABLE) // row_bytes, 1)
    return [*range(0, rows, step), rows]


def rows_at(gallery: AnyArray, places: npt.NDArray[np.int64]) -> AnyArray:
    """Rows at some places. One row of a file may bring megabytes around it, which are let go of now and then."""
    found = []
    for some in np.array_split(places, -(-len(places) // _SCATTERED)):
        found.append(gallery[some])
        release_pages(gallery)
    return np.concatenate(found)


def blocks_of(gallery: AnyArray, borders: list[int]) -> Iterator[tuple[int, AnyArray]]:
    """(first row, rows in the machine's own byte order and in C order) of each block."""
    native = gallery.dtype.newbyteorder("=")
    for first, last in pairwise(borders):
        yield first, np.ascontiguousarray(gallery[first:last], dtype=native)
        release_pages(gallery)
