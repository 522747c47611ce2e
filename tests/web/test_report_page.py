"""Report, contact sheet and leaks in a real browser: from disk, at two widths, in two schemes, by keyboard."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image, ImageStat

from visual_search import Ranking, Relevance
from visual_search.evaluation.protocols.directions import evaluate_directions_vectors
from visual_search.evaluation.protocols.query_gallery import by_view
from visual_search.formats.results import StoredResult
from visual_search.leaks.impact import leak_impact
from visual_search.reports.contact_sheet import write_contact_sheet
from visual_search.reports.directions_section import directions_section
from visual_search.reports.leaks_page import write_leaks_page
from visual_search.reports.page import write_report
from visual_search.reports.page_section import Section
from visual_search.testing.textures import texture
from visual_search.workflows.leaks import check_leaks

VIEWS = [(1440, "light"), (1440, "dark"), (390, "light"), (390, "dark")]
LONG = "a rather long name of a system that has-no-end-and-goes-on-" + "x" * 200

everywhere = pytest.mark.parametrize(("width", "scheme"), VIEWS)
Visited = Callable[..., Any]


def both_directions(difference: dict[str, Any]) -> Section:
    """A section of a split's two directions, one of them harder."""
    table = {"scene": [scene for scene in range(12) for _ in (0, 1)], "view": [0, 1] * 12}
    split = by_view(table, group="scene", view="view", query=0, gallery=1)
    vectors = np.random.default_rng(0).normal(size=(2, 12, 3))
    found = evaluate_directions_vectors(split, vectors[0], vectors[1])
    return directions_section(split, {"grid": found, LONG: found}, random=found, comparisons=[difference])


def written(sample: list[StoredResult], out: Path, *, cases: int = 5, shown: int = 10) -> Path:
    """A report with everything that a page can have."""
    difference = {"a": "grid", "b": "colour", "measure": "HitRate@1", "difference": 0.3, "low": 0.2, "high": 0.4}
    counts = {"p": 0.0002, "wins": 18, "losses": 0, "ties": 42, "protocol": "leave-one-out"}
    remarks = {"warnings": ["A warning about " + "a-long-word-" * 30], "notes": ["A note."]}
    return write_report(
        [StoredResult(result.path, result.record | remarks) for result in sample],
        out,
        title="Which system finds the same object?",
        baseline="colour",
        comparisons=[difference | counts],
        sections=[both_directions(difference | counts)],
        credit="Pictures: drawn for this test.",
        cases=cases,
        shown=shown,
    )


