"""Small, seeded versions of benchmarks/coverage.py and benchmarks/type_one_error.py."""

import numpy as np
import pytest

from visual_search.evaluation.statistics.bootstrap import bootstrap_ratios
from visual_search.evaluation.statistics.flips import flip_test
from visual_search.evaluation.statistics.interval import IntervalMethod, Resampling
from visual_search.testing.simulated_queries import TRUE_MEAN, SimulatedKind, simulated_groups, simulated_values

SIMULATIONS = 400


def held(kind: SimulatedKind, groups: int, codes: list[int] | None, method: IntervalMethod = "bca") -> float:
    values = simulated_values(groups, SIMULATIONS, kind=kind, seed=1)
    settings = Resampling(resamples=600, seed=2, method=method)
    made = bootstrap_ratios(values, np.ones_like(values), groups=codes, resampling=settings)
    return sum(one is not None and TRUE_MEAN in one for one in made) / SIMULATIONS


def test_simulated_values_have_their_mean_and_hang_together() -> None:
    for kind in ("hit rate", "average precision"):
        values = simulated_values(60, 500, kind=kind, seed=3)
        assert values.mean() == pytest.approx(TRUE_MEAN, abs=0.01)
        pair = values[simulated_groups(60) == 1]  # two queries of one group
        assert np.corrcoef(pair[0], pair[1])[0, 1] > 0.2


@pytest.mark.parametrize("kind", ["hit rate", "average precision"])
def test_from_fifty_groups_on_the_interval_holds_as_often_as_it_says(kind: SimulatedKind) -> None:
    # 92 to 97 % is wanted; of 400, two standard errors are 2.2 %
    assert 0.92 <= held(kind, 50, simulated_groups(50).tolist()) <= 0.972


def test_taking_queries_for_independent_fails() -> None:
    assert held("average precision", 50, None) < 0.75


def test_ten_groups_are_better_served_by_correction_than_by_percentiles() -> None:
    codes = simulated_groups(10).tolist()
    assert held("hit rate", 10, codes) > held("hit rate", 10, codes, "percentile")


def test_equal_systems_are_told_apart_as_often_as_the_level_says() -> None:
    groups, pairs = 20, 2000
    together = (np.arange(groups)[:, None] == simulated_groups(groups)).astype(np.float64)
    found = together_found = 0
    for batch in range(20):
        first, second = (simulated_values(groups, pairs // 20, seed=2 * batch + side) for side in (0, 1))
        difference = first - second
        together_found += int((flip_test(together @ difference, flips=399, seed=batch).p_values <= 0.05).sum())
        found += int((flip_test(difference, flips=399, seed=batch).p_values <= 0.05).sum())
    assert 0.035 <= together_found / pairs <= 0.065  # three standard errors of 5 %
    assert found / pairs > 0.2  # queries signed one by one, as if they were independent
