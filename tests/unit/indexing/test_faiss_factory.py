from pathlib import Path
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt
import pytest

from visual_search.errors import FileFormatError, InputError, NotTrainedError
from visual_search.indexing.engines.faiss_factory import FaissFactoryEngine
from visual_search.indexing.index_table import VectorIndex

Vectors = npt.NDArray[np.float32]


@pytest.fixture(autouse=True)
def one_faiss_thread() -> Any:
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    yield
    faiss.omp_set_num_threads(before)


def clustered(count: int, seed: int) -> Vectors:
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(0).normal(size=(30, 16)) * 4
    return (centres[rng.integers(0, 30, count)] + rng.normal(size=(count, 16))).astype(np.float32)


GALLERY, QUERIES = clustered(2000, 1), clustered(50, 2)


def filled(factory: str, **settings: Any) -> FaissFactoryEngine:
    engine = FaissFactoryEngine(dimension=16, metric="l2", settings={"factory": factory, **settings})
    engine.train(GALLERY)
    engine.add(np.arange(len(GALLERY)), GALLERY)
    return engine


def recall(engine: FaissFactoryEngine, k: int = 10) -> float:
    exact = np.argsort(np.square(QUERIES[:, None] - GALLERY).sum(axis=2), axis=1)[:, :k]
    rows, _ = engine.search(QUERIES, k)
    return float(np.mean([len(set(a) & set(b)) / k for a, b in zip(rows.tolist(), exact.tolist(), strict=True)]))


def test_settings_of_a_search_change_without_a_new_index() -> None:
    engine = filled("IVF30,PQ8x4")
    structure, found = engine._structure, {}
    for probes, refine in ((1, 1), (30, 1), (30, 20)):
        engine.configure(nprobe=probes, refine=refine)
        found[probes, refine] = recall(engine)
    assert engine._structure is structure
    assert found[1, 1] < found[30, 1] < found[30, 20]
    assert found[30, 20] > 0.98


def test_refine_zero_leaves_the_structures_own_scores() -> None:
    engine = filled("PQ4x4", refine=0)
    values, positions = engine._structure.search(QUERIES, 10)
    rows, scores = engine.search(QUERIES, 10)
    assert np.array_equal(np.sort(rows), np.sort(positions))
    assert np.allclose(scores, -np.sqrt(values))
    engine.configure(refine=1)
    again, refined = engine.search(QUERIES, 10)
    assert np.array_equal(np.sort(again), np.sort(rows))
    true = -np.sqrt(np.square(QUERIES[:, None].astype(np.float64) - GALLERY[again]).sum(axis=2))
    assert np.allclose(refined, true)
    assert not np.allclose(scores, refined)


def test_packed_vectors_are_told_apart_from_whole_ones() -> None:
    small, large = filled("PQ4x4"), filled("SQ8")
    assert small.index_bytes < large.index_bytes < 4 * 16 * 2000
    assert large.memory_bytes - large.index_bytes == 2000 * (4 * 16 + 9)


def test_polysemous_training_is_left_out_unless_asked_for() -> None:
    assert not filled("IVF4,PQ2x4")._structure.do_polysemous_training
    assert not FaissFactoryEngine(
        dimension=16, metric="l2", settings={"factory": "PQ2"}
    )._structure.do_polysemous_training
    asked = FaissFactoryEngine(dimension=16, metric="l2", settings={"factory": "PQ2", "polysemous": 1})
    assert asked._structure.do_polysemous_training
    for with_and_without in (("IVF4,PQ2x4", "IVF4,PQ2x4np"),):
        first, second = (filled(factory).search(QUERIES, 10) for factory in with_and_without)
        assert np.array_equal(first[0], second[0])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"factory": "IVF4,PQ5"}, "sub-quantisers must divide the dimension"),
        ({"factory": "Nonsense"}, "FAISS makes nothing of 'Nonsense'"),
        ({"factory": " "}, "the empty text"),
        ({"factory": "IDMap,Flat"}, "leave it out"),
        ({"factory": "IVF4,Flat", "nprobe": 5}, "has 4 lists; it may be 0..4"),
        ({"factory": "SQ8", "nprobe": 1}, "has 0 lists"),
        ({"factory": "SQ8", "ef_search": 9}, "has no graph"),
        ({"factory": 7}, "must be text"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        FaissFactoryEngine(dimension=16, metric="l2", settings=settings)


def test_a_setting_that_cannot_be_changes_nothing() -> None:
    engine = filled("IVF4,Flat", nprobe=2)
    with pytest.raises(InputError, match="may be 0..4"):
        engine.configure(nprobe=9)
    with pytest.raises(InputError, match="shapes the structure"):
        engine.configure(factory="SQ8")
    assert (engine.settings["nprobe"], engine._structure.nprobe) == (2, 2)


def test_training_says_how_many_it_wants() -> None:
    engine = FaissFactoryEngine(dimension=16, metric="l2", settings={"factory": "IVF4,PQ8"})
    with pytest.raises(NotTrainedError, match=r"at least 256 vectors.*got 200"):
        engine.train(GALLERY[:200])
    assert engine.needs_training
    engine.train(GALLERY[:300])
    assert not engine.needs_training


def test_an_index_that_learns_its_dimension_from_the_first_vectors(tmp_path: Path) -> None:
    index = VectorIndex(engine="faiss", metric="l2", factory="IVF8,PQ8x4", refine=5)
    index.add([f"i{row}" for row in range(2000)], GALLERY)
    index.remove(["i3"])
    assert index.settings["nprobe"] == 8
    index.save(tmp_path / "index")
    again = VectorIndex.open(tmp_path / "index")
    assert again.engine == "faiss"
    assert dict(again.settings) == dict(index.settings)
    first, second = (held.search(QUERIES[:2], 5, query_ids=["q", "r"]) for held in (index, again))
    assert first.listed("r") == second.listed("r")
    again.configure(nprobe=1)
    again.compact()
    assert (again.tombstones, len(again), again.settings["nprobe"]) == (0, 1999, 1)


def test_a_file_of_another_factory(tmp_path: Path) -> None:
    filled("SQ8").save(tmp_path / "a.parts")
    with pytest.raises(FileFormatError, match="made by factory 'SQ8', but 'SQ4' was asked for"):
        FaissFactoryEngine.load(tmp_path / "a.parts", metric="l2", settings={"factory": "SQ4"})
