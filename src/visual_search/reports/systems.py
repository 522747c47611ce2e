"""Stored results as the systems of a report, each with its measures and its queries' values."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from visual_search.errors import FileFormatError, InputError
from visual_search.formats.results import ImageLocation, StoredResult, read_result
from visual_search.ids import Id

__all__ = ["Measured", "QueryValues", "System", "load_systems", "read_all"]

# What the guide's own keys mean, for a results file that holds nothing else.
_GUIDE = {
    "recall": ("Recall(denominator=all)@{}", "relevant items among the first k, divided by all relevant items"),
    "precision": ("Precision(denominator=k)@{}", "relevant items among the first k, divided by k"),
    "hit_rate": ("HitRate@{}", "1 when a relevant item is among the first k, else 0"),
    "ndcg": ("nDCG@{}", "discounted gain of the first k, divided by that of the best order"),
}
_AP_WORDS = "precision at each relevant item among the first k, summed and divided by all relevant items"
_RR_WORDS = "1 divided by the rank of the first relevant item; 0 when none was returned"
_TITLES = {"AP": "mAP", "RR": "MRR"}
_TEXT = re.compile(r"(?P<family>[A-Za-z0-9]+)(?:\((?P<settings>.*)\))?(?:@(?P<depth>\d+|R))?", re.DOTALL)


@dataclass(frozen=True)
class Measured:
    """One measure of one system.

    Parameters
    ----------
    name : str
        Canonical text, as the record has it.
    mean : float or None
        Over the counted queries; None where no query has a value.
    words : str
        The convention in words.
    counted, undefined : int or None
        Queries with and without a value; None where the record does not say.
    interval : dict or None
        As in the record: low, high, confidence, method, resamples, seed, groups.
    random, ceiling : float or None
        Exact expectation under random order, and the best mean that can be reached.
    """

    name: str
    mean: float | None
    words: str
    counted: int | None = None
    undefined: int | None = None
    undefined_queries: Sequence[Id] = ()
    interval: dict[str, Any] | None = None
    random: float | None = None
    ceiling: float | None = None

    @property
    def family(self) -> str:
        """The name before settings and depth: ``AP`` of ``AP(denominator=all)@20``."""
        match = _TEXT.fullmatch(self.name)
        return match["family"] if match else self.name

    @property
    def settings(self) -> str:
        """What stands in the brackets, empty if nothing does."""
        match = _TEXT.fullmatch(self.name)
        return (match["settings"] or "") if match else ""

    @property
    def depth(self) -> int | None:
        """The k of ``@k``; None for the full list and for ``@R``."""
        match = _TEXT.fullmatch(self.name)
        return int(match["depth"]) if match and match["depth"] and match["depth"] != "R" else None

    @property
    def title(self) -> str:
        """Short name for a column head: ``mAP@20``, ``Recall@1``."""
        match = _TEXT.fullmatch(self.name)
        depth = f"@{match['depth']}" if match and match["depth"] else ""
        return _TITLES.get(self.family, self.family) + depth


@dataclass(frozen=True)
class QueryValues:
    """One query's values that order the pages: average precision, reciprocal rank, and what is known of it."""

    query: Id
    ap: float | None
    rr: float | None
    num_relevant: int | None
    group: str | None


@dataclass
class System:
    """One result as a system under one protocol.

    Parameters
    ----------
    result : StoredResult
        The files.
    label : str
        Name shown; the model's, with the file's (and its folder's) where two would be the same.
    measures : dict of canonical text to Measured
    per_query : list of QueryValues
    is_baseline : bool
    number : int
        Place among all results, from 1.
    """

    result: StoredResult
    label: str
    measures: dict[str, Measured]
    per_query: list[QueryValues]
    is_baseline: bool = False
    number: int = 1

    @property
    def record(self) -> dict[str, Any]:
        """The JSON record."""
        return self.result.record

    @property
    def protocol(self) -> tuple[str, str]:
        """Name and words of the protocol it was measured under; without one the dataset's name, without that none."""
        return _protocol(self.record)

    @cached_property
    def places_problem(self) -> str | None:
        """Why the file that says where the images are cannot be read; None when it can, or when there is none."""
        try:
            self.result.query_location("")
        except FileFormatError as problem:
            return str(problem)
        return None

    def query_location(self, query: Id) -> ImageLocation | None:
        """Where a query's image is; None where the files do not say."""
        return None if self.places_problem else self.result.query_location(query)

    def item_location(self, item: Id) -> ImageLocation | None:
        """Where an item's image is; None where the files do not say."""
        return None if self.places_problem else self.result.item_location(item)

    def find(self, family: str, depth: int | None = None) -> Measured | None:
        """First measure of a family, at a depth when one is given."""
        for measured in self.measures.values():
            if measured.family == family and depth in (None, measured.depth):
                return measured
        return None


