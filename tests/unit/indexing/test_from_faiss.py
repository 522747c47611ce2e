"""FAISS files made elsewhere."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt
import pytest

from visual_search.errors import (
    DuplicateIdError,
    FileFormatError,
    InputError,
    NonFiniteError,
    UnknownIdError,
)
from visual_search.indexing.index_table import VectorIndex

DIMENSION = 8
Vectors = npt.NDArray[np.float32]


@pytest.fixture
def vectors() -> Vectors:
    made = np.random.default_rng(0).normal(size=(100, DIMENSION)).astype(np.float32)
    faiss.normalize_L2(made)
    return made


def flat_of(metric: int) -> Any:
    return faiss.IndexFlatL2(DIMENSION) if metric == faiss.METRIC_L2 else faiss.IndexFlatIP(DIMENSION)


def inverted(metric: int) -> Any:
    index = faiss.IndexIVFFlat(flat_of(metric), DIMENSION, 2, metric)
    index.train(np.random.default_rng(1).normal(size=(100, DIMENSION)).astype(np.float32))
    index.nprobe = 2
    return index


MAKERS: dict[str, Callable[[int], Any]] = {
    "flat": lambda metric: (
        faiss.IndexFlatL2(DIMENSION) if metric == faiss.METRIC_L2 else faiss.IndexFlatIP(DIMENSION)
    ),
    "hnsw": lambda metric: faiss.IndexHNSWFlat(DIMENSION, 12, metric),
    "ivf": inverted,
}


def written(index: Any, folder: Path) -> Path:
    path = folder / "made_elsewhere.faiss"
    faiss.write_index(index, str(path))
    return path


@pytest.mark.parametrize("engine", sorted(MAKERS))
@pytest.mark.parametrize("metric", ["cosine", "ip", "l2"])
@pytest.mark.parametrize("wrapped", [None, faiss.IndexIDMap, faiss.IndexIDMap2])
def test_known_structures_are_taken_over(
    tmp_path: Path, vectors: Vectors, engine: str, metric: Any, wrapped: Any
) -> None:
    made = MAKERS[engine](faiss.METRIC_L2 if metric == "l2" else faiss.METRIC_INNER_PRODUCT)
    if wrapped is None:
        made.add(vectors)
        path = written(made, tmp_path)
    else:
        around = wrapped(made)
        around.add_with_ids(vectors, np.arange(100))
        path = written(around, tmp_path)
    names = [f"img_{number:03d}" for number in range(100)]
    index = VectorIndex.from_faiss(path, names, metric=metric)
    assert (index.engine, index.metric, index.dimension, len(index)) == (engine, metric, DIMENSION, 100)
    assert list(index.ids) == names
    assert np.array_equal(index.vectors(names), vectors)
    assert index.search(vectors[[7, 50]], 1).listed(1)[0][0] == "img_050"
    # It lives on as any other index.
    index.remove(["img_050"])
    index.add(["img_050"], vectors[50:51])
    index.save(tmp_path / "index")
    again = VectorIndex.open(tmp_path / "index")
    assert again.fingerprint() == index.fingerprint()
    assert again.settings == index.settings


def test_settings_come_from_the_file(tmp_path: Path, vectors: Vectors) -> None:
    graph = faiss.IndexHNSWFlat(DIMENSION, 12)
    graph.hnsw.efConstruction, graph.hnsw.efSearch = 77, 33
    graph.add(vectors)
    index = VectorIndex.from_faiss(written(graph, tmp_path), metric="l2")
    assert dict(index.settings)["m"] == 12
    assert dict(index.settings)["ef_search"] == 33
    lists = inverted(faiss.METRIC_L2)
    lists.add(vectors)
    index = VectorIndex.from_faiss(written(lists, tmp_path), metric="l2")
    assert dict(index.settings) == {"nlist": 2, "nprobe": 2, "seed": 1234}


@pytest.mark.parametrize("engine", sorted(MAKERS))
def test_numbers_of_the_file_are_kept_or_mapped(tmp_path: Path, vectors: Vectors, engine: str) -> None:
    numbers = np.arange(100)[::-1] * 10**12 + 3
    made = MAKERS[engine](faiss.METRIC_L2)
    around = made if engine == "ivf" else faiss.IndexIDMap(made)
    around.add_with_ids(vectors, numbers)
    path = written(around, tmp_path)
    plain = VectorIndex.from_faiss(path, metric="l2")
    assert set(plain.ids) == set(numbers.tolist())
    assert plain.search(vectors[4:5], 1).listed(0)[0][0] == 95 * 10**12 + 3
    assert np.array_equal(plain.vector(95 * 10**12 + 3), vectors[4])
    names = {number: f"img_{number}" for number in numbers.tolist()}
    mapped = VectorIndex.from_faiss(path, names, metric="l2")
    assert mapped.search(vectors[4:5], 1).listed(0)[0][0] == f"img_{95 * 10**12 + 3}"
    with pytest.raises(InputError, match="numbers its vectors itself"):
        VectorIndex.from_faiss(path, [f"img_{place}" for place in range(100)], metric="l2")
    del names[3]
    with pytest.raises(UnknownIdError, match="no id for 1 of the file's numbers: 3"):
        VectorIndex.from_faiss(path, names, metric="l2")


def test_an_inverted_file_inside_an_id_map(tmp_path: Path, vectors: Vectors) -> None:
    around = faiss.IndexIDMap(inverted(faiss.METRIC_L2))
    around.add_with_ids(vectors, np.arange(100) + 500)
    index = VectorIndex.from_faiss(written(around, tmp_path), metric="l2")
    assert list(index.ids) == list(range(500, 600))
    assert np.array_equal(index.vector(523), vectors[23])


def test_a_permuted_id_map_with_a_list_of_ids(tmp_path: Path, vectors: Vectors) -> None:
    order = np.random.default_rng(3).permutation(100)
    around = faiss.IndexIDMap(faiss.IndexFlatL2(DIMENSION))
    around.add_with_ids(vectors, order)
    index = VectorIndex.from_faiss(written(around, tmp_path), [f"img_{n}" for n in range(100)], metric="l2")
    assert np.array_equal(index.vector(f"img_{order[11]}"), vectors[11])


def test_our_own_graph_with_tombstones_comes_back_without_the_removed(tmp_path: Path, vectors: Vectors) -> None:
    index = VectorIndex(engine="hnsw")
    index.add(range(100), vectors)
    index.remove([5, 60])
    index.save(tmp_path / "index")
    (path,) = (tmp_path / "index").glob("vectors-*.faiss")
    again = VectorIndex.from_faiss(path, metric="cosine")
    assert again.ids == index.ids
    assert again.tombstones == 2
    assert again.search(vectors[5:6], 1).listed(0)[0][0] != 5


def test_an_empty_file(tmp_path: Path, vectors: Vectors) -> None:
    index = VectorIndex.from_faiss(written(faiss.IndexFlatIP(DIMENSION), tmp_path), [], metric="ip")
    index.add(["a"], vectors[:1])
    assert len(index) == 1


@pytest.mark.parametrize(
    ("made", "metric", "message"),
    [
        (faiss.METRIC_L2, "cosine", r"got 'cosine', but .* was made for l2; metric='l2'"),
        (faiss.METRIC_L2, "ip", r"made for l2"),
        (faiss.METRIC_INNER_PRODUCT, "l2", r"made for inner product; metric='ip', or 'cosine' for unit vectors"),
        (faiss.METRIC_L1, "l2", r"made for FAISS metric 2"),
        (faiss.METRIC_L2, "euclid", r"must be one of cosine, ip, l2"),
    ],
)
def test_another_metric_is_refused(tmp_path: Path, vectors: Vectors, made: int, metric: Any, message: str) -> None:
    flat = faiss.IndexFlat(DIMENSION, made)
    flat.add(vectors)
    with pytest.raises(InputError, match=message):
        VectorIndex.from_faiss(written(flat, tmp_path), metric=metric)


def test_cosine_needs_unit_vectors(tmp_path: Path, vectors: Vectors) -> None:
    flat = faiss.IndexFlatIP(DIMENSION)
    vectors[[3, 70]] *= 1.01
    flat.add(vectors)
    path = written(flat, tmp_path)
    with pytest.raises(InputError, match=r"2 in .* are not: 3, 70; use metric='ip'"):
        VectorIndex.from_faiss(path, metric="cosine")
    assert len(VectorIndex.from_faiss(path, metric="ip")) == 100


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        (range(99), InputError, r"99 ids, but .* holds 100 vectors"),
        (["a"] * 100, DuplicateIdError, r"'a'"),
        ([1.5] * 100, InputError, r"float"),
    ],
)
def test_ids_that_do_not_fit(
    tmp_path: Path, vectors: Vectors, ids: Any, error: type[Exception], message: str
) -> None:
    flat = faiss.IndexFlatL2(DIMENSION)
    flat.add(vectors)
    with pytest.raises(error, match=message):
        VectorIndex.from_faiss(written(flat, tmp_path), ids, metric="l2")


def test_vectors_that_are_not_finite_are_refused(tmp_path: Path, vectors: Vectors) -> None:
    flat = faiss.IndexFlatIP(DIMENSION)
    vectors[42, 0] = np.nan
    flat.add(vectors)
    for metric in ("ip", "cosine"):
        with pytest.raises(NonFiniteError, match=r"1 vector is NaN or infinite: 42"):
            VectorIndex.from_faiss(written(flat, tmp_path), metric=metric)


def test_ids_twice_in_the_file_are_refused(tmp_path: Path, vectors: Vectors) -> None:
    around = faiss.IndexIDMap(faiss.IndexFlatL2(DIMENSION))
    around.add_with_ids(vectors, np.arange(100) // 2)
    with pytest.raises(DuplicateIdError):
        VectorIndex.from_faiss(written(around, tmp_path), metric="l2")
    lists = inverted(faiss.METRIC_L2)
    lists.add_with_ids(vectors, np.arange(100) // 2)
    with pytest.raises(FileFormatError, match="same id twice"):
        VectorIndex.from_faiss(written(lists, tmp_path), metric="l2")
    negative = faiss.IndexIDMap(faiss.IndexFlatL2(DIMENSION))
    negative.add_with_ids(vectors, np.arange(100) - 2)
    with pytest.raises(FileFormatError, match="2 negative ids, first -2, -1"):
        VectorIndex.from_faiss(written(negative, tmp_path), metric="l2")


@pytest.mark.parametrize("kind", ["SQ8", "PCA4,Flat", "HNSW8_SQ8", "IVF2,SQ8", "LSH"])
def test_structures_without_whole_vectors_are_refused_with_what_is_supported(
    tmp_path: Path, vectors: Vectors, kind: str
) -> None:
    index = faiss.index_factory(DIMENSION, kind)
    many = np.random.default_rng(0).normal(size=(400, DIMENSION)).astype(np.float32)
    index.train(many)
    index.add(vectors)
    with pytest.raises(FileFormatError, match=r"supported are IndexFlat, .*IndexHNSWFlat, IndexIVFFlat"):
        VectorIndex.from_faiss(written(index, tmp_path), metric="l2")


def test_files_that_are_no_faiss_index(tmp_path: Path, vectors: Vectors) -> None:
    with pytest.raises(FileFormatError, match="no such file"):
        VectorIndex.from_faiss(tmp_path / "absent", metric="l2")
    flat = faiss.IndexFlatL2(DIMENSION)
    flat.add(vectors)
    path = written(flat, tmp_path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(FileFormatError, match=r"200 bytes.*cut short"):
        VectorIndex.from_faiss(path, metric="l2")
    np.save(tmp_path / "vectors.npy", vectors)
    with pytest.raises(FileFormatError, match="not a whole FAISS index file"):
        VectorIndex.from_faiss(tmp_path / "vectors.npy", metric="l2")


def test_many_files_one_after_another(tmp_path: Path, vectors: Vectors) -> None:
    # Taking a structure out of its id map once broke SWIG's table of types after some hundred files.
    around = faiss.IndexIDMap(faiss.IndexFlatL2(DIMENSION))
    around.add_with_ids(vectors, np.arange(100))
    path = written(around, tmp_path)
    for _ in range(2000):
        index = VectorIndex.from_faiss(path, metric="l2")
    assert index.search(vectors[:1], 1).listed(0)[0][0] == 0
