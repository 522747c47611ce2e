"""Both joins of integer ids against each other and against one that compares every pair."""

import dataclasses
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from visual_search.kernels import compiled, plain
from visual_search.kernels.joined import IdHits, JudgedIds, ListHits, Offence

TWINS = [pytest.param(compiled, id="compiled"), pytest.param(plain, id="plain")]
Array = np.ndarray[Any, Any]


def _sibling(name: str) -> ModuleType:
    # pytest imports tests by path, so that a file beside them has to be loaded by path too.
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


oracle = _sibling("run_oracle")


@st.composite
def id_lists(draw: st.DrawFn, *, faults: bool = False) -> tuple[Array, Array | None, Array, JudgedIds, int | None]:
    count, depth = draw(st.integers(0, 4)), draw(st.integers(0, 8))
    far = draw(st.sampled_from([0, 2**31 - 5, -(2**62)]))
    ids = st.integers(0, 9).map(lambda value: value + far)
    rows = [draw(st.lists(ids, min_size=depth, max_size=depth, unique=not faults)) for _ in range(count)]
    lists = np.array(rows, dtype=np.int64).reshape(count, depth)
    if far == 0 and draw(st.booleans()):
        lists = lists.astype(draw(st.sampled_from([np.int32, np.int16, np.uint8])))
    scores = None
    if draw(st.booleans()):
        values = [0.0, -0.0, 1.5, 2.0, -3.0, 1e-40] + ([np.nan, np.inf] if faults else [])
        table = [draw(st.lists(st.sampled_from(values), min_size=depth, max_size=depth)) for _ in range(count)]
        scores = np.array(table, dtype=draw(st.sampled_from([np.float32, np.float64]))).reshape(count, depth)
        if not faults:
            scores = np.ascontiguousarray(np.sort(scores, axis=1)[:, ::-1])
    n = draw(st.integers(0, 5))
    query_of_list = np.array(draw(st.permutations([*range(n), *[-1] * count]))[:count], dtype=np.int64)
    judged = [draw(st.lists(ids, max_size=6, unique=True)) for _ in range(n)]
    flat = np.array([item for some in judged for item in some], dtype=np.int64)
    offsets = np.cumsum([0, *map(len, judged)]).astype(np.int64)
    ignored = np.array(draw(st.lists(st.booleans(), min_size=len(flat), max_size=len(flat))), dtype=np.bool_)
    pad = draw(st.sampled_from([None, far + 3]))
    return lists, scores, query_of_list, JudgedIds(offsets, flat, ignored), pad


def same_hits(one: ListHits, other: ListHits) -> None:
    for field in dataclasses.fields(ListHits):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        assert np.array_equal(mine, theirs), (field.name, mine, theirs)
        assert mine.dtype == theirs.dtype, field.name


@settings(deadline=None)
@given(id_lists())
def test_both_find_what_comparing_every_pair_finds(case: tuple[Any, ...]) -> None:
    lists, scores, query_of_list, judged, pad = case
    values = -np.tile(np.arange(lists.shape[1]), (len(lists), 1)) if scores is None else scores
    ranked = {
        int(query): [(int(item), float(value)) for item, value in zip(*row, strict=True) if item != pad]
        for query, row in zip(query_of_list, zip(lists, values, strict=True), strict=True)
        if query >= 0
    }
    expected = oracle.list_hits(
        ranked, range(len(judged.offsets) - 1), judged.ids.tolist(), judged.offsets, judged.ignored
    )
    for twin in (compiled, plain):
        found: IdHits = twin.join_ids(lists, scores, query_of_list, judged, pad=pad)
        same_hits(found.hits, expected)
        assert found.gallery_size == len({int(item) for item in lists.ravel() if item != pad})
        assert found.not_finite == found.rising == found.repeated == Offence(0, -1, -1)


@settings(deadline=None)
@given(id_lists(faults=True))
def test_both_tell_the_same_faults(case: tuple[Any, ...]) -> None:
    lists, scores, query_of_list, judged, pad = case
    mine: IdHits = compiled.join_ids(lists, scores, query_of_list, judged, pad=pad)
    theirs: IdHits = plain.join_ids(lists, scores, query_of_list, judged, pad=pad)
    assert mine.not_finite == theirs.not_finite
    assert mine.rising == theirs.rising
    assert mine.repeated == theirs.repeated
    repeats = [
        (row, place)
        for row, items in enumerate(lists.tolist())
        for place, item in enumerate(items)
        if item != pad and item in items[:place]
    ]
    assert mine.repeated == Offence(len(repeats), *(repeats[0] if repeats else (-1, -1)))


@pytest.mark.parametrize("threads", ["1", "3"])
def test_threads_change_nothing(threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    lists = np.stack([rng.permutation(3000)[:200] for _ in range(50)])
    scores = -np.sort(rng.integers(0, 60, lists.shape), axis=1) / 4
    judged = JudgedIds(np.arange(0, 50 * 40 + 1, 40), rng.integers(0, 10**6, 50 * 40), rng.random(50 * 40) < 0.1)
    judged.ids[::2] = lists[:, :20].ravel()
    monkeypatch.setenv("VISUAL_SEARCH_THREADS", threads)
    monkeypatch.setattr(compiled, "_LEAST_IDS", 1000)
    order = rng.permutation(50)
    mine = compiled.join_ids(lists[order], scores[order], order, judged)
    same_hits(mine.hits, plain.join_ids(lists, scores, np.arange(50), judged).hits)
    assert mine.gallery_size == len(np.unique(lists))


@pytest.mark.parametrize("depth", [100, 4096, 4097, 20_000])
def test_repeats_in_lists_of_any_length(depth: int) -> None:
    rng = np.random.default_rng(depth)
    lists = np.stack([rng.permutation(depth * 3)[:depth] for _ in range(6)]) * 1_000_003 - 2**40
    lists[2, -1] = lists[2, 0]
    lists[4, 50] = lists[4, 49]
    judged = JudgedIds(np.arange(7) * 20, lists[:, ::-1][:, :20].ravel().copy(), np.zeros(120, dtype=np.bool_))
    found = [twin.join_ids(lists, None, np.arange(6), judged) for twin in (compiled, plain)]
    assert found[0].repeated == found[1].repeated == Offence(2, 2, depth - 1)
    good = [0, 1, 3, 5]
    found = [twin.join_ids(lists[good], None, np.array(good), judged) for twin in (compiled, plain)]
    same_hits(found[0].hits, found[1].hits)
    assert len(found[0].hits.entry) == 80


def test_lists_of_one_score_are_counted_without_comparing_every_pair() -> None:
    lists = np.arange(200_000).reshape(2, -1)
    scores = np.zeros(lists.shape, dtype=np.float32)
    judged = JudgedIds(np.array([0, 50_000, 50_001]), np.r_[0:100_000:2, 100_000], np.zeros(50_001, dtype=np.bool_))
    for twin in (compiled, plain):
        found: IdHits = twin.join_ids(lists, scores, np.array([0, 1]), judged)
        assert (found.hits.tied == 100_000).all()
        assert found.hits.falling_place.tolist() == [*range(99_999, -1, -2), 99_999]
        assert found.gallery_size is None
