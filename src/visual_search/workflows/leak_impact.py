"""What leaks are worth in a result that lies on disk."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from visual_search.errors import FingerprintError, InputError, first_few
from visual_search.formats.results import ImageLocation, StoredResult, read_result
from visual_search.ids import Id
from visual_search.leaks.ignored_items import ignoring
from visual_search.leaks.impact import LeakImpact, impact_of_values, leak_impact
from visual_search.leaks.leak_report import LeakReport
from visual_search.leaks.roles import Role, RoleName
from visual_search.rankings.ranking import Ranking
from visual_search.workflows.score_files import read_relevance

__all__ = ["impact_on_result"]

_NOT_MEASURES = {"query", "group", "category", "num_relevant"}
_NO_RELEVANCE = (
    "the result alone does not have the right answers, so leaked items could not be ignored; give them as well "
    "(--qrels) to see that"
)


def impact_on_result(
    report: LeakReport,
    roles: Sequence[Role],
    result: str | os.PathLike[str],
    relevance: str | os.PathLike[str] | None,
) -> LeakImpact:
    """Tell every measure of a stored result with and without what leaked.

    Without the right answers from the values per query as stored; with them by measuring the stored ranking again,
    which must give the stored values.

    Raises
    ------
    InputError
        No flagged query is in the result, or the result has no values per query.
    FingerprintError
        The right answers are not those that the result was measured by.
    """
    stored = read_result(result)
    table = stored.queries()
    names = [name for name in table.column_names if name not in _NOT_MEASURES]
    if not names:
        raise InputError(f"{stored.path.name}: it has no values per query; evaluate again")
    queries: list[Id] = table["query"].to_pylist()
    values = {name: np.asarray(table[name].to_numpy(), dtype=np.float64) for name in names}
    known = _in_result(report, roles, "query", queries, stored.query_location)
    flagged = {known[one] for one in report.flagged.get("query", ()) if one in known}
    if report.flagged.get("query") and not flagged:
        raise InputError(
            f"{stored.path.name}: none of the flagged queries is in it; flagged are "
            f"{first_few(report.flagged['query'], 3)}, it has {first_few(queries, 3)}"
        )
    if relevance is None:
        return impact_of_values(values, queries, flagged, note=_NO_RELEVANCE)
    ranked = stored.ranking()
    items = list(dict.fromkeys(ranked["item"].to_pylist()))
    named = _in_result(report, roles, "gallery", items, stored.item_location)
    matches = {
        known[query]: [named.get(item, item) for item in partners]
        for query, partners in report.matches("query", "gallery").items()
        if query in known
    }
    right = ignoring(read_relevance(relevance)[0], _ignored_by(ranked))
    groups = dict(zip(queries, table["group"].to_pylist(), strict=True)) if "group" in table.column_names else None
    found = leak_impact(
        Ranking.from_frame(ranked.select(["query", "item", "score"])),
        right,
        matches,
        names,
        flagged=flagged,
        ties=stored.record.get("ties"),
        groups=groups,
    )
    _check_same(found, stored)
    return found


def _in_result(
    report: LeakReport,
    roles: Sequence[Role],
    name: RoleName,
    there: Iterable[Id],
    locate: Callable[[Id], ImageLocation | None],
) -> dict[Id, Id]:
    """What the result calls each flagged picture of a role: by its file, else by its id."""
    role = next((one for one in roles if one.name == name), None)
    if role is None:
        return {}
    listed = list(there)
    by_file = {}
    for one in listed:
        location = locate(one)
        if location is not None:
            by_file[os.path.realpath(location.path), location.member] = one
    ids = set(listed)
    found: dict[Id, Id] = {}
    for one in report.flagged.get(name, ()):
        place = role.places.get(one)
        called = None if place is None else by_file.get((os.path.realpath(place.path), place.member))
        if called is not None:
            found[one] = called
        elif one in ids:
            found[one] = one
    return found


def _ignored_by(ranked: Any) -> dict[Id, list[Id]]:
    ignored: dict[Id, list[Id]] = {}
    for query, item, state in zip(*(ranked[name].to_pylist() for name in ("query", "item", "state")), strict=True):
        if state == "ignored":
            ignored.setdefault(query, []).append(item)
    return ignored


def _check_same(found: LeakImpact, stored: StoredResult) -> None:
    means = {name: one.get("mean") for name, one in (stored.record.get("measures") or {}).items()}
    different = [
        row.measure
        for row in found.rows
        if row.measure in means
        and not math.isclose(_number(row.all_queries), _number(means[row.measure]), rel_tol=0, abs_tol=1e-9)
    ]
    if different:
        raise FingerprintError(
            f"{stored.path.name}: measured again by the right answers given, {first_few(different)} come out otherwise "
            "than stored; give those that the result was measured by"
        )


def _number(mean: float | None) -> float:
    """A mean; what is undefined is -1, which no measure is."""
    return -1.0 if mean is None or math.isnan(mean) else mean
