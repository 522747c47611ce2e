"""The page and the section of leaks: every pair, whatever it is called."""

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from visual_search import Ranking, Relevance
from visual_search.formats.results import ImageLocation, StoredResult
from visual_search.ids import Id, Ids
from visual_search.leaks.finding import find_leaks
from visual_search.leaks.impact import leak_impact
from visual_search.leaks.leak_record import read_leak_record
from visual_search.leaks.leak_report import LeakReport
from visual_search.leaks.roles import Role, RoleName
from visual_search.leaks.signatures import signatures_of
from visual_search.reports.leaks_page import leaks_section, write_leaks_page
from visual_search.reports.page import write_report
from visual_search.testing.textures import texture

Parse = Callable[[Path], Any]

ODD = "<script>alert(1)</script>&\u202e.png"


@pytest.fixture
def report(tmp_path: Path) -> LeakReport:
    def role(name: RoleName, named: dict[str, Any]) -> Role:
        places: dict[Id, ImageLocation] = {}
        for number, (one, picture) in enumerate(named.items()):
            place = tmp_path / f"{name}{number}.png"
            picture.save(place)
            places[one] = ImageLocation(place)
        return Role(name, Ids(list(named)), signatures_of(list(named.values())), places)

    query = role("query", {ODD: texture(1), "q2": texture(2), "q3": texture(3)})
    gallery = role("gallery", {"copy": texture(1), "small": texture(2).resize((60, 50)), "gone": texture(1)})
    (tmp_path / "gallery2.png").unlink()
    return find_leaks([query, gallery])


def test_every_pair_stands_side_by_side_and_nothing_is_unescaped(
    report: LeakReport, tmp_path: Path, parse: Parse
) -> None:
    page = parse(write_leaks_page(report, tmp_path / "l.html", notes=["<b>a note</b>"]))
    pairs = page.all("li", "pair")
    assert len(pairs) == len(report.pairs) == 3
    for pair in pairs:
        assert len(pair.all("div", "tile")) == 2
    assert not page.all("script")
    # Every id is isolated, so that one that turns the writing direction turns nothing else.
    assert "<b>a note</b>" in page.one("ul", "leak-words").text
    shown = [element.text for element in page.all("bdi", "id")]
    assert sum("<script>alert(1)</script>" in text for text in shown) == 2
    text = page.one("main").text
    assert "file is gone: 1" in text
    assert "near-duplicate" in text
    assert "bits differ" in text
    assert page.one("p", "lead").text.startswith("3 pairs found.")
    # Equal thumbnails are stored once, and each reference has its drawing.
    drawings = [element.attributes["id"] for element in page.all("symbol")]
    assert len(set(drawings)) == len(drawings)
    used = {element.attributes["href"][1:] for element in page.all("use")}
    assert used <= set(drawings)


def test_a_picture_that_is_another_than_the_one_compared_says_so(
    report: LeakReport, tmp_path: Path, parse: Parse
) -> None:
    def told() -> tuple[list[str], list[str]]:
        page = parse(write_leaks_page(read_leak_record(record, "l.json"), tmp_path / "l.html"))
        lines = [one.text for one in page.one("ul", "leak-words").all("li")]
        return [one.text for one in page.all("span", "changed")], [one for one in lines if "changed" in one]

    for places in report.places.values():
        for place in places.values():
            if place.path.exists():
                object.__setattr__(place, "sha256", hashlib.sha256(place.path.read_bytes()).hexdigest())
    record = json.loads(json.dumps(report.as_json()))
    assert told() == ([], [])
    texture(5).save(tmp_path / "query0.png")  # it stands in two pairs
    words = "1 file has changed since it was compared: what is shown of it is not what was compared."
    assert told() == (["changed since it was compared"] * 2, [words])
    texture(6).save(tmp_path / "gallery0.png")
    assert told()[1] == [
        "2 files have changed since they were compared: what is shown of them is not what was compared."
    ]


def test_impact_stands_in_a_table(report: LeakReport, tmp_path: Path, parse: Parse) -> None:
    ranking = Ranking.from_dict({"q2": {"small": 2.0, "copy": 1.0}, "q3": {"copy": 2.0, "small": 1.0}})
    relevance = Relevance.from_dict({"q2": {"small": 1, "copy": 1}, "q3": {"small": 1}})
    matches: dict[Id, tuple[Id, ...]] = {"q2": report.matches("query", "gallery")["q2"]}
    impact = leak_impact(ranking, relevance, matches, ["RR", "Precision@1"])
    page = parse(write_leaks_page(report, tmp_path / "l.html", impact=impact))
    rows = page.one("table", "impact").all("tr")
    assert [cell.text for cell in rows[1].all("td")][:4] == [
        "0.750 2 queries",
        "0.500 1 query",
        "1.000 1 query",
        "0.750",
    ]


def test_a_clean_report_says_so(tmp_path: Path, parse: Parse) -> None:
    names: tuple[RoleName, ...] = ("query", "gallery")
    roles = [Role(name, Ids([name]), signatures_of([texture(n)])) for n, name in enumerate(names)]
    page = parse(write_leaks_page(find_leaks(roles), tmp_path / "l.html"))
    assert page.one("p", "lead").text == "No picture stands in two roles, by the rules below."
    assert not page.all("li", "pair")


def test_a_section_of_a_report_has_its_own_drawings(
    report: LeakReport, sample: list[StoredResult], tmp_path: Path, parse: Parse
) -> None:
    page = parse(write_report(sample, tmp_path / "r.html", sections=[leaks_section(report)]))
    section = page.one("section", id="leaks")
    assert len(section.all("li", "pair")) == 3
    ids = [element.attributes["id"] for element in page.all() if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    used = {element.attributes["href"][1:] for element in section.all("use")}
    assert all(re.fullmatch(r"leaks-picture-\d+", one) for one in used)
    assert used <= set(ids)
