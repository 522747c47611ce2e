"""The engines' conformance suite fails engines that break the contract, each by the test meant for it."""

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from visual_search.indexing.engines.flat import FlatEngine
from visual_search.indexing.engines.hamming_engine import HammingEngine
from visual_search.indexing.engines.ivf import IvfEngine
from visual_search.testing.engine_contract import EngineContract

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]
Answer = tuple[Int64Array, Vectors]


class PositiveDistances(FlatEngine):
    def search(self, queries: Vectors, k: int) -> Answer:
        rows, scores = super().search(queries, k)
        return rows, np.where(rows >= 0, -scores, scores)


class SquaredDistances(FlatEngine):
    def search(self, queries: Vectors, k: int) -> Answer:
        rows, scores = super().search(queries, k)
        return rows, np.where(rows >= 0, -np.square(scores), scores)


class FaissAlone(FlatEngine):
    def search(self, queries: Vectors, k: int) -> Answer:
        values, positions = self._structure.search(queries, k)
        return self._rows.at(positions), -np.sqrt(np.maximum(values, 0))


class LastRowFirst(FlatEngine):
    def search(self, queries: Vectors, k: int) -> Answer:
        rows, scores = super().search(queries, k)
        order = np.lexsort((-rows, -scores), axis=-1)
        return np.take_along_axis(rows, order, axis=1), np.take_along_axis(scores, order, axis=1)


class WorstFirst(FlatEngine):
    def search(self, queries: Vectors, k: int) -> Answer:
        rows, scores = super().search(queries, k)
        return rows[:, ::-1].copy(), scores[:, ::-1].copy()


class PaddedWithZero(FlatEngine):
    def search(self, queries: Vectors, k: int) -> Answer:
        rows, scores = super().search(queries, k)
        return np.maximum(rows, 0), scores


class CutAtWhatIsThere(FlatEngine):
    def search(self, queries: Vectors, k: int) -> Answer:
        return super().search(queries, max(1, min(k, len(self))))


class MissesOneInTen(FlatEngine):
    def search(self, queries: Vectors, k: int) -> Answer:
        rows, scores = super().search(queries, k + 1)
        return np.delete(rows, 1, axis=1), np.delete(scores, 1, axis=1)


class ForgetsRemovals(FlatEngine):
    def remove(self, rows: Int64Array) -> None:
        self._rows.positions(rows)


class RemovesUnknown(FlatEngine):
    def remove(self, rows: Int64Array) -> None:
        super().remove(rows[np.isin(rows, self._rows.values)])


class CountsPositions(FlatEngine):
    def add(self, rows: Int64Array, vectors: Vectors) -> None:
        super().add(np.arange(len(self), len(self) + len(rows)), vectors)


class RoundsVectors(FlatEngine):
    def vectors(self, rows: Int64Array) -> Vectors:
        return super().vectors(rows).astype(np.float16).astype(np.float32)


class WritesIntoQueries(FlatEngine):
    def search(self, queries: Vectors, k: int) -> Answer:
        answer = super().search(queries, k)
        queries *= 2
        return answer


class LosesRowsInFile(FlatEngine):
    def save(self, path: Path) -> None:
        import faiss

        faiss.write_index(self._structure, str(path))


class IgnoresUnknownSettings(FlatEngine):
    def configure(self, **settings: Any) -> None:
        pass


class NeverAsksForTraining(IvfEngine):
    def add(self, rows: Int64Array, vectors: Vectors) -> None:
        if self.needs_training:
            self.train(np.tile(vectors, (40, 1)))
        super().add(rows, vectors)


class FaissAloneInCodes(HammingEngine):
    def search(self, queries: Any, k: int) -> Answer:
        distances, positions = self._structure.search(queries, k)
        return self._rows.at(positions), -distances.astype(np.float32)


class CountsBytes(HammingEngine):
    def search(self, queries: Any, k: int) -> Answer:
        rows, scores = super().search(queries, k)
        return rows, np.where(rows >= 0, np.floor(scores / 8), scores)


class UnpacksCodes(HammingEngine):
    def vectors(self, rows: Int64Array) -> Any:
        return np.unpackbits(super().vectors(rows), axis=1)


class TakesAnyMetric(HammingEngine):
    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "metric": "hamming"})


FAULTS: Mapping[type, tuple[str, str]] = {
    PositiveDistances: ("l2", "test_scores_are_those_of_the_metric_and_fall"),
    SquaredDistances: ("l2", "test_scores_are_those_of_the_metric_and_fall"),
    FaissAlone: ("l2", "test_distances_survive_an_offset"),
    LastRowFirst: ("cosine", "test_equal_scores_come_in_the_order_of_rows"),
    WorstFirst: ("ip", "test_scores_are_those_of_the_metric_and_fall"),
    PaddedWithZero: ("cosine", "test_k_beyond_what_is_there_is_padded"),
    CutAtWhatIsThere: ("cosine", "test_an_empty_engine_finds_nothing"),
    MissesOneInTen: ("cosine", "test_finds_the_nearest"),
    ForgetsRemovals: ("cosine", "test_what_was_removed_is_never_returned"),
    RemovesUnknown: ("cosine", "test_removing_what_is_not_there_removes_nothing"),
    CountsPositions: ("cosine", "test_rows_are_the_callers"),
    RoundsVectors: ("cosine", "test_vectors_come_back_bit_for_bit"),
    WritesIntoQueries: ("ip", "test_vectors_given_are_not_written_to"),
    LosesRowsInFile: ("cosine", "test_a_file_brings_everything_back"),
    IgnoresUnknownSettings: ("cosine", "test_settings_are_kept_and_unknown_ones_named"),
    FaissAloneInCodes: ("hamming", "test_codes_tied_at_the_cut_are_those_of_the_lowest_rows"),
    CountsBytes: ("hamming", "test_scores_are_those_of_the_metric_and_fall"),
    UnpacksCodes: ("hamming", "test_vectors_come_back_bit_for_bit"),
    TakesAnyMetric: ("hamming", "test_refuses_a_metric_or_dimension_that_cannot_be"),
    NeverAsksForTraining: ("cosine", "test_training_is_asked_for_where_it_is_needed"),
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_faulty_engine_fails(fault: type, tmp_path: Path) -> None:
    metric, name = FAULTS[fault]
    suite = type("Suite", (EngineContract,), {"engine_class": fault, "metric": metric})()
    test = getattr(suite, name)
    with pytest.raises((AssertionError, KeyError)):
        test(tmp_path) if "tmp_path" in inspect.signature(test).parameters else test()
