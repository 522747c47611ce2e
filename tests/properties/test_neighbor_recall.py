"""Recall of an index against its definition, on small data full of ties."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from visual_search import evaluate, neighbor_recall, neighbor_recall_table, parse_measure
from visual_search.evaluation.measures.neighbor_measure import NeighborMeasure
from visual_search.evaluation.measures.registry import BUILT_IN, measure_class
from visual_search.rankings.ranking import Ranking
from visual_search.testing.exact_answers import exact_by_brute_force

FORMS = [
    "NeighborRecall@3",
    "NeighborRecall(ties=strict)@3",
    "NeighborRecall(ties=ids,average=micro)@3",
    "NeighborRecall(truth=1)@3",
    "NeighborRecall(truth=2,ties=ids,average=minimum)@3",
    "LowNeighborRecall(below=0.5)@2",
    "LowNeighborRecall(below=1,truth=1,ties=strict)@2",
    "DistanceRatio@3",
    "DistanceRatio(average=median)@1",
]


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[float], float, int, list[int]]:
    """Points on a line, a query, k, and what an engine returned: any rows, with empty places and repeats."""
    points = draw(st.lists(st.integers(0, 4), min_size=2, max_size=7))
    k = draw(st.integers(1, len(points)))
    returned = draw(st.lists(st.integers(-1, len(points) - 1), max_size=8))
    return [float(point) for point in points], float(draw(st.integers(0, 4))), k, returned


def answers_of(points: list[float], query: float, k: int) -> list[set[int]]:
    """Every set of k rows that no other row is nearer than."""
    distances = [abs(point - query) for point in points]
    return [
        set(rows)
        for rows in combinations(range(len(points)), k)
        if all(
            distances[inside] <= distances[outside]
            for inside in rows
            for outside in range(len(points))
            if outside not in rows
        )
    ]


def value(points: list[float], query: float, returned: list[int], k: int, **options: Any) -> float:
    depth = options.pop("depth", k)
    truth = exact_by_brute_force([[point] for point in points], [[query]], depth)
    return neighbor_recall([returned], truth, k, **options).item()


def test_every_family_is_among_the_forms() -> None:
    families = {name for name in BUILT_IN if issubclass(measure_class(name), NeighborMeasure)}
    assert {parse_measure(form).name for form in FORMS} == families


@pytest.mark.parametrize("form", FORMS)
def test_text_reads_back(form: str) -> None:
    measure = parse_measure(form)
    assert parse_measure(str(measure)) == measure


@given(cases())
def test_exact_is_the_best_overlap_with_any_exact_answer(case: tuple[list[float], float, int, list[int]]) -> None:
    points, query, k, returned = case
    answers = answers_of(points, query, k)
    cut = set(returned[:k]) - {-1}
    assert value(points, query, returned, k) == max(len(cut & answer) for answer in answers) / k
    listed = sorted(range(len(points)), key=lambda row: abs(points[row] - query))[:k]
    assert value(points, query, returned, k, ties="ids") == len(cut & set(listed)) / k
    sure = set.intersection(*answers)
    strict = value(points, query, returned, k, ties="strict")
    assert np.isnan(strict) if not sure else strict == len(cut & sure) / len(sure)


@given(cases(), st.integers(1, 7))
def test_nearest_m_among_the_first_k(case: tuple[list[float], float, int, list[int]], nearest: int) -> None:
    points, query, k, returned = case
    if nearest >= k:
        nearest = max(k - 1, 1)
    truth = exact_by_brute_force([[point] for point in points], [[query]], nearest)
    run = Ranking.from_arrays([list(dict.fromkeys(returned))])
    values = []
    for depth in range(nearest, len(points) + 1):
        text = f"NeighborRecall(truth={nearest})@{depth}"
        found = evaluate(run, truth, [text])[text].mean
        cut = set(list(dict.fromkeys(row for row in returned if row >= 0))[:depth])
        best = max(len(cut & answer) for answer in answers_of(points, query, nearest))
        assert found == best / nearest
        values.append(found)
    assert values == sorted(values)


@given(cases(), st.integers(-40, 40))
def test_nothing_depends_on_the_unit_the_depth_or_the_names(
    case: tuple[list[float], float, int, list[int]], exponent: int
) -> None:
    points, query, k, returned = case
    plain = value(points, query, returned, k)
    unit = 2.0**exponent
    assert value([point * unit for point in points], query * unit, returned, k) == plain
    assert value(points, query, returned, k, depth=len(points)) == plain
    assert value(points, query, [*returned, *[-1] * 8][: max(k, len(returned))], k) == plain
    names = [f"item {row}" for row in range(len(points))]
    truth = exact_by_brute_force([[point] for point in points], [[query]], k, gallery_ids=names)
    named = [names[row] if row >= 0 else None for row in returned]
    assert neighbor_recall([named], truth, k).item() == plain


@given(cases(), st.integers(0, 6), st.booleans())
def test_a_deeper_truth_says_the_same(
    case: tuple[list[float], float, int, list[int]], more: int, capped: bool
) -> None:
    points, query, k, returned = case
    depth = min(k + more, len(points))
    truth = exact_by_brute_force([[point] for point in points], [[query]], depth, tie_cap=0 if capped else None)
    for ties in ("exact", "strict", "ids"):
        table = neighbor_recall_table([returned], truth, k, ties=ties)
        if not table.lower_bound.item():
            expected = value(points, query, returned, k, ties=ties)
            assert np.array_equal(table.recall, [expected], equal_nan=True)
    # Only ties with the very last of the truth can have been left out.
    if truth.distances[0, k - 1] < truth.distances[0, -1]:
        assert not neighbor_recall_table([returned], truth, k).lower_bound.item()


@pytest.mark.filterwarnings("ignore:NeighborRecall.*lower bound:UserWarning")
@given(cases(), st.integers(0, 2))
def test_ties_that_were_not_kept_make_a_lower_bound_that_is_marked(
    case: tuple[list[float], float, int, list[int]], cap: int
) -> None:
    points, query, k, returned = case
    whole = value(points, query, returned, k)
    truth = exact_by_brute_force([[point] for point in points], [[query]], k, tie_cap=cap)
    table = neighbor_recall_table([returned], truth, k)
    assert table.recall.item() <= whole
    if table.recall.item() < whole:
        assert table.lower_bound.item()
        assert any("lower bound" in note for note in table.notes)
    for ties in ("strict", "ids"):  # these need no ties beyond the answer
        assert np.array_equal(
            neighbor_recall([returned], truth, k, ties=ties),
            [value(points, query, returned, k, ties=ties)],
            equal_nan=True,
        )


@given(cases())
def test_missing_neighbours_fill_the_answer_up(case: tuple[list[float], float, int, list[int]]) -> None:
    points, query, k, returned = case
    truth = exact_by_brute_force([[point] for point in points], [[query]], k)
    one = neighbor_recall_table([returned], truth, k)[0]
    assert len(one.missing) == one.missed == round(k * (1 - one.recall))
    cut = set(returned[:k]) - {-1}
    assert one.returned == len(cut)
    missing = {row for row, _ in one.missing}
    assert not missing & cut
    assert any(missing <= answer and len(answer & (cut | missing)) == k for answer in answers_of(points, query, k))
    assert all(truth.ids[0, rank - 1] == row for row, rank in one.missing)


@given(cases())
def test_distance_ratio_is_its_formula(case: tuple[list[float], float, int, list[int]]) -> None:
    points, query, k, returned = case
    truth = exact_by_brute_force([[point] for point in points], [[query]], k)
    rows = sorted({row for row in returned if row >= 0}, key=lambda row: abs(points[row] - query))
    scores = [-abs(points[row] - query) for row in rows]
    if scores == [-(place + 1) for place in range(len(rows))]:
        return  # what a list without scores is given
    expected = 0.0
    for exact, row in zip(truth.distances[0].tolist(), rows[:k], strict=False):
        there = abs(points[row] - query)
        expected += 1.0 if exact == there else exact / there
    text = f"DistanceRatio@{k}"
    run = Ranking.from_arrays([rows] if rows else [np.zeros(0, dtype=np.int64)], [scores])
    assert evaluate(run, truth, [text])[text].mean == pytest.approx(expected / k, abs=1e-15)
