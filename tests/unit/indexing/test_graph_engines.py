import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.errors import FileFormatError, MissingDependencyError
from visual_search.indexing.engines.faiss_engine import FaissEngine
from visual_search.indexing.engines.graph_package import GraphPackageEngine
from visual_search.indexing.engines.hnswlib_engine import HnswlibEngine
from visual_search.indexing.engines.registry import create_engine, engine_names
from visual_search.indexing.engines.usearch_engine import UsearchEngine
from visual_search.indexing.index_table import VectorIndex

VECTORS = np.random.default_rng(1).normal(size=(500, 8)).astype(np.float32)
BOTH: list[Any] = [HnswlibEngine, UsearchEngine]


@pytest.mark.parametrize(
    ("name", "missing", "extra"),
    [
        ("hnswlib", "hnswlib", "engines"),
        ("usearch", "usearch.index", "engines"),
        ("pgvector", "psycopg", "pgvector"),
        ("pgvector", "pgvector.psycopg", "pgvector"),
    ],
)
def test_a_missing_package_names_its_extra(
    name: str, missing: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert name in engine_names()
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingDependencyError, match=rf"engine '{name}' needs {missing}.*visual-search\[{extra}\]"):
        create_engine(name, 8, "l2")


@pytest.mark.parametrize("kind", BOTH)
def test_a_wider_search_finds_more_without_a_new_graph(kind: Any) -> None:
    gallery = np.random.default_rng(3).normal(size=(3000, 24)).astype(np.float32)
    engine = kind(dimension=24, metric="l2", settings={"m": 3, "ef_construction": 10, "threads": 1})
    engine.add(np.arange(3000), gallery)
    structure, queries = engine._structure, gallery[:100] + np.float32(0.5)
    exact = np.argsort(np.square(queries[:, None] - gallery).sum(axis=2), axis=1)[:, :5]
    found = []
    for width in (1, 500):
        engine.configure(ef_search=width)
        rows, _ = engine.search(queries, 5)
        found.append(
            np.mean([len(set(a) & set(b)) / 5 for a, b in zip(rows.tolist(), exact.tolist(), strict=True)])
        )
    assert engine._structure is structure
    assert found[0] + 0.1 < found[1]


@pytest.mark.parametrize("kind", BOTH)
def test_one_query_alone_is_answered_as_in_a_batch(kind: Any) -> None:
    engine = kind(dimension=8, metric="l2", settings={"threads": 1})
    engine.add(np.arange(500), VECTORS)
    rows, scores = engine.search(VECTORS[:20], 700)
    for line in range(20):
        alone = engine.search(VECTORS[line : line + 1], 700)
        assert np.array_equal(alone[0][0], rows[line])
        assert np.array_equal(alone[1][0], scores[line])
    assert ((rows >= 0).sum(axis=1) == 500).all()


@pytest.mark.parametrize("kind", BOTH)
def test_a_walk_that_falls_short_does_not_spoil_its_batch(kind: Any) -> None:
    # Two far-apart clouds joined by hardly a link: a walk in one may not reach the other.
    far = np.concatenate([VECTORS[:250], VECTORS[250:] + np.float32(1e4)])
    engine = kind(dimension=8, metric="l2", settings={"m": 2, "ef_construction": 2, "ef_search": 1, "threads": 1})
    engine.add(np.arange(500), far)
    queries = far[::25]
    rows, scores = engine.search(queries, 400)
    assert (rows >= 0).all()
    assert all(len(set(line)) == 400 for line in rows.tolist())
    true = -np.sqrt(np.square(queries[:, None].astype(np.float64) - far[rows]).sum(axis=2))
    assert np.allclose(scores, true, rtol=1e-3)


@pytest.mark.parametrize("kind", BOTH)
def test_a_graph_of_another_width_is_refused(kind: Any, tmp_path: Path) -> None:
    engine = kind(dimension=8, metric="l2", settings={"m": 8})
    engine.add(np.arange(500), VECTORS)
    engine.save(tmp_path / "a.parts")
    with pytest.raises(FileFormatError, match="m=8, but m=9 was asked for"):
        kind.load(tmp_path / "a.parts", metric="l2", settings={"m": 9})


@pytest.mark.parametrize("name", ["hnswlib", "usearch"])
def test_an_index_keeps_its_engine(name: str, tmp_path: Path) -> None:
    index = VectorIndex(engine=name, metric="cosine", ef_search=100)
    ids = [f"i{row}" for row in range(500)]
    index.add(ids, VECTORS)
    index.remove(ids[:100])
    index.save(tmp_path / "index")
    again = VectorIndex.open(tmp_path / "index")
    first, second = (held.search(VECTORS[:1], 5, query_ids=["q"]).listed("q") for held in (index, again))
    assert first == second
    assert again.settings["ef_search"] == 100
    again.compact()
    assert (again.tombstones, len(again)) == (0, 400)


@pytest.mark.parametrize("kind", BOTH)
def test_damage_inside_a_part_is_seen(kind: Any, tmp_path: Path) -> None:
    engine = kind(dimension=8, metric="l2")
    engine.add(np.arange(500), VECTORS)
    path = tmp_path / "a.parts"
    engine.save(path)
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    path.write_bytes(whole)
    with pytest.raises(FileFormatError, match="not a whole file"):
        kind.load(path, metric="l2", settings={})


@pytest.mark.parametrize(
    ("base", "hook"),
    [
        (GraphPackageEngine, "_graph_bytes"),
        (GraphPackageEngine, "_stored"),
        (GraphPackageEngine, "_walk"),
        (FaissEngine, "memory_bytes"),
    ],
)
def test_an_engine_that_lacks_what_its_base_asks_for_cannot_be_made(base: Any, hook: str) -> None:
    hooks = {"_graph_bytes", "_stored", "_walk", "memory_bytes"} - {hook}
    lacking = type("Lacking", (base,), {"name": "lacking", **dict.fromkeys(hooks, len)})
    with pytest.raises(TypeError, match=f"abstract.*{hook}"):
        lacking(dimension=2, metric="l2")
    whole = type("Whole", (lacking,), {hook: len})
    assert whole(dimension=2, metric="l2").dimension == 2
