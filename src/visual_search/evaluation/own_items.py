"""Leave-one-out: which queries are items of the gallery, by their ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from visual_search.counted import counted
from visual_search.errors import first_few
from visual_search.ids import Id, Ids

__all__ = ["OwnItems", "own_items"]


@dataclass(frozen=True, slots=True)
class OwnItems:
    """What leaving each query's own item out came to.

    Attributes
    ----------
    queries : int
    without : tuple of ids
        Queries whose id is that of no item.
    items : tuple of ids
        The first items, for comparison.
    """

    queries: int
    without: tuple[Id, ...]
    items: tuple[Id, ...]

    def protocol(self) -> dict[str, str] | None:
        """What was done, in words; None where it was nothing."""
        if len(self.without) == self.queries:
            return None
        words = "each query is an item of the gallery, which is left out of its own ranking"
        if self.without:
            found = self.queries - len(self.without)
            of_all = counted(self.queries, "query", "queries")
            words = f"{found} of {of_all} are items of the gallery and left out of their own rankings"
        return {"name": "leave-one-out", "words": words}

    def warnings(self) -> list[str]:
        """Say where leaving out did nothing."""
        if not self.without:
            return []
        alike = f"query ids such as {first_few(self.without[:3])}, items such as {first_few(self.items)}"
        if len(self.without) == self.queries:
            why = f"no query id is an item id, so that no item was left out of any ranking ({alike})"
            return [f"exclude_self did nothing: {why}; give each query the id of its own item, or do without it"]
        of_all = counted(self.queries, "query", "queries")
        return [f"exclude_self did nothing for {len(self.without)} of {of_all}, whose id is no item id ({alike})"]


def own_items(queries: Sequence[Id], gallery: Ids) -> OwnItems:
    """Look for every query's id among the items.

    >>> own_items(["a", "q"], Ids(["a", "b"])).without
    ('q',)
    """
    without = tuple(query for query in queries if query not in gallery)
    return OwnItems(len(queries), without, tuple(gallery.take(range(min(3, len(gallery))))))
