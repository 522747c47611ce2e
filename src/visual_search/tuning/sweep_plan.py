"""Which points a sweep was asked for, kept in its file: so that a file can say whether all of them are there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from visual_search.counted import counted
from visual_search.errors import FileFormatError
from visual_search.tuning.grid import GridPoint
from visual_search.tuning.not_finished import NotFinished

__all__ = ["asked_record", "check_asked", "split_records", "unfinished_words"]

_ASKED = "points_asked"
_NAMED = 3


def asked_record(points: Iterable[GridPoint]) -> dict[str, Any]:
    """The record of a run that asks for these points: their labels by their keys.

    >>> from visual_search.tuning.grid import grid
    >>> list(asked_record(grid(["hnsw(m=16)"], {"ef_search": [16]}))["points_asked"].values())
    ['hnsw(m=16) ef_search=16']
    """
    return {_ASKED: {point.key: point.label for point in points}}


def split_records(records: Iterable[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """The records after a file's header: of what was asked for, of points, and of points that were given up."""
    asked: list[Any] = []
    points: list[Any] = []
    given_up: list[Any] = []
    for record in records:
        if isinstance(record, dict) and _ASKED in record:
            asked.append(record)
        else:
            (given_up if NotFinished.is_record(record) else points).append(record)
    return asked, points, given_up


def check_asked(records: Iterable[Any]) -> dict[str, str]:
    """Labels of all points that were ever asked for, by their keys, in the order in which they were.

    Raises
    ------
    FileFormatError
        Something else than texts by texts.
    """
    asked: dict[str, str] = {}
    for record in records:
        named = record[_ASKED]
        if not isinstance(named, dict) or not all(isinstance(label, str) for label in named.values()):
            raise FileFormatError(f"{_ASKED}: an object of texts is needed")
        for key, label in named.items():
            asked.setdefault(key, label)
    return asked


def unfinished_words(missing: tuple[str, ...], measured: int, given_up: int = 0) -> list[str]:
    """A note of what is missing, and how to have it; none where all is there or was given up.

    >>> unfinished_words(("flat", "ivf nprobe=1"), 3)
    ['3 of 5 settings asked for are measured, not yet flat, ivf nprobe=1: the sweep still runs, was stopped \
or failed there; started again, it goes on where it was']
    """
    if not missing:
        return []
    named = ", ".join(missing[:_NAMED]) + (f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else "")
    of_all = counted(measured + len(missing) + given_up, "setting", "settings")
    there = f"{measured:,} of {of_all} asked for are measured"
    return [
        (
            f"{there}, not yet {named}: the sweep still runs, was stopped or failed there; started again, it goes on "
            "where it was"
        ),
    ]
