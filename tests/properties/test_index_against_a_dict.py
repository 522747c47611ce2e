"""Whatever is added, removed, compacted, saved and loaded, an index holds what a dict would hold."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import faiss
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from visual_search.errors import DuplicateIdError, UnknownIdError
from visual_search.formats.fingerprint import fingerprint_vectors
from visual_search.ids import Ids
from visual_search.indexing.index_table import VectorIndex
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch
from visual_search.rankings.ranking import Ranking

DIMENSION = 3
Vector = npt.NDArray[np.float32]

names = st.integers(0, 40).map(str)
seeds = st.integers(0, 2**32 - 1)


class IndexAgainstDict(RuleBasedStateMachine):
    engine = "flat"

    def __init__(self) -> None:
        super().__init__()
        self.index = self.made()
        self.model: dict[str, Vector] = {}
        self.earlier: list[tuple[Ranking, list[list[tuple[str | int, float]]]]] = []

    def made(self) -> VectorIndex:
        index = VectorIndex(DIMENSION, "l2", self.engine)
        if self.engine == "ivf":
            index.train(np.random.default_rng(0).integers(-5, 6, (80, DIMENSION)))
            index.configure(nprobe=index.settings["nlist"])  # then it must find all
        return index

    @rule(ids=st.lists(names, min_size=1, max_size=8, unique=True), seed=seeds)
    def add(self, ids: list[str], seed: int) -> None:
        # Whole numbers: distances are exact, ties abound.
        vectors = np.random.default_rng(seed).integers(-3, 4, (len(ids), DIMENSION)).astype(np.float32)
        if any(name in self.model for name in ids):
            with pytest.raises(DuplicateIdError):
                self.index.add(ids, vectors)
            return
        self.index.add(ids, vectors)
        self.model |= dict(zip(ids, vectors, strict=True))

    @rule(ids=st.lists(names, min_size=1, max_size=8, unique=True))
    def remove(self, ids: list[str]) -> None:
        if any(name not in self.model for name in ids):
            with pytest.raises(UnknownIdError):
                self.index.remove(ids)
            ids = [name for name in ids if name in self.model]
        self.index.remove(ids)
        for name in ids:
            del self.model[name]

    @rule()
    def compact(self) -> None:
        self.index.compact()
        assert self.index.tombstones == 0
        assert list(self.index.vocabulary) == list(self.model)

    @rule()
    def save_and_load(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.index.save(Path(folder, "index"))
            again = VectorIndex.open(Path(folder, "index"))
        assert again.fingerprint() == self.index.fingerprint()
        self.index = again

    @rule(seed=seeds, k=st.integers(1, 50), own=st.booleans())
    def search(self, seed: int, k: int, own: bool) -> None:
        asked = ["query", *list(self.model)[:3]]
        queries = np.random.default_rng(seed).integers(-3, 4, (len(asked), DIMENSION)).astype(np.float32)
        ranking = NearestNeighborSearch(self.index).search_batch(queries, asked, k, exclude="self" if own else None)
        for name, query in zip(asked, queries, strict=True):
            distances = {
                item: float(np.sqrt(np.float32(np.square(query - vector).sum())))
                for item, vector in self.model.items()
                if not (own and item == name)
            }
            listed = ranking.listed(name)
            assert [-score for _, score in listed] == sorted(distances.values())[:k]
            assert all(distances[str(item)] == -score for item, score in listed)
            place = {item: number for number, item in enumerate(self.model)}
            keys = [(-score, place[str(item)]) for item, score in listed]
            assert keys == sorted(keys), "equal distances in the order of adding"
        self.earlier.append((ranking, [ranking.listed(name) for name in ranking]))

    @invariant()
    def holds_what_the_dict_holds(self) -> None:
        assert len(self.index) == len(self.model)
        assert list(self.index.ids) == list(self.model)
        assert all(name in self.index for name in self.model)
        stored = self.index.vectors(list(self.model))
        assert np.array_equal(stored, np.array(list(self.model.values())).reshape(-1, DIMENSION))
        assert self.index.fingerprint() == fingerprint_vectors(Ids(self.model), stored)

    @invariant()
    def earlier_answers_keep_their_meaning(self) -> None:
        for ranking, listed in self.earlier[-3:]:
            assert [ranking.listed(name) for name in ranking] == listed


@pytest.fixture(autouse=True)
def one_faiss_thread() -> Iterator[None]:
    # FAISS's threads spin while they wait, which slows thousands of tiny steps on a busy machine.
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    yield
    faiss.omp_set_num_threads(before)


@pytest.mark.parametrize("engine", ["flat", "hnsw", "ivf"])
def test_index_against_a_dict(engine: str) -> None:
    machine = type(f"With{engine}", (IndexAgainstDict,), {"engine": engine})
    run_state_machine_as_test(machine, settings=settings(max_examples=20, stateful_step_count=20))
