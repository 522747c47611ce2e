"""The bound: what it is for values 0 and 1, what it agrees with, and that it is a bound."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from visual_search.errors import InputError
from visual_search.evaluation.statistics.proportions import clopper_pearson
from visual_search.tuning import lower_bound as bounds
from visual_search.tuning.lower_bound import GroupedValues, lower_bound, p_value


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 400), st.data())
def test_for_hits_and_misses_it_is_clopper_and_pearson_s(trials: int, drawn: st.DataObject) -> None:
    hits = drawn.draw(st.integers(0, trials))
    values = np.repeat([1.0, 0.0], [hits, trials - hits])
    assert lower_bound(values, 0.95) == pytest.approx(clopper_pearson(hits, trials, 0.9)[0], abs=1e-12)


def test_it_is_the_quantile_of_randomly_weighted_means() -> None:
    rng = np.random.default_rng(5)
    values = np.clip(1 - rng.exponential(0.1, 60), 0, 1)
    weights = rng.dirichlet(np.ones(61), 200_000)
    assert lower_bound(values) == pytest.approx(np.quantile(weights[:, 1:] @ values, 0.05), abs=3e-4)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 10), min_size=1, max_size=60).map(lambda hits: np.array(hits) / 10),
    st.sampled_from([0.5, 0.8, 0.95, 0.99]),
    st.floats(0.05, 0.95),
)
def test_bound_and_p_value_say_the_same(values: np.ndarray, confidence: float, target: float) -> None:
    bound = lower_bound(values, confidence)
    assert 0 <= bound <= values.mean()
    if abs(bound - target) > 1e-6:
        assert (p_value(values, target) <= 1 - confidence) == (bound >= target)
    better = values.copy()
    better[0] = 1.0
    assert lower_bound(better, confidence) >= bound - 1e-9
    assert lower_bound(values, min(confidence + 0.005, 0.999)) <= bound + 1e-9


def test_copies_of_queries_in_one_group_say_nothing_new() -> None:
    values = np.random.default_rng(2).beta(8, 1, 40)
    copied = np.repeat(values, 9)
    groups = [f"scene {row}" for row in np.repeat(np.arange(40), 9)]
    assert lower_bound(copied, groups=groups) == pytest.approx(lower_bound(values), abs=1e-8)
    assert lower_bound(copied) > lower_bound(values) + 0.01  # taken for independent
    alone = lower_bound(values, groups=[None] * 40)
    assert alone == pytest.approx(lower_bound(values), abs=1e-9)


def test_undefined_values_are_left_out_and_impossible_ones_refused() -> None:
    assert lower_bound(np.array([1.0, np.nan, 0.5])) == lower_bound(np.array([1.0, 0.5]))
    assert GroupedValues.of(np.array([1.0, np.nan])).queries == 1
    with pytest.raises(InputError, match=r"1 lie outside 0 to 1, first: 1\.5"):
        lower_bound(np.array([0.2, 1.5]))
    with pytest.raises(InputError, match="none is defined"):
        lower_bound(np.array([np.nan]))
    with pytest.raises(InputError, match="confidence"):
        lower_bound(np.ones(3), 1.0)


def test_a_number_and_its_text_are_two_groups() -> None:
    values = np.array([1.0, 0.5, 1.0, 0.75])
    assert GroupedValues.of(values, [1, "1", None, None]).groups == 4
    assert GroupedValues.of(values, ["1", "1", None, None]).groups == 3


def test_ends() -> None:
    assert lower_bound(np.zeros(50)) == 0
    assert lower_bound(np.ones(50)) == pytest.approx(0.05 ** (1 / 50), abs=1e-8)
    assert p_value(np.ones(10_000), 0.5) == 0
    assert p_value(np.zeros(10_000), 0.5) == 1


def _tail(weights: list[Fraction], counts: list[int]) -> Fraction:
    """P(sum of weights times Gamma(counts) variables <= 0) by partial fractions, without any rounding."""
    above = Fraction(0)
    for one, count in zip(weights, counts, strict=True):
        series = [Fraction(1)] + [Fraction(0)] * (count - 1)
        for other, power in zip(weights, counts, strict=True):
            if one > 0 and other != one:
                ratio = other / one
                terms = [(-ratio) ** j * comb(power + j - 1, j) / (1 - ratio) ** (power + j) for j in range(count)]
                series = [sum((series[j] * terms[i - j] for j in range(i + 1)), Fraction(0)) for i in range(count)]
        above += sum(series) if one > 0 else 0
    return 1 - above


@pytest.mark.parametrize("target", ["0.05", "0.5", "0.9", "0.999999"])
@pytest.mark.parametrize("values", [[10], [10, 7], [10] * 9 + [5], [10] * 40 + [9, 9, 5, 0], [3, 4, 5, 6, 7, 8]])
def test_it_is_right_to_twelve_digits_of_its_own_by_fractions(values: list[int], target: str) -> None:
    floats = np.array(values) / 10
    of = Fraction(float(target))
    kinds = {Fraction(value) - of: 0 for value in [*floats.tolist(), 0.0]}
    for value in [*floats.tolist(), 0.0]:
        kinds[Fraction(value) - of] += 1
    exact = float(_tail(list(kinds), list(kinds.values())))
    assert p_value(floats, float(target)) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(("count", "target"), [(20, 0.5), (150, 0.9), (400, 0.95), (3000, 0.99), (100_000, 0.9999)])
def test_a_small_probability_is_neither_lost_nor_made(count: int, target: float) -> None:
    assert p_value(np.ones(count), target) == pytest.approx(target**count, rel=1e-11)
    sure = 1 - target**count / 2
    if sure < 1:
        assert lower_bound(np.ones(count), sure) < target


def _bisected(held: GroupedValues, level: float) -> float:
    low, high = 0.0, held.mean
    while high - low > 1e-14:
        middle = (low + high) / 2
        low, high = (middle, high) if p_value(held, middle) <= level else (low, middle)
    return low


@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-9])
@pytest.mark.parametrize("power", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("width", [1.0, 1e-6])
def test_distinct_values_take_few_probabilities_and_lose_no_digit(
    width: float, power: float, confidence: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = GroupedValues.of(1 - width * np.random.default_rng(3).random(2000) ** power)
    asked, really = [0], bounds._below_zero

    def counted(*parts: np.ndarray) -> float:
        asked[0] += 1
        return really(*parts)

    monkeypatch.setattr(bounds, "_below_zero", counted)
    bound = lower_bound(held, confidence)
    assert asked[0] <= 16
    assert bound == pytest.approx(_bisected(held, 1 - confidence), abs=1e-12)
