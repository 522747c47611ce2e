"""Splits on disk: they come back equal, and one that was changed is found."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from visual_search.errors import FileFormatError, InputError
from visual_search.evaluation.protocols.geographic import within_radius
from visual_search.evaluation.protocols.group_parts import parts_by_group
from visual_search.evaluation.protocols.image_text import image_text
from visual_search.evaluation.protocols.landmarks import landmark_difficulty
from visual_search.evaluation.protocols.partition import Partition
from visual_search.evaluation.protocols.query_gallery import by_view, leave_one_out
from visual_search.evaluation.protocols.random_images import random_images
from visual_search.evaluation.protocols.reidentification import reidentification
from visual_search.evaluation.protocols.split import Split

Table = dict[str, list[Any]]
VIEWS: dict[str, Any] = {"group": "scene_id", "view": "view_id", "item": "index"}


def every_split(table: Table) -> list[Split]:
    street = {"person": [1, 1, -1], "camera": ["a", "b", "b"], "part": ["query", "gallery", "gallery"]}
    places = {"part": ["query", "gallery"], "lat": [60.1, 60.1001], "lon": [24.0, 24.0]}
    pairs = {"query": ["q", "q", "r"], "item": [3, 5, 3], "difficulty": ["easy", "junk", "hard"]}
    return [
        by_view(table, **VIEWS, query=0, gallery=1, where={"split": "test"}),
        by_view(table, **VIEWS, query=0, gallery=1, label="label", relevant="same-class-other-group"),
        leave_one_out(table, group="scene_id", item="index", label="label"),
        random_images(table, **VIEWS, queries=12, seed=0, allow_shared_groups=True),
        reidentification(street, identity="person", camera="camera", role="part"),
        landmark_difficulty(pairs, level="easy", gallery=range(9)),
        within_radius(places, places=("lat", "lon"), role="part"),
        image_text({"image": ["a", "b", "a"]}, image="image"),
    ]


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_a_split_comes_back_whole(table: Table, tmp_path: Path, suffix: str) -> None:
    for number, split in enumerate(every_split(table)):
        path = tmp_path / f"{number}{suffix}"
        split.save(path)
        back = Split.load(path)
        assert back.proof == split.proof
        assert back.record() == split.record()
        assert back.summary() == split.summary()
        assert list(back.query_ids) == list(split.query_ids)
        assert back.left_out == split.left_out
        assert back.condition == split.condition
        for name in ("offsets", "rows", "grades", "ignored"):
            assert np.array_equal(getattr(back.relevance, name), getattr(split.relevance, name))
    assert len(list(tmp_path.iterdir())) == len(every_split(table))


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_parts_come_back_whole(table: Table, tmp_path: Path, suffix: str) -> None:
    parts = parts_by_group(table, group="scene_id", item="index")
    parts.save(tmp_path / f"parts{suffix}")
    back = Partition.load(tmp_path / f"parts{suffix}")
    assert back.proof == parts.proof
    assert back.record() == parts.record()
    with pytest.raises(InputError, match=r"Partition\.load"):
        Split.load(tmp_path / f"parts{suffix}")


def changed(value: dict[str, Any], change: str) -> None:
    queries = value["sides"]["queries"]
    if change == "item":
        queries["ids"][0] = 9_999
    elif change == "group":
        queries["group"]["codes"][0] = queries["group"]["codes"][1]
    elif change == "view":
        value["sides"]["gallery"]["view"]["values"] = [0]
    elif change == "promise":
        value["promises"]["groups"] = "disjoint"
    elif change == "condition":
        value["condition"] = {"name": "same-class-other-group"}
    elif change == "status":
        value["proof"]["claims"][0]["counts"]["queries"] = 60
    elif change == "claim gone":
        del value["proof"]["claims"][2]
    elif change == "query gone":
        queries["ids"].pop()
        queries["group"]["codes"].pop()
        queries["view"]["codes"].pop()


CHANGES = ("item", "group", "view", "promise", "condition", "status", "claim gone", "query gone")


@pytest.mark.parametrize("change", CHANGES)
def test_a_split_that_was_changed_is_found(table: Table, tmp_path: Path, change: str) -> None:
    path = tmp_path / "split.json"
    by_view(table, **VIEWS, query=0, gallery=1).save(path)
    value = json.loads(path.read_text())
    changed(value, change)
    path.write_text(json.dumps(value))
    with pytest.raises(
        FileFormatError, match=r"split\.json: (its proof is not that of its content|not a whole split)"
    ):
        Split.load(path)


def test_words_may_be_written_otherwise(table: Table, tmp_path: Path) -> None:
    path = tmp_path / "split.json"
    by_view(table, **VIEWS, query=0, gallery=1).save(path)
    value = json.loads(path.read_text())
    value["proof"]["claims"][0]["words"] = "another version's words"
    path.write_text(json.dumps(value))
    assert "another version" not in Split.load(path).proof.words()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not JSON"),
        (b"[]", "format is None"),
        (b'{"format": "visual-search result", "format_version": 1}', "format is 'visual-search result'"),
        (b'{"format": "visual-search split", "format_version": 3}', "format_version 3; this reads 1 to 2"),
        (b'{"format": "visual-search split", "format_version": 1}', "not a whole split"),
        (b"PAR1", "not a whole Parquet file"),
    ],
)
def test_what_is_no_split_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "split.json"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=said):
        Split.load(path)


def test_another_parquet_file_is_no_split(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    with pytest.raises(FileFormatError, match="not a split"):
        Split.load(tmp_path / "t.parquet")


def test_a_file_cut_off_anywhere_is_refused(table: Table, tmp_path: Path) -> None:
    for name in ("split.json", "split.parquet"):
        path = tmp_path / name
        by_view(table, **VIEWS, query=0, gallery=1).save(path)
        whole = path.read_bytes()
        for end in range(0, len(whole) - 2, max(len(whole) // 23, 1)):
            path.write_bytes(whole[:end])
            with pytest.raises(FileFormatError):
                Split.load(path)
