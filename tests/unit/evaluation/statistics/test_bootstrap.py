import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from visual_search.errors import InputError
from visual_search.evaluation.statistics.bootstrap import (
    FloatArray,
    bootstrap_mean,
    bootstrap_median,
    bootstrap_ratios,
)
from visual_search.evaluation.statistics.draws import ExactSums, random_resamples
from visual_search.evaluation.statistics.interval import IntervalMethod, Resampling

# Percentiles of random resamples, nothing corrected: what a plain loop gives.
PLAIN: dict[str, Any] = {"method": "percentile", "enumerated": 0, "widened": False}


def drawn_rows(groups: Sequence[object], settings: Resampling) -> list[list[int]]:
    """The same draws, told as lists of query rows, one group at a time."""
    names = list(dict.fromkeys(groups))
    members = {name: [row for row, group in enumerate(groups) if group == name] for name in names}
    random = np.random.default_rng(settings.seed)
    picks = random.integers(0, len(names), size=(settings.resamples, len(names)))
    return [list(itertools.chain.from_iterable(members[names[pick]] for pick in row)) for row in picks]


def ends(means: list[float], confidence: float) -> tuple[float, float]:
    known = [mean for mean in means if not np.isnan(mean)]
    tail = (1 - confidence) / 2
    return float(np.quantile(known, tail)), float(np.quantile(known, 1 - tail))


@st.composite
def cases(draw: st.DrawFn) -> tuple[FloatArray, FloatArray, list[str]]:
    count = draw(st.integers(3, 12))
    groups = draw(st.lists(st.sampled_from("abcd"), min_size=count, max_size=count))
    denominators = np.array(draw(st.lists(st.integers(0, 4), min_size=count, max_size=count)), dtype=float)
    numerators = np.array([draw(st.integers(0, int(d))) for d in denominators], dtype=float)
    return numerators, denominators, groups


@hypothesis_settings(deadline=None, max_examples=40)
@given(cases(), st.integers(0, 3))
def test_micro_means_equal_those_of_queries_drawn_one_by_one(
    case: tuple[FloatArray, FloatArray, list[str]], seed: int
) -> None:
    numerators, denominators, groups = case
    settings = Resampling(resamples=100, seed=seed, confidence=0.9, **PLAIN)
    [interval] = bootstrap_ratios(numerators[:, None], denominators[:, None], groups=groups, resampling=settings)
    taking_part = {g for g, d in zip(groups, denominators, strict=True) if d}
    if len(taking_part) < 2:
        assert interval is None
        return
    means = []
    for rows in drawn_rows(groups, settings):
        bottom = denominators[rows].sum()
        means.append(numerators[rows].sum() / bottom if bottom else np.nan)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx(ends(means, 0.9), abs=1e-12)
    assert interval.resamples == int((~np.isnan(means)).sum())
    assert interval.groups == len(taking_part)


@hypothesis_settings(deadline=None, max_examples=40)
@given(st.lists(st.none() | st.floats(0, 1), min_size=2, max_size=12), st.integers(0, 3))
def test_macro_means_leave_undefined_queries_out(listed: list[float | None], seed: int) -> None:
    values = np.array([np.nan if value is None else value for value in listed])
    settings = Resampling(resamples=100, seed=seed, **PLAIN)
    interval = bootstrap_mean(values, resampling=settings)
    if (~np.isnan(values)).sum() < 2:
        assert interval is None
        return
    rows_of = drawn_rows(range(len(values)), settings)
    means = [float(np.nanmean(values[rows])) if (~np.isnan(values[rows])).any() else np.nan for rows in rows_of]
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx(ends(means, 0.95), abs=1e-12)


@hypothesis_settings(deadline=None, max_examples=40)
@given(st.lists(st.none() | st.integers(1, 9), min_size=2, max_size=12), st.integers(0, 3))
def test_medians_equal_those_of_queries_drawn_one_by_one(listed: list[int | None], seed: int) -> None:
    values = np.array([np.nan if value is None else float(value) for value in listed])
    settings = Resampling(resamples=100, seed=seed, **PLAIN)
    interval = bootstrap_median(values, resampling=settings)
    if (~np.isnan(values)).sum() < 2:
        assert interval is None
        return
    rows_of = drawn_rows(range(len(values)), settings)
    medians = [float(np.nanmedian(values[rows])) if (~np.isnan(values[rows])).any() else np.nan for rows in rows_of]
    assert interval is not None
    assert (interval.low, interval.high) == ends(medians, 0.95)
    assert interval.resamples == int((~np.isnan(medians)).sum())


