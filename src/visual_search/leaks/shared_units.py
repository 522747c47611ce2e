"""Groups and views that stand in two roles, by what the metadata says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from visual_search.ids import Id
from visual_search.leaks.roles import Role, RoleName

__all__ = ["SharedUnit", "shared_units"]


@dataclass(frozen=True, slots=True)
class SharedUnit:
    """One group, or one view of a group, in two roles.

    Attributes
    ----------
    kind : {"group", "view"}
    group : str or None
    view : str or None
        None where a group is what is shared.
    counts : dict of role to int
        Pictures of it in each of the two roles.
    """

    kind: Literal["group", "view"]
    group: str | None
    view: str | None
    counts: dict[RoleName, int]

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {"kind": self.kind, "group": self.group, "view": self.view, "counts": dict(self.counts)}

    def words(self) -> str:
        """What is shared, in a line."""
        where = " and ".join(f"{number:,} of {role}" for role, number in self.counts.items())
        group = "" if self.group is None else f"group {self.group!r}"
        view = "" if self.view is None else f"view {self.view!r}"
        return f"{', '.join(part for part in (group, view) if part)} in both roles: {where}"


def shared_units(roles: Sequence[Role]) -> tuple[SharedUnit, ...]:
    """Find groups that train shares with query or gallery, and views of a group in both query and gallery.

    A group (a scene, a person) has its queries and its right answers in two roles on purpose; a model that was
    trained on it has seen them. The same view of it as query and as item is the picture itself, or its twin.

    Returns
    -------
    tuple of SharedUnit
        Groups first, then views; each in order of appearance.
    """
    by_name = {role.name: role for role in roles}
    found: list[SharedUnit] = []
    for name in ("query", "gallery"):
        if "train" in by_name and name in by_name:
            found += _groups_of(by_name[name], by_name["train"])
    if "query" in by_name and "gallery" in by_name:
        found += _views_of(by_name["query"], by_name["gallery"])
    return tuple(found)


def _groups_of(role: Role, train: Role) -> list[SharedUnit]:
    ours, theirs = _known(role, role.groups), _known(train, train.groups)
    return [
        SharedUnit("group", group, None, {role.name: number, train.name: theirs[group]})
        for group, number in ours.items()
        if group in theirs
    ]


def _views_of(query: Role, gallery: Role) -> list[SharedUnit]:
    ours, theirs = _views(query), _views(gallery)
    return [
        SharedUnit("view", group, view, {query.name: number, gallery.name: theirs[group, view]})
        for (group, view), number in ours.items()
        if (group, view) in theirs
    ]


def _known(role: Role, values: dict[Id, str] | Any) -> Counter[str]:
    return Counter(values[one] for one in role.ids if one in values)


def _views(role: Role) -> Counter[tuple[str | None, str]]:
    return Counter((role.groups.get(one), role.views[one]) for one in role.ids if one in role.views)
