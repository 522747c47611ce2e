"""Both twins of exact distances, of packing and of the int8 screen against each other, and the screen's promise."""

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from visual_search.kernels import compiled, compiled_exact, plain
from visual_search.kernels.int8_codes import PANEL_ROWS, Candidates, CodedQueries, PackedRows

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


@given(
    st.integers(1, 300),
    st.integers(1, 70),
    st.integers(0, 2**32 - 1),
    st.integers(1, 20),
    st.booleans(),
    st.sampled_from((127, 63)),
    st.sampled_from((1.0, 0.3, 0.0)),
)
def test_both_give_the_same_candidates(
    n: int, d: int, seed: int, k: int, euclidean: bool, most: int, supposed: float
) -> None:
    rows, queries = vectors(n, d, seed)
    centre = rows.mean(axis=0)
    packed = plain.pack_rows(rows, centre)
    for processor in PROCESSORS:
        same_packed(compiled_exact.pack_rows(rows, centre, processor=processor), packed)
    coded = plain.code_queries(queries, most)
    truth = values(rows, centre, queries, euclidean=euclidean)
    limits = np.where(np.arange(5) % 2 == 0, np.inf, np.median(truth, axis=1)).astype(np.float64)
    slack = np.full(5, 1e-9)
    twin = plain.RowScreen(coded, k, euclidean=euclidean, supposed=supposed)
    twin.see(packed, limits, slack)
    expected = twin.found()
    able = [processor for processor in PROCESSORS if most <= compiled_exact.largest_code(processor)]
    for processor, portion in itertools.product(able, (n, -(-n // 3))):
        screen = compiled_exact.RowScreen(
            coded, k, euclidean=euclidean, supposed=supposed, threads=2, processor=processor
        )
        memory = PackedRows.empty(portion, d)
        for first in range(0, n, portion):
            some = compiled.pack_rows(rows[first : first + portion], centre, into=memory)
            screen.see(some, limits, slack, first=first)
        found = screen.found()
        for field in dataclasses.fields(found):
            assert np.array_equal(getattr(found, field.name), getattr(expected, field.name)), field.name
    none_missing(coded, truth, expected, limits)
    kth = np.partition(truth, min(k, n) - 1, axis=1)[:, min(k, n) - 1]
    assert supposed < 1 or (kth <= expected.supposed).all()


def values(rows: Array, centre: Array, queries: Array, *, euclidean: bool) -> Array:
    wide = rows.astype(np.longdouble) - centre.astype(np.longdouble)
    asked = queries.astype(np.longdouble)
    if euclidean:
        truth: Array = ((wide - asked[:, None]) ** 2).sum(axis=2)
        return truth
    return -(asked @ wide.T)


def none_missing(coded: CodedQueries, truth: Array, found: Candidates, limits: Array) -> None:
    """No row within the limit and what was supposed is left out."""
    assert (coded.ratio < 1).all()
    assert np.array_equal(found.query_of, np.repeat(np.arange(len(limits)), found.counts))
    for number, mine in enumerate(np.split(found.rows, np.cumsum(found.counts)[:-1])):
        wanted = np.flatnonzero(truth[number] <= min(limits[number], found.supposed[number]))
        assert set(wanted.tolist()) <= set(mine.tolist())


def test_what_is_supposed_leaves_fewer_rows() -> None:
    rng = np.random.default_rng(0)
    rows, queries = rng.normal(size=(3000, 256)).astype(np.float32), rng.normal(size=(40, 256))
    packed = compiled.pack_rows(rows, np.zeros(256, np.float32))
    coded = plain.code_queries(queries, compiled_exact.largest_code())
    truth = np.sort(-(queries @ rows.T.astype(float)), axis=1)[:, 9]
    counts = []
    for supposed in (1.0, 0.25):
        screen = compiled_exact.RowScreen(coded, 10, euclidean=False, supposed=supposed)
        screen.see(packed, np.full(40, np.inf), np.zeros(40))
        found = screen.found()
        assert (truth <= found.supposed).all()
        counts.append(int(found.counts.sum()))
    assert 400 <= counts[1] < 0.9 * counts[0]


@given(st.integers(1, 30), st.integers(1, 70), st.integers(0, 2**32 - 1), st.sampled_from((127, 63)))
def test_both_code_queries_alike(n: int, d: int, seed: int, most: int) -> None:
    queries, _ = vectors(n, d, seed)
    wide = queries.astype(np.float64)
    mine, theirs = compiled.code_queries(wide, most, threads=2), plain.code_queries(wide, most)
    assert np.array_equal(mine.codes, theirs.codes)
    assert np.array_equal(mine.scale, theirs.scale)
    for one, other in ((mine.size, theirs.size), *zip(mine.squares, theirs.squares, strict=True)):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=0)
    np.testing.assert_allclose(mine.ratio, theirs.ratio, rtol=1e-9, atol=0)
    left = wide - (theirs.codes[:, :d].astype(float) - (most + 1)) * theirs.scale[:, None]
    assert (np.linalg.norm(left, axis=1) <= mine.ratio * np.where(mine.size > 0, mine.size, 1)).all()


@pytest.mark.parametrize("most", [127, 63])
def test_the_largest_products_are_summed_without_loss(most: int) -> None:
    rng = np.random.default_rng(0)
    rows = rng.choice([-1.0, 1.0], size=(64, 1024)).astype(np.float32)
    rows[0], rows[1] = 1, -1
    queries = np.concatenate((rows[:8], np.ones((1, 1024)))).astype(np.float64)
    centre = np.zeros(1024, np.float32)
    coded = plain.code_queries(queries, most)
    limits = np.sort(-(queries @ rows.T), axis=1)[:, 4] + 0.5
    for processor in PROCESSORS:
        if most > compiled_exact.largest_code(processor):
            with pytest.raises(ValueError, match="do not fit"):
                compiled_exact.RowScreen(coded, 3, euclidean=False, processor=processor)
            continue
        screen = compiled_exact.RowScreen(coded, 3, euclidean=False, processor=processor)
        screen.see(compiled.pack_rows(rows, centre), limits, np.zeros(len(queries)))
        found = screen.found()
        for query, mine in zip(queries, np.split(found.rows, np.cumsum(found.counts)[:-1]), strict=True):
            assert np.array_equal(np.sort(rows[mine] @ query)[-3:], np.sort(rows @ query)[-3:])
            assert len(mine) < len(rows) // 2


def test_no_room_is_told() -> None:
    rows = np.ones((500, 8), dtype=np.float32)
    packed = compiled.pack_rows(rows, np.zeros(8, np.float32))
    for kernels in (compiled, plain):
        coded = plain.code_queries(np.ones((2, 8)), compiled_exact.largest_code())
        screen = kernels.RowScreen(coded, 3, euclidean=True, room=64)
        screen.see(packed, np.full(2, np.inf), np.zeros(2))
        found = screen.found()
        assert found.full.all()
        assert found.counts.tolist() == [0, 0]


def test_a_query_may_take_room_that_others_do_not_need() -> None:
    rows = np.zeros((500, 8), dtype=np.float32)
    rows[:200, 0] = 1  # all of these are as near to the first query; the others have one nearest
    rows[200:, 1] = np.arange(300)
    queries = np.array([[1.0] + [0.0] * 7] + [[0.0, 299.0 + number] + [0.0] * 6 for number in range(31)])
    coded = plain.code_queries(queries, compiled_exact.largest_code())
    screen = compiled_exact.RowScreen(coded, 3, euclidean=True, room=128, threads=1)
    screen.see(compiled.pack_rows(rows, np.zeros(8, np.float32)), np.full(32, np.inf), np.zeros(32))
    found = screen.found()
    assert not found.full.any()
    assert found.counts[0] == 200
    with pytest.raises(ValueError, match="have been given"):
        screen.found()


@given(st.integers(1, 6), st.integers(0, 6), st.integers(1, 40), st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_both_merge_alike(k: int, spare: int, pairs: int, seed: int, turns: int) -> None:
    rng = np.random.default_rng(seed)
    sides = [(np.full((9, k + spare), np.inf), np.full((9, k + spare), -1)) for _ in range(2)]
    given_rows = rng.permutation(pairs * turns)
    every, dropped = [], [np.full(9, np.inf), np.full(9, np.inf)]
    for turn in range(turns):
        rows = given_rows[turn * pairs : (turn + 1) * pairs]
        query_of = np.sort(rng.integers(9, size=pairs))
        distances = rng.integers(5, size=pairs).astype(float)
        every.append(np.stack((query_of, distances, rows)))
        for number, (kernels, side) in enumerate(zip((compiled, plain), sides, strict=True)):
            some = kernels.merge_nearest(side, k, query_of, rows, distances)
            dropped[number] = np.minimum(dropped[number], some)
    for one, other in zip(*sides, strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(dropped[0], dropped[1])
    told = np.concatenate(every, axis=1)
    for query in range(9):
        mine = told[1:, told[0] == query]
        mine = mine[:, np.lexsort(mine[::-1])]
        kth = mine[0, k - 1] if mine.shape[1] >= k else np.inf
        kept = mine[:, mine[0] <= kth]
        width = min(kept.shape[1], k + spare)
        assert np.array_equal(sides[0][1][query, :width], kept[1, :width])
        assert (sides[0][1][query, width:] == -1).all()
        assert (dropped[0][query] == kth) == (kept.shape[1] > k + spare) or kth == np.inf


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_do_not_part_a_query(threads: int) -> None:
    rng = np.random.default_rng(threads)
    query_of, distances = np.sort(rng.integers(4, size=9000)), rng.integers(1000, size=9000).astype(float)
    sides = [(np.full((5, 60), np.inf), np.full((5, 60), -1)) for _ in range(2)]
    for kernels, side in zip((compiled, plain), sides, strict=True):
        kernels.merge_nearest(side, 50, query_of, np.arange(9000), distances, threads=threads)
    for one, other in zip(*sides, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int8, np.uint8])
@pytest.mark.parametrize("d", [1, 2, 3, 5, 64, 127, 128, 256, 320])
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
    coded = plain.code_queries(np.ones((2, 12)), compiled_exact.largest_code())
    with pytest.raises(ValueError, match="do not fit"):
        compiled.RowScreen(coded, 1, euclidean=True).see(packed, np.zeros(2), np.zeros(2))
    fitting = plain.code_queries(np.ones((2, 8)), compiled_exact.largest_code())
    for first in (-1, 1 << 32):
        with pytest.raises(ValueError, match="do not fit"):
            compiled.RowScreen(fitting, 1, euclidean=True).see(packed, np.zeros(2), np.zeros(2), first=first)
    with pytest.raises(ValueError, match="do not fit"):
        compiled.pack_rows(rows, np.zeros(8, np.float32), into=PackedRows.empty(9, 16))
    nearest = np.zeros((2, 3)), np.zeros((2, 3), np.int64)
    for query, k in ((2, 1), (0, 4)):
        with pytest.raises(ValueError, match="do not fit"):
            compiled.merge_nearest(nearest, k, np.array([query]), np.array([0]), np.array([0.0]))
    for bad in (-1, 10):
        with pytest.raises(ValueError, match="do not fit"):
            compiled.pair_distances(rows, rows, np.array([bad]), np.array([0]), metric="l2")
