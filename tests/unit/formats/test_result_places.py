"""Where a result's images are and what they were: places that lead there, and those that are refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.errors import FileFormatError, InputError
from visual_search.formats.results import ImageLocation, StoredResult, read_result
from visual_search.testing.results import SampleTask, write_sample_result

Write = Callable[..., StoredResult]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(items: dict[str, Any]) -> StoredResult:
        task = SampleTask(["q1"], ["a"], np.ones((1, 1), dtype=np.bool_), images=items, k_values=(1,))
        return write_sample_result(tmp_path / "out" / "results.json", task, np.ones((1, 1)), model_name="m")

    return written


def altered(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def companion(stored: StoredResult, name: str) -> Path:
    return stored.path.parent / str(stored.record["files"][name])


class TestPlaces:
    def test_files_archives_and_unknown_ones(self, write: Write) -> None:
        archived = {"archive": "faces.zip", "member": "s1/1.pgm"}
        stored = read_result(
            write(
                items={
                    "items": {"root": "/data", "paths": {"a": "x/a.png", "b": archived}},
                    "queries": {"root": "../pictures", "paths": {"q1": "q1.png"}},
                }
            ).path
        )
        assert stored.item_location("a") == ImageLocation(Path("/data/x/a.png"))
        assert stored.item_location("b") == ImageLocation(Path("/data/faces.zip"), "s1/1.pgm")
        assert stored.item_location("c") is None
        assert stored.query_location("q1") == ImageLocation(stored.path.parent / "../pictures/q1.png")
        assert stored.query_location("a") is None

    def test_what_an_image_was_comes_back_beside_its_place(self, write: Write) -> None:
        archived = {"archive": "faces.zip", "member": "s1/1.pgm"}
        side = {"root": "/data", "paths": {"a": "a.png", "b": archived, "c": "c.png", 7: "7.png"}}
        told = {"a": "0" * 64, "b": "1" * 64, 7: "2" * 64}
        stored = read_result(write(items={"items": side | {"sha256": told}, "queries": side}).path)
        places = [stored.item_location(item) for item in ("a", "b", "c", 7)]
        assert [place and place.sha256 for place in places] == ["0" * 64, "1" * 64, None, "2" * 64]
        query = stored.query_location("a")
        assert query is not None
        assert query.sha256 is None
        assert query == places[0]  # the same place, whatever was measured there

    @pytest.mark.parametrize(
        "told", [["0" * 64], {"a": "0" * 63}, {"a": "A" * 64}, {"a": None}, {"a": "0" * 64 + "\n"}]
    )
    def test_a_hash_that_is_none_is_refused(self, write: Write, told: Any) -> None:
        good = {"root": ".", "paths": {"a": "x.png"}, "sha256": {"a": "0" * 64}}
        with pytest.raises(InputError, match=r"items: .*(sha256.* is an object|has 64 digits)"):
            write(items={"items": good | {"sha256": told}})
        stored = write(items={"items": good})
        manifest = companion(stored, "items")
        altered(manifest, json.dumps({"items": good | {"sha256": told}}))
        del stored.record["file_checksums"]
        altered(stored.path, json.dumps(stored.record))
        with pytest.raises(FileFormatError, match=r"(sha256.* is an object|has 64 digits)"):
            read_result(stored.path).item_location("a")

    def test_a_hostile_manifest_is_refused(self, write: Write) -> None:
        stored = write(items={"items": {"root": ".", "paths": {"a": "x.png"}}})
        manifest = companion(stored, "items")
        altered(manifest, manifest.read_text().replace("x.png", "../../etc/passwd"))
        with pytest.raises(FileFormatError, match="is not the items file this record was written with"):
            read_result(stored.path).item_location("a")
        del stored.record["file_checksums"]["items"]
        altered(stored.path, json.dumps(stored.record))
        with pytest.raises(FileFormatError, match="leaves its root"):
            read_result(stored.path).item_location("a")

    def test_a_manifest_that_is_gone(self, write: Write) -> None:
        stored = write(items={"items": {"root": ".", "paths": {}}})
        companion(stored, "items").unlink()
        with pytest.raises(FileFormatError, match=r"results\.items\.[0-9a-f]{12}\.json cannot be read"):
            read_result(stored.path).item_location("a")