def read_all(results: Sequence[str | os.PathLike[str] | StoredResult]) -> list[StoredResult]:
    """Read those results that are paths; keep the others.

    Raises
    ------
    InputError
        No result at all.
    """
    if not results:
        raise InputError("results: at least one result is needed; give the paths of results JSON files")
    return [one if isinstance(one, StoredResult) else read_result(Path(one)) for one in results]


def load_systems(results: Sequence[StoredResult], *, baseline: str | None = None) -> list[System]:
    """Make systems of results, each under a label of its own.

    Parameters
    ----------
    results : sequence of StoredResult
    baseline : str, optional
        Model name of the system the others are held against; of several under one protocol the first.

    Raises
    ------
    InputError
        No result has the baseline's name.
    """
    names = [str(result.record["model_name"]) for result in results]
    if baseline is not None and baseline not in names:
        raise InputError(f"baseline: no result of a model named {baseline!r}; there are {sorted(set(names))}")
    keys = [(name, _protocol(result.record)) for name, result in zip(names, results, strict=True)]
    twice = Counter(keys)
    taken: set[tuple[str, tuple[str, str]]] = set()
    held: set[tuple[str, str]] = set()  # protocols that have their baseline
    places = _distinct_places([result.path for result in results])
    systems = []
    for number, ((name, protocol), result) in enumerate(zip(keys, results, strict=True), start=1):
        place = places[result.path]
        label = f"{name} ({place})" if twice[name, protocol] > 1 else name
        if (label, protocol) in taken:
            label = f"{name} ({place}, {number})"
        taken.add((label, protocol))
        is_baseline = name == baseline and protocol not in held
        if is_baseline:
            held.add(protocol)
        systems.append(
            System(result, label, _measures(result.record), _per_query(result.record), is_baseline, number)
        )
    return systems


def _distinct_places(paths: Sequence[Path]) -> dict[Path, str]:
    """Each path by its name, with as many of its folders as tell it from the others."""
    ends = {path: path.absolute().parts for path in paths}
    shown = dict.fromkeys(ends, 1)
    while True:
        texts = {path: "/".join(ends[path][-depth:]) for path, depth in shown.items()}
        same = Counter(texts.values())
        longer = [path for path in shown if same[texts[path]] > 1 and shown[path] < len(ends[path])]
        if not longer:
            return texts
        for path in longer:
            shown[path] += 1


def _protocol(record: dict[str, Any]) -> tuple[str, str]:
    protocol = record.get("protocol") or {}
    dataset = record.get("dataset") or {}
    data = dataset.get("name") if isinstance(dataset, dict) else dataset
    return str(protocol.get("name") or data or ""), str(protocol.get("words") or "")


def _measures(record: dict[str, Any]) -> dict[str, Measured]:
    stated = record.get("measures")
    if not stated:
        return _guide_measures(record)
    random, ceilings = record.get("random_baseline") or {}, record.get("ceilings") or {}
    return {
        name: Measured(
            name,
            entry.get("mean"),
            _words(entry),
            entry.get("counted"),
            entry.get("undefined"),
            entry.get("undefined_queries") or (),
            entry.get("interval"),
            random.get(name),
            ceilings.get(name),
        )
        for name, entry in stated.items()
    }


def _words(entry: dict[str, Any]) -> str:
    """The convention, without the count of queries, which stands beside it and differs from protocol to protocol."""
    return re.sub(rf"\bover {entry.get('counted')} queries\b", "over the queries", entry.get("words") or "")


def _guide_measures(record: dict[str, Any]) -> dict[str, Measured]:
    ks = record["k_values"]
    found = {}
    for key, (text, words) in _GUIDE.items():
        for k in ks:
            if f"{key}_at_{k}" in record:
                found[text.format(k)] = Measured(text.format(k), record[f"{key}_at_{k}"], words)
    ap = f"AP(denominator=all)@{max(ks)}"
    found[ap] = Measured(ap, record["map"], _AP_WORDS)
    found["RR"] = Measured("RR", record["mrr"], _RR_WORDS)
    return found


def _per_query(record: dict[str, Any]) -> list[QueryValues]:
    return [
        QueryValues(
            entry["query_id"],
            entry["average_precision"],
            entry["reciprocal_rank"],
            entry.get("num_relevant"),
            entry.get("group"),
        )
        for entry in record["per_query_results"]
    ]