@pytest.mark.parametrize("cells", [1, 100, 3000, 1_000_000])
def test_the_block_size_changes_no_bit(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    values, hits = random.random((37, 3)), random.integers(0, 5, (37, 3)).astype(np.float64)
    settings = Resampling(resamples=301, seed=4, method="bca")
    ratios, median = (
        bootstrap_ratios(values, hits + 1, resampling=settings),
        bootstrap_median(values[:, 0], resampling=settings),
    )
    for module in ("draws", "bootstrap"):
        monkeypatch.setattr(f"visual_search.evaluation.statistics.{module}.CELLS_AT_A_TIME", cells)
    assert bootstrap_ratios(values, hits + 1, resampling=settings) == ratios
    assert bootstrap_median(values[:, 0], resampling=settings) == median
    # Nor does what is measured beside it.
    assert bootstrap_ratios(values[:, 1:2], hits[:, 1:2] + 1, resampling=settings) == ratios[1:2]


@hypothesis_settings(deadline=None, max_examples=40)
@given(st.integers(1, 60), st.integers(1, 3), st.integers(0, 5))
def test_sums_of_resamples_are_rounded_once(count: int, width: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    values = random.normal(size=(count, width)) * 10.0 ** random.integers(-12, 12, (1, width))
    counts = np.concatenate(list(random_resamples(count, 5, seed)))
    made = ExactSums(values).of(counts)
    for row, drawn in enumerate(counts):
        for column in range(width):
            exact = sum(Fraction(v) * int(c) for v, c in zip(values[:, column], drawn, strict=True))
            error = abs(Fraction(float(made[row, column])) - exact)
            # half a unit in the last place of the sum, and what two numbers of fixed point cannot hold
            least = Fraction(float(np.abs(values[:, column]).max())) * count / 2**100
            assert error <= Fraction(float(np.spacing(abs(float(exact))))) / 2 + least


def test_the_seed_is_kept_and_decides() -> None:
    values = np.random.default_rng(5).random(30)
    first, again, other = (bootstrap_mean(values, resampling=Resampling(seed=seed)) for seed in (1, 1, 2))
    assert first == again != other
    assert first is not None
    assert (first.seed, first.resamples, first.method) == (1, 2000, "widened BCa bootstrap over queries")


def test_copies_of_a_query_in_its_group_do_not_narrow_the_interval() -> None:
    values = np.random.default_rng(5).random(20)
    alone = bootstrap_mean(values)
    copied = bootstrap_mean(np.repeat(values, 10), groups=np.repeat(np.arange(20), 10).tolist())
    taken_for_independent = bootstrap_mean(np.repeat(values, 10))
    assert alone is not None
    assert copied is not None
    assert taken_for_independent is not None
    assert (copied.low, copied.high) == pytest.approx((alone.low, alone.high))
    assert copied.method == "widened BCa bootstrap over groups"
    assert taken_for_independent.high - taken_for_independent.low < 0.5 * (alone.high - alone.low)


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(11)
    held = 0
    for seed in range(200):
        interval = bootstrap_mean(
            random.random(40), resampling=Resampling(resamples=400, seed=seed, confidence=0.9)
        )
        assert interval is not None
        held += 0.5 in interval
    # Binomial(200, .9) lies in 164..195 with probability .9995; a wrong width falls out at once.
    assert 164 <= held <= 195


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"resamples": 99}, "at least 100"),
        ({"confidence": 95}, "0.95"),
        ({"seed": -1}, "seed"),
        ({"method": "bc"}, "percentile, bca"),
        ({"proportions": "wald"}, "wilson, clopper-pearson, bootstrap"),
        ({"enumerated": 10**9}, "100,000"),
    ],
)
def test_settings_outside_their_range(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Resampling(**settings)


def test_inputs_that_do_not_fit() -> None:
    with pytest.raises(InputError, match="one shape"):
        bootstrap_ratios(np.zeros((3, 1)), np.zeros((3, 2)))
    with pytest.raises(InputError, match=r"first rows \[1\]"):
        bootstrap_ratios(np.array([[0.0], [np.nan]]), np.ones((2, 1)))
    with pytest.raises(InputError, match="groups has 1 entry; one is needed for each of 2 queries"):
        bootstrap_mean(np.zeros(2), groups=["a"])


@hypothesis_settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=5), st.sampled_from([0.5, 0.8, 0.95]))
def test_few_groups_are_enumerated_and_equal_every_ordered_resample(listed: list[int], confidence: float) -> None:
    values = np.array(listed, dtype=np.float64)
    settings = Resampling(confidence=confidence, method="percentile", widened=False)
    interval = bootstrap_mean(values, resampling=settings)
    means = np.sort([float(np.mean(drawn)) for drawn in itertools.product(values, repeat=len(values))])
    outside = (1 - confidence) / 2 * len(means)
    assert interval is not None
    # the lowest mean with at least the tail's share at or below it, and the highest likewise
    place = int(np.ceil(outside - 1e-6)) - 1
    assert (interval.low, interval.high) == pytest.approx((means[place], means[len(means) - 1 - place]), abs=1e-12)
    assert "every resample enumerated" in interval.method
    assert interval.resamples == len(list(itertools.combinations_with_replacement(listed, len(listed))))


def test_enumeration_is_what_random_resamples_come_near() -> None:
    random = np.random.default_rng(1)
    tops, bottoms = random.integers(0, 5, (7, 2)).astype(np.float64), np.full((7, 2), 5.0)
    for method in ("percentile", "bca"):
        every = bootstrap_ratios(tops, bottoms, resampling=Resampling(method=method))
        drawn = bootstrap_ratios(
            tops, bottoms, resampling=Resampling(method=method, resamples=100_000, enumerated=0)
        )
        for one, other in zip(every, drawn, strict=True):
            assert one is not None
            assert other is not None
            assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=0.03)


def test_swapping_success_and_failure_mirrors_the_interval() -> None:
    values = np.array([0.0, 0, 1, 0.25, 0.75, 1, 1])
    for method in ("percentile", "bca"):
        one, other = (bootstrap_mean(v, resampling=Resampling(method=method)) for v in (values, 1 - values))
        assert one is not None
        assert other is not None
        assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-12)


def test_equal_values_make_an_interval_without_width() -> None:
    methods: tuple[IntervalMethod, ...] = ("percentile", "bca")
    for method, count in itertools.product(methods, (4, 40)):
        interval = bootstrap_mean(np.full(count, 0.1), resampling=Resampling(method=method))
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx((0.1, 0.1), rel=1e-15)
