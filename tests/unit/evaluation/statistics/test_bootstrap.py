import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from visual_search.errors import InputError
from visual_search.evaluation.statistics.bootstrap import (
    FloatArray,
    bootstrap_mean,
    bootstrap_median,
    bootstrap_ratios,
)
from visual_search.evaluation.statistics.interval import Resampling


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


@settings(deadline=None)
@given(cases(), st.integers(0, 3))
def test_micro_means_equal_those_of_queries_drawn_one_by_one(
    case: tuple[FloatArray, FloatArray, list[str]], seed: int
) -> None:
    numerators, denominators, groups = case
    settings = Resampling(resamples=100, seed=seed, confidence=0.9)
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


@settings(deadline=None)
@given(st.lists(st.none() | st.floats(0, 1), min_size=2, max_size=12), st.integers(0, 3))
def test_macro_means_leave_undefined_queries_out(listed: list[float | None], seed: int) -> None:
    values = np.array([np.nan if value is None else value for value in listed])
    settings = Resampling(resamples=100, seed=seed)
    interval = bootstrap_mean(values, resampling=settings)
    if (~np.isnan(values)).sum() < 2:
        assert interval is None
        return
    rows_of = drawn_rows(range(len(values)), settings)
    means = [float(np.nanmean(values[rows])) if (~np.isnan(values[rows])).any() else np.nan for rows in rows_of]
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx(ends(means, 0.95), abs=1e-12)


@settings(deadline=None)
@given(st.lists(st.none() | st.integers(1, 9), min_size=2, max_size=12), st.integers(0, 3))
def test_medians_equal_those_of_queries_drawn_one_by_one(listed: list[int | None], seed: int) -> None:
    values = np.array([np.nan if value is None else float(value) for value in listed])
    settings = Resampling(resamples=100, seed=seed)
    interval = bootstrap_median(values, resampling=settings)
    if (~np.isnan(values)).sum() < 2:
        assert interval is None
        return
    rows_of = drawn_rows(range(len(values)), settings)
    medians = [float(np.nanmedian(values[rows])) if (~np.isnan(values[rows])).any() else np.nan for rows in rows_of]
    assert interval is not None
    assert (interval.low, interval.high) == ends(medians, 0.95)
    assert interval.resamples == int((~np.isnan(medians)).sum())


@pytest.mark.parametrize("rows", [1, 7, 300, 5000])
def test_the_block_size_changes_nothing(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(5).random(37)
    settings = Resampling(resamples=301, seed=4)
    mean, median = bootstrap_mean(values, resampling=settings), bootstrap_median(values, resampling=settings)
    monkeypatch.setattr("visual_search.evaluation.statistics.bootstrap.ROWS_AT_A_TIME", rows)
    again = bootstrap_mean(values, resampling=settings)
    assert mean is not None
    assert again is not None
    # Products of other shapes may differ in the last bit.
    assert (again.low, again.high) == pytest.approx((mean.low, mean.high), rel=1e-14)
    assert bootstrap_median(values, resampling=settings) == median


def test_the_seed_is_kept_and_decides() -> None:
    values = np.random.default_rng(5).random(30)
    first, again, other = (bootstrap_mean(values, resampling=Resampling(seed=seed)) for seed in (1, 1, 2))
    assert first == again != other
    assert first is not None
    assert (first.seed, first.resamples, first.method) == (1, 2000, "percentile bootstrap over queries")


def test_copies_of_a_query_in_its_group_do_not_narrow_the_interval() -> None:
    values = np.random.default_rng(5).random(20)
    alone = bootstrap_mean(values)
    copied = bootstrap_mean(np.repeat(values, 10), groups=np.repeat(np.arange(20), 10).tolist())
    taken_for_independent = bootstrap_mean(np.repeat(values, 10))
    assert alone is not None
    assert copied is not None
    assert taken_for_independent is not None
    assert (copied.low, copied.high) == pytest.approx((alone.low, alone.high))
    assert copied.method == "percentile bootstrap over groups"
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
    [({"resamples": 99}, "at least 100"), ({"confidence": 95}, "0.95"), ({"seed": -1}, "seed")],
)
def test_settings_outside_their_range(settings: dict[str, int], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Resampling(**settings)


def test_inputs_that_do_not_fit() -> None:
    with pytest.raises(InputError, match="one shape"):
        bootstrap_ratios(np.zeros((3, 1)), np.zeros((3, 2)))
    with pytest.raises(InputError, match=r"first rows \[1\]"):
        bootstrap_ratios(np.array([[0.0], [np.nan]]), np.ones((2, 1)))
    with pytest.raises(InputError, match="groups has 1 entry; one is needed for each of 2 queries"):
        bootstrap_mean(np.zeros(2), groups=["a"])
