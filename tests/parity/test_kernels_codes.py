"""Both counters of Hamming ranks against each other and against comparing every pair."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from visual_search.kernels import compiled, plain
from visual_search.kernels.joined import RankHits

Array = np.ndarray[Any, Any]
Case = tuple[Array, Array, Array, Array, Array]


def same(one: RankHits, other: RankHits) -> None:
    for field in dataclasses.fields(RankHits):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        assert np.array_equal(mine, theirs), (field.name, mine, theirs)
        assert mine.dtype == theirs.dtype, field.name


def number(code: Array) -> int:
    return int.from_bytes(code.tobytes(), "little")


def counted(queries: Array, gallery: Array, offsets: Array, columns: Array, ignored: Array) -> RankHits:
    hits: list[tuple[int, int, int]] = []
    bounds = [0]
    for row, query in enumerate(queries):
        pairs = range(int(offsets[row]), int(offsets[row + 1]))
        gone = {int(columns[pair]) for pair in pairs if ignored[pair]}
        distances = [(number(query) ^ number(code)).bit_count() for code in gallery]
        left = [distance for item, distance in enumerate(distances) if item not in gone]
        kept = sorted((distances[int(columns[pair])], pair) for pair in pairs if not ignored[pair])
        hits += [(pair, sum(d < mine for d in left), left.count(mine)) for mine, pair in kept]
        bounds.append(len(hits))
    table = np.array(hits, dtype=np.int64).reshape(-1, 3)
    return RankHits(np.array(bounds, dtype=np.int64), table[:, 0], table[:, 1], table[:, 2])


@st.composite
def codes(draw: st.DrawFn) -> Case:
    words, n, size = draw(st.integers(1, 3)), draw(st.integers(0, 3)), draw(st.integers(1, 20))
    some = draw(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=4))
    word = st.sampled_from([*some, 0, 2**64 - 1, 1, 2**63])
    queries, gallery = (
        np.array(draw(st.lists(word, min_size=k * words, max_size=k * words)), dtype=np.uint64).reshape(k, words)
        for k in (n, size)
    )
    chosen = [draw(st.lists(st.integers(0, size - 1), unique=True, max_size=size)) for _ in range(n)]
    columns = np.array([column for some in chosen for column in some], dtype=np.int64)
    offsets = np.cumsum([0, *map(len, chosen)]).astype(np.int64)
    ignored = np.array(draw(st.lists(st.booleans(), min_size=len(columns), max_size=len(columns))), dtype=np.bool_)
    return queries, gallery, offsets, columns, ignored


@given(codes())
def test_both_count_what_comparing_every_pair_counts(case: Case) -> None:
    expected = counted(*case)
    same(compiled.count_code_ranks(*case), expected)
    same(plain.count_code_ranks(*case), expected)


@pytest.mark.parametrize("words", [1, 2, 5])
@pytest.mark.parametrize("threads", ["1", "3"])
def test_many_codes(words: int, threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL_SEARCH_THREADS", threads)
    monkeypatch.setattr(compiled, "_LEAST_IDS", 1)
    rng = np.random.default_rng(words)
    queries, gallery = (rng.integers(0, 2**64, (k, words), dtype=np.uint64) for k in (7, 5000))
    gallery[::3] = queries[0]
    offsets = np.arange(8) * 300
    columns = np.concatenate([rng.choice(5000, 300, replace=False) for _ in range(7)])
    case = queries, gallery, offsets, columns, rng.random(2100) < 0.2
    same(compiled.count_code_ranks(*case), plain.count_code_ranks(*case))
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    same(compiled.count_code_ranks(*case), plain.count_code_ranks(*case))
