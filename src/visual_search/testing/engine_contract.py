"""What every search engine must do, as tests that a plug-in runs against itself.

In a test module::

    from visual_search.testing.engine_contract import EngineContract

    class TestMyEngine(EngineContract):
        engine_class = MyEngine
        metric = "l2"

Under ``metric = "hamming"`` the same promises are tested with packed codes, of a number of bits that fills no byte.

Each method named ``test_...`` is one promise of ``visual_search.indexing.engines.contract``; pytest finds them. The
attributes below say what kind of engine it is.
"""

# ruff: noqa: D102 - a test's name says what it shows

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from visual_search.errors import DuplicateIdError, FileFormatError, InputError, NotTrainedError, UnknownIdError
from visual_search.indexing.engines.contract import METRICS, Engine, Metric

__all__ = ["EngineContract"]

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[Any]  # float32; packed codes under hamming
Floats = npt.NDArray[np.float64]

_COUNT, _DIMENSION, _BITS, _QUERIES = 600, 24, 44, 40


class EngineContract:
    """Inherit, name the class and the metric, and run.

    Attributes
    ----------
    engine_class : type
        Called as ``engine_class(dimension=, metric=, settings=)``.
    metric : "cosine", "ip", "l2" or "hamming"
        The metric this class of tests runs under; make one subclass for each the engine takes.
    settings : mapping
        Given to the engine when it is made.
    search_settings : mapping
        Search-time settings with values other than the defaults, for ``configure``; empty where there are none.
    recall_floor : float
        Share of the 10 nearest that an approximate engine must find on 600 Gaussian vectors of dimension 24, or on
        their signs, in 44 bits. An exact one must find all.
    full_lists : bool
        Whether a list is short only where the engine holds fewer than k live vectors.
    """

    engine_class: ClassVar[Any]
    metric: ClassVar[Metric] = "cosine"
    settings: ClassVar[Mapping[str, Any]] = {}
    search_settings: ClassVar[Mapping[str, Any]] = {}
    recall_floor: ClassVar[float] = 0.9
    full_lists: ClassVar[bool] = True

    # What the tests are made of.

    @property
    def dimension(self) -> int:
        """Length of a vector, bits of a code."""
        return _BITS if self.metric == "hamming" else _DIMENSION

    def made(self) -> Engine:
        """An empty engine."""
        engine: Engine = self.engine_class(dimension=self.dimension, metric=self.metric, settings=self.settings)
        return engine

    def filled(self, vectors: Vectors, rows: Int64Array | None = None) -> Engine:
        """An engine that holds vectors, trained on them where it needs that."""
        engine = self.made()
        if engine.needs_training:
            engine.train(vectors)
        engine.add(np.arange(len(vectors)) if rows is None else rows, vectors)
        return engine

    def gallery(self, count: int = _COUNT, *, seed: int = 1) -> Vectors:
        """Gaussian vectors, of unit length under cosine; their signs under hamming."""
        return self.ready(np.random.default_rng(seed).normal(size=(count, self.dimension)))

    def queries(self) -> Vectors:
        """Gaussian queries."""
        return self.gallery(_QUERIES, seed=2)

    def ready(self, vectors: npt.NDArray[Any]) -> Vectors:
        """As an index hands vectors over: float32, C-contiguous, of unit length under cosine; codes packed."""
        if self.metric == "hamming":
            packed: Vectors = np.packbits(vectors > 0, axis=1)
            return packed
        if self.metric == "cosine":
            vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.ascontiguousarray(vectors, dtype=np.float32)

    def true_scores(self, queries: Vectors, gallery: Vectors) -> Floats:
        """Scores of all pairs in float64, shape (queries, gallery)."""
        if self.metric == "hamming":
            differing: npt.NDArray[np.uint8] = np.bitwise_xor(queries[:, None], gallery[None])
            apart: Floats = np.unpackbits(differing, axis=2).sum(axis=2, dtype=np.float64)
            return -apart
        wide, other = queries.astype(np.float64), gallery.astype(np.float64)
        if self.metric == "l2":
            distances: Floats = np.sqrt(np.square(wide[:, None] - other[None]).sum(axis=2))
            return -distances
        products: Floats = wide @ other.T
        return products

    # Who it is.

    def test_tells_what_it_is(self) -> None:
        engine = self.made()
        assert isinstance(engine, Engine)
        assert engine.metric == self.metric
        assert engine.metric in engine.metrics
        assert set(engine.metrics) <= set(METRICS)
        assert tuple(self.engine_class.metrics) == engine.metrics
        assert engine.dimension == self.dimension
        assert engine.name
        assert engine.library
        assert engine.file_suffix.isalnum()
        assert set(self.settings) <= set(engine.settings)
        assert engine.tombstones == 0
        assert len(engine) == 0

    def test_refuses_a_metric_or_dimension_that_cannot_be(self) -> None:
        for other in {"jaccard", *METRICS} - set(self.engine_class.metrics):
            with _refused(InputError) as error:
                self.engine_class(dimension=self.dimension, metric=other, settings={})
            for metric in self.engine_class.metrics:
                assert metric in str(error[0]), "the message must list the metrics there are"
        with _refused(InputError):
            self.engine_class(dimension=0, metric=self.metric, settings={})

    def test_memory_covers_the_vectors_and_grows_with_them(self) -> None:
        small, large = self.filled(self.gallery(100)), self.filled(self.gallery())
        assert large.memory_bytes >= self.gallery().nbytes
        assert large.memory_bytes > small.memory_bytes
        assert large.index_bytes > 0

    # What it finds.

    def test_an_empty_engine_finds_nothing(self) -> None:
        rows, scores = self.made().search(self.queries(), 5)
        assert rows.shape == scores.shape == (_QUERIES, 5)
        assert (rows == -1).all()
        assert np.isneginf(scores).all()

    def test_no_queries_give_no_lists(self) -> None:
        rows, scores = self.filled(self.gallery()).search(self.queries()[:0], 5)
        assert rows.shape == scores.shape == (0, 5)

    def test_types_and_shapes(self) -> None:
        rows, scores = self.filled(self.gallery()).search(self.queries(), 7)
        assert rows.shape == scores.shape == (_QUERIES, 7)
        assert rows.dtype == np.int64
        assert scores.dtype == np.float32

    def test_scores_are_those_of_the_metric_and_fall(self) -> None:
        gallery, queries = self.gallery(), self.queries()
        rows, scores = self.filled(gallery).search(queries, 10)
        _check_form(rows, scores)
        truth = np.take_along_axis(self.true_scores(queries, gallery), np.maximum(rows, 0), axis=1)
        found = rows >= 0
        assert np.allclose(scores[found], truth[found], rtol=1e-4, atol=1e-4), "scores are not the metric's"

    def test_finds_the_nearest(self) -> None:
        gallery, queries = self.gallery(), self.queries()
        engine = self.filled(gallery)
        rows, _ = engine.search(queries, 10)
        assert _recall(rows, self.true_scores(queries, gallery), 10) >= (1 if engine.exact else self.recall_floor)

    def test_a_stored_vector_finds_itself(self) -> None:
        if self.metric == "ip":
            return  # the largest inner product may be with a longer vector
        gallery = self.gallery()
        rows, scores = self.filled(gallery).search(gallery[:50], 1)
        assert (rows[:, 0] == np.arange(50)).mean() >= self.recall_floor
        assert np.allclose(scores[rows[:, 0] == np.arange(50)], 1 if self.metric == "cosine" else 0, atol=1e-3)

    def test_distances_survive_an_offset(self) -> None:
        if self.metric != "l2":
            return
        gallery, queries = self.gallery() + np.float32(1000), self.queries() + np.float32(1000)
        engine = self.filled(gallery)
        # Enough queries for a library to choose its way for large batches.
        rows, scores = engine.search(np.tile(queries, (200, 1)), 10)
        truth = self.true_scores(queries, gallery)
        assert _recall(rows[:_QUERIES], truth, 10) >= (1 if engine.exact else self.recall_floor)
        expected = np.take_along_axis(truth, np.maximum(rows[:_QUERIES], 0), axis=1)
        found = rows[:_QUERIES] >= 0
        assert np.allclose(scores[:_QUERIES][found], expected[found], rtol=1e-3), "distances lost to cancellation"

    def test_k_beyond_what_is_there_is_padded(self) -> None:
        gallery = self.gallery()
        engine = self.filled(gallery)
        engine.remove(np.arange(20, _COUNT))
        rows, scores = engine.search(self.queries(), 30)
        _check_form(rows, scores)
        assert (rows < 20).all()
        if self.full_lists:
            assert ((rows >= 0).sum(axis=1) == 20).all()

    def test_equal_scores_come_in_the_order_of_rows(self) -> None:
        twice = np.repeat(self.gallery(_COUNT // 3), 3, axis=0)
        rows, scores = self.filled(twice).search(self.queries(), 9)
        _check_form(rows, scores)

    def test_codes_tied_at_the_cut_are_those_of_the_lowest_rows(self) -> None:
        if self.metric != "hamming" or not self.made().exact:
            return
        gallery, queries = self.gallery(), self.queries()
        chosen = np.random.default_rng(3).permutation(10 * _COUNT)[:_COUNT]
        engine = self.filled(gallery, chosen)
        truth = self.true_scores(queries, gallery)
        order = np.lexsort((np.broadcast_to(chosen, truth.shape), -truth), axis=-1)
        for k in (1, 2, 10, 77, _COUNT):
            rows, scores = engine.search(queries, k)
            assert np.array_equal(rows, chosen[order[:, :k]])
            assert np.array_equal(scores, np.take_along_axis(truth, order[:, :k], axis=1))

    def test_all_vectors_equal(self) -> None:
        same = np.repeat(self.gallery(1), _COUNT, axis=0)
        rows, scores = self.filled(same).search(same[:3], 10)
        _check_form(rows, scores)
        assert (rows >= 0).all()
        assert (scores == scores[0, 0]).all()

    def test_whole_number_vectors_give_the_same_scores_in_any_batch(self) -> None:
        # Sums of small whole numbers are exact in float32, so that no rounding may differ.
        if self.metric == "cosine":
            return
        rng = np.random.default_rng(5)
        gallery, queries = (self.ready(rng.integers(-3, 4, (_COUNT, self.dimension))) for _ in range(2))
        engine = self.filled(gallery)
        _, together = engine.search(queries, 10)
        for line in (0, 17, _COUNT - 1):
            rows, alone = engine.search(queries[line : line + 1], 10)
            _check_form(rows, alone)
            assert np.array_equal(alone[0], together[line])

    def test_vectors_given_are_not_written_to(self) -> None:
        gallery, queries = self.gallery(), self.queries()
        before, asked = gallery.copy(), queries.copy()
        self.filled(gallery).search(queries, 5)
        assert np.array_equal(gallery, before)
        assert np.array_equal(queries, asked)

    # What comes and goes.

    def test_rows_are_the_callers(self) -> None:
        gallery, queries = self.gallery(), self.queries()
        plain, plain_scores = self.filled(gallery).search(queries, 5)
        chosen = np.random.default_rng(4).permutation(10 * _COUNT)[:_COUNT]
        rows, scores = self.filled(gallery, chosen).search(queries, 5)
        if self.metric == "hamming":  # which of those tied at the cut are found depends on their rows
            assert (scores == plain_scores).mean() >= self.recall_floor
            place = np.full(10 * _COUNT, -1)
            place[chosen] = np.arange(_COUNT)
            truth = np.take_along_axis(self.true_scores(queries, gallery), place[rows], axis=1)
            assert np.array_equal(truth[rows >= 0], scores[rows >= 0])
            return
        wanted = np.where(plain < 0, -1, chosen[np.maximum(plain, 0)])
        agreeing = (np.sort(rows) == np.sort(wanted)).mean()
        assert agreeing >= self.recall_floor

    def test_vectors_come_back_bit_for_bit(self) -> None:
        gallery = self.gallery()
        rows = np.arange(_COUNT) * 2 + 5
        engine = self.filled(gallery, rows)
        asked = np.array([7, 0, 599, 3])
        assert np.array_equal(engine.vectors(rows[asked]), gallery[asked])
        assert engine.vectors(rows[:0]).shape == (0, gallery.shape[1])
        assert engine.vectors(rows).dtype == gallery.dtype
        with _refused(UnknownIdError):
            engine.vectors(np.array([6]))

    def test_vectors_added_in_parts_are_all_there(self) -> None:
        gallery, queries = self.gallery(), self.queries()
        engine = self.filled(gallery[:400])
        for start in range(400, _COUNT, 50):
            engine.add(np.arange(start, start + 50), gallery[start : start + 50])
        assert len(engine) == _COUNT
        rows, _ = engine.search(queries, 10)
        assert _recall(rows, self.true_scores(queries, gallery), 10) >= (1 if engine.exact else self.recall_floor)

    def test_a_row_is_used_once(self) -> None:
        gallery = self.gallery()
        engine = self.filled(gallery)
        for rows in (np.array([_COUNT, 5]), np.array([_COUNT, _COUNT])):
            with _refused(DuplicateIdError):
                engine.add(rows, gallery[:2])
        assert len(engine) == _COUNT

    def test_what_was_removed_is_never_returned(self) -> None:
        gallery, queries = self.gallery(), self.queries()
        engine = self.filled(gallery)
        gone = np.unique(engine.search(queries, 10)[0])
        gone = gone[gone >= 0]
        engine.remove(gone)
        assert len(engine) == _COUNT - len(gone)
        rows, scores = engine.search(queries, 10)
        _check_form(rows, scores)
        assert not np.isin(rows, gone).any()
        if self.full_lists:
            assert (rows >= 0).all()
        truth = self.true_scores(queries, gallery)
        truth[:, gone] = -np.inf
        assert _recall(rows, truth, 10) >= (1 if engine.exact else self.recall_floor)
        with _refused(UnknownIdError):
            engine.vectors(gone[:1])

    def test_nearly_everything_removed(self) -> None:
        gallery = self.gallery()
        engine = self.filled(gallery)
        # The last ones left are far from the query, behind all that was removed.
        order = np.argsort(-self.true_scores(gallery[:1], gallery)[0])
        engine.remove(np.sort(order[:-15]))
        rows, scores = engine.search(gallery[:1], 10)
        _check_form(rows, scores)
        assert set(rows[rows >= 0].tolist()) <= set(order[-15:].tolist())
        if self.full_lists:
            assert (rows >= 0).all()

    def test_everything_removed_then_filled_again(self) -> None:
        gallery = self.gallery()
        engine = self.filled(gallery)
        engine.remove(np.arange(_COUNT))
        assert len(engine) == 0
        assert (engine.search(self.queries(), 3)[0] == -1).all()
        engine.add(np.arange(_COUNT, 2 * _COUNT), gallery)
        rows, _ = engine.search(self.queries(), 10)
        found = rows[rows >= 0]
        assert found.min() >= _COUNT
        truth = self.true_scores(self.queries(), gallery)
        assert _recall(rows - _COUNT, truth, 10) >= (1 if engine.exact else self.recall_floor)

    def test_removing_what_is_not_there_removes_nothing(self) -> None:
        engine = self.filled(self.gallery())
        engine.remove(np.array([3]))
        for rows in (np.array([4, _COUNT]), np.array([4, 3])):
            with _refused(UnknownIdError):
                engine.remove(rows)
        assert len(engine) == _COUNT - 1

    # What it learns.

    def test_training_is_asked_for_where_it_is_needed(self) -> None:
        engine = self.made()
        if not engine.needs_training:
            engine.train(self.gallery(1))
            return
        with _refused(NotTrainedError):
            engine.add(np.arange(10), self.gallery(10))
        with _refused(NotTrainedError) as error:
            engine.train(self.gallery(2))
        assert any(letter.isdigit() for letter in str(error[0])), "the message must say how many vectors are wanted"
        engine.train(self.gallery())
        assert not engine.needs_training

    # How it is set.

    def test_settings_are_kept_and_unknown_ones_named(self) -> None:
        engine = self.filled(self.gallery())
        engine.configure(**self.search_settings)
        assert dict(engine.settings) == {**engine.settings, **self.search_settings}
        with _refused(InputError) as error:
            engine.configure(no_such_setting=1)
        assert "no_such_setting" in str(error[0])
        for name in self.search_settings:
            assert name in str(error[0]), "the message must list what there is"
        with _refused(InputError):
            self.engine_class(dimension=self.dimension, metric=self.metric, settings={"no_such_setting": 1})

    # What it writes.

    def test_a_file_brings_everything_back(self, tmp_path: Path) -> None:
        gallery, queries = self.gallery(), self.queries()
        engine = self.filled(gallery)
        engine.remove(np.arange(0, _COUNT, 7))
        engine.configure(**self.search_settings)
        again = self._saved_and_loaded(engine, tmp_path)
        assert (again.name, again.metric, again.dimension) == (engine.name, engine.metric, engine.dimension)
        assert dict(again.settings) == dict(engine.settings)
        assert (len(again), again.tombstones, again.memory_bytes) == (
            len(engine),
            engine.tombstones,
            engine.memory_bytes,
        )
        (rows, scores), (rows_again, scores_again) = engine.search(queries, 10), again.search(queries, 10)
        assert np.array_equal(rows, rows_again)
        assert np.array_equal(scores, scores_again)
        with _refused(DuplicateIdError):
            again.add(np.array([1]), gallery[:1])
        again.add(np.arange(_COUNT, _COUNT + 5), gallery[:5])
        again.remove(np.array([1]))
        assert len(again) == len(engine) + 4
        assert np.array_equal(again.vectors(np.array([2, _COUNT])), gallery[[2, 0]])

    def test_an_empty_engine_can_be_saved(self, tmp_path: Path) -> None:
        again = self._saved_and_loaded(self.made(), tmp_path)
        assert len(again) == 0
        assert again.needs_training == self.made().needs_training

    def test_a_damaged_or_foreign_file_is_refused(self, tmp_path: Path) -> None:
        engine = self.filled(self.gallery())
        path = tmp_path / "whole"
        engine.save(path)
        whole = path.read_bytes()
        damaged = tmp_path / "damaged"
        for length in (0, 1, 4, 30, len(whole) // 3, len(whole) - 1):
            damaged.write_bytes(whole[:length])
            with _refused(FileFormatError) as error:
                self.engine_class.load(damaged, metric=self.metric, settings=engine.settings)
            assert "damaged" in str(error[0]), "the message must name the file"
        damaged.write_bytes(b"id,path\n1,a.jpg\n")
        with _refused(FileFormatError):
            self.engine_class.load(damaged, metric=self.metric, settings=engine.settings)
        with _refused(FileFormatError):
            self.engine_class.load(tmp_path / "absent", metric=self.metric, settings=engine.settings)
        other: Metric = METRICS[0] if self.metric == "l2" else "l2"
        with _refused(FileFormatError):
            self.engine_class.load(path, metric=other, settings=engine.settings)

    def _saved_and_loaded(self, engine: Engine, folder: Path) -> Engine:
        path = folder / f"engine.{engine.file_suffix}"
        engine.save(path)
        assert [entry.name for entry in folder.iterdir()] == [path.name], "save writes one file"
        loaded: Engine = self.engine_class.load(path, metric=engine.metric, settings=engine.settings)
        return loaded

    # Who may ask at once.

    def test_threads_search_side_by_side(self) -> None:
        gallery, queries = self.gallery(), self.queries()
        engine = self.filled(gallery)
        engine.remove(np.arange(0, _COUNT, 5))
        expected = engine.search(queries, 10)
        with ThreadPoolExecutor(8) as pool:
            for rows, scores in pool.map(lambda _: engine.search(queries, 10), range(64)):
                assert np.array_equal(rows, expected[0])
                assert np.array_equal(scores, expected[1])


def _check_form(rows: Int64Array, scores: Vectors) -> None:
    """Distinct rows, falling scores, equal ones by row, padding at the end."""
    assert ((rows == -1) == np.isneginf(scores)).all(), "-1 and -inf belong together"
    assert np.isfinite(scores[rows >= 0]).all()
    for line, values in zip(rows, scores, strict=True):
        found = line[line >= 0]
        assert (line[: len(found)] >= 0).all(), "padding comes last"
        assert len(np.unique(found)) == len(found), "a row twice in one list"
        left, right = values[: len(found)][:-1], values[: len(found)][1:]
        assert (left >= right).all(), "scores rise"
        assert (found[:-1] < found[1:])[left == right].all(), "equal scores out of the order of rows"


def _recall(rows: Int64Array, truth: Floats, k: int) -> float:
    """Share of places filled with an item at least as good as the k-th best, but for rounding."""
    least = -np.partition(-truth, k - 1, axis=1)[:, k - 1 : k]
    found = np.take_along_axis(truth, np.maximum(rows, 0), axis=1)
    good = (rows >= 0) & (found >= least - 1e-6 * np.abs(least))
    return float(good.mean())


@contextmanager
def _refused(kind: type[Exception]) -> Iterator[list[Exception]]:
    """Expect an error of this kind, and hand it over; this module does without pytest."""
    caught: list[Exception] = []
    try:
        yield caught
    except kind as error:
        caught.append(error)
    assert caught, f"{kind.__name__} was not raised"
