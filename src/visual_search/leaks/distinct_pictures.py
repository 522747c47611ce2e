"""The distinct pictures of all roles: each compared once, however often and wherever it is stored."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.leaks.roles import Role, Vectors
from visual_search.leaks.signatures import SIGNATURE, Signatures

__all__ = ["DistinctPictures"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


class DistinctPictures:
    """Pictures of several roles, those that are the same pixel for pixel taken together.

    Parameters
    ----------
    roles : sequence of Role
        At most 8.

    Attributes
    ----------
    role, row : int64 arrays of shape (items,)
        For each item of all roles in order, its role's place and its row there.
    picture : int64 array of shape (items,)
        The distinct picture that it shows.
    counts : int64 array of shape (pictures, roles)
        How often each picture stands in each role.
    has_pixels : bool array of shape (pictures,)
        False for what is known by its vector alone; then one id in two roles is one picture.
    """

    def __init__(self, roles: Sequence[Role]) -> None:
        self.roles = tuple(roles)
        sizes = [len(role) for role in roles]
        self.role = np.repeat(np.arange(len(roles), dtype=np.int64), sizes)
        self.row = np.concatenate([np.arange(size, dtype=np.int64) for size in sizes])
        self.picture, self._first = _numbered(roles)
        self.counts = np.zeros((len(self._first), len(roles)), dtype=np.int64)
        np.add.at(self.counts, (self.picture, self.role), 1)
        self._order = np.argsort(self.picture, kind="stable")
        self._starts = np.concatenate(([0], np.cumsum(self.counts.sum(axis=1))))
        with_pixels = np.array([role.signatures is not None for role in roles], dtype=np.bool_)
        self.has_pixels: BoolArray = with_pixels[self.role[self._first]]

    def __len__(self) -> int:
        return len(self._first)

    def items(self, picture: int) -> Int64Array:
        """Items that show a picture, in order."""
        found: Int64Array = self._order[self._starts[picture] : self._starts[picture + 1]]
        return found

    @property
    def in_role(self) -> BoolArray:
        """Whether each picture stands in each role: shape (pictures, roles)."""
        present: BoolArray = self.counts > 0
        return present

    def signatures(self) -> Signatures:
        """Signature of each distinct picture; zeros where it has none."""
        taken = np.zeros(len(self), dtype=SIGNATURE)
        for place, role in enumerate(self.roles):
            if role.signatures is not None:
                mine = self.role[self._first] == place
                taken[mine] = role.signatures[self.row[self._first[mine]]]
        return taken

    def vectors(self) -> Vectors:
        """Vector of each distinct picture; all roles have them."""
        width = next(role.vectors.shape[1] for role in self.roles if role.vectors is not None)
        taken = np.zeros((len(self), width), dtype=np.float32)
        for place, role in enumerate(self.roles):
            if role.vectors is not None:
                mine = self.role[self._first] == place
                taken[mine] = role.vectors[self.row[self._first[mine]]]
        return taken


def _numbered(roles: Sequence[Role]) -> tuple[Int64Array, Int64Array]:
    """Number of the distinct picture of each item, in order of appearance, and the first item of each."""
    numbers: dict[Hashable, int] = {}
    first: list[int] = []
    picture: list[int] = []
    for role in roles:
        keys: list[Hashable] = (
            [("id", one) for one in role.ids]
            if role.signatures is None
            else [one.tobytes() for one in role.signatures["digest"]]
        )
        for key in keys:
            number = numbers.setdefault(key, len(numbers))
            if number == len(first):
                first.append(len(picture))
            picture.append(number)
    return np.array(picture, dtype=np.int64), np.array(first, dtype=np.int64)
