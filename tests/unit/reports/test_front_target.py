"""The line of a target, laid into a drawing that is there: where matplotlib would have drawn it."""

import re

import pytest

from visual_search.reports.front_panel import front_panel, with_target
from visual_search.testing.simulated_sweeps import simulated_sweep
from visual_search.tuning.pareto import pareto_front

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
