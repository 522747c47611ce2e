"""What the records of a sweep's file must hold; their checksums say only that they are as somebody wrote them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

from visual_search.errors import FileFormatError, Problems
from visual_search.formats.json_shapes import ANY, COUNT, TEXT, Each, check_shape, needing, whole
from visual_search.tuning.load import LoadedLatency

__all__ = ["check_header", "check_lengths", "check_point"]

_MOST = 1e15  # seconds, bytes, queries/s or units of a measure; beyond it sums and drawings overflow


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MOST


def _is_cost(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < _MOST


def _is_measured(value: Any) -> bool:
    return value is None or _is_cost(value)


def _is_setting(value: Any) -> bool:
    return type(value) in (int, float, str, bool)


_WORD, _WHOLE = (_is_text, "text"), (_is_count, "a whole number of at least 0")
_COST, _MEASURED = (_is_cost, "a number of at least 0"), (_is_measured, "a number of at least 0 or null")
_LATENCY = whole(mean=_MEASURED, p50=_MEASURED, p95=_MEASURED, p99=_MEASURED)
_PLAN = needing("queries", "runs", "warm_up", queries=_WHOLE, runs=_WHOLE, warm_up=_WHOLE)
_HEADER = whole(
    *("data", "protocol"),
    data=whole(
        *("measures", "gallery_size", "query_count", "metric", "k"),
        measures=[_WORD],
        gallery_size=_WHOLE,
        query_count=_WHOLE,
        metric=_WORD,
        k=_WHOLE,
        gallery=TEXT,
        truth_label=TEXT,
    ),
    protocol=whole("threads", threads=COUNT, build_threads=COUNT, costs=_PLAN),
    versions=Each(ANY),
    machine=Each(ANY),
    created=TEXT,
    stored_gallery=TEXT,
)
_POINT = whole(
    *("key", "place", "engine", "library", "ladder", "settings", "asked", "returned", "cost", "load", "build"),
    *("index_bytes", "memory_bytes", "values"),
    key=_WORD,
    place=_WHOLE,
    engine=_WORD,
    library=_WORD,
    ladder=_WORD,
    settings=Each(ANY),
    asked=Each((_is_setting, "a number, text, true or false")),
    returned=_COST,
    cost=whole("latency", "throughput", latency=_LATENCY, throughput=_COST),
    load=Each(ANY),
    build=whole("seconds", "peak_bytes", seconds=_COST, peak_bytes=_MEASURED),
    index_bytes=_WHOLE,
    memory_bytes=_WHOLE,
    values=Each(ANY),
)


def check_header(record: Any) -> None:
    """Check the first record.

    Raises
    ------
    FileFormatError
        Every value of another type than the format has, by its place.
    """
    problems = Problems("not the header of a sweep")
    check_shape(record, _HEADER, "header", problems)
    if not problems.found:
        for part in ("data", "protocol"):
            if not isinstance(record[part], dict):
                problems.add(f"{part}: an object is needed; got null")
    if not problems.found and not record["data"]["measures"]:
        problems.add("data.measures: a list of at least one is needed")
    queries, neighbors = record.get("query_ids"), record.get("neighbors")
    if not (isinstance(queries, list) and _are_of(queries, str, int)):
        problems.add("query_ids: a list of texts and whole numbers is needed")
    elif neighbors is not None and not (
        _are_lists(neighbors, len(queries)) and _are_of(chain.from_iterable(neighbors), str, int)
    ):
        problems.add("neighbors: null, or a list of ids for each of query_ids, is needed")
    problems.raise_if_any(FileFormatError)


def check_point(record: Any) -> None:
    """Check the record of a point, but for the lengths of its lists.

    Raises
    ------
    FileFormatError
        Every value of another type than the format has, by its place.
    """
    problems = Problems("not a point of a sweep")
    check_shape(record, _POINT, "point", problems)
    if not problems.found:
        for part in ("settings", "asked", "build", "values"):
            if record[part] is None:
                problems.add(f"{part}: an object is needed; got null")
        if record["load"] is not None and not _can_be_told(record["load"]):
            problems.add("load: null, or what is measured under load, is needed")
    problems.raise_if_any(FileFormatError)


def check_lengths(record: dict[str, Any], measures: Iterable[str], queries: int) -> None:
    """Check that a point has a value of each measure for each query, and of the missed as many lists.

    Raises
    ------
    FileFormatError
        Every list that is missing, of another length, or not of numbers.
    """
    problems = Problems(f"point {record['key'][:100]!r}")
    for name in dict.fromkeys((*measures, *record["values"])):
        if not _are_values(record["values"].get(name), queries):
            problems.add(f"values: {name[:100]!r}: {queries} numbers or nulls are needed")
    missed = record.get("missed")
    if missed is not None:
        places = _are_lists(missed, queries) and _are_of(chain.from_iterable(missed), int)
        if not places or min(chain.from_iterable(missed), default=1) < 1:
            problems.add(f"missed: null, or {queries} lists of whole numbers of at least 1, are needed")
    problems.raise_if_any(FileFormatError)


def _can_be_told(load: Any) -> bool:
    try:
        return bool(LoadedLatency.from_json(load).words())
    except (KeyError, TypeError, ValueError, OverflowError):
        return False


def _are_values(value: Any, length: int) -> bool:
    if not isinstance(value, list) or len(value) != length or not _are_of(value, int, float, type(None)):
        return False
    try:
        numbers = np.array(value, dtype=np.float64)  # null becomes NaN
    except OverflowError:  # a whole number that 64 bits do not hold
        return False
    return bool((np.isnan(numbers) | (np.abs(numbers) < _MOST)).all())


def _are_lists(value: Any, length: int) -> bool:
    return isinstance(value, list) and len(value) == length and _are_of(value, list)


def _are_of(values: Iterable[Any], *kinds: type) -> bool:
    """Whether each is exactly of one of the kinds; there may be millions."""
    return set(map(type, values)) <= set(kinds)
