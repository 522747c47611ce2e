"""Moves between two lists of one query."""

from visual_search.reports.cases import Case, Hit
from visual_search.reports.pictures import Picture
from visual_search.reports.rank_moves import PITCH, rank_moves
from visual_search.reports.systems import QueryValues

NONE = Picture(None)


def listed(*items: str, later: tuple[str, int] | None = None) -> Case:
    hits = [Hit(rank, item, 0.5, None, state(item), None, NONE) for rank, item in enumerate(items, start=1)]
    case = Case(QueryValues("q", None, None, None, None), NONE, hits)
    if later:
        case.later = Hit(later[1], later[0], 0.1, None, state(later[0]), None, NONE)
    return case


def state(item: str) -> str:
    return "relevant" if item.startswith("right") else "not_relevant"


def test_every_item_of_either_list_is_told_once() -> None:
    moves = rank_moves(listed("a", "right", "b"), listed("right", "c", "a"))
    told = {move.item: (move.before, move.after) for move in moves.moves}
    assert told == {"a": (1, 3), "right": (2, 1), "b": (3, None), "c": (None, 2)}
    assert moves.words == ["\u2068right\u2069: rank 2 to rank 1"]


def test_what_comes_goes_and_stays_is_told_in_words() -> None:
    moves = rank_moves(listed("right 1", "right 2", "a"), listed("right 1", "b", "right 3"))
    assert moves.words == [
        "\u2068right 1\u2069: stays at rank 1",
        "\u2068right 2\u2069: goes out from rank 2",
        "\u2068right 3\u2069: comes in at rank 3",
    ]


def test_lines_go_from_picture_to_picture() -> None:
    moves = rank_moves(listed("right", "a"), listed("a", "b", later=("right", 57)))
    move = moves.moves[0]
    assert (move.before, move.after) == (1, 57)
    assert move.x1 is not None
    assert move.x2 is not None
    assert (move.x2 - move.x1) / PITCH == 2
    assert moves.columns == 3
    assert moves.svg.count("<line") == 2
    assert "style=" not in moves.svg


def test_ids_are_no_markup() -> None:
    moves = rank_moves(listed("right<script>"), listed("right<script>"))
    assert "<script>" not in moves.svg
