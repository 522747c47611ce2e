"""What the fast screen supposes is proven, and where it is wrong another way gives the right answer."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.ground_truth.exact_search import search_exactly
from visual_search.ground_truth.nearest_so_far import NearestSoFar, Pairs
from visual_search.ground_truth.plain_screen import PlainScreen
from visual_search.ground_truth.vector_checks import ExactMetric
from visual_search.kernels import plain

Array = np.ndarray[Any, Any]

SCREEN = "visual_search.ground_truth.fast_screen"
METRICS: tuple[ExactMetric, ...] = ("l2", "inner_product", "cosine")


def _oracle() -> Any:
    spec = importlib.util.spec_from_file_location("exact_oracle", Path(__file__).with_name("exact_oracle.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


oracle = _oracle()


def gallery_of(name: str) -> Array:
    rng = np.random.default_rng(5)
    made = rng.normal(size=(500, 64))
    if name == "clusters":
        made = made[rng.integers(9, size=500)] + made * 1e-2
    if name == "duplicates":
        made = made[rng.integers(60, size=500)]
    if name == "one direction":  # errors that have all one sign
        made = np.ones(64) * rng.uniform(1, 2, size=(500, 1)) + made * 1e-6
    return made.astype(np.float32)


@pytest.fixture
def by_plain_path(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Queries that took the plain path, block by block."""
    asked: list[int] = []
    search = PlainScreen.search

    def told(self: PlainScreen, block: Any, queries: Any, nearest: Any, chosen: Any) -> None:
        asked.append(len(chosen))
        search(self, block, queries, nearest, chosen)

    monkeypatch.setattr(PlainScreen, "search", told)
    monkeypatch.setattr("visual_search.kernels.dispatch.fast_screen", lambda: True)
    return asked


@pytest.mark.parametrize("twin", [True, False])
@pytest.mark.parametrize("blocks", [1, 5])
@pytest.mark.parametrize("deviations", [0.0, 0.5, 4.0, 1e9])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", ["gaussian", "clusters", "duplicates", "one direction"])
def test_whatever_is_supposed_the_answer_is_right(
    name: str,
    metric: ExactMetric,
    deviations: float,
    blocks: int,
    twin: bool,
    by_plain_path: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del by_plain_path
    gallery = gallery_of(name)
    queries = gallery[::80] * np.float32(1.01)
    monkeypatch.setattr(f"{SCREEN}.SUPPOSED", deviations)
    monkeypatch.setattr(f"{SCREEN}._FAILURES", 0.5)
    monkeypatch.setattr("visual_search.ground_truth.gallery_blocks._COMFORTABLE", gallery.nbytes // blocks)
    if twin:
        monkeypatch.setattr(f"{SCREEN}.kernels", lambda: plain)
    answers = search_exactly(gallery, queries, 6, metric=metric, tie_cap=4)
    oracle.assert_exact(answers, gallery, queries, metric, tie_cap=4)


def test_few_queries_take_the_plain_path(by_plain_path: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    vectors = rng.normal(size=(5000, 128)).astype(np.float32)
    found = {}
    for deviations in (4.0, 0.0, 1e9):
        monkeypatch.setattr(f"{SCREEN}.SUPPOSED", deviations)
        by_plain_path.clear()
        answers = search_exactly(vectors[:4000], vectors[4000:], 20, metric="inner_product")
        found[deviations] = sum(by_plain_path), float(np.median(answers.evaluations))
    assert found[4.0][0] == found[1e9][0] == 0
    assert found[0.0][0] > 100
    assert found[4.0][1] < 0.9 * found[1e9][1]


def test_supposing_ends_where_it_fails(by_plain_path: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    gallery = gallery_of("gaussian")
    monkeypatch.setattr(f"{SCREEN}.SUPPOSED", 0.0)
    monkeypatch.setattr("visual_search.ground_truth.gallery_blocks._COMFORTABLE", gallery.nbytes // 5)
    answers = search_exactly(gallery, gallery[:50] + np.float32(0.1), 6)
    oracle.assert_exact(answers, gallery, gallery[:50] + np.float32(0.1), "l2")
    assert len(by_plain_path) == 1


@pytest.mark.parametrize("tie_cap", [0, 2])
def test_what_is_forgotten_and_seen_again_changes_nothing(tie_cap: int) -> None:
    rng = np.random.default_rng(tie_cap)
    for _ in range(50):
        distances = rng.integers(4, size=60).astype(float)
        parts = np.split(np.arange(60), [20, 45])
        of = np.zeros(60, dtype=np.int64)
        direct, again = NearestSoFar(2, 5, tie_cap), NearestSoFar(2, 5, tie_cap)
        for part in parts:
            direct.add(Pairs(of[part], part, distances[part]))
        again.add(Pairs(of[parts[0]], parts[0], distances[parts[0]]))
        some = parts[1][::2].copy()
        again.add(Pairs(of[some], some, distances[some]))
        again.forget(np.array([0]), 20, 45)
        assert not ((again.rows[0] >= 20) & (again.rows[0] < 45)).any()
        for part in parts[1:]:
            again.add(Pairs(of[part], part, distances[part]))
        oracle.assert_same(again.answers(), direct.answers(), evaluations=False)
