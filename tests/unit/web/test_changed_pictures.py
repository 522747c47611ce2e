"""A picture replaced after it was measured is not passed off as the one that was: served, in a report, in the files."""

import hashlib
import io
import json
import re
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from starlette.testclient import TestClient

from visual_search.formats.results import read_result
from visual_search.reports.page import write_report
from visual_search.workflows.evaluate import evaluate_index
from visual_search.workflows.index_images import index_images

Explore = Callable[..., TestClient]
WORDS = "changed since it was measured"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A result whose photographs lie beside it: five items, and two queries of their own."""
    for number in range(7):
        place = tmp_path / ("asked" if number > 4 else "photos") / f"{number}.png"
        place.parent.mkdir(exist_ok=True)
        Image.new("RGB", (40, 30), (40 * number, 200 - 30 * number, 90)).save(place)
    index_images(tmp_path / "photos", tmp_path / "photos.index", embedder="histogram")
    queries = [
        {"query_id": f"{number}.png", "image_path": f"asked/{number}.png", "ground_truth": ["1.png"]}
        for number in (5, 6)
    ]
    (tmp_path / "eval.json").write_text(json.dumps({"queries": queries}))
    evaluate_index(tmp_path / "photos.index", tmp_path / "eval.json", tmp_path / "results.json", k_values=[1, 5])
    return tmp_path


def without_hashes(folder: Path) -> None:
    """The result as an earlier version wrote it."""
    record = json.loads((folder / "results.json").read_text())
    places = folder / record["files"]["items"]
    told = json.loads(places.read_text())
    for side in ("items", "queries"):
        del told[side]["sha256"]
    places.write_text(json.dumps(told))
    del record["file_checksums"]["items"]
    (folder / "results.json").write_text(json.dumps(record))


def replaced(place: Path) -> None:
    Image.new("RGB", (30, 40), "red").save(place)


def picture(client: TestClient, side: str, name: str, tag: str = "") -> Any:
    client.app.state.explorer.results.shelf.refresh()  # type: ignore[attr-defined]
    key = client.get("/results.json").json()["rows"][0]["key"]
    asked = {"result": key, "side": side, "id": name}
    return client.get("/result/picture", params=asked, headers={"if-none-match": tag})


def words(answer: Any) -> str:
    return " ".join(re.findall(r"<tspan[^>]*>([^<]*)</tspan>", answer.text))


def test_what_each_picture_was_is_remembered(folder: Path) -> None:
    stored = read_result(folder / "results.json")
    item, query = stored.item_location("1.png"), stored.query_location("5.png")
    for location in (item, query):
        assert location is not None
        assert location.sha256 == hashlib.sha256(location.path.read_bytes()).hexdigest()


@pytest.mark.parametrize(("side", "name", "file"), [("items", "1.png", "photos"), ("queries", "5.png", "asked")])
def test_a_served_picture_says_that_its_file_has_changed(
    explore: Explore, folder: Path, side: str, name: str, file: str
) -> None:
    client = explore(results=(folder,))
    before = picture(client, side, name)
    assert before.headers["content-type"] == "image/webp"
    original = (folder / file / name).read_bytes()
    replaced(folder / file / name)
    after = picture(client, side, name, before.headers["etag"])
    assert after.headers["content-type"] == "image/svg+xml"
    assert words(after) == WORDS
    (shown,) = re.findall(r"data:image/webp;base64,([^\"]+)", after.text)
    assert Image.open(io.BytesIO(b64decode(shown))).size == (30, 40)
    assert picture(client, side, name, after.headers["etag"]).status_code == 304
    # The same bytes at another time are the picture that was measured.
    (folder / file / name).write_bytes(original)
    assert picture(client, side, name, after.headers["etag"]).headers["content-type"] == "image/webp"


def test_measured_again_it_is_the_picture(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    replaced(folder / "asked" / "5.png")
    tag = picture(client, "queries", "5.png").headers["etag"]
    evaluate_index(folder / "photos.index", folder / "eval.json", folder / "results.json", k_values=[1, 5])
    assert picture(client, "queries", "5.png", tag).headers["content-type"] == "image/webp"


def test_a_picture_of_an_index_elsewhere_is_told_from_the_measured_one(explore: Explore, folder: Path) -> None:
    """Outside the folders served an index vouches for its items' files, and may have been made anew since."""
    served = folder / "served"
    served.mkdir()
    index_images(folder / "photos", served / "photos.index", embedder="histogram")
    evaluate_index(served / "photos.index", folder / "eval.json", served / "results.json", k_values=[1, 5])
    replaced(folder / "photos" / "1.png")
    assert words(picture(explore(results=(served,)), "items", "1.png")) == "file has changed since it was indexed"
    index_images(folder / "photos", served / "photos.index", embedder="histogram")
    assert words(picture(explore(results=(served,)), "items", "1.png")) == WORDS
    assert picture(explore(results=(served,)), "items", "2.png").headers["content-type"] == "image/webp"


def test_a_result_of_before_shows_what_is_there_and_says_nothing(explore: Explore, folder: Path) -> None:
    without_hashes(folder)
    replaced(folder / "photos" / "1.png")
    replaced(folder / "asked" / "5.png")
    client = explore(results=(folder,))
    for side, name in (("items", "1.png"), ("queries", "5.png")):
        assert picture(client, side, name).headers["content-type"] == "image/webp"
    page = write_report([folder / "results.json"], folder / "r.html").read_text()
    assert '<use href="#picture-' in page
    assert "changed since" not in page


def test_a_report_says_it_at_the_picture_and_counts_it(folder: Path) -> None:
    def told(name: str) -> tuple[int, list[str]]:
        page = write_report([folder / "results.json"], folder / name).read_text()
        marks = re.findall(r'<span class="changed">(.*?)</span></span>', page)
        assert {re.sub("<[^>]*>", "", mark) for mark in marks} <= {WORDS}
        return len(marks), re.findall(r"\d+ files? (?:has|have) changed since the measurement", page)

    assert told("before.html") == (0, [])
    replaced(folder / "photos" / "1.png")
    at_one, counted = told("one.html")
    assert at_one >= 2  # it is in the list of either query
    assert counted == ["1 file has changed since the measurement"]
    replaced(folder / "asked" / "5.png")
    at_both, counted = told("both.html")
    assert at_both > at_one
    assert counted == ["2 files have changed since the measurement"]
