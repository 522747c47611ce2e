"""Person re-identification: the same identity from another camera."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from visual_search.errors import InputError, first_few
from visual_search.evaluation.protocols.conditions import SameGroup
from visual_search.evaluation.protocols.metadata import Metadata, Table
from visual_search.evaluation.protocols.proving import Promises
from visual_search.evaluation.protocols.sides import Side
from visual_search.evaluation.protocols.split import Split, Unanswered, make_split
from visual_search.ids import Id

__all__ = ["reidentification"]


def reidentification(
    table: Table,
    *,
    identity: str,
    camera: str,
    role: str,
    query: Id = "query",
    gallery: Id = "gallery",
    item: str | None = None,
    junk: Id | Iterable[Id] = (-1,),
    where: Mapping[str, Id | Sequence[Id]] | None = None,
    unanswered: Unanswered = "leave out",
) -> Split:
    """Queries and gallery by a column; the query's own camera is ignored.

    Parameters
    ----------
    table, item, where
        As for `by_view`.
    identity, camera, role : str
        Columns of the person, the camera, and the part each image belongs to.
    query, gallery : str or int
        Values of ``role``.
    junk : id or iterable of ids
        Identities that are nobody (-1 in Market-1501): ignored for every query. They cost one pair each a query.
    unanswered : {"leave out", "fail"}
        What is done with queries whose identity only their own camera saw; the field leaves them out.

    Returns
    -------
    Split
        It promises that the gallery has every query's identity, that no right answer is from the query's own camera,
        and that every query kept has an answer.

    Raises
    ------
    InputError
        No query identity is in the gallery, or there is one camera only; the message names the column.

    Examples
    --------
    >>> table = {
    ...     "person": [1, 1, 1, -1], "camera": [1, 1, 2, 2], "part": ["query", "gallery", "gallery", "gallery"]
    ... }
    >>> split = reidentification(table, identity="person", camera="camera", role="part")
    >>> split.relevance.judged(0), int(split.relevance.ignored.sum())
    ({2: 1.0}, 2)
    """
    metadata = Metadata(table, where=where)
    everything = metadata.side(item, group=identity, view=camera)
    parts = metadata.column(role)
    rows = [np.flatnonzero(parts.codes == parts.code_of(value, name=role)) for value in (query, gallery)]
    sides = everything.taken(rows[0]), everything.taken(rows[1])
    nobody = (junk,) if isinstance(junk, str | int) else tuple(junk)
    _check(sides, identity, camera, nobody)
    return make_split(
        protocol="re-identification",
        words=f"{role} {query} asks, {role} {gallery} is searched, the same {identity} and {camera} being ignored",
        queries=sides[0],
        gallery=sides[1],
        condition=SameGroup(other_view=True, junk=nobody),
        promises=Promises(items="ignored", groups="within", views="other"),
        unanswered=unanswered,
        options={
            "table": metadata.name,
            "identity": identity,
            "camera": camera,
            "role": role,
            "junk": list(nobody),
        },
    )


def _check(sides: tuple[Side, Side], identity: str, camera: str, junk: tuple[Id, ...]) -> None:
    queries, gallery = sides
    assert queries.group is not None
    assert gallery.group is not None
    assert queries.view is not None
    assert gallery.view is not None
    nobody = {str(value) for value in junk}
    asking = [value for value in queries.group.used() if str(value) not in nobody]
    there = dict.fromkeys(gallery.group.used())
    if not any(value in there for value in asking):
        raise InputError(
            f"column {identity!r}: all query identities do not appear in gallery ({first_few(asking, 3)} against "
            f"{first_few(there, 3)}); look whether it is the column of identities, and the roles those meant"
        )
    cameras = dict.fromkeys([*queries.view.used(), *gallery.view.used()])
    if len(cameras) == 1:
        raise InputError(
            f"column {camera!r}: one camera id only, {first_few(cameras)}, so that every right answer would be "
            "ignored; look whether it is the column of cameras"
        )
