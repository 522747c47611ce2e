"""An id of any length and script is shown escaped and cut, and its whole text can be reached on the page."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from visual_search.formats.results import StoredResult
from visual_search.reports.long_names import LongNames
from visual_search.reports.page import write_report

Parse = Callable[[Path], Any]
Changed = Callable[..., StoredResult]

HOSTILE = {
    "markup": "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "quotes": "\"'` onfocus='x' {{ 7 * 7 }} {% raw %}",
    "slashes": "../../../../etc/passwd\\..\\windows//",
    "long": "x<" * 5000,
    "right to left": "שלום/مرحبا.jpg",
    "turned": "photo\u202egpj.exe",
    "other": "写真/изображение/🖼️.png",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_id_is_shown_and_whole(
    results: list[StoredResult], changed: Changed, tmp_path: Path, parse: Parse, name: str
) -> None:
    whole = HOSTILE[name]
    first = results[0].record["per_query_results"][0]["query_id"]
    values = [
        one | ({"query_id": whole} if one["query_id"] == first else {})
        for one in results[0].record["per_query_results"]
    ]

    def renamed(columns: dict[str, Any]) -> dict[str, Any]:
        return {
            key: [whole if one == first else one for one in column] if key in {"query", "item"} else column
            for key, column in columns.items()
        }

    stored = changed(results[0], ranking=renamed, per_query_results=values)
    page = parse(write_report([stored], tmp_path / "r.html", cases=12))
    assert not page.all("script")
    assert not page.all("img")
    expected = whole.replace("\u202e", "\ufffd")
    shown = [one.raw for one in page.all("bdi")]
    if len(whole) <= 32:
        assert shown.count(expected) >= 2
        return
    cut = page.all("a", "cut")
    assert cut
    assert all(len(one.raw) <= 96 for one in cut)
    targets = {one.attributes["href"][1:] for one in cut}
    listed = {one.attributes["id"]: one.one("bdi").raw for one in page.one("details", "names").all("li")}
    assert targets == listed.keys()
    assert expected in listed.values()


def test_a_name_stands_once_in_the_list_however_often_it_is_cut() -> None:
    names = LongNames("n")
    first, second = (names.shown("a" * 200, limit) for limit in (32, 96))
    assert 'href="#n-1"' in first
    assert 'href="#n-1"' in second
    assert names.entries == [("n-1", "a" * 200)]
    names.shown("short")
    assert len(names.entries) == 1
