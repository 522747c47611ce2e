"""What lies behind a system's numbers, as label and text: data, settings, versions, fingerprints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from visual_search.evaluation.protocols.presets import PRESETS
from visual_search.reports.protocol_groups import ProtocolGroup
from visual_search.reports.systems import System
from visual_search.reports.wording import counted, listed, plural, value

__all__ = ["Fingerprints", "PrintRow", "facts_of", "fingerprints_of", "provenance", "rules_of"]

_PRINTED = {
    "gallery": "Gallery",
    "queries": "Queries",
    "relevance": "Right answers",
    "exclusions": "Exclusions",
    "ranking": "Ranking",
}

_KINDS = {
    "complete": "all right answers listed",
    "labels": "right answers from labels",
    "judged": "right answers judged, the rest unjudged",
    "pseudo": "pseudo ground truth",
}
_TIES = {
    "listed": "ties as listed",
    "expected": "ties: exact expectation",
    "best": "ties: best order",
    "worst": "ties: worst order",
    "id_desc": "ties by falling id",
    "id_asc": "ties by rising id",
}


def facts_of(group: ProtocolGroup) -> list[str]:
    """The measurement in a few words: how many queries and groups, how large a gallery, which rules."""
    record = group.systems[0].record
    facts = [plural(record["num_queries"], "query", "queries")]
    intervals = [m.interval for s in group.systems for m in s.measures.values() if m.interval]
    if intervals and (number := intervals[0].get("groups")) and number != record["num_queries"]:
        facts[0] += f" in {plural(number, 'independent group')}"
    if items := (record.get("index") or {}).get("items"):
        facts.append(f"a gallery of {plural(items, 'image')}")
    if (kind := (record.get("truth") or {}).get("kind")) is not None:
        facts.append(_KINDS.get(kind, f"right answers: {kind}"))
    if (ties := record.get("ties")) is not None:
        facts.append(_TIES.get(ties, f"ties: {ties}"))
    if preset := record.get("preset"):
        facts.append(f"counted by {_rules_title(preset)}")
    if proof := (record.get("protocol") or {}).get("proof"):
        facts.append(_proof(proof))
    return facts


def _proof(proof: Mapping[str, Any]) -> str:
    """Whether the split is proven, and what is not."""
    broken = [str(name) for key in ("failed", "allowed") for name in proof.get(key) or ()]
    return f"split not proven: {', '.join(broken)}" if broken else "split proven"


def _claims(proof: Mapping[str, Any]) -> Iterator[str]:
    for claim in proof.get("claims") or ():
        status = (claim or {}).get("status")
        yield f"{(claim or {}).get('words')}{'' if status == 'holds' else f' ({status})'}"


def rules_of(groups: Sequence[ProtocolGroup]) -> list[tuple[str, str]]:
    """Title and explanation of every set of rules that the numbers follow, for the list of definitions."""
    names = dict.fromkeys(str(system.record.get("preset")) for group in groups for system in group.systems)
    return [
        (_rules_title(name), f"{PRESETS[name].why}. In commands these rules are called “{name}”.")
        for name in names
        if name in PRESETS
    ]


def _rules_title(preset: str) -> str:
    return f"the rules of {PRESETS[preset].used_by}" if preset in PRESETS else f"rules called “{preset}”"


def provenance(system: System) -> list[tuple[str, str]]:
    """Label and text of everything the record says about how its numbers came to be."""
    return [(label, text) for label, text in _told(system) if text]


@dataclass(frozen=True, slots=True)
class PrintRow:
    """The first digits of one result's fingerprints; empty where the record has none."""

    file: str
    digits: tuple[str, ...]
    written: str


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Fingerprints of all results of a page, and the versions that they were made with, each set once."""

    parts: tuple[str, ...]
    rows: tuple[PrintRow, ...]
    versions: tuple[str, ...]


def fingerprints_of(groups: Sequence[ProtocolGroup]) -> Fingerprints:
    """What stands at the foot of a page: which data each result is of, and what made it."""
    rows: list[PrintRow] = []
    versions: dict[str, None] = {}
    for group in groups:
        for system in group.systems:
            given = system.record.get("fingerprints") or {}
            digits = tuple(str(given.get(part) or "").rpartition(":")[2][:12] for part in _PRINTED)
            rows.append(PrintRow(system.result.path.name, digits, str(system.record["timestamp"])))
            made = _pairs(system.record.get("versions") or {}, " ")
            on = _pairs(system.record.get("machine") or {}, " ")
            versions["; ".join(filter(None, (made, on)))] = None
    return Fingerprints(tuple(_PRINTED.values()), tuple(rows), tuple(filter(None, versions)))


def _told(system: System) -> Iterator[tuple[str, str]]:
    record = system.record
    yield "Result file", f"{system.result.path.name}, written {record['timestamp']}"
    yield "Split", "; ".join(_claims((record.get("protocol") or {}).get("proof") or {}))
    yield "Embedder", _embedder(record.get("embedder") or {})
    yield "Index", _index(record.get("index") or {})
    yield "Truth", _truth(record.get("truth") or {})
    yield "Images", _ledger(record.get("ledger") or {})
    yield from _audit(record.get("audit") or {})
    for reason, ids in (record.get("left_out") or {}).items():
        if ids:
            many = listed(ids) if isinstance(ids, list) else str(ids)
            yield "Left out", f"{reason.replace('_', ' ')}: {many}"
    yield "Uncertainty", _uncertainty(system)
    yield "Versions", _pairs(record.get("versions") or {}, " ")
    yield "Machine", _pairs(record.get("machine") or {}, ": ")
    yield "Seeds", _pairs(record.get("seeds") or {}, " ")
    for part, fingerprint in (record.get("fingerprints") or {}).items():
        if fingerprint:
            yield f"Fingerprint, {part}", str(fingerprint)


def _embedder(embedder: Mapping[str, Any]) -> str:
    parts = [str(embedder[key]) for key in ("name",) if embedder.get(key)]
    if embedder.get("dimension"):
        parts.append(f"{counted(embedder['dimension'])} dimensions")
    if embedder.get("preprocessing"):
        what = embedder["preprocessing"]
        parts.append(_pairs(what, ": ") if isinstance(what, Mapping) else str(what))
    if embedder.get("weights_hash"):
        parts.append(f"weights {embedder['weights_hash']}")
    return "; ".join(parts)


def _index(index: Mapping[str, Any]) -> str:
    parts = [str(index[key]) for key in ("engine", "metric") if index.get(key)]
    if index.get("items") is not None:
        parts.append(plural(index["items"], "item"))
    if index.get("exact") is not None:
        parts.append("exact" if index["exact"] else "approximate")
    if index.get("settings"):
        parts.append(_pairs(index["settings"], " = "))
    return ", ".join(parts)


def _truth(truth: Mapping[str, Any]) -> str:
    kind = truth.get("kind")
    parts = [_KINDS.get(kind, str(kind))] if kind is not None else []
    parts += [
        f"{key.replace('_', ' ')} {value(given) if isinstance(given, float) else given}"
        for key, given in truth.items()
        if given is not None and key != "kind"
    ]
    return ", ".join(parts)


def _ledger(ledger: Mapping[str, Any]) -> str:
    if not ledger:
        return ""
    parts = [
        f"{counted(ledger[key])} {key.replace('_', ' ')}"
        for key in ("used", "changed", "left_out")
        if key in ledger
    ]
    reasons = ledger.get("reasons") or {}
    why = "; ".join(f"{reason}: {counted(n) if isinstance(n, int) else n}" for reason, n in reasons.items())
    return ", ".join(parts) + (f" ({why})" if why else "")


def _audit(audit: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    sizes = audit.get("truth_sizes") or {}
    if sizes:
        least, most, middle = (counted(sizes[key]) for key in ("min", "max", "median"))
        yield "Right answers a query", least if least == most else f"{least} to {most}, median {middle}"
    if categories := audit.get("categories"):
        yield "Categories", ", ".join(f"{name}: {counted(count)}" for name, count in categories.items())
    if (trivial := audit.get("trivial_queries")) is not None:
        yield "Trivial queries", listed(trivial) if trivial else "none: no query has its own copy in the gallery"
    if absent := audit.get("absent_items"):
        named = [
            f"{item} (nearest: {listed(near, 3)})" if near else item for item, near in list(absent.items())[:8]
        ]
        more = f" and {counted(len(absent) - 8)} more" if len(absent) > 8 else ""
        yield "Right answers absent from the gallery", "; ".join(named) + more


def _uncertainty(system: System) -> str:
    intervals = [measured.interval for measured in system.measures.values() if measured.interval]
    if not intervals:
        return ""
    confidence = intervals[0].get("confidence")
    told = [f"{100 * confidence:g} % intervals"] if confidence else []
    return ", ".join(told) + (": " if told else "") + "; ".join(dict.fromkeys(map(_making, intervals)))


def _making(interval: Mapping[str, Any]) -> str:
    """How one interval was made; a formula has neither resamples nor a seed."""
    parts = [str(interval["method"])] if interval.get("method") else []
    if interval.get("resamples"):
        parts.append(plural(interval["resamples"], "resample"))
        parts += [f"seed {interval['seed']}"] if interval.get("seed") is not None else []
    parts += [plural(interval["groups"], "group")] if interval.get("groups") else []
    return ", ".join(parts)


def _pairs(given: Mapping[str, Any], between: str) -> str:
    return ", ".join(f"{key.replace('_', ' ')}{between}{what}" for key, what in given.items() if what is not None)
