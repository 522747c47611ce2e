"""Measures that lists are too short for once items are taken out of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from visual_search.evaluation.measures.measure import Measure
from visual_search.ids import Id
from visual_search.rankings.ranking import Ranking

__all__ = ["cut_short"]


def cut_short(
    ranking: Ranking, matches: Mapping[Id, Collection[Id]], measures: Iterable[Measure]
) -> tuple[Measure, ...]:
    """Measures at k for which some list has k items with, but fewer without, the items taken out.

    What would have moved up to rank k was never returned, so the value without the items would be too low. Lists that
    hold every item of the ranking's vocabulary are whole and hide nothing.

    Examples
    --------
    >>> from visual_search import parse_measure
    >>> ranking = Ranking.from_dict({"q": {"copy": 1.0, "a": 0.5}, "p": {"b": 1.0, "c": 0.5}})
    >>> [str(one) for one in cut_short(ranking, {"q": ["copy"]}, map(parse_measure, ["RR@1", "RR@2", "RR@3"]))]
    ['RR@2']
    """
    lengths = ranking.lengths.tolist()
    changed = []
    for query, items in matches.items():
        if query in ranking.queries:
            length = lengths[ranking.queries.row(query)]
            taken = len({item for item, _ in ranking.listed(query)}.intersection(items))
            if taken and length < len(ranking.items):
                changed.append((length, length - taken))
    return tuple(
        one
        for one in measures
        if isinstance(one.depth, int) and any(left < one.depth <= length for length, left in changed)
    )
