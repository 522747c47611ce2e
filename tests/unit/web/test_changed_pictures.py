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


def query_page(client: TestClient, form: str = ".json") -> Any:
    client.app.state.explorer.results.shelf.refresh()  # type: ignore[attr-defined]
    key = client.get("/results.json").json()["rows"][0]["key"]
    return client.get(f"/query{form}", params={"result": key, "query": "5.png"}, headers={"accept": "text/html"})


def asked(client: TestClient, *named: tuple[str, str]) -> Any:
    """What the page asks when pictures came in sight: each one's side and id."""
    client.app.state.explorer.results.shelf.refresh()  # type: ignore[attr-defined]
    key = client.get("/results.json").json()["rows"][0]["key"]
    told = [{"result": key, "side": side, "id": name} for side, name in named]
    return client.post("/result/pictures", json={"pictures": told})


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


def test_beside_words_of_the_page_the_picture_needs_none(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    replaced(folder / "photos" / "1.png")
    (state,) = asked(client, ("items", "1.png")).json()["pictures"]
    assert state["picture"].endswith("&words=beside")
    bare = client.get(state["picture"])
    assert bare.headers["content-type"] == "image/webp"
    assert Image.open(io.BytesIO(bare.content)).size == (30, 40)


def test_what_became_of_pictures_is_told_in_the_order_asked(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    replaced(folder / "photos" / "1.png")
    (folder / "photos" / "3.png").unlink()
    (folder / "photos" / "4.png").write_text("no picture")
    named = [("items", "4.png"), ("items", "1.png"), ("queries", "5.png"), ("items", "3.png"), ("items", "none")]
    told = asked(client, *named).json()["pictures"]
    assert [(one["picture_changed"], one["picture_problem"]) for one in told] == [
        (None, "not a readable image"),
        (True, None),
        (False, None),
        (None, "file is gone"),
        (None, "no file is named"),
    ]
    assert [one["picture"] is None for one in told] == [True, False, False, True, True]
    without_hashes(folder)
    (state,) = asked(client, ("items", "1.png")).json()["pictures"]
    assert (state["picture_changed"], state["picture_problem"]) == (None, None)


def test_wrong_questions_about_pictures_are_refused(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    assert asked(client, *[("items", "1.png")] * 101).status_code == 422
    assert asked(client, ("elsewhere", "1.png")).status_code == 422
    named = {"result": "none", "side": "items", "id": "1.png"}
    assert client.post("/result/pictures", json={"pictures": [named]}).status_code == 404
    far = client.post("/result/pictures", json={"pictures": []}, headers={"origin": "http://elsewhere.example"})
    assert far.status_code == 403


def test_the_twin_says_it_of_each_picture(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    replaced(folder / "photos" / "1.png")
    replaced(folder / "asked" / "5.png")
    told = query_page(client).json()
    (system,) = told["systems"]
    assert system["picture_changed"] is True
    changed = {one["item"]: one["picture_changed"] for one in system["list"]}
    assert changed == {f"{number}.png": number == 1 for number in range(5)}
    assert told["pictures"] == {"changed": 2, "waiting": 0}
    result = client.get("/result.json", params={"result": system["result"]}).json()
    assert result["pictures"] == {"changed": 2, "waiting": 0}
    assert {one["picture_changed"] for one in result["worst"][0]["list"] if one["item"] == "1.png"} == {True}


def test_the_twin_waits_for_pictures_only_so_long(
    explore: Explore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = explore(results=(folder,))
    replaced(folder / "photos" / "1.png")
    monkeypatch.setattr("visual_search.web.result_pictures._LOOKED", 1e-9)
    told = query_page(client).json()
    assert told["pictures"] == {"changed": 0, "waiting": 6}
    assert {one["picture_changed"] for one in told["systems"][0]["list"]} == {None}
    asked(client, ("items", "1.png"))
    assert query_page(client).json()["pictures"] == {"changed": 1, "waiting": 5}


def test_a_page_reads_no_picture_and_says_what_is_known(
    explore: Explore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = explore(results=(folder,))
    replaced(folder / "photos" / "1.png")
    pictures = client.app.state.explorer.pictures  # type: ignore[attr-defined]
    monkeypatch.setattr(pictures, "small", None)
    before = query_page(client, "").text
    assert re.findall('role="status"[^>]*data-one[^>]*>([^<]*)<', before) == [""]
    assert '<span class="changed">' not in before.partition("<ol")[2]
    monkeypatch.undo()
    asked(client, ("items", "1.png"), ("items", "2.png"))
    after = query_page(client, "").text
    assert after.partition("<ol")[2].count('<span class="changed">') == 1
    (line,) = re.findall('role="status"[^>]*data-one[^>]*>([^<]*)<', after)
    assert line.startswith("1 picture has changed since it was measured")
    # What was known of a file holds while it stays as it is.
    replaced(folder / "photos" / "2.png")
    Image.new("RGB", (9, 9)).save(folder / "photos" / "1.png")
    assert query_page(client, "").text.partition("<ol")[2].count('<span class="changed">') == 0


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
