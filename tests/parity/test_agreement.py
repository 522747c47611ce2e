"""Agreement equals that of krippendorff, scikit-learn and statsmodels."""

import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_statsmodels

from visual_search.judging.agreement import agreement
from visual_search.judging.cohen_kappa import WEIGHTS, cohen_kappa
from visual_search.judging.fleiss_kappa import fleiss_kappa
from visual_search.judging.judgement_table import JudgementTable
from visual_search.judging.krippendorff_alpha import LEVELS

Marks = list[list[int | None]]

marks = st.integers(2, 5).flatmap(
    lambda judges: st.lists(
        st.lists(st.none() | st.integers(0, 3), min_size=judges, max_size=judges), min_size=1, max_size=12
    )
)


def table_of(units: Marks) -> JudgementTable | None:
    rows = [(f"j{judge}", f"q{unit % 3}", f"d{unit}", mark) for unit, line in enumerate(units)
            for judge, mark in enumerate(line)]  # fmt: skip
    if all(row[3] is None for row in rows):
        return None
    names = ("judge", "query", "item", "grade")
    return JudgementTable.from_table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


@settings(max_examples=60)
@given(marks)
def test_alpha_is_that_of_krippendorff(units: Marks) -> None:
    table = table_of(units)
    if table is None:
        return
    found = agreement(table)
    data = np.array([[np.nan if mark is None else mark for mark in line] for line in units]).T
    coinciding = [line for line in units if sum(mark is not None for mark in line) > 1]
    different = {mark for line in coinciding for mark in line if mark is not None}
    for level in LEVELS:
        ours = found[f"Krippendorff's alpha ({level})"]
        if len(different) < 2:
            assert np.isnan(ours.value)
            assert ours.reason
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = krippendorff.alpha(
                data, value_domain=sorted({m for line in units for m in line if m is not None}),
                level_of_measurement=level,
            )  # fmt: skip
        assert ours.value == pytest.approx(theirs, abs=1e-12)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_kappa_is_that_of_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    table = np.zeros((4, 4), dtype=int)
    for first, second in pairs:
        table[first, second] += 1
    for weights in WEIGHTS:
        ours = cohen_kappa(table, weights=weights)
        if len({mark for pair in pairs for mark in pair}) == 1:
            assert np.isnan(ours.value)
            assert "one grade only" in ours.reason
            continue
        theirs = cohen_kappa_score(
            *zip(*pairs, strict=True), labels=range(4), weights=None if weights == "none" else weights
        )
        assert ours.value == pytest.approx(theirs, abs=1e-12)


@settings(max_examples=60)
@given(
    st.integers(2, 6).flatmap(lambda m: st.lists(st.lists(st.integers(0, 3), min_size=m, max_size=m), min_size=1))
)
def test_fleiss_kappa_is_that_of_statsmodels(units: list[list[int]]) -> None:
    counts = np.array([[line.count(grade) for grade in range(4)] for line in units])
    ours = fleiss_kappa(counts)
    if (counts.sum(axis=0) > 0).sum() == 1:
        assert np.isnan(ours.value)
        assert "one grade only" in ours.reason
    else:
        assert ours.value == pytest.approx(float(fleiss_of_statsmodels(counts)), abs=1e-12)
