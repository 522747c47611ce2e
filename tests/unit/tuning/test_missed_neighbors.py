"""Missed neighbours are as many as recall says, and are those that were not returned."""

import numpy as np
import pytest

from visual_search import neighbor_recall
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.testing.exact_answers import exact_by_brute_force
from visual_search.tuning.costs import CostPlan
from visual_search.tuning.missed_neighbors import missed_neighbors
from visual_search.tuning.sweep import sweep
from visual_search.tuning.sweep_data import SweepData
from visual_search.tuning.sweep_record import Sweep


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("seed", range(6))
def test_as_many_are_missed_as_recall_says_also_where_many_tie(k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    gallery = rng.integers(0, 3, (40, 2)).astype(np.float64)  # few places, so nearly all distances tie
    queries = rng.integers(0, 3, (25, 2)).astype(np.float64)
    truth = exact_by_brute_force(gallery, queries, 8)
    returned = np.array([rng.permutation(40)[:k] for _ in range(25)])
    returned[rng.random(returned.shape) < 0.2] = -1
    missed = missed_neighbors(returned, truth, k)
    recall = neighbor_recall(returned, truth, k)
    assert [round(k * (1 - value)) for value in recall] == [len(one) for one in missed]
    for query, places in enumerate(missed):
        assert places == sorted(set(places))
        assert not set(truth.positions[query, np.array(places, dtype=int) - 1].tolist()) & set(
            returned[query].tolist()
        )


def test_a_sweep_keeps_what_each_setting_missed(data: SweepData, truth: ExactNeighbors, tmp_path: object) -> None:
    file = tmp_path / "sweep.jsonl"  # type: ignore[operator]
    found = sweep(data, ["flat", "ivf(nlist=12)"], {"nprobe": [1]}, out=file, costs=CostPlan(queries=9, runs=1))
    read = Sweep.load(file)
    assert read.neighbors == truth.ids[:, :10].tolist()
    exact, coarse = read.points
    assert exact.missed == [[]] * 60
    assert coarse.missed is not None
    values = coarse.values[found.measure()]
    assert [len(one) for one in coarse.missed] == np.rint(10 * (1 - values)).astype(int).tolist()
    assert sum(map(len, coarse.missed)) > 0
    assert "neighbors" not in read.as_json()
