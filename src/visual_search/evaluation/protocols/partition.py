"""Parts by group: train, validation and test, or folds, every group on one side only."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError, first_few
from visual_search.evaluation.protocols.group_names import groups_alike
from visual_search.evaluation.protocols.proof import Claim, Proof, Status
from visual_search.evaluation.protocols.proving import side_fingerprint, what_was_compared
from visual_search.evaluation.protocols.sides import Column, Side
from visual_search.ids import Id

__all__ = ["Partition", "prove_parts"]

_EXAMPLES = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Partition:
    """Items in parts, and the proof that no group is in two of them.

    Attributes
    ----------
    protocol, words : str
        Its name, and how the parts were made.
    parts : mapping of str to Side
        The items of each part, in the table's order.
    allowed : tuple of str
        Claims that need not hold, since whoever made it asked for that by name.
    proof : Proof
        That no item and no group is in two parts, and that no part is empty.
    left_out : int
        Rows of the table that are in no part.
    warnings : tuple of str
    options : mapping
        How it was made, as JSON values.
    """

    protocol: str
    words: str
    parts: Mapping[str, Side]
    proof: Proof
    allowed: tuple[str, ...] = ()
    left_out: int = 0
    warnings: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_codes(
        cls,
        everything: Side,
        codes: npt.NDArray[np.int64],
        names: Sequence[str],
        *,
        protocol: str,
        words: str,
        allowed: tuple[str, ...] = (),
        warnings: tuple[str, ...] = (),
        options: Mapping[str, Any] | None = None,
    ) -> Partition:
        """From the number of each item's part; -1 where it is in none."""
        parts = {name: everything.taken(np.flatnonzero(codes == code)) for code, name in enumerate(names)}
        return cls(
            protocol=protocol,
            words=words,
            parts=parts,
            proof=prove_parts(parts, allowed),
            allowed=allowed,
            left_out=int((codes < 0).sum()),
            warnings=(*warnings, *(() if everything.group is None else groups_alike(everything.group.used()))),
            options=dict(options or {}),
        )

    def ids(self, part: str) -> list[Id]:
        """Ids of one part.

        Raises
        ------
        InputError
            No such part.
        """
        if part not in self.parts:
            raise InputError(f"part={part!r}: there are {', '.join(self.parts)}")
        return list(self.parts[part].ids)

    def groups_where(self) -> dict[Id, dict[str, int]]:
        """Which groups are where: for each its number of items in each part that has any."""
        counts: dict[Id, dict[str, int]] = {}
        for name, side in self.parts.items():
            for group in [] if side.group is None else side.group.rows():
                of_group = counts.setdefault(group, {})
                of_group[name] = of_group.get(name, 0) + 1
        return counts

    def require(self) -> Partition:
        """Give this partition, if its proof holds; else a `ProofError` with every claim that fails."""
        self.proof.require(self.protocol)
        return self

    def proven_anew(self) -> Partition:
        """The same with its proof made again from what it holds now."""
        return replace(self, proof=prove_parts(self.parts, self.allowed))

    def record(self) -> dict[str, Any]:
        """What a result says of the parts: name, words, sizes, warnings, and the proof."""
        return {
            "name": self.protocol,
            "words": self.words,
            "parts": {name: len(side) for name, side in self.parts.items()},
            "warnings": list(self.warnings),
            "left_out": self.left_out,
            "proof": self.proof.as_json(),
        }

    def summary(self) -> str:
        """The parts and the proof in words."""
        told = [f"{self.protocol}: {self.words}"]
        if self.left_out:
            told.append(f"left out: {counted(self.left_out, 'row', 'rows')} in no part")
        return "\n".join([*told, self.proof.words(), *(f"warning: {one}" for one in self.warnings)])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it whole: Parquet where the name ends in ``.parquet``, else JSON."""
        from visual_search.evaluation.protocols.split_files import write_split

        write_split(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Partition:
        """Read a partition and prove it again.

        Raises
        ------
        FileFormatError
            Not a partition, cut off, or its proof is not that of its content.
        """
        from visual_search.evaluation.protocols.split_files import read_split

        found = read_split(path)
        if not isinstance(found, Partition):
            raise InputError(f"{os.fspath(path)}: holds queries and gallery, no parts by group; use Split.load")
        return found

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} {len(side)}" for name, side in self.parts.items())
        holds = "holds" if self.proof.holds else f"fails: {', '.join(self.proof.failed)}"
        return f"Partition({self.protocol}: {sizes}; proof {holds})"


def prove_parts(parts: Mapping[str, Side], allowed: tuple[str, ...] = ()) -> Proof:
    """Check that no part is empty and that no item and no group is in two of them."""
    found = [_sizes(parts), _shared(parts, "items"), _shared(parts, "groups")]
    claims = []
    for name, holds, words, counts, examples in found:
        status: Status = "holds" if holds else "allowed" if name in allowed else "fails"
        claims.append(Claim(name, status, words, counts, examples))
    return Proof(tuple(claims), {name: side_fingerprint(side) for name, side in parts.items()})


_Found = tuple[str, bool, str, dict[str, int], tuple[Id, ...]]


def _sizes(parts: Mapping[str, Side]) -> _Found:
    sizes = {name: len(side) for name, side in parts.items()}
    groups = [0 if side.group is None else len(side.group.used()) for side in parts.values()]
    told = ", ".join(
        f"{name} {counted(size, 'item', 'items')} of {counted(number, 'group', 'groups')}"
        for (name, size), number in zip(sizes.items(), groups, strict=True)
    )
    empty = tuple(name for name, size in sizes.items() if not size)
    words = f"{told}; {', '.join(empty)} is empty" if empty else told
    return "parts", not empty and len(parts) > 1, words, sizes, empty


def _shared(parts: Mapping[str, Side], what: str) -> _Found:
    where: dict[Id, str] = {}
    twice: dict[Id, tuple[str, str]] = {}
    for name, side in parts.items():
        for value in _values(side, what):
            if where.setdefault(value, name) != name:
                twice.setdefault(value, (where[value], name))
    unknown = what == "groups" and any(side.group is None for side in parts.values())
    counts = {"distinct": len(where), "shared": len(twice)}
    if unknown:
        return what, False, "no group is known of some items", counts, ()
    one = what[:-1]
    if what == "items" and not twice:
        one, more = what_was_compared(next(iter(parts.values())))
        return what, True, f"no {one} is in two parts: {counted(len(where), one, f'{one}s')}{more}", counts, ()
    if not twice:
        return what, True, f"no {one} is in two parts: {counted(len(where), one, what)}", counts, ()
    first = first_few([f"{value} in {' and '.join(pair)}" for value, pair in twice.items()], 3)
    words = f"{counted(len(twice), f'{one} is', f'{what} are')} in two parts, first {first}"
    return what, False, words, counts, tuple(twice)[:_EXAMPLES]


def _values(side: Side, what: str) -> Sequence[Id]:
    column: Column | None = side.group
    if what == "items":
        return side.ids if side.image is None else side.image.rows()
    return [] if column is None else column.used()
