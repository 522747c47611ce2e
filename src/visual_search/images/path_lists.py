"""List files: text with a path a line, CSV or TSV, JSON."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from visual_search.errors import FileFormatError, Problems, first_few

__all__ = ["ListedPath", "read_path_list"]


class ListedPath(NamedTuple):
    """One entry: the id, where the list gives one, and the path as written."""

    id: str | None
    path: str


def read_path_list(path: Path) -> list[ListedPath]:
    """Read a list of images.

    ============  =====================================================================================
    list          read as
    ============  =====================================================================================
    JSON          a list of paths, a list of ``{"id": ..., "path": ...}``, or an object of id to path
    ``.csv``      columns ``path`` and, if wanted, ``id`` named in the first row, others ignored; without
    ``.tsv``      such a row one column of paths, or two: id, path
    other text    one path a line; empty lines and lines that begin with ``#`` are skipped
    ============  =====================================================================================

    Text is UTF-8; bytes of names that are not survive as the system's own functions would keep them.

    Raises
    ------
    FileFormatError
        Not such a list; every bad entry is named.
    """
    raw = path.read_bytes()
    if b"\x00" in raw:
        raise FileFormatError(f"{path}: neither an image, an archive nor a list of paths, but binary data")
    text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    suffix = path.suffix.lower()
    if suffix == ".json" or text.lstrip().startswith(("[", "{")):
        return _from_json(path, text)
    first = text.split("\n", 1)[0].rstrip("\r")
    if suffix in (".csv", ".tsv"):
        return _from_rows(path, text, "\t" if suffix == ".tsv" or "\t" in first else ",")
    lines = (line.rstrip("\r") for line in text.split("\n"))
    return [ListedPath(None, line) for line in lines if line.strip() and not line.startswith("#")]


def _distinct(path: Path, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    counts = Counter(key for key, _ in pairs)
    if len(counts) < len(pairs):
        twice = [key for key, count in counts.items() if count > 1]
        raise FileFormatError(f"{path}: the same key comes twice in an object: {first_few(twice)}; keep one")
    return dict(pairs)


def _from_json(path: Path, text: str) -> list[ListedPath]:
    try:
        value: Any = json.loads(text, object_pairs_hook=lambda pairs: _distinct(path, pairs))
    except FileFormatError:
        raise
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path}: not valid JSON: {error}") from error
    entries = [{"id": k, "path": v} for k, v in value.items()] if isinstance(value, dict) else value
    if not isinstance(entries, list):
        raise FileFormatError(
            f"{path}: a JSON {type(value).__name__}; give a list of paths or an object of id to path"
        )
    problems = Problems(str(path))
    listed = []
    for place, entry in enumerate(entries):
        fields = entry if isinstance(entry, dict) else {"path": entry}
        if not isinstance(fields.get("path"), str) or not fields["path"]:
            problems.add(f"entry {place}: no path; give a string, or an object with path and, if wanted, id")
        elif "id" in fields and (not isinstance(fields["id"], str) or not fields["id"]):
            problems.add(f"entry {place}: id {fields['id']!r} is no string; ids of images are non-empty strings")
        else:
            listed.append(ListedPath(fields.get("id"), fields["path"]))
    problems.raise_if_any(FileFormatError)
    return listed


def _from_rows(path: Path, text: str, separator: str) -> list[ListedPath]:
    try:
        numbered = [
            (n, row) for n, row in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=separator), 1)
        ]
    except csv.Error as error:
        raise FileFormatError(f"{path}: not readable as CSV: {error}") from error
    rows = [(number, row) for number, row in numbered if any(field.strip() for field in row)]
    if not rows:
        return []
    head = [field.strip().lower() for field in rows[0][1]]
    if "path" in head:
        rows = rows[1:]
        path_at, id_at = head.index("path"), head.index("id") if "id" in head else None
    else:
        path_at, id_at = (1, 0) if len(head) == 2 else (0, None)
        if len(head) > 2:
            raise FileFormatError(f"{path}: {len(head)} columns and no first row that names one of them path")
    problems = Problems(str(path))
    listed = []
    for number, row in rows:
        wanted = [row[at] if at < len(row) else "" for at in (path_at, *([] if id_at is None else [id_at]))]
        if all(wanted):
            listed.append(ListedPath(wanted[1] if id_at is not None else None, wanted[0]))
        else:
            problems.add(f"row {number}: no {'path' if not wanted[0] else 'id'}")
    problems.raise_if_any(FileFormatError)
    return listed
