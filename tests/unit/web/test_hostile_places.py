"""Results that name their pictures by paths that no file can have: an empty picture with words, and no fault."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from visual_search.testing.sample_results import sample_results

Explore = Callable[..., TestClient]
ITEM = "object 1/view 1.png"


def with_place(folder: Path, *, root: str | None = None, place: Any = None) -> None:
    """Results of which one has an item with another root, or another place below it."""
    sample_results(folder, objects=2, views=2)
    record = json.loads((folder / "loo-grid.json").read_text())
    items = folder / record["files"]["items"]
    told = json.loads(items.read_text())
    if root is not None:
        told["items"]["root"] = root
    if place is not None:
        told["items"]["paths"][ITEM] = place
    items.write_text(json.dumps(told))
    record["file_checksums"].pop("items")
    (folder / "loo-grid.json").write_text(json.dumps(record))


@pytest.mark.parametrize(
    "told",
    [
        {"root": "nul\0"},
        {"root": "half a character \ud800"},
        {"root": "x" * 5000},
        {"root": "images/in a circle"},
        {"place": "x" * 300},
        {"place": "y/" * 3000 + "x.png"},
        {"place": "\ud800.png"},
        {"place": "in a circle/x.png"},
        {"place": "pipe.png"},
        {"place": {"archive": "x" * 300, "member": "x.png"}},
        {"place": {"archive": "pipe.png", "member": "x.png"}},
        {"place": {"archive": "in a circle", "member": "x.png"}},
    ],
    ids=lambda told: repr(told)[:40],
)
def test_a_place_that_cannot_be_looked_at_leaves_a_box_with_words(
    explore: Explore, tmp_path: Path, told: dict[str, Any]
) -> None:
    folder = tmp_path / "results"
    with_place(folder, **told)
    (folder / "images" / "in a circle").symlink_to("in a circle")
    os.mkfifo(folder / "images" / "pipe.png")
    client = explore(results=(folder,))
    client.app.state.explorer.results.shelf.refresh()  # type: ignore[attr-defined]
    keys = {row["file"]: row["key"] for row in client.get("/results.json").json()["rows"]}
    asked = {"result": keys["loo-grid.json"], "side": "items", "id": ITEM}
    picture = client.get("/result/picture", params=asked)
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/svg+xml")
    assert ("file is gone" in picture.text) or ("outside the folders" in picture.text)
    page = client.get("/result", params={"result": keys["loo-grid.json"]}, headers={"accept": "text/html"})
    assert page.status_code == 200


def test_a_folder_that_may_not_be_entered_is_told(
    explore: Explore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "results"
    with_place(folder)
    client = explore(results=(folder,))
    client.app.state.explorer.results.shelf.refresh()  # type: ignore[attr-defined]
    keys = {row["file"]: row["key"] for row in client.get("/results.json").json()["rows"]}
    real = Path.stat

    def refuse(path: Path, **options: Any) -> os.stat_result:
        if path.suffix == ".png":
            raise PermissionError(13, "Permission denied")
        return real(path, **options)

    monkeypatch.setattr(Path, "stat", refuse)
    asked = {"result": keys["loo-grid.json"], "side": "items", "id": ITEM}
    picture = client.get("/result/picture", params=asked)
    assert (picture.status_code, "file is gone" in picture.text) == (200, True)
