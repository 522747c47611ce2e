import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from visual_search.errors import InputError
from visual_search.evaluation.statistics import flips as flips_module
from visual_search.evaluation.statistics.flips import FloatArray, flip_test, signed_sums

small = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 7), st.integers(1, 3)),
    elements=st.integers(-4, 4).map(lambda n: n / 10),
)


def every_sum(sums: FloatArray) -> FloatArray:
    return np.array([np.array(signs) @ sums for signs in itertools.product((1.0, -1.0), repeat=len(sums))])


@settings(deadline=None, max_examples=40)
@given(small)
def test_few_groups_are_enumerated_and_exact(sums: FloatArray) -> None:
    found = flip_test(sums, flips=128)
    drawn, observed = np.abs(every_sum(sums)), np.abs(sums.sum(axis=0))
    assert found.enumerated
    assert found.p_values == pytest.approx((drawn >= observed - 1e-12).mean(axis=0), abs=1e-15)
    spread = np.sqrt((sums**2).sum(axis=0))
    scale = np.where(spread > 0, spread, 1)
    largest = (drawn / scale).max(axis=1)
    assert found.adjusted == pytest.approx((largest[:, None] >= observed / scale - 1e-12).mean(axis=0), abs=1e-15)
    assert (found.adjusted >= found.p_values - 1e-15).all()


def test_random_flips_come_near_all_of_them() -> None:
    sums = np.random.default_rng(6).normal(0.3, 1, size=(14, 5))
    every, drawn = flip_test(sums, flips=2**14 - 1), flip_test(sums, flips=2**14 - 2, seed=1)
    assert (every.enumerated, drawn.enumerated) == (True, False)
    # four standard errors of a share over 16,000 flips
    assert drawn.p_values == pytest.approx(every.p_values, abs=4 * 0.5 / 128)
    assert drawn.adjusted == pytest.approx(every.adjusted, abs=4 * 0.5 / 128)


def test_every_sign_is_taken_once() -> None:
    powers = np.array(
        [[3.0**n] for n in range(10)]
    )  # every choice of signs has a sum of its own; more than one table
    sums = np.concatenate(list(signed_sums(powers, None, 0)))
    assert len(np.unique(sums)) == len(sums) == 1024
    assert sums[0, 0] == powers.sum()


def test_columns_do_not_change_each_other_and_memory_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = np.random.default_rng(0).normal(size=(30, 4))
    together = flip_test(sums, flips=9000, seed=2)
    alone = flip_test(sums[:, 2:3], flips=9000, seed=2)
    assert alone.p_values[0] == together.p_values[2]
    monkeypatch.setattr(flips_module, "_TABLES_IN_MEMORY", 0)
    assert flip_test(sums, flips=9000, seed=2).p_values.tolist() == together.p_values.tolist()


def test_a_family_of_pure_luck_is_rarely_found_out() -> None:
    random = np.random.default_rng(4)
    found = np.array(
        [flip_test(random.normal(size=(25, 8)), flips=199, seed=seed).adjusted.min() for seed in range(300)]
    )
    # Binomial(300, .05) lies in 3..30 with probability .9999
    assert 3 <= (found <= 0.05).sum() <= 30


def test_nothing_differs() -> None:
    found = flip_test(np.zeros((12, 2)))
    assert found.p_values.tolist() == found.adjusted.tolist() == [1.0, 1.0]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="shape"):
        flip_test(np.zeros(3))
    with pytest.raises(InputError, match="finite"):
        flip_test(np.array([[np.nan]]))
    with pytest.raises(InputError, match="at least 100"):
        flip_test(np.zeros((3, 1)), flips=99)
