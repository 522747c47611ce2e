"""Group names that differ in case, outer space or the form of their letters only, as one group typed twice does."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from visual_search.counted import counted
from visual_search.ids import Id

__all__ = ["groups_alike"]


def groups_alike(groups: Iterable[Id]) -> tuple[str, ...]:
    """Say which names look like one group; they are taken for several.

    Examples
    --------
    >>> groups_alike(["Ann", "ann ", "bo"])
    ("1 group is written in several ways, which count as different groups: 'Ann' and 'ann '",)
    >>> groups_alike(["ann", "bo"])
    ()
    """
    written: dict[str, list[str]] = {}
    for name in dict.fromkeys(map(str, groups)):
        written.setdefault(unicodedata.normalize("NFKC", name).strip().casefold(), []).append(name)
    several = [" and ".join(map(repr, names)) for names in written.values() if len(names) > 1]
    if not several:
        return ()
    first = ", ".join(several[:3]) + (f" and {len(several) - 3} more" if len(several) > 3 else "")
    many = counted(len(several), "group is", "groups are")
    return (f"{many} written in several ways, which count as different groups: {first}",)
