"""Whether a baseline was measured on the same, and in words what was not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from visual_search.counted import counted
from visual_search.errors import FingerprintError, Problems, first_few
from visual_search.evaluation.evaluation_result import EvaluationResult
from visual_search.formats.results import StoredResult
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id, Ids

__all__ = ["check_same"]

_SAME = ("gallery", "queries", "relevance", "exclusions")
Pairs = dict[Id, set[tuple[Id, float]]]


def check_same(result: EvaluationResult, name: str, baseline: EvaluationResult | StoredResult) -> None:
    """Refuse a baseline that answers other questions.

    Parameters
    ----------
    result : EvaluationResult
    name : str
        The baseline's, for the message.
    baseline : EvaluationResult or StoredResult
        A stored one keeps its queries, how many items are relevant to each, and no more of the right answers.

    Raises
    ------
    FingerprintError
        Another gallery, other queries, right answers, exclusions or tie rule, or one that is not told; all of them,
        with the first ids where both sides are known.
    """
    ours, theirs = result.record["fingerprints"], baseline.record.get("fingerprints") or {}
    stored = f" ({baseline.path})" if isinstance(baseline, StoredResult) and str(baseline.path) != name else ""
    problems = Problems(f"baseline {name!r}{stored} cannot be compared: it was not measured on the same")
    for part in _SAME:
        if ours[part] is None or theirs.get(part) is None:
            whose = "this result" if ours[part] is None else "the baseline"
            problems.add(f"{part}: {whose} does not tell; evaluate with a service that names its items")
        elif ours[part] != theirs[part]:
            prints = f"{ours[part][:19]}... here, {theirs[part][:19]}... there"
            words = "; ".join(_differences(part, result, baseline))
            problems.add(f"{part}: {words} ({prints})" if words else f"{part}: {prints}")
    asked, there = ours.get("query_pictures"), theirs.get("query_pictures")
    if asked is not None and there is not None and asked != there and ours["queries"] == theirs.get("queries"):
        problems.add(f"query pictures: the same ids, but other files ({asked[:19]}... here, {there[:19]}... there)")
    if baseline.record.get("ties") != result.measures.ties:
        problems.add(f"ties: {result.measures.ties} here, {baseline.record.get('ties')} there")
    problems.raise_if_any(FingerprintError)


def _differences(part: str, result: EvaluationResult, baseline: EvaluationResult | StoredResult) -> list[str]:
    if part == "gallery":
        return _galleries(result, baseline)
    if part == "queries":
        entries = baseline.record["per_query_results"]
        return _sides(result.relevance.queries, [entry["query_id"] for entry in entries], "query", "queries")
    if isinstance(baseline, StoredResult):
        return _counts(result, baseline.record) if part == "relevance" else _exclusions(result, baseline.record)
    ignored = part == "exclusions"
    return _pairs(
        _by_query(result.relevance, ignored=ignored),
        _by_query(baseline.relevance, ignored=ignored),
        ignored=ignored,
    )


def _galleries(result: EvaluationResult, baseline: EvaluationResult | StoredResult) -> list[str]:
    ids = result.gallery.ids
    there = baseline.gallery.ids if isinstance(baseline, EvaluationResult) else None
    if ids is not None and there is not None:
        return _sides(ids, there, "item", "items") or ["the same ids, but other files"]
    size = (baseline.record.get("index") or {}).get("items")
    if ids is None or not isinstance(size, int):
        return []
    return [f"{counted(len(ids), 'item', 'items')} here, {size:,} there"]


def _sides(here: Ids | Iterable[Id], there: Ids | Iterable[Id], one: str, many: str) -> list[str]:
    """What only one side has, in its order."""
    ours, theirs = dict.fromkeys(here), dict.fromkeys(there)
    lone = {"here": [id_ for id_ in ours if id_ not in theirs], "there": [id_ for id_ in theirs if id_ not in ours]}
    return [
        f"{counted(len(ids), one, many)} only {side}, first {first_few(ids, 3)}"
        for side, ids in lone.items()
        if ids
    ]


def _by_query(relevance: Relevance, *, ignored: bool) -> Pairs:
    chosen = np.flatnonzero(relevance.ignored if ignored else ~relevance.ignored)
    owners = (np.searchsorted(relevance.offsets, chosen, side="right") - 1).tolist()
    items = relevance.items.take(relevance.rows[chosen].tolist())
    pairs: Pairs = {query: set() for query in relevance.queries}
    for owner, item, grade in zip(owners, items, relevance.grades[chosen].tolist(), strict=True):
        pairs[relevance.queries[owner]].add((item, 0.0 if ignored else grade))
    return pairs


def _pairs(here: Pairs, there: Pairs, *, ignored: bool) -> list[str]:
    differ = [query for query in here if query in there and here[query] != there[query]]
    if not differ:
        return []
    told = []
    for query in differ[:2]:
        ours, theirs = here[query] - there[query], there[query] - here[query]
        lone = {"here": ours, "there": theirs}
        shown = [
            f"{first_few(_shown(pairs, ignored=ignored), 3)} only {side}" for side, pairs in lone.items() if pairs
        ]
        told.append(f"{query!r} has {' and '.join(shown)}")
    what = "ignores other items" if ignored else "has other right answers"
    many = "ignore other items" if ignored else "have other right answers"
    return [f"{counted(len(differ), f'query {what}', f'queries {many}')}", *told]


def _shown(pairs: set[tuple[Id, float]], *, ignored: bool) -> list[Any]:
    """Ids, with the grade where it is not the plain one."""
    listed = sorted(pairs, key=str)
    return [item if ignored or grade == 1 else {item: grade} for item, grade in listed]


def _counts(result: EvaluationResult, record: Mapping[str, Any]) -> list[str]:
    """All a stored result keeps of right answers: how many there are to each query."""
    there = {entry["query_id"]: entry.get("num_relevant") for entry in record["per_query_results"]}
    here = {entry["query_id"]: entry["num_relevant"] for entry in result.per_query_results}
    differ = [query for query in here if query in there and here[query] != there[query]]
    if not differ:
        same = "as many relevant items for every query that both have, but other items or grades"
        return [same] if here.keys() == there.keys() else []
    told = ", ".join(f"{query!r} has {here[query]} here and {there[query]} there" for query in differ[:3])
    who = counted(len(differ), "query has", "queries have")
    return [f"{who} another number of relevant items: {told}"]


def _exclusions(result: EvaluationResult, record: Mapping[str, Any]) -> list[str]:
    there = (record.get("left_out") or {}).get("pairs_ignored")
    here = int(result.relevance.ignored.sum())
    if not isinstance(there, int):
        return []
    return [
        f"{counted(here, 'pair of query and item is', 'pairs of query and item are')} ignored here, {there:,} there"
    ]
