import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from visual_search import Relevance, evaluate
from visual_search.errors import InputError
from visual_search.evaluation.statistics.beta import beta_cdf, beta_quantile, student_quantile
from visual_search.evaluation.statistics.interval import ProportionMethod, Resampling
from visual_search.evaluation.statistics.measure_intervals import with_intervals
from visual_search.evaluation.statistics.proportions import clopper_pearson, wilson


@settings(max_examples=25, deadline=None)
@given(st.floats(1e-6, 1 - 1e-6), st.floats(0.05, 2000), st.floats(0.05, 2000))
def test_the_incomplete_beta_function_is_scipys(x: float, a: float, b: float) -> None:
    assert beta_cdf(x, a, b) == pytest.approx(float(special.betainc(a, b, x)), rel=1e-9, abs=1e-13)


@settings(max_examples=25, deadline=None)
@given(st.floats(1e-6, 1 - 1e-6), st.floats(0.5, 500), st.floats(0.5, 500))
def test_its_quantile_turns_it_round(share: float, a: float, b: float) -> None:
    assert beta_quantile(share, a, b) == pytest.approx(float(special.betaincinv(a, b, share)), rel=1e-8)


@settings(max_examples=25, deadline=None)
@given(st.floats(1e-4, 1 - 1e-4), st.integers(1, 3000))
def test_students_quantile_is_scipys(share: float, freedom: int) -> None:
    assert student_quantile(share, freedom) == pytest.approx(float(stats.t.ppf(share, freedom)), rel=1e-7, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999))
def test_both_intervals_are_scipys(case: tuple[int, int], confidence: float) -> None:
    test = stats.binomtest(*case)
    for ours, method in ((wilson, "wilson"), (clopper_pearson, "exact")):
        theirs = test.proportion_ci(confidence, method=method)
        assert ours(*case, confidence) == pytest.approx((float(theirs.low), float(theirs.high)), abs=1e-9)


def test_what_cannot_be_a_share_is_refused() -> None:
    for wrong in ((1, 0, 0.95), (3, 2, 0.95), (-1, 2, 0.95), (1, 2, 95.0)):
        with pytest.raises(InputError):
            wilson(*wrong)


@pytest.mark.parametrize(
    ("proportions", "words"),
    [("wilson", "Wilson score interval over "), ("clopper-pearson", "Clopper-Pearson interval over ")],
)
def test_hit_rates_of_independent_queries_take_a_formula(proportions: ProportionMethod, words: str) -> None:
    truth = Relevance.from_dict({f"q{n}": {"a": 1} for n in range(60)})
    result = evaluate({f"q{n}": {"a": 1.0} for n in range(60)}, truth, ["HitRate@1"])
    settings = Resampling(proportions=proportions)
    found = with_intervals(result, resampling=settings)["HitRate@1"].interval
    assert found is not None
    assert found.high == 1
    assert 0.93 < found.low < 0.95  # a bootstrap interval would have no width
    alone = with_intervals(result, groups=list(range(60)), resampling=settings)["HitRate@1"].interval
    assert alone is not None
    assert (alone.low, alone.high) == (found.low, found.high)
    assert [one.as_json()["method"] for one in (found, alone)] == [f"{words}queries", f"{words}groups"]


def test_hit_rates_in_groups_and_other_measures_do_not() -> None:
    truth = Relevance.from_dict({f"q{n}": {"a": 1} for n in range(60)})
    run = {f"q{n}": {"a": 1.0, "b": float(2 * (n % 3 == 0)), "c": float(2 * (n % 2))} for n in range(60)}
    result = evaluate(run, truth, ["HitRate@1", "RR"])
    grouped = with_intervals(result, groups=(np.arange(60) // 2).tolist())
    for text in grouped:
        found = grouped[text].interval
        assert found is not None
        assert found.as_json()["method"] == "widened BCa bootstrap over groups"
    found = with_intervals(result)["RR"].interval
    assert found is not None
    assert found.as_json()["method"] == "widened BCa bootstrap over queries"