@pytest.fixture(scope="module")
def report(sample: list[StoredResult], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(sample, tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="module")
def short_report(sample: list[StoredResult], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with fewer queries, since the audit's time grows faster than the page."""
    return written(sample, tmp_path_factory.mktemp("report") / "report.html", cases=1, shown=4)


@pytest.fixture(scope="module")
def sheet(sample: list[StoredResult], tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = sample[0].ranking(queries=["object 1/view 1.png"]).to_pylist()[:24]
    found = [SimpleNamespace(image_id=row["item"], score=row["score"]) for row in rows]
    query = sample[0].query_location("object 1/view 1.png")
    assert query is not None
    out = tmp_path_factory.mktemp("sheet") / "sheet.html"
    return write_contact_sheet(query, found, out, locate=sample[0].item_location)


@pytest.fixture(scope="module")
def leaks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A near-duplicate, a group of three, a name without end, and what they are worth."""
    folder = tmp_path_factory.mktemp("leaks")
    for role, pictures in (
        ("query", {LONG[:150]: texture(1), "q2": texture(2)}),
        ("gallery", {"a": texture(1).resize((60, 50)), "b": texture(2), "c": texture(2).resize((150, 130))}),
    ):
        (folder / role).mkdir()
        for name, picture in pictures.items():
            picture.save(folder / role / f"{name}.png")
    found = check_leaks({"query": folder / "query", "gallery": folder / "gallery"}).report
    ranking = Ranking.from_dict({"q2.png": {"b.png": 2.0, "a.png": 1.0}})
    right = Relevance.from_dict({"q2.png": {"b.png": 1, "a.png": 1}})
    impact = leak_impact(ranking, right, found.matches("query", "gallery"), ["RR", "AP", "nDCG@10"])
    return write_leaks_page(found, folder / "leaks.html", impact=impact, notes=["A note."])


def open_all(page: Any) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")


def edges(screenshot: bytes) -> float:
    """Mean brightness of the last columns of pixels in a picture, 0 to 255."""
    picture = Image.open(BytesIO(screenshot)).convert("L")
    strip = picture.crop((picture.width - 6, 0, picture.width, picture.height))
    return float(ImageStat.Stat(strip).mean[0])


def overflow(page: Any) -> list[str]:
    """Elements that make the page wider than the window; what scrolls in its own box does not count."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('body *')]
            .filter(e => !e.closest('.scroll, svg, .unseen') && e.getBoundingClientRect().right > innerWidth + 1)
            .map(e => e.outerHTML.slice(0, 120))"""
    )
    return found


class TestOpensFromDisk:
    @everywhere
    @pytest.mark.parametrize("name", ["report", "sheet", "leaks"])
    def test_no_request_leaves_and_nothing_is_complained_of(
        self, visit: Visited, request: pytest.FixtureRequest, name: str, width: int, scheme: str
    ) -> None:
        path = request.getfixturevalue(name)
        seen = visit(path, width=width, scheme=scheme)
        open_all(seen.page)
        seen.page.mouse.wheel(0, 30_000)
        seen.page.wait_for_timeout(150)
        assert [url for url in seen.requests if not url.startswith("data:")] == [path.as_uri()]
        assert seen.messages == []

    def test_its_own_style_sheet_is_applied(self, visit: Visited, report: Path) -> None:
        page = visit(report).page
        assert page.evaluate("getComputedStyle(document.querySelector('.cards')).display") == "grid"

    def test_a_script_smuggled_in_would_not_run(self, visit: Visited, report: Path, tmp_path: Path) -> None:
        smuggled = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"
        page = tmp_path / "smuggled.html"
        page.write_text(report.read_text("utf-8").replace("<main", smuggled + "<main"), "utf-8")
        seen = visit(page)
        assert seen.page.title() == "Which system finds the same object?"
        assert any("Content Security Policy" in message for message in seen.messages)

    def test_pictures_are_drawn(self, visit: Visited, report: Path) -> None:
        page = visit(report).page
        shot = page.locator(".case .tile.relevant .thumb").first
        shot.scroll_into_view_if_needed()
        drawn = page.locator("symbol image").count()
        assert drawn == 60
        colours = Image.open(BytesIO(shot.screenshot())).convert("RGB").getcolors(100_000)
        assert colours is not None
        assert len(colours) > 50


class TestLayout:
    @everywhere
    @pytest.mark.parametrize("name", ["report", "sheet", "leaks"])
    def test_the_page_never_scrolls_sideways(
        self, visit: Visited, request: pytest.FixtureRequest, name: str, width: int, scheme: str
    ) -> None:
        page = visit(request.getfixturevalue(name), width=width, scheme=scheme).page
        assert overflow(page) == []
        open_all(page)
        assert overflow(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == width

    def test_nor_with_names_of_any_length(self, visit: Visited, sample: list[StoredResult], tmp_path: Path) -> None:
        record = sample[0].record | {"model_name": LONG, "protocol": {"name": LONG, "words": LONG}}
        long = StoredResult(sample[0].path, record)
        page = visit(write_report([long, sample[1]], tmp_path / "r.html", title=LONG, credit=LONG), width=390).page
        open_all(page)
        assert overflow(page) == []

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_a_table_that_is_cut_shows_a_shade_at_its_edge(self, visit: Visited, report: Path, scheme: str) -> None:
        page = visit(report, width=390, scheme=scheme).page
        box = page.locator(".scroll:has(> .headline)").first
        box.scroll_into_view_if_needed()
        assert box.evaluate("e => e.scrollWidth > e.clientWidth + 20")
        cut = edges(box.screenshot())
        box.evaluate("e => { e.scrollLeft = e.scrollWidth }")
        page.wait_for_timeout(100)
        at_end = edges(box.screenshot())
        assert abs(cut - at_end) > 20, "the right edge is shaded while columns lie behind it, and only then"

    @pytest.mark.parametrize("width", [1440, 390])
    def test_differences_fit_without_scrolling_or_wrapping_their_numbers(
        self, visit: Visited, report: Path, width: int
    ) -> None:
        page = visit(report, width=width).page
        table = page.locator("table.paired").first
        assert table.evaluate("e => e.parentElement.scrollWidth <= e.parentElement.clientWidth")
        assert table.locator(".reading").first.is_visible()
        assert set(
            table.locator("td.number").evaluate_all("all => all.map(e => getComputedStyle(e).whiteSpace)")
        ) == {"nowrap"}
        if width < 600:
            rows = table.locator("tbody tr").evaluate_all("all => all.map(e => e.getBoundingClientRect().height)")
            assert max(rows) < 320
            shown = table.locator("td[data-head]").evaluate_all(
                "all => all.map(e => getComputedStyle(e, '::before').content)"
            )
            assert shown[:5] == ['"Difference"', '"p"', '"Better"', '"Worse"', '"Equal"']

    @pytest.mark.parametrize("width", [1440, 390])
    def test_the_numbers_of_a_figure_scroll_in_their_own_box(
        self, visit: Visited, report: Path, width: int
    ) -> None:
        page = visit(report, width=width).page
        open_all(page)
        boxes = page.locator(".panel").evaluate_all(
            """all => all.map(panel => {
                const box = panel.querySelector('.data .scroll'), table = box.querySelector('table');
                return [panel.clientWidth + 17 - box.clientWidth, box.scrollWidth + 1 - table.offsetWidth];
            })"""
        )
        assert len(boxes) == 7
        assert min(slack for pair in boxes for slack in pair) >= 0

    def test_ids_wrap_where_their_parts_meet(
        self, visit: Visited, sample: list[StoredResult], tmp_path: Path
    ) -> None:
        rows = sample[0].ranking(queries=["object 1/view 1.png"]).to_pylist()[:1]
        found = [SimpleNamespace(image_id="shelf_12-left/photo.jpeg", score=rows[0]["score"])]
        query = sample[0].query_location("object 1/view 1.png")
        assert query is not None
        out = tmp_path / "sheet.html"
        page = visit(write_contact_sheet(query, found, out, locate=lambda _: query), width=390).page
        parts = page.locator(".hits .id").first.evaluate(
            "e => [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.textContent)"
        )
        assert parts == ["shelf_", "12-", "left/", "photo", ".jpeg"]

    @pytest.mark.parametrize("width", [1440, 390])
    def test_nothing_moves_while_it_loads(self, visit: Visited, report: Path, width: int) -> None:
        page = visit(report, width=width).page
        moved = page.evaluate(
            """() => new Promise(done => {
                let sum = 0;
                new PerformanceObserver(list => list.getEntries().forEach(e => sum += e.value))
                    .observe({type: 'layout-shift', buffered: true});
                setTimeout(() => done(sum), 400);
            })"""
        )
        assert moved == 0

    @everywhere
    def test_signs_and_words_tell_right_from_wrong_without_colour(
        self, visit: Visited, report: Path, width: int, scheme: str
    ) -> None:
        page = visit(report, width=width, scheme=scheme).page
        for state in ("relevant", "not_relevant"):
            tile = page.locator(f".case .tile.{state}").first
            assert tile.locator(".sign use").get_attribute("href") == f"#sign-{state}"
            box = tile.locator(".sign").bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= 16

    def test_schemes_have_their_own_colours(self, visit: Visited, report: Path) -> None:
        script = "getComputedStyle(document.body).backgroundColor"
        light, dark = (visit(report, scheme=scheme).page.evaluate(script) for scheme in ("light", "dark"))
        assert sum(map(int, light[4:-1].split(","))) > 700
        assert sum(map(int, dark[4:-1].split(","))) < 100

    def test_on_paper_the_conventions_are_written_out_and_the_page_is_white(
        self, visit: Visited, report: Path
    ) -> None:
        page = visit(report, scheme="dark").page
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.locator(".definitions li").first.is_visible()
        assert not page.locator(".top nav").is_visible()
        assert page.locator(".every tbody tr").first.is_visible()
        assert len(page.pdf(format="A4")) > 50_000


class TestKeyboard:
    @pytest.mark.parametrize("width", [1440, 390])
    def test_tab_reaches_everything_in_order_and_shows_where_it_is(
        self, visit: Visited, report: Path, width: int
    ) -> None:
        page = visit(report, width=width).page
        page.evaluate(
            """() => {
                const all = 'a[href], summary, [tabindex="0"]';
                const open = e => { const d = e.parentElement.closest('details:not([open])');
                                    return !d || (d.querySelector('summary') === e); };
                window.expected = [...document.querySelectorAll(all)].filter(e => open(e) && e.checkVisibility());
                window.seen = [];
                document.addEventListener('focusin', event => {
                    const style = getComputedStyle(event.target);
                    seen.push([expected.indexOf(event.target), style.outlineStyle, parseFloat(style.outlineWidth)]);
                });
            }"""
        )
        count = page.evaluate("expected.length")
        for _ in range(count):
            page.keyboard.press("Tab")
        seen = page.evaluate("seen")
        assert count > 30
        assert [place for place, _, _ in seen] == list(range(count))
        assert all(style == "solid" and thickness >= 2 for _, style, thickness in seen)

    def test_the_first_stop_skips_to_the_results(self, visit: Visited, report: Path) -> None:
        page = visit(report).page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
        box = page.locator(".skip").bounding_box()
        assert box is not None
        assert box["y"] >= 0
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"

    def test_folds_open_and_close(self, visit: Visited, report: Path) -> None:
        page = visit(report).page
        fold = page.locator("details.fold.measures").first
        fold.locator("summary").focus()
        page.keyboard.press("Enter")
        assert fold.locator("table").is_visible()
        page.keyboard.press("Space")
        assert not fold.locator("table").is_visible()

    def test_a_measures_words_appear_on_focus_and_its_link_leads_to_the_list(
        self, visit: Visited, report: Path
    ) -> None:
        page = visit(report).page
        term = page.locator(".headline .term").first
        assert not term.locator(".tip").is_visible()
        term.locator("a").focus()
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Tab")
        assert term.locator(".tip").is_visible()
        page.keyboard.press("Enter")
        target = page.locator(".definitions li:target")
        assert "HitRate@k" in target.inner_text()
        assert target.is_visible()

    def test_a_measures_words_appear_under_the_pointer_inside_the_window(
        self, visit: Visited, report: Path
    ) -> None:
        page = visit(report).page
        for term in page.locator(".headline .term").all():
            term.hover()
            tip = term.locator(".tip")
            tip.wait_for(state="visible")
            box = tip.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 1440


class TestAccessibility:
    @everywhere
    @pytest.mark.parametrize("name", ["short_report", "sheet", "leaks"])
    def test_axe_finds_nothing(
        self, visit: Visited, request: pytest.FixtureRequest, name: str, width: int, scheme: str
    ) -> None:
        page = visit(request.getfixturevalue(name), width=width, scheme=scheme).page
        open_all(page)
        found = Axe().run(page)
        assert found.response["passes"], "the audit ran"
        told = [
            f"{violation['id']}: {violation['help']}: {[node['html'][:160] for node in violation['nodes'][:3]]}"
            for violation in found.response["violations"]
        ]
        assert told == []
