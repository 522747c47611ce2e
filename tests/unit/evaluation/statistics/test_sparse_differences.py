"""Intervals of few groups that differ."""

import numpy as np
import pytest

from visual_search.evaluation.statistics.interval import Resampling
from visual_search.evaluation.statistics.proportions import clopper_pearson
from visual_search.evaluation.statistics.sparse_differences import (
    differing_groups,
    fewest_differing,
    groups_without_loss,
    sparse_interval,
)


def test_fewest_is_the_first_number_at_which_p_can_reach_the_level() -> None:
    for confidence in (0.8, 0.9, 0.95, 0.99, 0.999):
        fewest = fewest_differing(confidence)
        assert 2 / 2**fewest <= 1 - confidence + 1e-12 < 2 / 2 ** (fewest - 1) + 1e-12


def test_what_rounding_leaves_is_no_difference() -> None:
    assert differing_groups(np.array([0.1 + 0.2 - 0.3, 0.5, 0.0])).tolist() == [False, True, False]


def test_unequal_groups_weigh_as_the_largest_and_never_more_than_all() -> None:
    tops, bottoms = np.zeros(50), np.r_[np.full(49, 1.0), 9.0]
    found = sparse_interval(tops, bottoms, 1.0, Resampling())
    assert found is not None
    assert found.high == pytest.approx(clopper_pearson(0, 50)[1] * 9 / (58 / 50))
    lone = sparse_interval(np.zeros(3), np.array([1.0, 1.0, 90.0]), 2.0, Resampling())
    assert lone is not None
    assert (lone.low, lone.high) == (-2, 2)


def test_there_is_none_without_a_limit_or_groups() -> None:
    assert sparse_interval(np.zeros(40), np.ones(40), float("inf"), Resampling()) is None
    assert sparse_interval(np.zeros(1), np.ones(1), 1.0, Resampling()) is None


def test_groups_without_loss_are_the_fewest() -> None:
    for margin in (0.3, 0.05, 0.01):
        needed = groups_without_loss(margin)
        assert needed is not None
        assert clopper_pearson(0, needed)[1] <= margin < clopper_pearson(0, needed - 1)[1]
