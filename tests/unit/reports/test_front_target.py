"""The line of a target and the ring around what was chosen, laid into a drawing, are where matplotlib draws them."""

import re

import pytest

from visual_search.reports.front_panel import front_panel, reach_for, with_ring, with_target
from visual_search.testing.simulated_sweeps import simulated_sweep
from visual_search.tuning.pareto import pareto_front
from visual_search.tuning.sweep_point import SweepPoint

FRONT = pareto_front(simulated_sweep([0.7, 0.9, 0.95, 0.99], queries=200, seed=2), None, "latency_p50")


def line_of(drawn: str) -> list[float]:
    path = next(one for one in re.findall(r"<path [^>]*>", drawn) if 'stroke-dasharray="5,3"' in one)
    assert 'class="stroke-muted"' in path
    return [
        float(number)
        for number in re.findall(r"[0-9.]+", path[: path.index("L") + 40].split('d="')[1].split('"')[0])
    ]


@pytest.mark.parametrize("target", [0.75, 0.9, 0.987])
def test_the_line_lies_where_it_would_have_been_drawn(target: float) -> None:
    laid = with_target(front_panel(FRONT, key="a"), FRONT, target)
    assert laid is not None
    assert line_of(laid) == pytest.approx(line_of(front_panel(FRONT, key="a", target=target)), abs=0.01)


@pytest.mark.parametrize("target", [0.3, 0.9999])
def test_a_line_outside_is_not_laid(target: float) -> None:
    assert with_target(front_panel(FRONT, key="a"), FRONT, target) is None


@pytest.mark.parametrize("point", [*FRONT.points, *FRONT.beaten], ids=lambda point: point.label)
def test_the_ring_lies_where_it_would_have_been_drawn(point: SweepPoint) -> None:
    laid = with_ring(front_panel(FRONT, key="a", link=address), address(point))
    assert laid is not None
    ring = re.search(r'<circle cx="([0-9.]+)" cy="([0-9.]+)" r="8"[^>]*class="stroke-ink"', laid)
    drawn = front_panel(FRONT, key="a", link=address, chosen=point)
    there = re.search(r'<use x="([0-9.]+)" y="([0-9.]+)"[^>]*class="stroke-ink"', drawn)
    assert ring is not None
    assert there is not None
    assert ring.groups() == there.groups()
    assert laid.count("<a ") == len([*FRONT.points, *FRONT.beaten])  # every point is still a link
    assert laid.endswith("</svg>")


def test_a_point_that_is_not_drawn_has_no_ring() -> None:
    assert with_ring(front_panel(FRONT, key="a", link=address), "/nowhere") is None
    assert with_ring(front_panel(FRONT, key="a"), address(FRONT.points[0])) is None


def address(point: SweepPoint) -> str:
    """With what an attribute has to escape."""
    return f"/lost?point={point.key}&measure=\"a\"<b>'c'"


@pytest.mark.parametrize("target", [0.3, 0.31, 0.9999])
def test_an_axis_that_reaches_further_has_room_for_a_line_outside(target: float) -> None:
    reach = reach_for(FRONT, target)
    assert reach is not None
    laid = with_target(front_panel(FRONT, key="a", reach=reach), FRONT, target, reach=reach)
    assert laid is not None
    # Where the axis ends does not move a line that is drawn on it.
    drawn = front_panel(FRONT, key="a", target=target, reach=reach)
    assert line_of(laid) == pytest.approx(line_of(drawn), abs=0.01)
