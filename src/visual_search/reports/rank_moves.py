"""How items move from one system's list to another's, drawn as lines between two rows of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from visual_search.ids import Id
from visual_search.reports.cases import Case, Hit

__all__ = ["ItemMove", "RankMoves", "rank_moves"]

PITCH = 112  # pixels from one picture to the next; the style sheet has the same number
_HEIGHT = 44


@dataclass(frozen=True, slots=True)
class ItemMove:
    """One item in two lists: its rank in each, None where it is ignored or was not returned among those shown."""

    item: Id
    state: str
    before: int | None
    after: int | None
    x1: float | None = None
    x2: float | None = None


@dataclass(frozen=True, slots=True)
class RankMoves:
    """Moves of the items that both rows show, and of those that only one does.

    Attributes
    ----------
    moves : sequence of ItemMove
        In the order of the first list, then what is new in the second.
    columns : int
        Pictures of the longer row.
    """

    moves: Sequence[ItemMove]
    columns: int

    @property
    def svg(self) -> Markup:
        """Lines from the upper row's pictures to the lower row's: those of right items are thick."""
        lines = Markup("").join(
            Markup('<line class="move {state}" x1="{x1}" y1="2" x2="{x2}" y2="{y2}"/>').format(
                state=one.state, x1=f"{one.x1:g}", x2=f"{one.x2:g}", y2=_HEIGHT - 2
            )
            for one in self.moves
            if one.x1 is not None and one.x2 is not None
        )
        width = self.columns * PITCH
        return Markup(
            '<svg class="moves" viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true" '
            'focusable="false">{lines}</svg>'
        ).format(width=width, height=_HEIGHT, lines=lines)

    @property
    def words(self) -> list[str]:
        """The moves of right items, for who cannot see lines."""
        return [_said(one) for one in self.moves if one.state == "relevant"]

    def as_json(self) -> list[dict[str, Any]]:
        """As a JSON value."""
        return [{"item": m.item, "state": m.state, "before": m.before, "after": m.after} for m in self.moves]


def rank_moves(first: Case, second: Case) -> RankMoves:
    """Find where the items of one system's list are in another's.

    Parameters
    ----------
    first, second : Case
        The same query under two systems.
    """
    upper, lower = _shown(first), _shown(second)
    places = {hit.item: (column, hit) for column, hit in enumerate(lower)}
    moves = []
    for column, hit in enumerate(upper):
        there = places.pop(hit.item, None)
        if there is None:
            moves.append(ItemMove(hit.item, hit.state, hit.rank, None))
        else:
            x1, x2 = ((one + 0.5) * PITCH - 4 for one in (column, there[0]))
            moves.append(ItemMove(hit.item, hit.state, hit.rank, there[1].rank, x1, x2))
    moves += [ItemMove(hit.item, hit.state, None, hit.rank) for _, hit in places.values()]
    return RankMoves(moves, max(len(upper), len(lower), 1))


def _shown(case: Case) -> list[Hit]:
    return [*case.hits, *([case.later] if case.later else [])]


def _said(move: ItemMove) -> str:
    if move.after is None:
        words = "goes out" if move.before is None else f"goes out from rank {move.before:,}"
    elif move.before is None:
        words = f"comes in at rank {move.after:,}"
    elif move.before == move.after:
        words = f"stays at rank {move.after:,}"
    else:
        words = f"rank {move.before:,} to rank {move.after:,}"
    return f"\u2068{move.item}\u2069: {words}"
