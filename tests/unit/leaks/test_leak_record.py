"""A leak report read back from its JSON is the report that was written."""

import json
from pathlib import Path
from typing import Any

import pytest

from visual_search.errors import FileFormatError
from visual_search.formats.results import ImageLocation
from visual_search.ids import Id, Ids
from visual_search.leaks.finding import find_leaks
from visual_search.leaks.leak_record import read_leak_record
from visual_search.leaks.leak_report import LeakReport
from visual_search.leaks.roles import Role
from visual_search.leaks.signatures import signatures_of
from visual_search.testing.textures import texture


@pytest.fixture
def report(tmp_path: Path) -> LeakReport:
    places: dict[Id, ImageLocation] = {"a": ImageLocation(tmp_path / "a", sha256="a" * 64)}
    query = Role("query", Ids(["a", "b"]), signatures_of([texture(1), texture(2)]), places)
    gallery = Role(
        "gallery",
        Ids(["c", "d"]),
        signatures_of([texture(1), texture(2).resize((60, 50))]),
        {"c": ImageLocation(tmp_path / "z.zip", "c.png")},
    )
    return find_leaks([query, gallery])


def test_it_is_the_same_report(report: LeakReport, tmp_path: Path) -> None:
    report.write(tmp_path / "l.json")
    again = read_leak_record(json.loads((tmp_path / "l.json").read_text("utf-8")), "l.json")
    assert len(report.pairs) == 2
    assert again.as_json() == report.as_json()
    assert again.words() == report.words()
    assert [again.place(pair.second) for pair in again.pairs] == [
        report.place(pair.second) for pair in report.pairs
    ]
    hashes = [place and place.sha256 for place in map(again.place, (pair.first for pair in again.pairs))]
    assert hashes == ["a" * 64, None]


def test_a_hash_that_is_none_is_refused(report: LeakReport) -> None:
    value = report.as_json()
    value["pairs"][0]["first"]["sha256"] = "A" * 64
    with pytest.raises(FileFormatError, match="query 'a': the SHA-256 of a file has 64 digits"):
        read_leak_record(value, "l.json")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "else"}, "not a leak report"),
        ({"format_version": 2}, "format_version 2"),
        ({"pairs": "none"}, "pairs: a list"),
        ({"pairs_by_kind": {"odd": 1}}, "not known: 'odd'"),
        ({"flagged": {"judge": []}}, "not known: 'judge'"),
        ({"thresholds": {"radius64": 900}}, "radius64"),
        ({"thresholds": {"unheard": 1}}, "not a whole leak report"),
        ({"groups": [{}]}, "groups.0..complete: needed"),
        ({"roles": [{"name": "query", "pictures": -1}]}, "pictures"),
    ],
)
def test_what_is_no_whole_report_is_refused(report: LeakReport, change: dict[str, Any], words: str) -> None:
    with pytest.raises(FileFormatError, match=words):
        read_leak_record(report.as_json() | change, "l.json")


def test_all_problems_are_told_at_once(report: LeakReport) -> None:
    with pytest.raises(FileFormatError, match="(?s)mirrored.*within|within.*mirrored"):
        read_leak_record(report.as_json() | {"mirrored": 1, "within": "no"}, "l.json")
