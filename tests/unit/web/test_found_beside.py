"""A folder of results with the indexes and sweeps in it: found by itself, and the pictures that the indexes hold."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

from visual_search.indexing.index_table import VectorIndex
from visual_search.workflows.evaluate import evaluate_index
from visual_search.workflows.index_images import index_images
from visual_search.workflows.served_folder import found_beside

Explore = Callable[..., TestClient]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Results and an index, whose photographs lie outside the folder."""
    photos = tmp_path / "photos"
    photos.mkdir()
    for number in range(6):
        Image.new("RGB", (40, 30), (40 * number, 200 - 30 * number, 90)).save(photos / f"{number}.png")
    folder = tmp_path / "served"
    folder.mkdir()
    index_images(photos, folder / "photos.index", embedder="histogram")
    data = {
        "queries": [
            {"query_id": "0.png", "image_path": "photos/0.png", "ground_truth": ["1.png"]},
            {"query_id": "2.png", "image_path": "photos/2.png", "ground_truth": ["3.png"]},
        ]
    }
    (tmp_path / "eval.json").write_text(json.dumps(data))
    evaluate_index(folder / "photos.index", tmp_path / "eval.json", folder / "results.json", k_values=[1, 5])
    return folder


def picture(client: TestClient, item: str) -> Any:
    client.app.state.explorer.results.shelf.refresh()  # type: ignore[attr-defined]
    key = client.get("/results.json").json()["rows"][0]["key"]
    return client.get("/result/picture", params={"result": key, "side": "items", "id": item})


def test_pictures_of_an_index_that_is_served_are_shown_and_no_others(explore: Explore, folder: Path) -> None:
    assert picture(explore(results=(folder,)), "1.png").headers["content-type"] == "image/webp"
    (folder / "photos.index").rename(folder.parent / "elsewhere")
    alone = picture(explore(results=(folder,)), "1.png")
    assert "outside the" in alone.text
    assert picture(explore(results=(folder,), indexes=(folder.parent / "elsewhere",)), "1.png").status_code == 200


def test_a_neighbour_of_the_items_is_not_shown(explore: Explore, folder: Path) -> None:
    """A folder that items lie in is not thereby a folder that may be looked into."""
    Image.new("RGB", (8, 8), "red").save(folder.parent / "photos" / "private.png")
    places = next(folder.glob("results.items.*.json"))
    record = json.loads((folder / "results.json").read_text())
    told = json.loads(places.read_text())
    told["items"]["paths"]["1.png"] = "private.png"
    places.write_text(json.dumps(told))
    record["file_checksums"].pop("items")
    (folder / "results.json").write_text(json.dumps(record))
    client = explore(results=(folder,))
    assert "outside the" in picture(client, "1.png").text
    assert picture(client, "2.png").headers["content-type"] == "image/webp"


def test_a_file_in_an_items_place_is_not_shown(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    item = folder.parent / "photos" / "1.png"
    assert picture(client, "1.png").headers["content-type"] == "image/webp"
    Image.new("RGB", (9, 9), "red").save(item)
    assert "svg" in picture(client, "1.png").headers["content-type"]
    item.unlink()
    assert "file is gone" in picture(client, "1.png").text
    private = folder.parent / "private.png"
    Image.new("RGB", (8, 8), "red").save(private)
    item.symlink_to(private)
    for asked in (client, explore(results=(folder,))):  # the second lists files when the link is there already
        assert "svg" in picture(asked, "1.png").headers["content-type"]


def test_what_lies_at_the_top_is_found_once_and_what_is_broken_is_told(explore: Explore, folder: Path) -> None:
    broken = folder / "broken.index"
    broken.mkdir()
    (broken / "manifest.json").write_text("{")
    (folder / "notes.jsonl").write_text('{"file": "results.json"}\n')
    below = folder / "below"
    below.mkdir()
    vectors = VectorIndex(dimension=2)
    vectors.add(["a", "b"], np.eye(2))
    vectors.save(below / "deep.index")
    (folder / "linked.index").symlink_to(below / "deep.index")
    client = explore(results=(folder,), indexes=(folder / "photos.index",))
    explorer = client.app.state.explorer  # type: ignore[attr-defined]
    assert [path.name for path in found_beside([folder, folder]).indexes] == ["broken.index", "photos.index"]
    assert [one.name for one in explorer.indexes] == ["photos.index"]
    told = explorer.told()
    assert told[0] == "found 1 index beside the results: 'broken.index'"
    assert told[1].startswith("broken.index is not served: ")
    assert client.get("/search", headers={"accept": "text/html"}).status_code == 200
