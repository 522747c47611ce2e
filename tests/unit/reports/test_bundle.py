"""The report as a folder: every query on a page, pictures as files, replaced whole, refused over anything else."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from visual_search.errors import InputError
from visual_search.formats.results import StoredResult
from visual_search.reports import bundle
from visual_search.workflows.report import report_bundle

Parse = Callable[[Path], Any]
Changed = Callable[..., StoredResult]


def files_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def folder(sample: list[StoredResult], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bundle") / "report"
    paths = [one.path for one in sample]
    assert report_bundle(paths, out, title="All <of> it", baseline="colour", per_page=25) == out / "index.html"
    return out


def test_every_query_stands_on_one_page_with_a_row_for_each_system(
    folder: Path, sample: list[StoredResult], parse: Parse
) -> None:
    for protocol, (first, count) in enumerate([(0, 3), (2, 2)], start=1):
        wanted = [one["query_id"] for one in sample[first].record["per_query_results"]]
        pages = sorted((folder / "queries").glob(f"{protocol}-*.html"))
        assert len(pages) == count
        found = []
        for page in map(parse, pages):
            for case in page.all("article"):
                found.append(case.one("h2").text)
                assert len(case.all("div", "row")) == 2
                assert case.all("img")
        assert sorted(found) == sorted(wanted)


def test_the_lowest_stand_first(folder: Path, sample: list[StoredResult], parse: Parse) -> None:
    values = {one["query_id"]: one["average_precision"] for one in sample[0].record["per_query_results"]}
    pages = map(parse, sorted((folder / "queries").glob("1-*.html")))
    order = [values[case.one("h2").text] for page in pages for case in page.all("article")]
    assert order == sorted(values.values())


def test_links_are_relative_and_lead_to_files_and_anchors_that_are_there(folder: Path, parse: Parse) -> None:
    pages = {path: parse(path) for path in folder.rglob("*.html")}
    anchors = {
        path: {one.attributes["id"] for one in page.all() if "id" in one.attributes} for path, page in pages.items()
    }
    seen = 0
    for path, page in pages.items():
        found = [one.attributes["href"] for one in page.all("a")] + [
            one.attributes["src"] for one in page.all("img")
        ]
        for link in found:
            parts = urlsplit(link)
            assert not parts.scheme
            assert not parts.netloc
            assert not parts.path.startswith("/")
            target = path if not parts.path else Path(os.path.normpath(path.parent / unquote(parts.path)))
            assert target.is_file(), link
            assert target.is_relative_to(folder)
            if parts.fragment:
                assert parts.fragment in anchors[target], link
            seen += 1
    assert seen > 1000


def test_the_names_lead_to_the_queries(folder: Path, sample: list[StoredResult], parse: Parse) -> None:
    page = parse(folder / "names" / "1-0001.html")
    rows = page.one("tbody").all("tr")
    assert [row.one("th").text for row in rows] == sorted(
        str(one["query_id"]) for one in sample[0].record["per_query_results"]
    )
    for row in rows:
        file, _, anchor = row.one("a").attributes["href"].partition("#")
        case = parse(folder / "names" / file).one("article", id=anchor)
        assert case.one("h2").text == row.one("th").text


def test_no_file_is_named_after_an_id(results: list[StoredResult], changed: Changed, tmp_path: Path) -> None:
    per_query = results[0].record["per_query_results"]
    per_query = results[0].record["per_query_results"]
    odd = {str(one["query_id"]): f"../../{'x' * n}/..\\<b>\"'\u202e{n}" for n, one in enumerate(per_query)}

    def renamed(columns: dict[str, Any]) -> dict[str, Any]:
        return columns | {key: [odd.get(one, one) for one in columns[key]] for key in ("query", "item")}

    values = [one | {"query_id": odd[one["query_id"]]} for one in per_query]
    stored = changed(results[0], ranking=renamed, per_query_results=values, items=None)
    before = set(tmp_path.parent.iterdir())
    report_bundle([stored.path], tmp_path / "out" / "report", per_page=5)
    names = files_of(tmp_path / "out")
    known = {"queries", "names", "images", "index.html", "bundle.json"}
    known = {"queries", "names", "images", "index.html", "bundle.json"}
    assert {name.split("/")[1] for name in names if "/" in name} <= known
    assert all(ord(one) < 128 and one not in "<>\"'\\" for name in names for one in name)
    assert set(tmp_path.parent.iterdir()) == before
    assert "<b>" not in (tmp_path / "out" / "report" / "queries" / "1-0001.html").read_text("utf-8")


def test_a_bundle_is_replaced_and_nothing_is_left_of_the_old_one(
    results: list[StoredResult], tmp_path: Path
) -> None:
    out = tmp_path / "report"
    report_bundle([results[0].path], out, per_page=5)
    before = files_of(out)
    report_bundle([results[0].path], out, per_page=50)
    after = files_of(out)
    assert {name for name in before - after if name.startswith("queries")} == {
        "queries/1-0002.html",
        "queries/1-0003.html",
    }
    assert json.loads((out / "bundle.json").read_text("utf-8"))["queries"] == 12
    assert [path.name for path in tmp_path.iterdir() if path.name != "results"] == ["report"]


def test_anything_else_is_refused_and_left_as_it_is(results: list[StoredResult], tmp_path: Path) -> None:
    full, file, false = tmp_path / "full", tmp_path / "file", tmp_path / "false"
    for folder in (full, false):
        folder.mkdir()
        (folder / "precious.txt").write_text("mine", "utf-8")
    (false / "bundle.json").write_text('{"format": "else"}', "utf-8")
    file.write_text("mine", "utf-8")
    for place, words in (
        (full, "is a folder and no bundle"),
        (false, "is a folder and no bundle"),
        (file, "is no folder"),
        (results[0].path.parent, "would be written over|no bundle"),
    ):
        with pytest.raises(InputError, match=words):
            report_bundle([results[0].path], place)
    assert (full / "precious.txt").read_text("utf-8") == "mine"
    assert file.read_text("utf-8") == "mine"
    empty = tmp_path / "empty"
    empty.mkdir()
    assert report_bundle([results[0].path], empty).is_file()


def test_what_is_read_is_never_inside_what_is_replaced(results: list[StoredResult], tmp_path: Path) -> None:
    out = tmp_path / "report"
    report_bundle([results[0].path], out)
    inside = out / "loo.json"
    inside.write_bytes(results[0].path.read_bytes())
    with pytest.raises(InputError, match="would be written over"):
        report_bundle([inside], out)
    assert inside.is_file()


def test_a_failure_leaves_the_old_bundle_and_nothing_beside_it(
    results: list[StoredResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "report"
    report_bundle([results[0].path], out)
    before = {name: (out / name).read_bytes() for name in files_of(out)}

    def broken(*_: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(bundle, "_write_names", broken)
    with pytest.raises(OSError, match="disk is full"):
        report_bundle([results[0].path], out)
    assert {name: (out / name).read_bytes() for name in files_of(out)} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report", "results"]


def test_a_link_to_a_bundle_stays_a_link(results: list[StoredResult], tmp_path: Path) -> None:
    report_bundle([results[0].path], tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    report_bundle([results[0].path], tmp_path / "link", per_page=3)
    assert (tmp_path / "link").is_symlink()
    assert len(list((tmp_path / "real" / "queries").iterdir())) == 4


def test_a_result_without_its_ranking_says_so_on_every_page(results: list[StoredResult], tmp_path: Path) -> None:
    (results[0].path.parent / results[0].record["files"]["ranking"]).unlink()
    report_bundle([results[0].path], tmp_path / "report", per_page=5)
    for page in (tmp_path / "report" / "queries").iterdir():
        assert "its ranking file" in page.read_text("utf-8")
