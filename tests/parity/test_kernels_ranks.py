"""Both rank counters against each other and against comparing every pair."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from visual_search.kernels import compiled, plain
from visual_search.kernels.joined import RankHits

Array = np.ndarray[Any, Any]


def same(one: RankHits, other: RankHits) -> None:
    for field in dataclasses.fields(RankHits):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        assert np.array_equal(mine, theirs), (field.name, mine, theirs)
        assert mine.dtype == theirs.dtype, field.name


def counted(similarity: Array, offsets: Array, columns: Array, ignored: Array) -> RankHits:
    hits: list[tuple[int, int, int]] = []
    bounds = [0]
    for row in range(len(similarity)):
        pairs = range(int(offsets[row]), int(offsets[row + 1]))
        gone = {int(columns[pair]) for pair in pairs if ignored[pair]}
        values = [float(value) for item, value in enumerate(similarity[row]) if item not in gone]
        kept = sorted((-float(similarity[row, columns[pair]]), pair) for pair in pairs if not ignored[pair])
        hits += [(pair, sum(v > -low for v in values), sum(v == -low for v in values)) for low, pair in kept]
        bounds.append(len(hits))
    table = np.array(hits, dtype=np.int64).reshape(-1, 3)
    return RankHits(np.array(bounds, dtype=np.int64), table[:, 0], table[:, 1], table[:, 2])


@st.composite
def rows_with_pairs(draw: st.DrawFn) -> tuple[Array, Array, Array, Array]:
    rows, size = draw(st.integers(0, 3)), draw(st.integers(1, 40))
    anything = st.floats(width=32, allow_nan=False, allow_infinity=False)
    few: list[float] = np.array([0.0, -0.0, 1.0, 1 + 2.0**-23, 3e38, -3e38, 1e-45], dtype=np.float32).tolist()
    elements = draw(st.sampled_from([anything, st.sampled_from(few)]))
    similarity = draw(npst.arrays(np.float32, (rows, size), elements=elements))
    chosen = [draw(st.lists(st.integers(0, size - 1), unique=True, max_size=size)) for _ in range(rows)]
    columns = np.array([column for some in chosen for column in some], dtype=np.int64)
    offsets = np.cumsum([0, *map(len, chosen)]).astype(np.int64)
    ignored = np.array(draw(st.lists(st.booleans(), min_size=len(columns), max_size=len(columns))), dtype=np.bool_)
    return similarity, offsets, columns, ignored


@settings(deadline=None)
@given(rows_with_pairs())
def test_both_count_what_comparing_every_pair_counts(case: tuple[Array, Array, Array, Array]) -> None:
    expected = counted(*case)
    same(compiled.count_ranks(*case), expected)
    same(plain.count_ranks(*case), expected)


SHAPES: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "normal": lambda rng, size: rng.normal(size=size),
    "steps": lambda rng, size: rng.integers(-5, 5, size) / 4,
    "outlier": lambda rng, size: np.where(np.arange(size) == 7, 1e30, rng.normal(size=size)),
    "huge": lambda rng, size: rng.uniform(-3.4e38, 3.4e38, size),
    "tiny": lambda rng, size: rng.integers(-50, 50, size) * 1.4e-45,
    "constant": lambda _, size: np.full(size, 0.25),
    "spread": lambda rng, size: rng.normal(size=size) * 10.0 ** rng.integers(-30, 30, size),
    "offset": lambda rng, size: 1000 + rng.normal(size=size) * 1e-3,
    "two": lambda rng, size: rng.integers(0, 2, size) * 1e-3,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("relevant", [1, 2, 50, 700, 4000])
@pytest.mark.parametrize("threads", ["1", "3"])
def test_long_rows(shape: str, relevant: int, threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL_SEARCH_THREADS", threads)
    monkeypatch.setattr(compiled, "_LEAST_IDS", 1)
    rng = np.random.default_rng(relevant)
    similarity = np.stack([SHAPES[shape](rng, 4000) for _ in range(5)]).astype(np.float32)
    offsets = np.arange(6) * relevant
    columns = np.concatenate([rng.choice(4000, relevant, replace=False) for _ in range(5)])
    for share in (0.0, 0.3):
        ignored = rng.random(len(columns)) < share
        same(
            compiled.count_ranks(similarity, offsets, columns, ignored),
            plain.count_ranks(similarity, offsets, columns, ignored),
        )
