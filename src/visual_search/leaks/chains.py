"""Pairs chained to groups: what is alike step by step belongs together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from visual_search.leaks.distinct_pictures import Int64Array

__all__ = ["Chain", "chains_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Distinct pictures connected by pairs.

    Attributes
    ----------
    pictures : int64 array
        In rising order; a single one where its copies stand in two roles.
    pairs : int
        Pairs of them that are alike directly.
    """

    pictures: Int64Array
    pairs: int

    @property
    def complete(self) -> bool:
        """Whether every two of them are alike directly; else the ends of the chain may be two pictures."""
        return self.pairs == len(self.pictures) * (len(self.pictures) - 1) // 2


def chains_of(count: int, first: Int64Array, second: Int64Array, alone: Sequence[int] = ()) -> list[Chain]:
    """Connected components of distinct pairs.

    Parameters
    ----------
    count : int
        Pictures there are.
    first, second : int64 arrays of shape (n,)
        Pairs, each once.
    alone : sequence of int
        Pictures that make a chain even when nothing else is like them.

    Returns
    -------
    list of Chain
        By their first picture.

    Examples
    --------
    >>> one, two = chains_of(6, np.array([0, 1]), np.array([1, 4]), alone=[3])
    >>> one.pictures.tolist(), one.complete, two.pictures.tolist(), two.complete
    ([0, 1, 4], False, [3], True)
    """
    parent = list(range(count))

    def root(picture: int) -> int:
        while parent[picture] != picture:
            parent[picture] = parent[parent[picture]]
            picture = parent[picture]
        return picture

    for one, other in zip(first.tolist(), second.tolist(), strict=True):
        left, right = root(one), root(other)
        # The smaller number stays on top, so that a chain is called by its first picture.
        parent[max(left, right)] = min(left, right)
    members = sorted({*first.tolist(), *second.tolist(), *alone})
    chained: dict[int, list[int]] = {}
    for picture in members:
        chained.setdefault(root(picture), []).append(picture)
    direct: dict[int, int] = dict.fromkeys(chained, 0)
    for one in first.tolist():
        direct[root(one)] += 1
    return [Chain(np.array(pictures, dtype=np.int64), direct[top]) for top, pictures in chained.items()]
