"""Where a result's images are, and what they were: ids to paths below a root, for items and for queries."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from visual_search.errors import FileFormatError, InputError, Problems
from visual_search.formats.plain_json import read_plain_json

__all__ = ["checked_places", "is_sha256", "read_places", "write_places"]

_SHA256 = re.compile(r"[0-9a-f]{64}")


def write_places(path: Path, places: dict[str, dict[str, Any]]) -> None:
    """Write the items file; escaped throughout, since a file name may hold bytes that are no text."""
    text = json.dumps(places, indent=1, ensure_ascii=True, allow_nan=False)
    path.write_bytes(f"{text}\n".encode())


def read_places(path: Path) -> dict[str, dict[str, Any]]:
    """Read and check the items file.

    Raises
    ------
    FileFormatError
        Not JSON, or not as :func:`checked_places` needs it.
    """
    return checked_places(read_plain_json(path), path.name, FileFormatError)


def checked_places(value: Any, subject: str, error: type[InputError]) -> dict[str, dict[str, Any]]:
    """Check that a value says, for items and for queries, a root and paths below it, and hashes where it has any.

    Raises
    ------
    InputError or FileFormatError
        As asked by ``error``; every problem is listed.
    """
    problems = Problems(subject)
    if not isinstance(value, dict):
        raise error(f"{subject}: an object with items and queries is needed; got {type(value).__name__}")
    for side in value.keys() - {"items", "queries"}:
        problems.add(f"{side!r}: only 'items' and 'queries' are known")
    for side in value.keys() & {"items", "queries"}:
        part = value[side]
        if not (
            isinstance(part, dict) and isinstance(part.get("root"), str) and isinstance(part.get("paths"), dict)
        ):
            problems.add(f"{side}: an object with 'root' (text) and 'paths' (an object) is needed")
            continue
        for key, place in part["paths"].items():
            if (wrong := _what_is_wrong(place)) is not None:
                problems.add(f"{side}: {key!r}: {wrong}")
        hashes = part.get("sha256", {})
        if not isinstance(hashes, dict):
            problems.add(f"{side}: 'sha256' is an object of id to hash; got {type(hashes).__name__}")
            continue
        for key, told in hashes.items():
            if not is_sha256(told):
                problems.add(f"{side}: {key!r}: the SHA-256 of a file has 64 digits of 0-9 and a-f; got {told!r}")
    problems.raise_if_any(error)
    return value


def is_sha256(told: object) -> bool:
    """Whether a value is a SHA-256 as it is written here: 64 small hexadecimal digits."""
    return isinstance(told, str) and _SHA256.fullmatch(told) is not None


def _what_is_wrong(place: Any) -> str | None:
    if isinstance(place, dict) and place.keys() == {"archive", "member"} and isinstance(place["member"], str):
        place = place["archive"]
    if not isinstance(place, str):
        return f"a relative path or {{'archive', 'member'}} is needed; got {place!r}"
    # A result may come from anywhere; its paths lead below the root that it states, which is shown to people.
    windows = os.name == "nt"
    parts = (place.replace("\\", "/") if windows else place).split("/")
    if parts[0] == "" or ".." in parts or "\0" in place or (windows and ":" in place):
        return f"{place!r} is empty, absolute or leaves its root; give paths relative to the root"
    return None
