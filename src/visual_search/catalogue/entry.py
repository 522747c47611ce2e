"""One line of the catalogue: what is shown of a result without opening its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from visual_search.catalogue.notes_file import Note
from visual_search.evaluation.guide_measures import GuideMeasures

__all__ = ["Entry", "MeasuredMean", "facts_of_record", "means_of_record"]


@dataclass(frozen=True, slots=True)
class MeasuredMean:
    """One measure's mean with its interval and counts; None where the record does not say."""

    mean: float | None
    low: float | None = None
    high: float | None = None
    counted: int | None = None
    undefined: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One result as the catalogue knows it.

    Attributes
    ----------
    key : str
        16 hexadecimal digits, of the file's place in the folder; what addresses of pages hold.
    file : str
        Place in the folder, with forward slashes.
    changed : float
        When the file was last written, in seconds since 1970.
    problem : str or None
        Why it cannot be read as a result; the facts are then empty.
    facts : mapping of str to value
        As :func:`facts_of_record` gives them.
    parts : mapping of str to str or None
        What it was measured on; results are comparable where these agree.
    measures : mapping of canonical text to MeasuredMean
    note : Note
    pinned : int
        Place among the pinned results, from 1, the last pinned highest; 0 where it is not pinned.
    fingerprint : str
        SHA-256 of the file.
    """

    key: str
    file: str
    changed: float
    problem: str | None
    fingerprint: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, str | None] = field(default_factory=dict)
    measures: Mapping[str, MeasuredMean] = field(default_factory=dict)
    note: Note = field(default_factory=Note)
    pinned: int = 0

    @property
    def name(self) -> str:
        """The model's name, or the file's where it cannot be read."""
        return str(self.facts.get("model") or self.file)

    @property
    def time(self) -> datetime:
        """When it was measured by its own word; when the file was written where it gives no time."""
        try:
            told = datetime.fromisoformat(str(self.facts.get("timestamp")))
        except ValueError:
            return datetime.fromtimestamp(self.changed, UTC)
        return told if told.tzinfo else told.replace(tzinfo=UTC)


def facts_of_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a table of results may show of a record besides its measures; None where it does not tell."""
    protocol, index = record.get("protocol") or {}, record.get("index") or {}
    proof = protocol.get("proof") or {}
    return {
        "model": record["model_name"],
        "timestamp": record["timestamp"],
        "dataset": _name_of(record.get("dataset")),
        "protocol": protocol.get("name"),
        "queries": record["num_queries"],
        "gallery": index.get("items"),
        "embedder": (record.get("embedder") or {}).get("name"),
        "engine": index.get("engine"),
        "metric": index.get("metric"),
        "ties": record.get("ties"),
        "rules": record.get("preset"),
        "truth": (record.get("truth") or {}).get("kind"),
        "warnings": len(record.get("warnings") or ()),
        "unproven": len(proof.get("failed") or ()) + len(proof.get("allowed") or ()),
        "lists": record.get("lists"),
    }


def means_of_record(record: Mapping[str, Any]) -> dict[str, MeasuredMean]:
    """Every measure of a record by canonical text; those of the guide's keys where it has no others."""
    if stated := record.get("measures"):
        return {text: _mean(one) for text, one in stated.items()}
    guide = GuideMeasures.of(record["k_values"])
    found = {
        str(guide.at(key, k)): MeasuredMean(record[f"{key}_at_{k}"])
        for key in ("hit_rate", "recall", "precision", "ndcg")
        for k in guide.k_values
        if f"{key}_at_{k}" in record
    }
    found[str(guide.average_precision)] = MeasuredMean(record["map"])
    found[str(guide.reciprocal_rank)] = MeasuredMean(record["mrr"])
    return found


def _mean(one: Mapping[str, Any]) -> MeasuredMean:
    interval = one.get("interval") or {}
    return MeasuredMean(
        one.get("mean"), interval.get("low"), interval.get("high"), one.get("counted"), one.get("undefined")
    )


def _name_of(dataset: Any) -> str | None:
    name = dataset.get("name") if isinstance(dataset, Mapping) else dataset
    return None if name is None else str(name)
