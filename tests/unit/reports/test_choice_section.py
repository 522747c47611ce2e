"""What a sweep's choice, a truth and a recall table become on a page."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search import exact_neighbors, neighbor_recall_table
from visual_search.evaluation.text_table import decimals
from visual_search.reports.choice_section import choice_section
from visual_search.reports.front_panel import front_panel
from visual_search.reports.recall_section import recall_section
from visual_search.reports.section_page import write_section_page
from visual_search.reports.truth_section import truth_section
from visual_search.testing.simulated_sweeps import simulated_sweep
from visual_search.tuning.choose import choose
from visual_search.tuning.pareto import pareto_front
from visual_search.tuning.sweep_record import Sweep

Parse = Callable[[Path], Any]


def test_every_setting_stands_in_the_table_and_the_figure(tmp_path: Path, parse: Parse) -> None:
    sweep = simulated_sweep([0.93, 0.955, 0.97, 0.968], queries=1500, seed=4, ladder="hnsw(m=<16>)")
    choice = choose(sweep, target_recall=0.95)
    page = parse(write_section_page([choice_section(choice, sweep)], tmp_path / "c.html", title="A choice"))
    assert choice.chosen is not None
    rows = page.one("table", "impact").one("tbody").all("tr")
    assert [row.one("code").text for row in rows] == [one.point.label for one in choice.candidates]
    for row, one in zip(rows, choice.candidates, strict=True):
        mean, bound, cost, verdict = (cell.text for cell in row.all("td"))
        assert mean == decimals(one.mean, 4)
        assert bound == decimals(one.bound, 4)
        assert cost == f"{1000 * (one.cost or 0):.3f} ms"
        assert verdict == ("chosen" if one is choice.chosen else one.status)
    for line in choice.words().split("\n"):
        assert line in page.one("ul", "leak-words").text
    assert [figure.one("strong").text for figure in page.all("figure")] == [
        f"{choice.measure} against {cost}" for cost in ("median latency", "throughput", "index size")
    ]
    lowest = choice.chosen.point.values[choice.measure].min()
    assert decimals(float(lowest)) in page.one("details").text


def test_the_figure_has_a_mark_for_each_setting_the_target_and_the_chosen() -> None:
    sweep = simulated_sweep([0.93, 0.97, 0.96], queries=200)
    front = pareto_front(sweep)
    plain = str(front_panel(front, key="x"))
    assert plain.count("<use") == 3
    assert str(front_panel(front, key="x", chosen=sweep.points[0])).count("<use") == 4
    assert str(front_panel(front, key="x", target=0.95)).count("stroke-dasharray") == 1 + plain.count(
        "stroke-dasharray"
    )
    assert "3 settings" in plain
    assert plain == str(front_panel(front, key="x"))


def test_ticks_of_a_wide_range_stay_apart() -> None:
    few = str(front_panel(pareto_front(simulated_sweep([0.7, 0.8, 0.9])), key="x"))
    assert all(f">{tick}</text>" in few for tick in ("1", "2"))
    many = str(front_panel(pareto_front(simulated_sweep([0.7 + 0.02 * step for step in range(12)])), key="x"))
    assert all(f">{tick}</text>" in many for tick in ("1", "10", "100", "1,000"))
    assert ">200</text>" not in many


@pytest.mark.parametrize("fastest", [1e2, 1e3, 2e5, 3e6, 5e9])
@pytest.mark.parametrize("settings", [3, 5, 6, 7, 9, 14])
def test_labels_of_ticks_never_meet(fastest: float, settings: int) -> None:
    held = simulated_sweep([0.7 + 0.01 * step for step in range(settings)])
    points = [
        replace(one, cost={**(one.cost or {}), "throughput": fastest / 2**place})
        for place, one in enumerate(held.points)
    ]
    drawn = str(front_panel(pareto_front(Sweep.of(held.header, points), held.measure(), "throughput"), key="x"))
    ticks = re.findall(r'<text x="([\d.]+)"[^>]*text-anchor="middle"[^>]*>([\d.,e+]+)</text>', drawn)
    assert len(ticks) >= 2
    digit = 0.62 * 13  # of the text's 13px, wider than any digit is
    for (left, first), (right, second) in pairwise(ticks):
        assert float(right) - float(left) > digit * (len(first) + len(second)) / 2


def test_without_a_certified_setting_or_costs_the_section_says_so() -> None:
    sweep = simulated_sweep([0.93, 0.955], queries=300, costs=False)
    choice = choose(sweep, target_recall=0.99)
    body = str(choice_section(choice, sweep).body)
    assert "not certified at 240 validation queries" in body
    assert "<svg" not in body
    assert "cost not measured" in body


@pytest.fixture
def vectors() -> tuple[Any, Any]:
    rng = np.random.default_rng(2)
    return rng.normal(size=(60, 4)), rng.normal(size=(5, 4))


def test_a_truth_says_of_what_it_is(vectors: tuple[Any, Any], tmp_path: Path, parse: Parse) -> None:
    truth = exact_neighbors(*vectors, 3)
    page = parse(write_section_page([truth_section(truth)], tmp_path / "t.html", title="A truth"))
    lines = page.one("ul", "leak-words").all("li")
    assert [line.attributes.get("class") for line in lines] == ["sentence"] * (len(lines) - 1) + [None]
    assert lines[-1].text.startswith("visual-search ")
    text = page.one("ul", "leak-words").text
    assert "the 3 nearest by l2 in the full gallery of 60 items, for 5 queries" in text
    assert "certified: 5 of 5" in text
    assert truth.gallery_fingerprint in text


def test_the_worst_queries_stand_with_what_they_miss(
    vectors: tuple[Any, Any], tmp_path: Path, parse: Parse
) -> None:
    gallery, queries = vectors
    names = [f"<b>{row}</b>" for row in range(5)]
    truth = exact_neighbors(gallery, queries, 3, query_ids=names)
    lists: list[list[int]] = truth.ids.tolist()
    lists[3] = lists[3][:1]
    table = neighbor_recall_table(lists, truth, 3, query_ids=names)
    page = parse(write_section_page([recall_section(table)], tmp_path / "r.html", title="Recall"))
    rows = page.one("table", "impact").one("tbody").all("tr")
    assert [row.one("bdi").text for row in rows] == ["<b>3</b>"]
    cells = [cell.text for cell in rows[0].all("td")]
    assert cells[:3] == ["0.333", "1", "2"]
    assert f"{truth.ids[3, 1]} (rank 2)" in cells[-1]
    assert f"{truth.ids[3, 2]} (rank 3)" in cells[-1]
    text = page.one("ul", "leak-words").text
    assert "0.867" in text
    assert truth.label() in text
