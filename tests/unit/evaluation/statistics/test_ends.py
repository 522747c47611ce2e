"""BCa against SciPy's on the same resamples, and the shares at which percentiles are taken."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from visual_search.evaluation.statistics.bootstrap import bootstrap_mean, bootstrap_ratios
from visual_search.evaluation.statistics.ends import widened_tail
from visual_search.evaluation.statistics.interval import IntervalMethod, Resampling


@settings(deadline=None, max_examples=12)
# From 16 on hardly a resample holds every value once: its mean is the sample's but for the order of summing, and to
# which side of it rounding puts it moves BCa.
@given(st.integers(16, 40), st.integers(0, 50), st.sampled_from([("percentile", "percentile"), ("bca", "BCa")]))
def test_ends_are_scipys(count: int, seed: int, methods: tuple[IntervalMethod, str]) -> None:
    values = np.random.default_rng(seed).beta(1.6, 0.4, count)
    ours = bootstrap_mean(
        values, resampling=Resampling(resamples=300, seed=seed, method=methods[0], widened=False, enumerated=0)
    )
    # SciPy draws the same rows from the same generator.
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=300, method=methods[1], rng=np.random.default_rng(seed), vectorized=True
    ).confidence_interval
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx((float(theirs.low), float(theirs.high)), abs=1e-9)


def test_bca_of_a_ratio_leaves_out_one_group_at_a_time() -> None:
    random = np.random.default_rng(3)
    bottoms = random.integers(1, 9, 30).astype(np.float64)
    tops = np.round(bottoms * random.beta(1.6, 0.4, 30))

    def ratio(a: np.ndarray, b: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.asarray(a.sum(axis=axis) / b.sum(axis=axis))

    settings = Resampling(resamples=400, seed=5, method="bca", widened=False)
    [ours] = bootstrap_ratios(tops[:, None], bottoms[:, None], resampling=settings)
    theirs = stats.bootstrap(
        (tops, bottoms), ratio, n_resamples=400, method="BCa", rng=np.random.default_rng(5), paired=True
    ).confidence_interval
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx((float(theirs.low), float(theirs.high)), abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 500), st.sampled_from([0.005, 0.025, 0.1]))
def test_tails_shrink_with_fewer_groups_by_students_t(groups: int, tail: float) -> None:
    expected = stats.norm.cdf(-np.sqrt(groups / (groups - 1)) * stats.t.ppf(1 - tail, groups - 1))
    assert widened_tail(tail, groups) == pytest.approx(float(expected), rel=1e-5, abs=1e-290)
    assert widened_tail(tail, groups) < widened_tail(tail, groups + 1) < tail


def test_two_and_three_groups_reach_to_their_ends() -> None:
    for values in ([0.2, 0.6], [0.2, 0.3, 0.9]):
        interval = bootstrap_mean(np.array(values))
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx((min(values), max(values)))
