"""Pairs of distinct pictures that were found alike, and which pairs are looked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.leaks.distinct_pictures import BoolArray, Int64Array

__all__ = ["KIND_WORDS", "MOST_PICTURE_PAIRS", "LeakKind", "PicturePairs", "Wanted", "joined"]

LeakKind: TypeAlias = Literal["same_item", "same_pixels", "near", "mirrored", "embedding"]
FloatArray: TypeAlias = npt.NDArray[np.float64]

# One of them, and several.
KIND_WORDS: dict[LeakKind, tuple[str, str]] = {
    "same_item": ("the same file or id in both roles", "the same file or id in both roles"),
    "same_pixels": ("the same pixel for pixel", "the same pixel for pixel"),
    "near": ("near-duplicate", "near-duplicates"),
    "mirrored": ("mirrored near-duplicate", "mirrored near-duplicates"),
    "embedding": ("near-duplicate by embedding", "near-duplicates by embedding"),
}

# 48 bytes each; far more than anybody looks at.
MOST_PICTURE_PAIRS = 5_000_000


@dataclass(frozen=True, slots=True, eq=False)
class PicturePairs:
    """Pairs of one kind.

    Attributes
    ----------
    kind : str
    first, second : int64 arrays of shape (n,)
        Distinct pictures.
    bits64, bits256 : int64 arrays of shape (n,), or None
        Hash bits in which they differ.
    detail, cosine : float64 arrays of shape (n,), or None
        Correlation of their detail, cosine of their vectors.
    """

    kind: LeakKind
    first: Int64Array
    second: Int64Array
    bits64: Int64Array | None = None
    bits256: Int64Array | None = None
    detail: FloatArray | None = None
    cosine: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.first)

    def taken(self, rows: Int64Array) -> PicturePairs:
        """Some of the pairs, in the order of ``rows``."""
        return PicturePairs(
            self.kind,
            self.first[rows],
            self.second[rows],
            None if self.bits64 is None else self.bits64[rows],
            None if self.bits256 is None else self.bits256[rows],
            None if self.detail is None else self.detail[rows],
            None if self.cosine is None else self.cosine[rows],
        )


def joined(blocks: Iterable[PicturePairs]) -> PicturePairs:
    """Blocks of one kind after each other; where there are no pairs, an empty one."""
    kept = [block for block in blocks if len(block)]
    none = np.empty(0, dtype=np.int64)
    if not kept:
        return PicturePairs("near", none, none)

    def column(name: str) -> Any:
        return None if getattr(kept[0], name) is None else np.concatenate([getattr(one, name) for one in kept])

    return PicturePairs(
        kept[0].kind,
        column("first"),
        column("second"),
        column("bits64"),
        column("bits256"),
        column("detail"),
        column("cosine"),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """Which pairs are looked for: of two roles, or also within one.

    Attributes
    ----------
    in_role : bool array of shape (pictures, roles)
    within : bool
    """

    in_role: BoolArray
    within: bool

    def pairs(self, first: Int64Array, second: Int64Array) -> BoolArray:
        """Whether each pair of pictures has two items that may be a leak."""
        if self.within:
            return np.ones(len(first), dtype=np.bool_)
        both: BoolArray = (self.in_role[first] | self.in_role[second]).sum(axis=1) > 1
        return both

    def searching(self, candidates: Int64Array) -> Int64Array:
        """The pictures to search with: all that stand not only in the largest role, where each pair has one."""
        if self.within or not len(candidates):
            return candidates
        largest = int(self.in_role[candidates].sum(axis=0).argmax())
        only = self.in_role[candidates, largest] & (self.in_role[candidates].sum(axis=1) == 1)
        kept: Int64Array = candidates[~only]
        return kept
