"""A measure over time: what is joined, what leads where, and that names stay names."""

import re
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET

import pytest

from visual_search.reports.history_figure import HistoryLine, HistoryPoint, history_figure

START = datetime(2026, 1, 1, tzinfo=UTC)


def point(number: int, name: str = "m", *, interval: bool = True) -> HistoryPoint:
    low, high = (0.4, 0.7) if interval else (None, None)
    return HistoryPoint(
        START + timedelta(days=number), 0.5 + number / 100, low, high, name, f"/result?result={number}"
    )


def drawn(*lines: HistoryLine) -> ET.Element:
    return ET.fromstring(str(history_figure(lines, title="AP over time", description="d", key="history")))


def test_each_point_is_a_link_with_its_results_name() -> None:
    root = drawn(
        HistoryLine("series-1", [point(1, "<b>&\"'"), point(0, "first")]), HistoryLine("series-2", [point(9)])
    )
    links = {a.get("href"): a.get("aria-label") for a in root.iter("a")}
    assert links == {"/result?result=0": "first", "/result?result=1": "<b>&\"'", "/result?result=9": "m"}
    assert root.get("role") == "group"


def test_only_points_of_one_line_are_joined() -> None:
    def joined(root: ET.Element) -> int:
        paths = [
            p for p in root.iter("path") if "stroke-series-1" in (p.get("class") or "") and p.get("stroke-width")
        ]
        return sum(p.get("stroke-width") == "1.2" for p in paths)

    together = drawn(HistoryLine("series-1", [point(0), point(1)]))
    apart = drawn(HistoryLine("series-1", [point(0)]), HistoryLine("series-1", [point(1)]))
    assert (joined(together), joined(apart)) == (1, 0)


def test_one_result_without_an_interval_is_drawn() -> None:
    assert (
        len(list(drawn(HistoryLine("series-1", [point(0, interval=False)]), HistoryLine("series-2", [])).iter("a")))
        == 1
    )


@pytest.mark.parametrize(
    ("step", "tick", "axis"),
    [
        (timedelta(seconds=0.7), r"10:30:\d\d", "measured, 2026-03-14 (UTC)"),
        (timedelta(seconds=2), r"10:30:\d\d", "measured, 2026-03-14 (UTC)"),
        (timedelta(minutes=9), r"1\d:\d\d", "measured, 2026-03-14 (UTC)"),
        (timedelta(days=3), r"\d\d Mar", "measured, 2026 (UTC)"),
        (timedelta(days=400), r"20\d\d", "measured (UTC)"),
    ],
)
def test_ticks_say_what_they_are(step: timedelta, tick: str, axis: str) -> None:
    start = datetime(2026, 3, 14, 10, 30, tzinfo=UTC)
    points = [HistoryPoint(start + step * n, 0.5, None, None, "m", f"/r?{n}") for n in range(4)]
    texts = [text.text or "" for text in drawn(HistoryLine("series-1", points)).iter() if text.tag.endswith("text")]
    assert axis in texts
    ticks = [text for text in texts if re.fullmatch(tick, text)]
    assert len(set(ticks)) == len(ticks) >= 2
