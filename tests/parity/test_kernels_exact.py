"""Both twins of exact distances, of packing and of the int8 screen against each other, and the screen's promise."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from visual_search.kernels import compiled, compiled_exact, plain
from visual_search.kernels.int8_codes import PANEL_ROWS, CodedQueries, PackedRows, code_queries

Array = np.ndarray[Any, Any]

PROCESSORS = range(1 + compiled_exact.best_processor())


def vectors(n: int, d: int, seed: int) -> tuple[Array, Array]:
    """Rows of many lengths, some zero and some the same, and queries among them."""
    rng = np.random.default_rng(seed)
    made = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-4, 4, size=(n, 1))
    made[rng.integers(n, size=n // 8)] = made[0]
    made[rng.integers(n, size=n // 16)] = 0
    return made.astype(np.float32), rng.normal(size=(5, d)) * 10


def same_packed(one: PackedRows, other: PackedRows) -> None:
    for mine, theirs in zip(one.arrays[1:], other.arrays[1:], strict=True):
        assert np.array_equal(mine[: one.count], theirs[: one.count])
    mine, theirs = (
        packed.codes.reshape(-1, -(-packed.dimension // 4), PANEL_ROWS, 4).transpose(0, 2, 1, 3)
        for packed in (one, other)
    )
    same = (mine == theirs).reshape(-1, mine.shape[2] * 4)
    assert same[: one.count].all()


@given(st.integers(1, 300), st.integers(1, 70), st.integers(0, 2**32 - 1), st.integers(1, 20), st.booleans())
def test_both_give_the_same_candidates(n: int, d: int, seed: int, k: int, euclidean: bool) -> None:
    rows, queries = vectors(n, d, seed)
    centre = rows.mean(axis=0)
    packed = plain.pack_rows(rows, centre)
    for processor in PROCESSORS:
        same_packed(compiled_exact.pack_rows(rows, centre, processor=processor), packed)
    coded = code_queries(queries)
    truth = values(rows, centre, queries, euclidean=euclidean)
    limits = np.where(np.arange(5) % 2 == 0, np.inf, np.median(truth, axis=1)).astype(np.float64)
    slack = np.full(5, 1e-9)
    twin = plain.RowScreen(coded, k, euclidean=euclidean)
    twin.see(packed, limits, slack)
    expected = twin.candidates()
    for processor, portion in itertools.product(PROCESSORS, (n, -(-n // 3))):
        screen = compiled_exact.RowScreen(coded, k, euclidean=euclidean, threads=2, processor=processor)
        memory = PackedRows.empty(portion, d)
        for first in range(0, n, portion):
            some = compiled.pack_rows(rows[first : first + portion], centre, into=memory)
            screen.see(some, limits, slack, first=first)
        found = screen.candidates()
        assert np.array_equal(found.counts, expected.counts)
        assert np.array_equal(found.rows, expected.rows)
        assert np.allclose(found.lower, expected.lower, rtol=1e-12)
        assert np.array_equal(found.full, expected.full)
    bounds_hold(packed, coded, truth, expected.rows, expected.counts, limits, k)


def values(rows: Array, centre: Array, queries: Array, *, euclidean: bool) -> Array:
    wide = rows.astype(np.longdouble) - centre.astype(np.longdouble)
    asked = queries.astype(np.longdouble)
    if euclidean:
        truth: Array = ((wide - asked[:, None]) ** 2).sum(axis=2)
        return truth
    return -(asked @ wide.T)


def bounds_hold(
    packed: PackedRows, coded: CodedQueries, truth: Array, rows: Array, counts: Array, limits: Array, k: int
) -> None:
    """No row of the k nearest within the limit is left out."""
    assert (coded.ratio < 1).all()
    for number, found in enumerate(np.split(rows, np.cumsum(counts)[:-1])):
        mine = truth[number]
        kth = np.partition(mine, min(k, packed.count) - 1)[min(k, packed.count) - 1]
        wanted = np.flatnonzero(mine <= min(kth, limits[number]))
        assert set(wanted.tolist()) <= set(found.tolist())


def test_no_room_is_told() -> None:
    rows = np.ones((500, 8), dtype=np.float32)
    coded = code_queries(np.ones((2, 8)))
    packed = compiled.pack_rows(rows, np.zeros(8, np.float32))
    for kernels in (compiled, plain):
        screen = kernels.RowScreen(coded, 3, euclidean=True, room=64)
        screen.see(packed, np.full(2, np.inf), np.zeros(2))
        found = screen.candidates()
        assert found.full.all()
        assert found.counts.tolist() == [0, 0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int8, np.uint8])
@pytest.mark.parametrize("d", [1, 2, 3, 5, 64, 127])
def test_distances_are_the_same_bits(dtype: type, d: int) -> None:
    rng = np.random.default_rng(d)
    gallery: Array = (rng.normal(size=(300, d)) * 30 + 40).astype(dtype)
    gallery[gallery == 0] = 1
    queries = gallery[100:107]
    rows, numbers = rng.integers(300, size=5000), rng.integers(7, size=5000)
    for metric in ("l2", "inner_product", "cosine"):
        one, other = (
            kernels.pair_distances(gallery, queries, rows, numbers, metric=metric) for kernels in (compiled, plain)
        )
        assert np.array_equal(one, other)


def test_what_does_not_fit_is_refused() -> None:
    rows = np.ones((10, 8), dtype=np.float32)
    packed = compiled.pack_rows(rows, np.zeros(8, np.float32))
    with pytest.raises(ValueError, match="do not fit"):
        compiled.RowScreen(code_queries(np.ones((2, 12))), 1, euclidean=True).see(packed, np.zeros(2), np.zeros(2))
    with pytest.raises(ValueError, match="do not fit"):
        compiled.pack_rows(rows, np.zeros(8, np.float32), into=PackedRows.empty(9, 16))
    for bad in (-1, 10):
        with pytest.raises(ValueError, match="do not fit"):
            compiled.pair_distances(rows, rows, np.array([bad]), np.array([0]), metric="l2")
