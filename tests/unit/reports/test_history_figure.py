"""A measure over time: what is joined, what leads where, and that names stay names."""

from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET

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
