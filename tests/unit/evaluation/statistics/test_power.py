import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from visual_search.errors import InputError
from visual_search.evaluation.statistics.flips import flip_test
from visual_search.evaluation.statistics.independence import about_groups
from visual_search.evaluation.statistics.multiplicity import holm
from visual_search.evaluation.statistics.power import group_spread, groups_needed, minimum_detectable_difference


@settings(max_examples=15, deadline=None)
@given(st.floats(0.01, 2), st.floats(0.01, 1))
def test_the_groups_needed_are_the_fewest_that_detect_it(spread: float, difference: float) -> None:
    needed = groups_needed(spread, difference)
    assert needed is not None
    assert minimum_detectable_difference(spread, needed) <= difference
    assert needed == 2 or minimum_detectable_difference(spread, needed - 1) > difference


def test_a_detectable_difference_is_detected_four_times_in_five() -> None:
    groups, spread, trials = 60, 0.3, 600
    size = minimum_detectable_difference(spread, groups)
    sums = np.random.default_rng(7).normal(size, spread, (groups, trials))
    found = (flip_test(sums, flips=499).p_values <= 0.05).mean()
    assert found == pytest.approx(0.8, abs=0.06)  # more than three standard errors


def test_the_spread_is_that_of_the_mean() -> None:
    """Of a ratio too: the mean's own spread over repeated draws is the group spread over the root of their number."""
    random = np.random.default_rng(1)
    sizes = random.integers(1, 9, (40, 3000)).astype(np.float64)
    sums = sizes * random.beta(2, 1, sizes.shape)
    ratios = sums.sum(axis=0) / sizes.sum(axis=0)
    assert group_spread(sums, sizes).mean() / np.sqrt(40) == pytest.approx(ratios.std(), rel=0.05)


def test_groups_that_take_no_part_and_too_few_groups() -> None:
    tops, bottoms = np.array([[1.0, 0.0], [3.0, 2.0], [0.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    spread = group_spread(tops, bottoms)
    assert spread[0] == pytest.approx(np.sqrt(2))
    assert np.isnan(spread[1])
    assert np.isnan(minimum_detectable_difference(float(spread[1]), 1))
    assert groups_needed(0.3, 0.0) is None
    with pytest.raises(InputError, match="power"):
        groups_needed(0.3, 0.1, power=80)


def test_holm_on_a_worked_example() -> None:
    # Four hypotheses: .005 x 4, .01 x 3, .03 x 2, .04 x 1 raised to the one before.
    assert holm(np.array([0.01, 0.04, 0.03, 0.005, np.nan])) == pytest.approx(
        [0.03, 0.06, 0.06, 0.02, np.nan], nan_ok=True
    )
    assert holm(np.array([0.6, 0.7])).tolist() == [1.0, 1.0]


def test_words_on_independence() -> None:
    assert "no groups given: intervals take the 30 queries for independent" in about_groups([None] * 30, 30)[0]
    assert about_groups([n // 2 for n in range(60)], 60) == []
    assert about_groups(["a", "a", "b"], 3) == [
        "only 2 independent groups: intervals over so few are too narrow",
    ]
