"""Every measure and curve of codes equals its definition over all orders of equal distances, in exact rationals."""

import importlib.util
from collections.abc import Iterator
from fractions import Fraction
from itertools import groupby, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from visual_search import Relevance, SharedLabels, evaluate_codes, parse_measure
from visual_search.evaluation.code_curves import precision_at_n, within_radius
from visual_search.evaluation.code_histograms import code_histograms
from visual_search.evaluation.ties import TieRule


def _definitions() -> Any:
    """The definitions of every measure, which the test of rankings reads literally too."""
    spec = importlib.util.spec_from_file_location("definitions", Path(__file__).with_name("test_brute_force.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ORACLE = _definitions()
DEFINITIONS, brute_force, same = ORACLE.DEFINITIONS, ORACLE.brute_force, ORACLE.same

Case = tuple[list[list[int]], list[list[int]], list[list[int]], list[list[int]]]


@st.composite
def code_cases(draw: st.DrawFn) -> Case:
    """Two queries, up to six codes of two bits, and sets of up to three labels."""
    bits, size, labels = 2, draw(st.integers(1, 6)), 3
    rows = [
        draw(st.lists(st.lists(st.integers(0, 1), min_size=width, max_size=width), min_size=count, max_size=count))
        for width, count in ((bits, 2), (bits, size), (labels, 2), (labels, size))
    ]
    return rows[0], rows[1], rows[2], rows[3]


def graded(case: Case, query: int) -> list[tuple[int, int]]:
    """Distance and number of shared labels of each item, by distance."""
    queries, gallery, mine, theirs = case
    pairs = [
        (sum(a != b for a, b in zip(queries[query], code, strict=True)),
         sum(a & b for a, b in zip(mine[query], label, strict=True)))
        for code, label in zip(gallery, theirs, strict=True)
    ]  # fmt: skip
    return sorted(pairs)


def orders(ranked: list[tuple[int, int]]) -> Iterator[list[float | None]]:
    """Grades in every order that a sort by distance can leave; grade 0 is unjudged, as labels leave it."""
    groups = [[grade or None for _, grade in group] for _, group in groupby(ranked, key=lambda pair: pair[0])]
    for choice in product(*(permutations(group) for group in groups)):
        yield [grade for group in choice for grade in group]


@pytest.mark.parametrize("rule", ["expected", "best", "worst"])
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(case=code_cases())
def test_measures_equal_all_permutations(rule: TieRule, case: Case) -> None:
    queries, gallery, mine, theirs = case
    labels = SharedLabels.of(mine, theirs, grade="number")
    grades = (np.array(mine) @ np.array(theirs).T).astype(float)
    pairs = Relevance.from_dict(
        {row: {item: grade for item, grade in enumerate(each) if grade} for row, each in enumerate(grades.tolist())}
    )
    truths: list[SharedLabels | Relevance] = [labels, pairs] if grades.any(axis=1).all() else [labels]
    results = [evaluate_codes(queries, gallery, truth, DEFINITIONS, ties=rule) for truth in truths]
    for query in range(2):
        rankings = list(orders(graded(case, query)))
        judged = [float(grade) for grade in grades[query] if grade]
        for text, definition in DEFINITIONS.items():
            better = parse_measure(text).higher_is_better
            wanted = brute_force(definition, rankings, judged, rule, higher_is_better=better)
            for result in results:
                assert same(result[text].values[query], wanted), (text, query, wanted)


@settings(max_examples=60)
@given(case=code_cases())
def test_curves_equal_their_definitions(case: Case) -> None:
    queries, gallery, mine, theirs = case
    found = code_histograms(queries, gallery, SharedLabels.of(mine, theirs))
    ranks = range(1, len(gallery) + 2)
    curve = precision_at_n(found, ranks)
    hits = [
        [
            [sum(grade is not None for grade in order[:rank]) for order in orders(graded(case, query))]
            for query in (0, 1)
        ]
        for rank in ranks
    ]
    for at, rank in enumerate(ranks):
        means = [Fraction(sum(each), len(each)) for each in hits[at]]
        assert curve.precision[at] == pytest.approx(float(sum(means) / 2 / rank), abs=1e-12)
        assert curve.best_precision[at] == pytest.approx(sum(max(each) for each in hits[at]) / 2 / rank)
        assert curve.worst_precision[at] == pytest.approx(sum(min(each) for each in hits[at]) / 2 / rank)
    balls = within_radius(found, empty="undefined")
    for radius in range(3):
        inside = [[grade for distance, grade in graded(case, query) if distance <= radius] for query in (0, 1)]
        kept = [Fraction(sum(grade > 0 for grade in each), len(each)) for each in inside if each]
        assert balls.empty_balls[radius] == 2 - len(kept)
        assert same(balls.macro_precision[radius], float(sum(kept) / len(kept)) if kept else None)
        count = sum(map(len, inside))
        right = sum(grade > 0 for each in inside for grade in each)
        assert same(balls.micro_precision[radius], right / count if count else None)
