import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.evaluation.search_service import Gallery
from visual_search.evaluation.trivial_queries import trivial_queries
from visual_search.ids import Ids
from visual_search.rankings.ranking import Ranking


def find(
    folder: Path,
    queries: list[dict[str, Any]],
    gallery: Gallery,
    lists: dict[str, dict[str, float]] | None = None,
    *,
    ignore_self: bool = False,
) -> dict[Any, str]:
    dataset = EvaluationDataset.from_dict({"queries": queries}, folder=folder)
    ranking = Ranking.from_dict(lists or {query["query_id"]: {"x": 0.5} for query in queries})
    vectors = np.full((len(queries), 4), 0.5, dtype=np.float32)
    return trivial_queries(dataset, gallery, ranking, dataset.relevance(ignore_self=ignore_self), vectors)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in {"own.jpg": b"own", "same.jpg": b"item", "other.jpg": b"other", "item.jpg": b"item"}.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def query(name: str, path: str | None = None, **more: Any) -> dict[str, Any]:
    return {"query_id": name, "ground_truth": ["x"]} | ({} if path is None else {"image_path": path}) | more


def test_by_id_unless_the_item_is_ignored(folder: Path) -> None:
    gallery = Gallery(ids=Ids(["a", "x"]))
    assert find(folder, [query("a"), query("b")], gallery) == {"a": "by id"}
    assert find(folder, [query("a"), query("b")], gallery, ignore_self=True) == {}
    assert find(folder, [query("a", ignored=["a"])], gallery) == {}


def test_by_file_where_the_service_tells_its_places(folder: Path) -> None:
    gallery = Gallery(ids=Ids(["i", "x"]), places={"root": str(folder), "paths": {"i": "own.jpg"}})
    queries = [query("q1", "own.jpg"), query("q2", "other.jpg"), query("q3", "gone.jpg"), query("q4")]
    assert find(folder, queries, gallery) == {"q1": "by file"}
    assert find(folder, [query("q1", "own.jpg", ignored=["i"])], gallery) == {}


@pytest.mark.parametrize("prefix", ["", "sha256:"])
def test_by_equal_bytes_where_the_service_tells_hashes(folder: Path, prefix: str) -> None:
    digest = prefix + hashlib.sha256((folder / "item.jpg").read_bytes()).hexdigest()
    gallery = Gallery(ids=Ids(["i", "x"]), hashes={"i": digest})
    queries = [query("q1", "same.jpg"), query("q2", "other.jpg")]
    assert find(folder, queries, gallery) == {"q1": "by equal bytes"}
    assert find(folder, [query("q1", "same.jpg", ignored=["i"])], gallery) == {}


@pytest.mark.parametrize(
    ("metric", "score", "trivial"),
    [
        ("cosine", 1.0, True),
        ("cosine", 0.999999, True),
        ("cosine", 0.9999, False),
        ("l2", 0.0, True),
        ("l2", -1e-4, True),
        ("l2", -0.01, False),
        ("ip", 1.0, False),
    ],
)
def test_by_equal_vector(folder: Path, metric: str, score: float, trivial: bool) -> None:
    gallery = Gallery(ids=Ids("xy"), index={"metric": metric})
    lists = {"q1": {"x": score, "y": score - 1}, "q2": {"x": score - 1}}
    found = find(folder, [query("q1"), query("q2")], gallery, lists)
    assert found == ({"q1": "by equal vector"} if trivial else {})


def test_an_ignored_first_item_gives_nothing_away_and_the_next_one_may(folder: Path) -> None:
    gallery = Gallery(ids=Ids("abx"), index={"metric": "cosine"})
    lists = {"a": {"a": 1.0, "x": 0.5}, "b": {"b": 1.0, "a": 1.0}, "c": {"c": 1.0}, "d": {}}
    queries = [query(name) for name in "abcd"]
    gallery_with_c = Gallery(ids=Ids("abcx"), index={"metric": "cosine"})
    assert find(folder, queries, gallery_with_c, lists, ignore_self=True) == {"b": "by equal vector"}
    assert find(folder, queries[2:], gallery, {"c": {"x": 1.0}, "d": {}}, ignore_self=True) == {
        "c": "by equal vector"
    }
