"""The manifest of an index folder: what the index is, and which files hold it."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from visual_search.errors import FileFormatError, InputError, Problems
from visual_search.indexing.embedders.contract import EmbedderDescription
from visual_search.indexing.engines.contract import METRICS, Metric

__all__ = [
    "FORMAT",
    "FORMAT_VERSION",
    "MANIFEST_NAME",
    "REQUIRED_ROLES",
    "Companion",
    "Manifest",
    "attachment_pattern",
    "companion_pattern",
]

FORMAT = "visual-search index"
FORMAT_VERSION = 1
MANIFEST_NAME = "manifest.json"

REQUIRED_ROLES = ("vectors", "ids")

attachment_pattern = re.compile(r"[a-z]{1,32}\.[a-z0-9]{1,16}")
companion_pattern = re.compile(r"(vectors|ids|attached-[a-z]{1,32})-[0-9a-f]{8,64}\.[a-z0-9]{1,16}")

_TYPES: dict[str, tuple[type, ...]] = {
    "metric": (str,),
    "engine": (str,),
    "settings": (dict,),
    "dimension": (int,),
    "count": (int,),
    "tombstones": (int,),
    "fingerprint": (str,),
    "created": (str,),
    "versions": (dict,),
    "files": (dict,),
    "embedder": (dict, type(None)),
    "extra": (dict,),
}


@dataclass(frozen=True, slots=True)
class Companion:
    """A file beside the manifest: its content-bearing name, SHA-256 and size in bytes."""

    name: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What ``manifest.json`` says.

    Parameters
    ----------
    metric, engine, settings, dimension
        As the index was made; settings include every default.
    count : int
        Live vectors.
    tombstones : int
        Removed vectors the engine's file still holds.
    fingerprint : str
        Over ids and stored vectors in order.
    created : str
        When the index was first saved, UTC, ``2026-01-31T12:00:00Z``.
    versions : dict
        Of this package, NumPy, Python and the engine's library at the time of saving.
    files : dict of str to Companion
        ``vectors``, ``ids``, and what was attached, by the name it was given.
    embedder : EmbedderDescription or None
        What made the vectors.
    extra : dict
        Open to whoever makes the index: where each item came from, how it was decoded.
    """

    metric: Metric
    engine: str
    settings: dict[str, Any]
    dimension: int
    count: int
    tombstones: int
    fingerprint: str
    created: str
    versions: dict[str, str]
    files: dict[str, Companion]
    embedder: EmbedderDescription | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """As a JSON object, format and version first."""
        return {"format": FORMAT, "format_version": FORMAT_VERSION, **asdict(self)}

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """Read and check a manifest.

        Raises
        ------
        FileFormatError
            Not JSON, of another format or a newer version, or with fields missing or wrong; all of them listed.
        """
        record = _json_object(path)
        if record.get("format") != FORMAT:
            raise FileFormatError(
                f"{path}: not the manifest of an index (format is {record.get('format')!r}, must be {FORMAT!r}); "
                "give the folder that VectorIndex.save wrote"
            )
        version = record.get("format_version")
        if version != FORMAT_VERSION:
            newer = isinstance(version, int) and version > FORMAT_VERSION
            mend = "update visual-search" if newer else "save the index again with this version"
            raise FileFormatError(
                f"{path}: format version {version!r}; this program reads {FORMAT_VERSION}; {mend}"
            )
        problems = Problems(str(path))
        for name, kinds in _TYPES.items():
            if name not in record:
                problems.add(f"{name}: missing")
            elif not isinstance(record[name], kinds) or isinstance(record[name], bool):
                problems.add(f"{name}: {record[name]!r} is {type(record[name]).__name__}, not {kinds[0].__name__}")
        problems.raise_if_any(FileFormatError)
        return cls._from_record(record, problems)

    @classmethod
    def _from_record(cls, record: dict[str, Any], problems: Problems) -> Manifest:
        if record["metric"] not in METRICS:
            problems.add(f"metric: {record['metric']!r}; must be one of {', '.join(METRICS)}")
        for name, least in (("dimension", 1), ("count", 0), ("tombstones", 0)):
            if record[name] < least:
                problems.add(f"{name}: {record[name]}; must be at least {least}")
        roles = [*REQUIRED_ROLES, *(role for role in record["files"] if role not in REQUIRED_ROLES)]
        files = {role: _companion(role, record["files"].get(role), problems) for role in roles}
        embedder = None
        if record["embedder"] is not None:
            try:
                embedder = EmbedderDescription.from_json(record["embedder"])
            except InputError as error:
                problems.add(f"{error}; its keys are name, dimension, preprocessing, weights_hash")
        problems.raise_if_any(FileFormatError)
        return cls(
            **{name: record[name] for name in _TYPES if name not in {"files", "embedder"}},
            files={role: companion for role, companion in files.items() if companion is not None},
            embedder=embedder,
        )


def _json_object(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text("utf-8"))
    except RecursionError:
        raise FileFormatError(
            f"{path}: nested too deeply for a manifest; it was damaged or written by hand"
        ) from None
    except ValueError as error:  # not UTF-8, or not JSON
        raise FileFormatError(
            f"{path}: not JSON ({error}); it was cut short, damaged or written by hand"
        ) from error
    if not isinstance(record, dict):
        raise FileFormatError(f"{path}: a JSON {type(record).__name__}; a manifest is an object")
    return record


def _companion(role: str, entry: Any, problems: Problems) -> Companion | None:
    kinds = {"name": str, "sha256": str, "bytes": int}
    if not isinstance(entry, dict) or {key: type(value) for key, value in entry.items()} != kinds:
        problems.add(f"files.{role}: {entry!r}; must have name (text), sha256 (text) and bytes (a whole number)")
        return None
    # The name is checked against a pattern, so that a manifest cannot point outside its folder.
    if not companion_pattern.fullmatch(entry["name"]):
        problems.add(f"files.{role}.name: {entry['name']!r}; must look like {role}-0123abcd.suffix")
        return None
    return Companion(**entry)
