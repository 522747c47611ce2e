"""Certified is never true where the answer is wrong, whatever the vectors."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from visual_search.ground_truth.exact_search import search_exactly
from visual_search.ground_truth.vector_checks import ExactMetric


def _oracle() -> Any:
    spec = importlib.util.spec_from_file_location(
        "exact_oracle", Path(__file__).parents[1] / "unit" / "ground_truth" / "exact_oracle.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


oracle = _oracle()

Array = np.ndarray[Any, Any]
VECTOR_METRICS: tuple[ExactMetric, ...] = ("l2", "inner_product", "cosine")
BIT_METRICS: tuple[ExactMetric, ...] = ("hamming", "jaccard")
Case = tuple[Array, Array, int, ExactMetric]


@st.composite
def searches(draw: st.DrawFn) -> Case:
    """Rows around few points, some the same, some a hair apart, at any scale and offset."""
    d = draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    points = rng.normal(size=(draw(st.integers(1, 4)), d)) * 10.0 ** draw(st.integers(-3, 3))
    spread = 10.0 ** draw(st.integers(-9, 1))
    n, m = draw(st.integers(1, 200)), draw(st.integers(1, 5))
    made = points[rng.integers(len(points), size=n + m)] + spread * rng.integers(-2, 3, size=(n + m, d))
    made += draw(st.sampled_from([0.0, 10.0, 1e5]))
    made *= 10.0 ** draw(st.sampled_from([0, 0, 0, -25, 25]))
    made = made.astype(draw(st.sampled_from([np.float32, np.float64])))
    made[~made.any(axis=1)] = 1
    metric: ExactMetric = draw(st.sampled_from(VECTOR_METRICS))
    return made[:n], made[n:], draw(st.integers(1, min(n, 12))), metric


@given(searches(), st.sampled_from([0, 2]), st.booleans())
def test_answers_are_right_and_certified(case: Case, tie_cap: int, fast: bool) -> None:
    gallery, queries, k, metric = case
    with pytest.MonkeyPatch.context() as patched:
        if not fast:
            patched.setattr("visual_search.kernels.dispatch.fast_screen", lambda: False)
        answers = search_exactly(gallery, queries, k, metric=metric, tie_cap=tie_cap)
    oracle.assert_exact(answers, gallery, queries, metric, tie_cap)


FLOATS = st.floats(-(2.0**60), 2.0**60, width=32, allow_subnormal=True)


@given(
    hnp.arrays(np.float32, st.tuples(st.integers(30, 60), st.integers(1, 3)), elements=FLOATS), st.integers(1, 30)
)
def test_any_float32(vectors: Array, k: int) -> None:
    for metric in VECTOR_METRICS[:2]:
        answers = search_exactly(vectors, vectors[:2], k, metric=metric)
        oracle.assert_exact(answers, vectors, vectors[:2], metric)


@given(
    st.sampled_from([np.int8, np.uint8]).flatmap(
        lambda kind: hnp.arrays(kind, st.tuples(st.integers(1, 60), st.integers(1, 4)))
    ),
    st.data(),
)
def test_any_whole_numbers(vectors: Array, data: st.DataObject) -> None:
    metrics = VECTOR_METRICS + (BIT_METRICS if vectors.dtype == np.uint8 else ())
    k = data.draw(st.integers(1, len(vectors)))
    for metric in metrics:
        if metric == "cosine" and not vectors.any(axis=1).all():
            continue
        answers = search_exactly(vectors, vectors[:2], k, metric=metric, tie_cap=3)
        oracle.assert_exact(answers, vectors, vectors[:2], metric, 3)
