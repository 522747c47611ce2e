"""Place recognition: what was taken near the query is a right answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from visual_search.evaluation.protocols.conditions import WithinRadius
from visual_search.evaluation.protocols.metadata import Metadata, Table
from visual_search.evaluation.protocols.near_places import Coordinates
from visual_search.evaluation.protocols.proving import Promises
from visual_search.evaluation.protocols.split import Split, Unanswered, make_split
from visual_search.ids import Id

__all__ = ["within_radius"]


def within_radius(
    table: Table,
    *,
    places: tuple[str, str],
    role: str,
    query: Id = "query",
    gallery: Id = "gallery",
    metres: float = 25.0,
    coordinates: Coordinates = "degrees",
    item: str | None = None,
    group: str | None = None,
    where: Mapping[str, Id | Sequence[Id]] | None = None,
    unanswered: Unanswered = "fail",
) -> Split:
    """Queries and gallery by a column; right answers lie within a radius.

    Parameters
    ----------
    table, item, where, unanswered
        As for `by_view`.
    places : tuple of two str
        Columns of latitude and longitude in degrees, or of metres east and north (UTM, one zone).
    role : str
        Column of the part each image belongs to; ``query`` and ``gallery`` are its values.
    metres : float
        The radius; a place exactly that far counts.
    coordinates : {"degrees", "metres"}
    group : str, optional
        Column of a sequence or place, over which intervals are drawn; nothing is promised of it.

    Returns
    -------
    Split
        It promises that no item is on both sides and that every query has an answer.

    Examples
    --------
    >>> table = {"part": ["query", "gallery", "gallery"], "lat": [60.0, 60.0001, 60.001], "lon": [24.0, 24.0, 24.0]}
    >>> within_radius(table, places=("lat", "lon"), role="part").relevance.judged(0)  # 11 m; the other is 111 m away
    {1: 1.0}
    """
    metadata = Metadata(table, where=where)
    everything = metadata.side(item, group=group, places=places)
    parts = metadata.column(role)
    rows = [np.flatnonzero(parts.codes == parts.code_of(value, name=role)) for value in (query, gallery)]
    return make_split(
        protocol="within-radius",
        words=f"{role} {query} asks, {role} {gallery} is searched",
        queries=everything.taken(rows[0]),
        gallery=everything.taken(rows[1]),
        condition=WithinRadius(metres, coordinates),
        promises=Promises(groups="unstated"),
        unanswered=unanswered,
        options={"table": metadata.name, "places": list(places), "role": role, "metres": metres},
    )
