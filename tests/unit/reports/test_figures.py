"""Figures: drawings that take colours and fonts from the page, without styles, metadata or stray ids."""

import re
from xml.etree import ElementTree as ET

import pytest

from visual_search.reports.figures import Curve, Spread, curve_figure, spread_figure
from visual_search.reports.page_drawing import swatch

CURVES = [
    Curve("first", "series-1", [1, 5, 10], [0.2, 0.4, 0.9], [0.1, 0.3, None], [0.3, 0.5, None]),
    Curve("random order", "random", [1, 5, 10], [0.01, 0.05, 0.1]),
    Curve("best reachable", "ceiling", [1, 5, 10], [0.5, 1, 1]),
]


def figure(title: str = "Recall@k", key: str = "f1") -> ET.Element:
    return ET.fromstring(curve_figure(CURVES, title=title, description="over k", key=key))


def points(path: ET.Element) -> list[tuple[float, float]]:
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", path.attrib["d"])]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def test_it_is_an_image_with_a_name_and_a_description() -> None:
    root = figure("Recall@k <&>")
    assert root.attrib["role"] == "img"
    named = {element.attrib["id"]: element.text for element in root if "id" in element.attrib}
    assert [named[part] for part in root.attrib["aria-labelledby"].split()] == ["Recall@k <&>", "over k"]


def test_colours_are_classes_and_nothing_is_styled_in_place() -> None:
    root = figure()
    for element in root.iter():
        assert "style" not in element.attrib
        assert element.tag not in {"metadata", "style"}
        for name in ("fill", "stroke"):
            assert element.attrib.get(name, "none") == "none"
    classes = {name for element in root.iter() for name in element.attrib.get("class", "").split()}
    assert classes >= {"stroke-series-1", "fill-series-1", "stroke-random", "stroke-ceiling", "fill-muted"}


def test_ids_begin_with_the_key_and_each_is_referred_to() -> None:
    root = figure(key="one")
    ids = {element.attrib["id"] for element in root.iter() if "id" in element.attrib}
    assert all(own.startswith("one-") for own in ids)
    text = ET.tostring(root, encoding="unicode")
    referred = set(re.findall(r'href="#([^"]+)"', text)) | set(re.findall(r"url\(#([^)]+)\)", text))
    assert referred | set(root.attrib["aria-labelledby"].split()) == ids


def test_the_line_runs_through_the_values() -> None:
    root = figure()
    line = next(p for p in root.iter("path") if p.attrib.get("class") == "stroke-series-1" and len(points(p)) == 3)
    random = next(p for p in root.iter("path") if p.attrib.get("class") == "stroke-random")
    (_, y1), (_, y2), (_, y3) = points(line)
    slope = (y3 - y1) / (0.9 - 0.2)
    assert y2 == pytest.approx(y1 + slope * (0.4 - 0.2), abs=0.01)
    assert points(random)[2][1] == pytest.approx(y1 + slope * (0.1 - 0.2), abs=0.01)
    assert [x for x, _ in points(line)] == sorted(x for x, _ in points(line))


def test_a_tick_stands_at_each_depth() -> None:
    texts = [element.text for element in figure().iter("text")]
    assert texts[:3] == ["1", "5", "10"]


def test_the_same_input_gives_the_same_drawing() -> None:
    assert ET.tostring(figure()) == ET.tostring(figure())


def test_the_histogram_has_a_bar_where_values_are_and_marks_the_mean() -> None:
    drawing = spread_figure(
        [Spread("猫 $x$ <b>", "series-2", [0.02, 0.03, 0.99])], title="t", description="d", key="k"
    )
    root = ET.fromstring(drawing)
    bars = [points(p) for p in root.iter("path") if p.attrib.get("class") == "fill-series-2"]
    heights = [max(y for _, y in bar) - min(y for _, y in bar) for bar in bars]
    assert len(heights) == 20
    assert heights[0] == pytest.approx(2 * heights[19])
    assert not any(heights[1:19])
    texts = [element.text for element in root.iter("text")]
    assert "猫 $x$ <b>" in texts
    assert "mean 0.347" in texts


def test_no_values_is_no_error() -> None:
    drawing = spread_figure([Spread("empty", "series-1", [])], title="t", description="d", key="k")
    assert "no values" in drawing


@pytest.mark.parametrize("role", [*(f"series-{number}" for number in range(1, 9)), "random", "ceiling"])
def test_every_role_has_a_sample_of_its_own(role: str) -> None:
    samples = {str(swatch(f"series-{number}")) for number in range(1, 9)} | {
        str(swatch("random")),
        str(swatch("ceiling")),
    }
    assert len(samples) == 10
    assert role in ET.fromstring(swatch(role)).attrib["class"].split()
