"""Differences of stored results, kept once computed: the resamples of large results take longer than a page may."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from visual_search.catalogue.entry import Entry
from visual_search.catalogue.opened import OpenedResult
from visual_search.evaluation.comparison import compare
from visual_search.evaluation.statistics.interval import Resampling
from visual_search.formats.results import StoredResult
from visual_search.workflows.comparable_results import ComparableGroups
from visual_search.workflows.explored_results import ExploredResults
from visual_search.workflows.same_result import same_result

__all__ = ["compared_files", "comparison_of", "difference_to"]

#: Queries times results up to which a comparison is made while the page waits.
AT_ONCE = 2_000
RESAMPLES = 10_000


def difference_to(
    explored: ExploredResults, entry: Entry, groups: ComparableGroups, measure: str, *, at_once: bool
) -> dict[str, Any] | None:
    """A result minus its pinned baseline on one measure; None where nothing is pinned.

    With ``at_once`` the difference of a small result is computed now; else, and of large ones, behind the page's back.

    Returns
    -------
    dict
        ``is_baseline``, ``baseline`` (its key) and ``pending``; where known ``difference``, ``low``, ``high``,
        ``better``, ``p``; else ``why_not``.
    """
    if not groups.has_pins or entry.problem:
        return None
    baseline = groups.baseline_of(entry)
    told: dict[str, Any] = {"is_baseline": False, "baseline": None, "pending": False, "difference": None}
    if baseline is None:
        return told | {"why_not": "not comparable with a pinned result"}
    told |= {"is_baseline": baseline.key == entry.key, "baseline": baseline.key}
    if measure not in entry.measures or measure not in baseline.measures:
        told["why_not"] = "not measured"
    return (
        told
        if told["is_baseline"] or "why_not" in told
        else told | _against(explored, baseline, entry, measure, at_once=at_once)
    )


def _against(
    explored: ExploredResults, baseline: Entry, entry: Entry, measure: str, *, at_once: bool
) -> dict[str, Any]:
    small = int(entry.facts.get("queries") or 0) <= AT_ONCE
    found = _kept(explored, [baseline, entry], [measure], None, at_once=at_once and small)
    if found is None:
        ours, theirs = entry.measures[measure].mean, baseline.measures[measure].mean
        plain = None if ours is None or theirs is None else ours - theirs
        return {"pending": True, "difference": plain, "low": None, "high": None, "better": 0, "p": None}
    if "refused" in found:
        return {"why_not": found["refused"]}
    one = found["contrasts"][0]
    interval = one["interval"] or {"low": None, "high": None}
    return {
        "difference": one["difference"],
        "low": interval["low"],
        "high": interval["high"],
        "better": one["better"],
        "p": one["p_value"],
    }


def comparison_of(
    explored: ExploredResults, opened: Sequence[OpenedResult], measures: Sequence[str], despite: str | None
) -> dict[str, Any] | None:
    """The comparison of results with the first of them as JSON; None while it is being computed.

    What is refused has ``refused`` with the reason.
    """
    size = len(opened[0].query_ids) * (len(opened) - 1)
    entries = [one.entry for one in opened]
    return _kept(explored, entries, measures, despite, at_once=size <= AT_ONCE)


def _kept(
    explored: ExploredResults,
    entries: Sequence[Entry],
    measures: Sequence[str],
    despite: str | None,
    *,
    at_once: bool,
) -> dict[str, Any] | None:
    names = names_of(entries)
    made_from = {
        "results": [one.fingerprint for one in entries],
        "names": names,
        "measures": list(measures),
        "despite": despite,
        "resamples": RESAMPLES,
    }
    chosen = (names, list(measures), despite)
    found: dict[str, Any] | None = explored.kept_or_later(
        made_from,
        lambda: _compared([explored.opened(one.key).stored for one in entries], *chosen),
        at_once=at_once,
        beside=partial(_compared_beside, explored, [one.key for one in entries], *chosen),
    )
    return found


def names_of(entries: Sequence[Entry]) -> list[str]:
    """A name for each: the model's, with the file's where two have one."""
    models = [one.name for one in entries]
    return [
        f"{model} ({one.file})" if models.count(model) > 1 else model
        for model, one in zip(models, entries, strict=True)
    ]


def _compared_beside(
    explored: ExploredResults,
    keys: Sequence[str],
    names: Sequence[str],
    measures: Sequence[str],
    despite: str | None,
) -> Any:
    opened = [explored.opened(key) for key in keys]
    return explored.beside.call(
        compared_files,
        paths=[str(one.stored.path) for one in opened],
        fingerprints=[one.entry.fingerprint for one in opened],
        names=names,
        measures=measures,
        despite=despite,
    )


def compared_files(
    paths: Sequence[str],
    fingerprints: Sequence[str],
    names: Sequence[str],
    measures: Sequence[str],
    despite: str | None,
) -> dict[str, Any] | None:
    """Compare result files, whose fingerprints are given, with the first of them.

    Returns
    -------
    JSON value or None
        None where a file is gone or no longer the same.

    Raises
    ------
    VisualSearchError
        They cannot be compared.
    """
    opened = [same_result(*one) for one in zip(paths, fingerprints, strict=True)]
    stored = [one.stored for one in opened if one is not None]
    return _compared(stored, names, measures, despite) if len(stored) == len(paths) else None


def _compared(
    stored: Sequence[StoredResult], names: Sequence[str], measures: Sequence[str], despite: str | None
) -> dict[str, Any]:
    found = compare(
        dict(zip(names, stored, strict=True)),
        list(measures),
        resampling=Resampling(resamples=RESAMPLES),
        flips=RESAMPLES,
        despite=despite,
        shown=10,
    )
    value = found.as_json()
    for one, told in zip(found.contrasts, value["contrasts"], strict=True):
        told["better"] = one.better
    return value
