"""Queries and gallery from one table: by view, one a group, leave-one-out, or as given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from visual_search.errors import InputError, first_few
from visual_search.evaluation.protocols.conditions import Condition, condition_named
from visual_search.evaluation.protocols.metadata import Metadata, Table
from visual_search.evaluation.protocols.proving import Promises
from visual_search.evaluation.protocols.sides import Side
from visual_search.evaluation.protocols.split import Split, Unanswered, make_split
from visual_search.evaluation.seeds import seeded
from visual_search.ids import Id, Ids

__all__ = ["by_view", "given_split", "leave_one_out", "one_query_per_group"]

Where: TypeAlias = "Mapping[str, Id | Sequence[Id]] | None"


def by_view(
    table: Table,
    *,
    group: str,
    view: str,
    query: Id,
    gallery: Id,
    item: str | None = None,
    label: str | None = None,
    relevant: str | Condition = "same-group",
    where: Where = None,
    unanswered: Unanswered = "fail",
) -> Split:
    """One view of each group asks, another is searched.

    Parameters
    ----------
    table : path, mapping, data frame or Metadata
        One row an item; CSV, Parquet, or in memory.
    group, view : str
        Columns of the scene or identity, and of the view or camera.
    query, gallery : str or int
        The view that asks, and the one that is searched.
    item : str, optional
        Column of ids; row numbers of the table where left out.
    label : str, optional
        Column of classes, for conditions that need it.
    relevant : str or Condition
        ``"same-group"``, ``"same-class-other-group"``, ``"shared-label"``, or a condition with parameters.
    where : mapping, optional
        Rows to look at, ``{"split": "test"}``.
    unanswered : {"fail", "leave out"}
        What is done with queries that have no right answer in the gallery. Left out, they are counted and named, and
        the gallery may hold more groups than the queries.

    Returns
    -------
    Split
        Both sides by group, so that with one item a group and view the right answers are on the diagonal. It
        promises that no view is on both sides, that the groups are equal, and that every query has an answer.

    Raises
    ------
    InputError
        A column that is not there (the message lists those that are), or a view that no row has.
    ProofError
        One view on both sides, where the numbers would say nothing.

    Examples
    --------
    >>> table = {"scene": ["G0", "G0", "G1", "G1"], "view": [0, 1, 0, 1]}
    >>> split = by_view(table, group="scene", view="view", query=0, gallery=1)
    >>> split.query_ids[:], split.gallery_ids[:], split.proof.holds
    ([0, 2], [1, 3], True)
    """
    metadata = Metadata(table, where=where)
    everything = metadata.side(item, group=group, view=view, label=label)
    column = everything.need("view", why="by-view")
    rows = [np.flatnonzero(column.codes == column.code_of(value, name=view)) for value in (query, gallery)]
    sides = [everything.taken(some).sorted_by_group() for some in rows]
    return make_split(
        protocol="by-view",
        words=f"{view} {query} of each {group} asks, {view} {gallery} is searched",
        queries=sides[0],
        gallery=sides[1],
        condition=condition_named(relevant),
        promises=Promises(groups="within" if unanswered == "leave out" else "equal", views="apart"),
        unanswered=unanswered,
        options=_options(
            metadata, where, group=group, view=view, query=query, gallery=gallery, item=item, label=label
        ),
    )


def leave_one_out(
    table: Table,
    *,
    group: str | None = None,
    item: str | None = None,
    label: str | None = None,
    view: str | None = None,
    relevant: str | Condition = "same-group",
    where: Where = None,
    unanswered: Unanswered = "fail",
) -> Split:
    """Every item asks, all others are searched.

    Parameters
    ----------
    table, group, item, label, view, relevant, where, unanswered
        As for `by_view`. A group of one item has no answer; metric learning leaves such queries out.

    Returns
    -------
    Split
        It promises that each query is ignored for itself and that every query has an answer.

    Examples
    --------
    >>> split = leave_one_out({"person": ["ann", "ann", "bo"]}, group="person", unanswered="leave out")
    >>> split.relevance.judged(0), split.left_out
    ({1: 1.0}, (2,))
    """
    metadata = Metadata(table, where=where)
    everything = metadata.side(item, group=group, view=view, label=label)
    return make_split(
        protocol="leave-one-out",
        words="every item asks, all others are searched",
        queries=everything,
        gallery=everything,
        condition=condition_named(relevant),
        promises=Promises(items="ignored", groups="unstated" if group is None else "within"),
        unanswered=unanswered,
        options=_options(metadata, where, group=group, item=item, label=label, view=view),
    )


def one_query_per_group(
    table: Table,
    *,
    group: str,
    item: str | None = None,
    label: str | None = None,
    view: str | None = None,
    relevant: str | Condition = "same-group",
    seed: int | None = None,
    where: Where = None,
    unanswered: Unanswered = "fail",
) -> Split:
    """One item of each group asks, the others are searched.

    Parameters
    ----------
    table, group, item, label, view, relevant, where, unanswered
        As for `by_view`.
    seed : int, optional
        Draws which item asks; the group's first row where left out.

    Returns
    -------
    Split
        It promises that no item is on both sides, that the groups are equal, and that every query has an answer.

    Examples
    --------
    >>> split = one_query_per_group({"scene": ["a", "b", "a", "b", "a"]}, group="scene")
    >>> split.query_ids[:], split.gallery_ids[:]
    ([0, 1], [2, 4, 3])
    """
    metadata = Metadata(table, where=where)
    everything = metadata.side(item, group=group, view=view, label=label)
    codes = everything.need("group", why="one-query-per-group").codes
    order = np.arange(len(codes)) if seed is None else seeded(seed).permutation(len(codes))
    _, first = np.unique(codes[order], return_index=True)
    chosen = np.zeros(len(codes), dtype=np.bool_)
    chosen[order[first]] = True
    drawn = "its first" if seed is None else f"drawn with seed {seed}"
    return make_split(
        protocol="one-query-per-group",
        words=f"one item of each {group} asks ({drawn}), the others are searched",
        queries=everything.taken(np.flatnonzero(chosen)).sorted_by_group(),
        gallery=everything.taken(np.flatnonzero(~chosen)).sorted_by_group(),
        condition=condition_named(relevant),
        promises=Promises(groups="within" if unanswered == "leave out" else "equal"),
        unanswered=unanswered,
        options=_options(metadata, where, group=group, item=item, label=label, view=view, seed=seed),
    )


def given_split(
    table: Table,
    queries: Iterable[Id],
    gallery: Iterable[Id],
    *,
    group: str | None = None,
    item: str | None = None,
    view: str | None = None,
    label: str | None = None,
    relevant: str | Condition = "same-group",
    promises: Promises | None = None,
    unanswered: Unanswered = "fail",
) -> Split:
    """Take queries and gallery as somebody else chose them, and see what can be proven.

    Parameters
    ----------
    table, group, item, view, label, relevant, unanswered
        As for `by_view`.
    queries, gallery : iterable of ids
        Each an item of the table.
    promises : Promises, optional
        What should hold. By default that no item is on both sides, that their groups are equal, and, where a view is
        named, that no view is on both sides.

    Returns
    -------
    Split
        Its proof says what does not hold; ``split.require()`` raises where something does not.

    Raises
    ------
    InputError
        Ids that are not in the table, by name.

    Examples
    --------
    >>> table = {"scene": ["G0", "G0", "G1", "G1"], "view": [0, 1, 0, 1]}
    >>> given_split(table, [0, 1], [2, 3], group="scene", view="view").proof.failed
    ('groups', 'views', 'answers')
    """
    metadata = Metadata(table)
    everything = metadata.side(item, group=group, view=view, label=label)
    sides = [_of_ids(everything, ids, what) for ids, what in ((queries, "queries"), (gallery, "gallery"))]
    usual = Promises(
        groups="unstated" if group is None else "within" if unanswered == "leave out" else "equal",
        views="unstated" if view is None else "apart",
    )
    return make_split(
        protocol="given",
        words="queries and gallery as given",
        queries=sides[0],
        gallery=sides[1],
        condition=condition_named(relevant),
        promises=promises or usual,
        unanswered=unanswered,
        options=_options(metadata, None, group=group, item=item, view=view, label=label),
    )


def _of_ids(everything: Side, ids: Iterable[Id], what: str) -> Side:
    if isinstance(ids, str):
        raise InputError(f"{what}={ids!r} is one text; give a list of ids, [{ids!r}]")
    named = Ids(ids, what=what)
    rows = everything.ids.rows(named)
    unknown = np.flatnonzero(rows < 0)
    if len(unknown):
        names = named.take(unknown[:5].tolist())
        raise InputError(
            f"{what}: {len(unknown)} of {len(named)} ids are not in the table, first {first_few(names)}; "
            f"the table has {first_few(everything.ids, 3)}"
        )
    return everything.taken(rows)


def _options(metadata: Metadata, where: Where, **chosen: Any) -> dict[str, Any]:
    told: dict[str, Any] = {"table": metadata.name, "rows": len(metadata)}
    if where:
        told["where"] = {
            name: value if isinstance(value, str | int) else list(value) for name, value in where.items()
        }
    return told | {name: value for name, value in chosen.items() if value is not None}
