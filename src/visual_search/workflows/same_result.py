"""A result file by its path and fingerprint, for a process that knows nothing else of it."""

from __future__ import annotations

from pathlib import Path

from visual_search.catalogue.entry import Entry, facts_of_record
from visual_search.catalogue.opened import OpenedResult
from visual_search.formats.fingerprint import fingerprint_file
from visual_search.formats.results import StoredResult, read_headline

__all__ = ["same_result"]


def same_result(path: str, fingerprint: str) -> OpenedResult | None:
    """Open a result; None where the file is gone or no longer the same.

    Raises
    ------
    FileFormatError
        It cannot be read as a result.
    """
    place = Path(path)
    try:
        if fingerprint_file(place) != fingerprint:
            return None
        record = read_headline(place)
    except FileNotFoundError:
        return None
    entry = Entry("", place.name, place.stat().st_mtime, None, fingerprint, facts_of_record(record))
    return OpenedResult(entry, StoredResult(place, record))
