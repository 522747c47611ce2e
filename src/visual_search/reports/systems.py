"""Stored results as the systems of a report: each with its measures, grouped by protocol."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from visual_search.errors import InputError
from visual_search.formats.results import StoredResult, read_result
from visual_search.ids import Id

__all__ = ["Measured", "ProtocolGroup", "QueryValues", "System", "group_by_protocol", "load_systems", "read_all"]

# What the guide's own keys mean, for a results file that holds nothing else.
_GUIDE = {
    "recall": ("Recall(denominator=all)@{}", "relevant items among the first k, divided by all relevant items"),
    "precision": ("Precision(denominator=k)@{}", "relevant items among the first k, divided by k"),
    "hit_rate": ("HitRate@{}", "1 when a relevant item is among the first k, else 0"),
    "ndcg": ("nDCG@{}", "discounted gain of the first k, divided by that of the best order"),
}
_AP_WORDS = "precision at each relevant item among the first k, summed and divided by all relevant items"
_RR_WORDS = "1 divided by the rank of the first relevant item; 0 when none was returned"
_FAMILIES = ("HitRate", "Recall", "Precision", "AP", "RR", "nDCG")
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
        Name shown; the model's, with the file's where two would be the same.
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

    def find(self, family: str, depth: int | None = None) -> Measured | None:
        """First measure of a family, at a depth when one is given."""
        for measured in self.measures.values():
            if measured.family == family and depth in (None, measured.depth):
                return measured
        return None


@dataclass
class ProtocolGroup:
    """Systems measured under one protocol, side by side.

    Parameters
    ----------
    name, words : str
        As the records say; a record without a protocol is "as measured".
    systems : list of System
    differences : list of str
        Why the systems are not comparable: which fingerprints or settings differ. Empty when they agree.
    """

    name: str
    words: str
    systems: list[System] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)

    @property
    def measure_names(self) -> list[str]:
        """Canonical texts of all systems: known families first, settings as the records list them, then depth."""
        names = {name: measured for system in self.systems for name, measured in system.measures.items()}
        settings = list(dict.fromkeys(measured.settings for measured in names.values()))

        def place(name: str) -> tuple[int, int, float]:
            family = names[name].family
            order = _FAMILIES.index(family) if family in _FAMILIES else len(_FAMILIES)
            return order, settings.index(names[name].settings), names[name].depth or float("inf")

        return sorted(names, key=place)

    def is_highest(self, system: System, name: str) -> bool:
        """Whether a system has the highest mean of several, where higher is better."""
        means = {label: one.mean for label, one in self._of(name).items() if one.mean is not None}
        mean = means.get(system.label)
        lower_is_better = self.first(name).family == "FirstRank"
        return mean is not None and len(means) > 1 and mean == max(means.values()) and not lower_is_better

    def references(self, names: Sequence[str]) -> list[tuple[str, str, list[float | None]]]:
        """Rows below the systems: random order and the best that is reachable, where the records have them."""
        rows: list[tuple[str, str, list[float | None]]] = [
            ("random", "random order", [self.first(name).random for name in names]),
            ("ceiling", "best reachable", [self.first(name).ceiling for name in names]),
        ]
        return [row for row in rows if any(one is not None for one in row[2])]

    def _of(self, name: str) -> dict[str, Measured]:
        return {s.label: s.measures[name] for s in self.systems if name in s.measures}

    def measured(self, name: str) -> list[Measured | None]:
        """One measure of every system, None where a system lacks it."""
        return [system.measures.get(name) for system in self.systems]

    def first(self, name: str) -> Measured:
        """One measure of the first system that has it: its words, random expectation and ceiling."""
        return next(found for found in self.measured(name) if found is not None)

    @property
    def headline_names(self) -> list[str]:
        """The few measures that head the page: the first results, the order of the list, its first page."""
        chosen: list[str] = []
        for family, depth in (("HitRate", 1), ("Recall", 1), ("AP", None), ("RR", None), ("nDCG", 10)):
            same = [name for name in self.measure_names if self.first(name).family == family]
            exact = [name for name in same if depth is not None and self.first(name).depth == depth]
            # Without the usual depth: the smallest for the first results, the deepest for the whole list.
            rest = same[:1] if family in {"HitRate", "Recall"} else same[-1:]
            chosen += exact[:1] or rest
        return chosen or self.measure_names[:5]


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
        Model name of the system the others are held against.

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
    systems = []
    for number, ((name, protocol), result) in enumerate(zip(keys, results, strict=True), start=1):
        label = f"{name} ({result.path.name})" if twice[name, protocol] > 1 else name
        systems.append(
            System(result, label, _measures(result.record), _per_query(result.record), name == baseline, number)
        )
    return systems


def group_by_protocol(systems: Sequence[System]) -> list[ProtocolGroup]:
    """Put systems of one protocol together, in the order they came."""
    groups: dict[tuple[str, str], ProtocolGroup] = {}
    for system in systems:
        key = _protocol(system.record)
        groups.setdefault(key, ProtocolGroup(*key)).systems.append(system)
    for group in groups.values():
        group.differences = _differences(group.systems)
    return list(groups.values())


def _protocol(record: dict[str, Any]) -> tuple[str, str]:
    protocol = record.get("protocol") or {}
    return str(protocol.get("name") or "as measured"), str(protocol.get("words") or "")


def _differences(systems: Sequence[System]) -> list[str]:
    """Which of the things that must agree do not."""
    different = []
    for part in ("gallery", "queries", "relevance", "exclusions"):
        known = {(system.record.get("fingerprints") or {}).get(part) for system in systems} - {None}
        if len(known) > 1:
            different.append(part)
    for part in ("num_queries", "k_values", "ties", "preset"):
        if len({str(system.record.get(part)) for system in systems}) > 1:
            different.append(part)
    return different


def _measures(record: dict[str, Any]) -> dict[str, Measured]:
    stated = record.get("measures")
    if not stated:
        return _guide_measures(record)
    random, ceilings = record.get("random_baseline") or {}, record.get("ceilings") or {}
    return {
        name: Measured(
            name,
            entry.get("mean"),
            entry.get("words") or "",
            entry.get("counted"),
            entry.get("undefined"),
            entry.get("undefined_queries") or (),
            entry.get("interval"),
            random.get(name),
            ceilings.get(name),
        )
        for name, entry in stated.items()
    }


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
