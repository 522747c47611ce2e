"""What was found: every pair with its kind, distances, roles and group, and what was compared by which rule."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from visual_search.errors import InputError
from visual_search.formats.atomic import write_text
from visual_search.formats.results import ImageLocation
from visual_search.ids import Id
from visual_search.leaks.picture_pairs import LeakKind
from visual_search.leaks.report_words import report_words
from visual_search.leaks.roles import RoleName
from visual_search.leaks.shared_units import SharedUnit
from visual_search.leaks.thresholds import LeakThresholds

__all__ = ["LeakGroup", "LeakPair", "LeakReport", "LeakSide", "RoleCounts"]


@dataclass(frozen=True, slots=True)
class LeakSide:
    """One picture of a pair: its role and its id there."""

    role: RoleName
    id: Id


@dataclass(frozen=True, slots=True)
class LeakPair:
    """Two pictures that are one.

    Attributes
    ----------
    kind : {"same_item", "same_pixels", "near", "mirrored", "embedding"}
        The strongest that holds, in this order.
    first, second : LeakSide
        Queries before gallery before train.
    group : int
        Number of its `LeakGroup`, from 1.
    bits64, bits256 : int or None
        Hash bits in which they differ; None where hashes were not what decided.
    detail, cosine : float or None
        Correlation of their detail at 24 x 24 pixels; cosine of their embeddings.
    """

    kind: LeakKind
    first: LeakSide
    second: LeakSide
    group: int
    bits64: int | None = None
    bits256: int | None = None
    detail: float | None = None
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class LeakGroup:
    """Pairs that hang together.

    Attributes
    ----------
    number : int
        From 1.
    pictures : int
        Distinct pictures in it.
    items : int
        Files of all roles that show one of them.
    complete : bool
        Whether every two distinct pictures are alike directly. Where not, it is a chain (a like b, b like c), and
        its ends may be two pictures.
    """

    number: int
    pictures: int
    items: int
    complete: bool

    @property
    def long(self) -> bool:
        """A chain of more than 20 pictures: rather a scene that was filmed than one picture; look at it."""
        return not self.complete and self.pictures > 20


@dataclass(frozen=True, slots=True)
class RoleCounts:
    """One role in numbers.

    Attributes
    ----------
    name : str
    pictures : int
        Pictures compared.
    left_out : int
        Files that are no pictures or could not be decoded; never duplicates of anything.
    plain : int
        Pictures without detail (uniform, smooth), compared by their pixels only.
    flagged : int
        Pictures in at least one pair.
    ledger : mapping
        Counts of what was done to files and why some were left out.
    """

    name: RoleName
    pictures: int
    left_out: int
    plain: int
    flagged: int
    ledger: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class LeakReport:
    """What :func:`visual_search.leaks.finding.find_leaks` found.

    Attributes
    ----------
    pairs : tuple of LeakPair
        Every pair of two roles (or also within one, where asked for), at most ``max_pairs`` of them.
    pairs_by_kind : mapping of kind to int
        How many there are, those not listed too.
    groups : tuple of LeakGroup
    shared : tuple of SharedUnit
        Groups of train and test, and views of a group in both query and gallery, by the metadata given.
    roles : tuple of RoleCounts
    thresholds : LeakThresholds
    mirrored, within : bool
        Whether mirror images, and pairs within one role, were looked for.
    flagged : mapping of role to tuple of ids
        Pictures in at least one pair, listed or not.
    places : mapping of role to mapping of id to ImageLocation
        Where the flagged pictures are, as far as known, with the hashes of what was compared.
    """

    pairs: tuple[LeakPair, ...]
    pairs_by_kind: Mapping[LeakKind, int]
    groups: tuple[LeakGroup, ...]
    shared: tuple[SharedUnit, ...]
    roles: tuple[RoleCounts, ...]
    thresholds: LeakThresholds
    mirrored: bool
    within: bool
    flagged: Mapping[RoleName, tuple[Id, ...]]
    places: Mapping[RoleName, Mapping[Id, ImageLocation]] = field(repr=False)

    @property
    def clean(self) -> bool:
        """No pair and nothing shared."""
        return not self.pairs and not self.shared

    @property
    def pairs_left_out(self) -> int:
        """Pairs beyond ``max_pairs``: counted, not listed."""
        return sum(self.pairs_by_kind.values()) - len(self.pairs)

    def place(self, side: LeakSide) -> ImageLocation | None:
        """Where a picture's file is; None where that is not known."""
        return self.places.get(side.role, {}).get(side.id)

    def matches(self, role: RoleName, other: RoleName) -> dict[Id, tuple[Id, ...]]:
        """For each flagged picture of one role, its listed partners in the other.

        Raises
        ------
        InputError
            Pairs were left out, so the partners are not all known; find leaks with a higher ``max_pairs``.
        """
        if self.pairs_left_out:
            raise InputError(
                f"leaks: {self.pairs_left_out:,} pairs are not listed, so partners are not all known; find leaks with "
                "a higher max_pairs"
            )
        found: dict[Id, dict[Id, None]] = {}
        for pair in self.pairs:
            for one, two in ((pair.first, pair.second), (pair.second, pair.first)):
                if (one.role, two.role) == (role, other):
                    found.setdefault(one.id, {})[two.id] = None
        return {one: tuple(partners) for one, partners in found.items()}

    def words(self) -> str:
        """The report in some lines, for people."""
        return report_words(self)

    def as_json(self) -> dict[str, Any]:
        """The whole report as a JSON object."""
        return {
            "format": "visual-search leaks",
            "format_version": 1,
            "clean": self.clean,
            "roles": [{**asdict(role), "ledger": dict(role.ledger)} for role in self.roles],
            "thresholds": self.thresholds.as_json(),
            "mirrored": self.mirrored,
            "within": self.within,
            "pairs_by_kind": dict(self.pairs_by_kind),
            "pairs_left_out": self.pairs_left_out,
            "groups": [asdict(group) for group in self.groups],
            "shared": [unit.as_json() for unit in self.shared],
            "flagged": {role: list(ids) for role, ids in self.flagged.items()},
            "pairs": [self._pair_json(pair) for pair in self.pairs],
        }

    def _pair_json(self, pair: LeakPair) -> dict[str, Any]:
        value = asdict(pair)
        for side, place in (("first", self.place(pair.first)), ("second", self.place(pair.second))):
            if place is not None:
                value[side]["path"] = str(place.path)
                if place.member is not None:
                    value[side]["member"] = place.member
                if place.sha256 is not None:
                    value[side]["sha256"] = place.sha256
        return value

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the JSON whole or not at all; file names with bytes that are no text are written as escapes."""
        import json

        write_text(path, json.dumps(self.as_json(), indent=1, ensure_ascii=True, allow_nan=False) + "\n")
