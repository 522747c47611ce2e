import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from visual_search.errors import InputError
from visual_search.evaluation.statistics.bootstrap import bootstrap_mean
from visual_search.evaluation.statistics.flips import flipped_sums
from visual_search.evaluation.statistics.paired import paired_difference
from visual_search.evaluation.statistics.proportions import clopper_pearson

values = st.lists(st.integers(0, 4).map(lambda n: n / 4), min_size=2, max_size=8)


def exact_p(sums: list[float]) -> float:
    """Over all sign flips, each counted once."""
    observed = abs(sum(sums))
    flips = [
        abs(sum(s * v for s, v in zip(signs, sums, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(sums))
    ]
    return sum(flip >= observed - 1e-12 for flip in flips) / len(flips)


@settings(deadline=None, max_examples=40)
@given(values, st.data())
def test_p_is_that_of_all_flips(first: list[float], data: st.DataObject) -> None:
    second = data.draw(st.lists(st.integers(0, 4).map(lambda n: n / 4), min_size=len(first), max_size=len(first)))
    found = paired_difference(np.array(first), np.array(second))
    expected = exact_p([a - b for a, b in zip(first, second, strict=True)])
    assert found.p_value == pytest.approx(expected, abs=1e-12)  # eight queries have 256 signs: all are taken
    assert found.difference == pytest.approx(np.mean(first) - np.mean(second))
    assert found.wins + found.losses + found.ties == len(first)


def test_flips_run_over_every_sign_equally() -> None:
    powers = np.array([3.0**n for n in range(11)])  # every choice of signs has a sum of its own
    drawn = flipped_sums(powers, 200_000, seed=3)
    counts = np.unique(drawn, return_counts=True)[1]
    assert len(counts) == 2**11
    expected = 200_000 / 2**11
    chi_squared = ((counts - expected) ** 2 / expected).sum()
    assert abs(chi_squared - 2**11) < 6 * np.sqrt(2 * 2**11)


def test_queries_of_a_group_change_sign_together() -> None:
    first, second = np.array([1.0, 1, 1, 1]), np.zeros(4)
    assert paired_difference(first, second).p_value == pytest.approx(2 / 16, abs=0.02)
    assert paired_difference(first, second, groups=["a", "a", "b", "b"]).p_value == pytest.approx(2 / 4, abs=0.03)


def test_equal_systems_have_p_one_and_an_interval_by_the_rule_of_three() -> None:
    same = np.array([0.3, 0.7, np.nan])
    found = paired_difference(same, same)
    assert (found.difference, found.p_value, found.ties, found.queries) == (0.0, 1.0, 2, 2)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((-(1 - 0.025**0.5), 1 - 0.025**0.5))
    assert found.caution is not None
    assert "none of 2 independent groups differs" in found.caution


def test_the_interval_is_that_of_the_differences() -> None:
    random = np.random.default_rng(2)
    first, second = random.random(30), random.random(30)
    assert paired_difference(first, second).interval == bootstrap_mean(first - second)


def test_undefined_values_are_counted_by_side_and_leave_the_query_out() -> None:
    nan = np.nan
    found = paired_difference(np.array([1.0, nan, 0.5, nan]), np.array([0.0, 1.0, nan, nan]))
    assert (found.queries, found.only_first, found.only_second, found.difference) == (1, 1, 1, 1.0)
    nothing = paired_difference(np.array([nan]), np.array([1.0]))
    assert nothing.as_json()["difference"] is None
    assert nothing.as_json()["p_value"] is None


def test_p_is_never_zero_and_the_seed_decides() -> None:
    first, second = np.ones(60), np.zeros(60)
    assert paired_difference(first, second, flips=999).p_value == 1 / 1000
    random = np.random.default_rng(1)
    noisy = random.random(25), random.random(25)
    assert paired_difference(*noisy) == paired_difference(*noisy)


def test_rounding_does_not_break_a_tie_between_flips() -> None:
    # .1 + .2 - .3 is not 0 in binary: the flips that equal the observed sum must be counted as equal.
    first = np.array([0.1, 0.2, -0.3, 0.1, 0.2, -0.3, 0.7])
    assert paired_difference(first, np.zeros(7)).p_value == pytest.approx(exact_p(first.tolist()), abs=0.03)


@pytest.mark.parametrize(
    ("first", "second", "flips", "said"),
    [
        ([1.0], [1.0, 2.0], 100, "one value a query"),
        ([np.inf], [1.0], 100, "finite"),
        ([1.0], [1.0], 10, "at least 100"),
    ],
)
def test_inputs_that_do_not_fit(first: list[float], second: list[float], flips: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        paired_difference(np.array(first), np.array(second), flips=flips)


def test_with_few_groups_the_interval_holds_0_where_p_is_large_and_the_words_say_so() -> None:
    first, second = np.array([0.9, 0.8, 0.7]), np.array([0.1, 0.3, 0.4])
    found = paired_difference(first, second)
    assert found.interval is not None
    assert 0 in found.interval
    assert found.interval.resamples == 0
    assert found.p_value > 0.2
    assert found.caution is not None
    assert "only 3 of 3 independent groups differ" in found.caution
    assert "cannot fall below 0.25" in found.caution
    unlimited = paired_difference(first * 10, second)
    assert unlimited.interval is not None
    assert unlimited.interval.resamples > 0
    assert "too narrow to be relied on" in str(unlimited.caution)
    limited = paired_difference(first * 10, second, largest=20).interval
    assert limited is not None
    assert limited.high == pytest.approx(20)
    assert paired_difference(np.arange(10.0), np.zeros(10)).caution is None
    assert paired_difference(np.arange(9.0), np.zeros(9)).caution is not None


def test_three_of_forty_groups_tell_nothing_whatever_resampling_says() -> None:
    first = np.ones(400)
    second = first.copy()
    second[[5, 120, 333]] = 0
    found = paired_difference(first, second, groups=[row // 10 for row in range(400)])
    assert found.differing == 3
    assert found.p_value == 0.25
    assert found.interval is not None
    assert found.interval.low == pytest.approx(-(1 - 0.025 ** (1 / 40)))
    assert found.interval.high == pytest.approx(clopper_pearson(3, 40)[1])
    assert "only 3 of 40 independent groups differ" in str(found.caution)


def test_an_interval_that_contradicts_its_p_is_cautioned() -> None:
    first, second = np.zeros(60), np.zeros(60)
    first[:9], second[20:22] = 1, 1
    found = paired_difference(first, second)
    assert found.interval is not None
    assert found.interval.low > 0
    assert found.p_value > 0.05
    assert "resampling and sign flips disagree" in str(found.caution)


def test_the_interval_holds_even_where_hardly_a_group_differs() -> None:
    # A true difference of -.02: one group in fifty loses all, and resamples of those that show none say 0 to 0.
    random, held = np.random.default_rng(5), 0
    for _ in range(200):
        lost = random.random(40) < 0.02
        found = paired_difference(np.where(lost, 0.0, 1.0), np.ones(40))
        assert found.interval is not None
        held += -0.02 in found.interval
    assert held >= 190
