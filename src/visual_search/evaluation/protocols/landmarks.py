"""Landmark retrieval by difficulty: easy, medium and hard, with junk."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

import numpy as np

from visual_search.errors import DuplicateIdError, InputError, first_few
from visual_search.evaluation.protocols.conditions import relevance_of_pairs
from visual_search.evaluation.protocols.listed_pairs import ListedPairs
from visual_search.evaluation.protocols.metadata import Metadata, Table
from visual_search.evaluation.protocols.proving import Promises
from visual_search.evaluation.protocols.sides import Side
from visual_search.evaluation.protocols.split import Split, Unanswered, make_split
from visual_search.ids import Id, Ids

__all__ = ["Level", "landmark_difficulty"]

Level: TypeAlias = Literal["easy", "medium", "hard"]
_GRADES = ("easy", "hard", "junk")
# Which difficulties are right answers and which count neither way (Radenovic et al., CVPR 2018, section 4).
_RELEVANT = {"easy": ("easy",), "medium": ("easy", "hard"), "hard": ("hard",)}


def landmark_difficulty(
    pairs: Table,
    *,
    level: Level,
    query: str = "query",
    item: str = "item",
    difficulty: str = "difficulty",
    gallery: Iterable[Id] | None = None,
    unanswered: Unanswered = "leave out",
) -> Split:
    """Right answers of revisited Oxford and Paris, and of benchmarks made like them.

    Parameters
    ----------
    pairs : path, mapping, data frame or Metadata
        One row a pair: query, gallery item, and ``easy``, ``hard`` or ``junk``.
    level : {"easy", "medium", "hard"}
        Easy: hard ones are ignored with the junk. Medium: easy and hard are right. Hard: easy ones are ignored.
    query, item, difficulty : str
        Columns.
    gallery : iterable of ids, optional
        All items that are searched, distractors too; those of the table where left out.
    unanswered : {"leave out", "fail"}
        What is done with queries that have no right answer at this level; the field leaves them out.

    Returns
    -------
    Split
        To be measured under the preset ``revisitop-`` and the level.

    Raises
    ------
    InputError, DuplicateIdError
        A difficulty of another name, a pair twice, or items outside the gallery.

    Examples
    --------
    >>> pairs = {"query": ["q", "q", "q"], "item": [3, 5, 9], "difficulty": ["easy", "hard", "junk"]}
    >>> split = landmark_difficulty(pairs, level="hard", gallery=range(20))
    >>> split.relevance.judged("q"), int(split.relevance.ignored.sum()), split.options["preset"]
    ({5: 1.0}, 2, 'revisitop-hard')
    """
    if level not in get_args(Level):
        raise InputError(f"level={level!r}: one of {', '.join(get_args(Level))}")
    if isinstance(gallery, str):
        raise InputError(f"gallery={gallery!r} is one text; give a list of ids, [{gallery!r}]")
    metadata = Metadata(pairs)
    asked, found, hard = (metadata.column(name) for name in (query, item, difficulty))
    strange = [value for value in hard.used() if value not in _GRADES]
    if strange:
        raise InputError(f"column {difficulty!r}: {first_few(strange)}; each is one of {', '.join(_GRADES)}")
    queries, items = Ids(asked.values, what="queries"), Ids(gallery or found.values, what="gallery")
    rows = items.rows(found.values)
    absent = [value for value, row in zip(found.values, rows.tolist(), strict=True) if row < 0]
    if absent:
        raise InputError(f"column {item!r}: {len(absent)} items are not in the gallery, first {first_few(absent)}")
    keys = asked.codes * len(items) + rows[found.codes]
    if len(np.unique(keys)) != len(keys):
        raise DuplicateIdError(
            f"{metadata.name}: a pair of {query} and {item} is listed twice; each has one difficulty"
        )
    right = np.isin(hard.codes, [code for code, value in enumerate(hard.values) if value in _RELEVANT[level]])
    sides = Side(queries), Side(items)
    relevance = relevance_of_pairs(*sides, asked.codes, rows[found.codes], ~right)
    others = [value for value in _GRADES if value not in _RELEVANT[level]]
    return make_split(
        protocol=f"landmarks-{level}",
        words=f"right answers are {' and '.join(_RELEVANT[level])}; {' and '.join(others)} are ignored",
        queries=sides[0],
        gallery=sides[1],
        condition=ListedPairs.of(
            relevance, f"an item is relevant when it is listed as {' or '.join(_RELEVANT[level])}"
        ),
        promises=Promises(items="unrelated", groups="unstated"),
        unanswered=unanswered,
        options={"table": metadata.name, "level": level, "preset": f"revisitop-{level}"},
    )
