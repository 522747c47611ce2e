"""The page of one search."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from visual_search.errors import InputError
from visual_search.formats.results import ImageLocation, StoredResult
from visual_search.reports.contact_sheet import write_contact_sheet

Parse = Callable[[Path], Any]


@pytest.fixture
def found(sample: list[StoredResult]) -> list[SimpleNamespace]:
    rows = sample[0].ranking(queries=["object 2/view 3.png"]).to_pylist()
    return [SimpleNamespace(image_id=row["item"], score=row["score"]) for row in rows[:12]]


def test_query_and_results_with_ranks_scores_and_ids(
    sample: list[StoredResult], found: list[SimpleNamespace], tmp_path: Path, parse: Parse
) -> None:
    query = sample[0].query_location("object 2/view 3.png")
    assert query is not None
    out = write_contact_sheet(
        query, found, tmp_path / "s.html", locate=sample[0].item_location, notes=["flat, cosine"]
    )
    page = parse(out)
    assert page.one("h1").text == "Results for view 3.png"
    assert "flat, cosine" in page.one("header").text
    tiles = page.one("ol", "hits").all("li")
    assert len(tiles) == 12
    for rank, (tile, one) in enumerate(zip(tiles, found, strict=True), start=1):
        assert tile.one("span", "rank").text == f"rank {rank}"
        assert tile.one("span", "points").text.endswith(f" {one.score:.3f}".replace("-", "−"))
        assert tile.one("bdi").text == one.image_id
        assert tile.all("svg", "thumb")
    assert len(page.all("image")) == 13


def test_words_as_a_query_and_markup_in_ids(tmp_path: Path, parse: Parse) -> None:
    results = [SimpleNamespace(image_id="<img src=x onerror=alert(1)>", score=0.5, distance=None)]
    page = parse(write_contact_sheet("a <b>red</b> car", results, tmp_path / "s.html", locate=lambda _: None))
    assert page.one("blockquote").text == "a <b>red</b> car"
    assert not page.all("img")
    assert page.one("span", "empty").text == "no file is named"


def test_a_distance_is_shown_instead_of_its_negative(tmp_path: Path, parse: Parse) -> None:
    results = [SimpleNamespace(image_id="a", score=-2.5, distance=2.5)]
    page = parse(write_contact_sheet("x", results, tmp_path / "s.html", locate=lambda _: None))
    assert page.one("span", "points").text == "distance 2.500"


def test_missing_files_are_counted_and_no_results_said(tmp_path: Path, parse: Parse) -> None:
    gone = ImageLocation(tmp_path / "gone.png")
    page = parse(write_contact_sheet(gone, [], tmp_path / "s.html", locate=lambda _: None))
    assert "Nothing was found." in page.text
    assert "Empty frames: file is gone: 1." in page.text


def test_an_empty_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the text is empty"):
        write_contact_sheet("", [], tmp_path / "s.html", locate=lambda _: None)


def test_a_picture_that_is_another_than_the_one_indexed_says_so(tmp_path: Path, parse: Parse) -> None:
    def write() -> Any:
        results = [SimpleNamespace(image_id=name, score=1.0) for name in ("a", "b")]
        out = write_contact_sheet("words", results, tmp_path / "s.html", locate=places.get)
        return parse(out)

    places: dict[Any, ImageLocation] = {}
    for name in ("a", "b"):
        place = tmp_path / f"{name}.png"
        Image.new("RGB", (20, 20), "teal").save(place)
        places[name] = ImageLocation(place, sha256=hashlib.sha256(place.read_bytes()).hexdigest())
    assert not write().all("span", "changed")
    Image.new("RGB", (20, 20), "red").save(tmp_path / "b.png")
    page = write()
    (mark,) = page.all("span", "changed")
    assert mark.text == "changed since it was indexed"
    words = "1 file has changed since it was indexed: what is shown of it is not what was indexed."
    assert words in page.one("header").text
