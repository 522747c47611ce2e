"""The report page: what it shows comes from the files, whatever the files hold."""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup

from visual_search.errors import InputError
from visual_search.formats.results import StoredResult, read_result
from visual_search.reports.page import write_report
from visual_search.reports.page_section import Section
from visual_search.reports.wording import percent, score, value

Parse = Callable[[Path], Any]
Changed = Callable[..., StoredResult]

HEADLINE = [
    "HitRate@1",
    "Recall(denominator=all)@1",
    "AP(denominator=all)@10",
    "RR",
    "nDCG(gain=linear, ideal=all)@10",
]


@pytest.fixture(scope="module")
def page(sample: list[StoredResult], tmp_path_factory: pytest.TempPathFactory, parse: Parse) -> Any:
    out = tmp_path_factory.mktemp("page") / "report.html"
    return parse(write_report(sample, out, baseline="colour"))


class TestSelfContained:
    def test_nothing_is_referred_to_outside_the_page(self, page: Any) -> None:
        for element in page.all():
            assert element.tag not in {"script", "link", "iframe", "img", "object", "embed", "form", "base"}
            assert "style" not in element.attributes, "the policy blocks style attributes"
            assert not [name for name in element.attributes if name.startswith("on")]
            for name in ("href", "src", "xlink:href", "action", "data"):
                target = element.attributes.get(name, "#")
                assert target.startswith(("#", "data:image/webp;base64,")), target
        style = page.one("style").text
        assert "url(" not in style
        assert "@import" not in style

    def test_the_policy_allows_its_own_style_sheet_and_no_more(self, page: Any) -> None:
        policy = page.one("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"]
        sheet = "".join(page.one("style").children)
        digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
        assert policy == (
            f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
        )

    def test_every_link_and_reference_has_its_target_once(self, page: Any) -> None:
        ids = [element.attributes["id"] for element in page.all() if "id" in element.attributes]
        assert len(ids) == len(set(ids))
        referred = {e.attributes["href"][1:] for e in page.all() if e.attributes.get("href", "").startswith("#")}
        for name in ("aria-labelledby", "aria-describedby"):
            referred |= {part for e in page.all() for part in e.attributes.get(name, "").split()}
        referred |= {
            m for e in page.all() for v in e.attributes.values() for m in re.findall(r"url\(#([^)]+)\)", v)
        }
        assert referred <= set(ids)

    def test_each_picture_is_embedded_once(self, page: Any) -> None:
        embedded = [e.attributes["href"] for e in page.all("image")]
        assert len(embedded) == len(set(embedded)) == 60
        assert len(page.all("svg", "thumb")) > 200

    def test_it_stays_small(self, sample: list[StoredResult], tmp_path: Path) -> None:
        assert write_report(sample, tmp_path / "r.html").stat().st_size < 1_000_000

    def test_the_same_files_give_the_same_bytes(self, sample: list[StoredResult], tmp_path: Path) -> None:
        paths = [str(result.path) for result in sample]
        here = write_report(paths, tmp_path / "here.html").read_bytes()
        script = (
            "import sys; from visual_search.reports.page import write_report as w; w(sys.argv[2:], sys.argv[1])"
        )
        for seed in ("1", "2"):
            there = tmp_path / f"there{seed}.html"
            environment = os.environ | {"PYTHONHASHSEED": seed, "TZ": "Asia/Tokyo"}
            subprocess.run([sys.executable, "-c", script, str(there), *paths], check=True, env=environment)
            assert there.read_bytes() == here

    def test_it_needs_the_files_alone(self, sample: list[StoredResult], tmp_path: Path, parse: Parse) -> None:
        moved = tmp_path / "elsewhere"
        shutil.copytree(sample[0].path.parent, moved)
        page = parse(write_report([moved / sample[0].path.name], tmp_path / "r.html"))
        assert len(page.all("image")) > 20
        assert not page.all(class_="empty")


class TestNumbers:
    def test_tables_show_the_records_means_intervals_and_references(
        self, page: Any, sample: list[StoredResult]
    ) -> None:
        for place, pair in enumerate((sample[:2], sample[2:])):
            table = page.all("table", "headline")[place]
            rows = table.one("tbody").all("tr")
            for row, result in zip(rows, pair, strict=False):
                stated = [result.record["measures"][name] for name in HEADLINE]
                assert [c.one("span", "mean").text for c in row.all("td")] == [value(m["mean"]) for m in stated]
                ends = [(m["interval"]["low"], m["interval"]["high"]) for m in stated]
                spans = [f"{value(low)}–{value(high)}{'*' if low == high else ''}" for low, high in ends]
                assert [c.all("span", "under")[0].text for c in row.all("td")] == spans
            random, ceiling = (pair[0].record[key] for key in ("random_baseline", "ceilings"))
            assert [c.text for c in rows[2].all("td")] == [value(random[name]) for name in HEADLINE]
            assert [c.text for c in rows[3].all("td")] == [value(ceiling[name]) for name in HEADLINE]

    def test_the_full_table_has_every_measure_of_the_record(self, page: Any, sample: list[StoredResult]) -> None:
        record = sample[0].record
        rows = page.all("table", "every")[0].one("tbody").all("tr")
        assert {row.one("th").text for row in rows} == set(record["measures"])
        for row in rows:
            name = row.one("th").text
            cells = row.all("td")
            assert cells[0].one("span", "mean").text == value(record["measures"][name]["mean"])
            assert cells[1].one("span", "mean").text == value(sample[1].record["measures"][name]["mean"])
            expected = [record["random_baseline"][name], record["ceilings"][name]]
            assert [cell.text for cell in cells[2:4]] == [value(number) for number in expected]
            assert cells[4].text == str(record["measures"][name]["counted"])

    def test_another_value_in_the_record_is_another_value_everywhere(
        self, results: list[StoredResult], changed: Changed, tmp_path: Path, parse: Parse
    ) -> None:
        measures = dict(results[0].record["measures"])
        measures["HitRate@1"] = measures["HitRate@1"] | {"mean": 0.4567, "interval": None, "undefined": 2}
        page = parse(write_report([changed(results[0], measures=measures)], tmp_path / "r.html"))
        cell = page.one("table", "headline").one("tbody").all("tr")[0].all("td")[0]
        assert cell.text.split() == ["0.457", "2", "undefined"]
        assert page.one("ul", "race").all("b", "share")[0].text == "45.7 %"
        assert page.all("details", "data")[0].one("tbody").all("tr")[0].all("td")[0].text == "0.457"
        assert 'width="45.670%"' in (tmp_path / "r.html").read_text()

    def test_bold_marks_the_highest(self, page: Any, sample: list[StoredResult]) -> None:
        rows = page.all("table", "headline")[0].one("tbody").all("tr")
        for place, name in enumerate(HEADLINE):
            means = [result.record["measures"][name]["mean"] for result in sample[:2]]
            bold = ["best" in row.all("td")[place].classes for row in rows[:2]]
            assert bold == [mean == max(means) for mean in means]

    def test_a_system_keeps_its_colour_under_every_protocol(
        self, sample: list[StoredResult], tmp_path: Path, parse: Parse
    ) -> None:
        page = parse(write_report([sample[0], sample[1], sample[3], sample[2]], tmp_path / "r.html"))
        worn: dict[str, set[str]] = {}
        for card in page.all("article", "card"):
            for row in card.all("li"):
                worn.setdefault(row.one("span", "name").text, set()).update(row.one("svg", "swatch").classes)
        assert worn["grid"] == {"swatch", "series-1"}
        assert worn["colour"] == {"swatch", "series-2"}

    def test_the_cards_answer_in_per_cent(self, page: Any, sample: list[StoredResult]) -> None:
        shares = [b.text for card in page.all("article", "card") for b in card.all("b", "share")]
        assert shares == [percent(result.record["measures"]["HitRate@1"]["mean"]) for result in sample]

    def test_figures_have_their_numbers_as_a_table(self, page: Any, sample: list[StoredResult]) -> None:
        figure = page.all("figure", "panel")[0]
        assert figure.one("svg", "figure").attributes["role"] == "img"
        rows = figure.one("tbody").all("tr")
        for row, k in zip(rows, sample[0].record["k_values"], strict=True):
            expected = [r.record["measures"][f"HitRate@{k}"] for r in sample[:2]]
            shown = [cell.text for cell in row.all("td")]
            assert [text.split(" ")[0] for text in shown[:2]] == [value(m["mean"]) for m in expected]
            assert shown[2] == value(sample[0].record["random_baseline"][f"HitRate@{k}"])

    def test_conventions_stand_in_words_by_the_head_and_in_the_list(
        self, page: Any, sample: list[StoredResult]
    ) -> None:
        listed = page.one("ol", "definitions").text
        for name in HEADLINE:
            words = sample[0].record["measures"][name]["words"]
            assert words in listed
            tips = [tip for tip in page.all("span", "tip") if tip.one("code").text == name]
            assert len(tips) == 2
            assert all(words in tip.text for tip in tips)
            assert all(tip.attributes["role"] == "tooltip" for tip in tips)


class TestQueries:
    def test_results_are_framed_as_the_ranking_file_judges_them(
        self, page: Any, sample: list[StoredResult]
    ) -> None:
        judged = {(row["query"], row["rank"]): row for row in sample[0].ranking().to_pylist()}
        details = page.all("details", "fold")[1]
        assert details.one("summary").text == "grid"
        cases = details.all("article", "case")
        assert len(cases) == 10
        for case in cases:
            query = case.one("h5").text
            for tile in case.one("ol", "hits").all("li"):
                rank = int(tile.one("span", "rank").text.removeprefix("rank "))
                row = judged[query, rank]
                assert row["state"] in tile.classes
                assert tile.one("bdi").text == row["item"]
                assert score(row["score"]) in tile.text
                assert {"relevant": "right", "not_relevant": "wrong"}[row["state"]] in tile.text
                assert tile.one("svg", "sign").one("use").attributes["href"] == f"#sign-{row['state']}"

    def test_worst_and_best_are_those_of_the_record(self, page: Any, sample: list[StoredResult]) -> None:
        values = {q["query_id"]: q["average_precision"] for q in sample[1].record["per_query_results"]}
        fold = next(
            d
            for d in page.all("details", "fold")
            if d.one("summary").text == "colour baseline" and d.all("article")
        )
        shown = [case.one("h5").text for case in fold.all("article", "case")]
        worst, best = shown[:5], shown[5:]
        assert sorted(values[q] for q in worst) == sorted(values.values())[:5]
        assert sorted(values[q] for q in best) == sorted(values.values())[-5:]

    def test_a_first_right_one_behind_the_list_follows_after_a_gap(
        self, sample: list[StoredResult], tmp_path: Path, parse: Parse
    ) -> None:
        page = parse(write_report([sample[1]], tmp_path / "r.html", shown=3))
        ranks: dict[str, int] = {}
        for row in sample[1].ranking().to_pylist():
            if row["state"] == "relevant":
                ranks.setdefault(row["query"], row["rank"])
        seen = 0
        for case in page.all("article", "case"):
            first = ranks[case.one("h5").text]
            later = case.all("li", "later")
            assert f"first right at rank {first}" in case.text
            assert bool(later) == (first > 3)
            if later:
                seen += 1
                assert later[0].one("span", "rank").text == f"rank {first}"
                assert "relevant" in later[0].classes
        assert seen > 2

    def test_all_four_states_have_frame_sign_and_word(
        self, results: list[StoredResult], changed: Changed, tmp_path: Path, parse: Parse
    ) -> None:
        def judged(columns: dict[str, Any]) -> dict[str, Any]:
            states = ["relevant", "not_relevant", "unjudged", "ignored"]
            placed = [states[(position - 1) % 4] for position in columns["position"]]
            ranks = [None if p % 4 == 0 else p - (p - 1) // 4 for p in columns["position"]]
            return columns | {"state": placed, "rank": ranks}

        page = parse(write_report([changed(results[0], ranking=judged)], tmp_path / "r.html"))
        assert [li.text for li in page.one("ul", "key").all("li")] == ["right", "wrong", "not judged", "ignored"]
        tiles = page.all("article", "case")[0].one("ol", "hits").all("li")[:4]
        words = [
            ("relevant", "right"),
            ("not_relevant", "wrong"),
            ("unjudged", "not judged"),
            ("ignored", "ignored"),
        ]
        for tile, (state, word) in zip(tiles, words, strict=True):
            assert state in tile.classes
            assert f" {word}," in tile.text
            assert tile.one("svg", "sign").one("use").attributes["href"] == f"#sign-{state}"

    def test_a_graded_item_tells_its_grade_and_l2_its_distance(
        self, results: list[StoredResult], changed: Changed, tmp_path: Path, parse: Parse
    ) -> None:
        def graded(columns: dict[str, Any]) -> dict[str, Any]:
            count = len(columns["rank"])
            return columns | {"grade": [2.0] * count, "distance": [12.25] * count}

        page = parse(write_report([changed(results[0], ranking=graded)], tmp_path / "r.html"))
        tile = page.all("article", "case")[0].one("ol", "hits").all("li")[0]
        assert "grade 2.000" in tile.text
        assert "distance 12.25" in tile.text

    def test_two_systems_are_shown_where_they_differ_most(self, page: Any, sample: list[StoredResult]) -> None:
        first, second = (
            {q["query_id"]: q["average_precision"] for q in r.record["per_query_results"]} for r in sample[:2]
        )
        gaps = sorted((abs(first[q] - second[q]) for q in first), reverse=True)[:5]
        shown = [case.one("h5").text for case in page.one("section", id="protocol-1").all("article", "contrast")]
        assert sorted((abs(first[q] - second[q]) for q in shown), reverse=True) == gaps

    def test_no_cases_when_none_are_wanted(self, sample: list[StoredResult], tmp_path: Path, parse: Parse) -> None:
        page = parse(write_report(sample, tmp_path / "r.html", cases=0))
        assert not page.all("article", "case")
        assert not page.all("image")

    def test_queries_without_a_value_are_counted(
        self, results: list[StoredResult], changed: Changed, tmp_path: Path, parse: Parse
    ) -> None:
        entries = [dict(entry) for entry in results[0].record["per_query_results"]]
        entries[0] |= {"average_precision": None, "reciprocal_rank": None}
        page = parse(write_report([changed(results[0], per_query_results=entries)], tmp_path / "r.html"))
        assert "1 query has no relevant item, so no value to order by." in page.text


class TestWhatIsMissing:
    def test_a_missing_image_is_a_labelled_empty_frame_and_counted(
        self, results: list[StoredResult], tmp_path: Path, parse: Parse
    ) -> None:
        images = results[0].path.parent / "images"
        (images / "object 1" / "view 1.png").unlink()
        (images / "object 2" / "view 1.png").write_bytes(b"no image")
        page = parse(write_report(results[:1], tmp_path / "r.html"))
        assert {frame.text for frame in page.all("span", "empty")} == {"file is gone", "not a readable image"}
        assert "Empty frames: file is gone: 1; not a readable image: 1." in page.one("footer").text

    def test_a_result_with_only_the_guides_keys(self, tmp_path: Path, parse: Parse) -> None:
        per_query = '{"query_id": "q001", "recall_at_k": {}, "precision_at_k": {}, "average_precision": 0.85, '
        guide = tmp_path / "guide.json"
        guide.write_text(
            '{"num_queries": 100, "k_values": [1, 5], "recall_at_1": 0.45, "recall_at_5": 0.72, '
            '"precision_at_1": 0.45, "precision_at_5": 0.28, "map": 0.52, "mrr": 0.61, "per_query_results": ['
            f'{per_query} "reciprocal_rank": 1.0}}], "timestamp": "2024-01-15T10:30:00Z", "model_name": "clip"}}'
        )
        page = parse(write_report([guide], tmp_path / "r.html"))
        row = page.one("table", "headline").one("tbody").all("tr")[0]
        assert [c.text for c in row.all("td")] == ["0.450", "0.520", "0.610"]
        assert "keeps no ranking, so its queries cannot be shown" in page.text

    @pytest.mark.parametrize("kind", ["ranking", "items"])
    def test_a_missing_companion_is_told_on_the_page(
        self, results: list[StoredResult], tmp_path: Path, parse: Parse, kind: str
    ) -> None:
        name = results[0].record["files"][kind]
        (results[0].path.parent / name).unlink()
        page = parse(write_report([read_result(results[0].path)], tmp_path / "r.html"))
        assert name in page.one("main").text
        assert page.all("table", "headline")


class TestFolders:
    def test_the_foot_says_where_pictures_were_taken_from(
        self, results: list[StoredResult], tmp_path: Path, parse: Parse
    ) -> None:
        (root,) = results[0].image_roots
        assert (
            f"taken from \u2068{root.name}\u2069."
            in parse(write_report(results[:1], tmp_path / "r.html")).one("footer").text
        )
        none = parse(write_report(results[:1], tmp_path / "none.html", cases=0))
        assert "taken from" not in none.one("footer").text


class TestRemarks:
    def test_warnings_notes_audit_ledger_and_origin_are_shown(
        self, results: list[StoredResult], changed: Changed, tmp_path: Path, parse: Parse
    ) -> None:
        audit = results[0].record["audit"] | {
            "warnings": ["only 12 queries"],
            "categories": {"day": 8, "night": 4},
            "trivial_queries": ["object 1/view 1.png"],
            "absent_items": {"img_001": ["img_001.jpg", "img_007.jpg"]},
        }
        result = changed(
            results[0],
            warnings=["k beyond the list"],
            notes=["ties were cut"],
            audit=audit,
            truth={"kind": "pseudo", "pseudo_model": "clip", "threshold": 0.8},
            ledger={"used": 1234, "changed": 5, "left_out": 2, "reasons": {"truncated": 2}},
            left_out={"queries_missing_from_ranking": ["q9"]},
        )
        page = parse(write_report([result], tmp_path / "r.html"))
        remarks = page.one("section", "remarks")
        texts = [li.text for li in remarks.all("li")]
        assert texts[0].startswith("Warning k beyond the list")
        assert texts[1].startswith("Warning Only 12 queries")
        assert "pseudo ground truth: a model (clip) chose them" in texts[2]
        assert texts[3].startswith("Note Ties were cut")
        origin = page.one("dl", "origin").text
        for text in (
            "1,234 used, 5 changed, 2 left out (truncated: 2)",
            "day: 8, night: 4",
            "img_001 (nearest: \u2068img_001.jpg\u2069, \u2068img_007.jpg\u2069)",
            "queries missing from ranking: \u2068q9\u2069",
            "pseudo ground truth, pseudo model clip, threshold 0.800",
            result.record["fingerprints"]["gallery"],
            "resamples, seed 0, 4 groups",
        ):
            assert text in origin, text

    def test_systems_measured_on_other_data_are_not_to_be_compared(
        self, results: list[StoredResult], changed: Changed, tmp_path: Path, parse: Parse
    ) -> None:
        other = changed(results[1], fingerprints=results[1].record["fingerprints"] | {"relevance": "sha256:0"})
        page = parse(write_report([results[0], other], tmp_path / "r.html"))
        assert (
            "differ in relevance: their numbers do not answer the same question"
            in page.one("section", "remarks").text
        )

    def test_nothing_to_remark_is_no_section(self, page: Any) -> None:
        assert not page.all("section", "remarks")


class TestArguments:
    def test_comparisons_are_read_out(self, sample: list[StoredResult], tmp_path: Path, parse: Parse) -> None:
        given = [
            {"a": "grid", "b": "colour", "measure": "HitRate@1", "difference": 0.3, "low": 0.2, "high": 0.4}
            | {"p": 0.00001, "wins": 18, "losses": 0, "ties": 42, "protocol": "leave-one-out"},
            {
                "a": "grid",
                "b": "elsewhere",
                "measure": "RR",
                "difference": -0.01,
                "interval": {"low": -0.1, "high": 0.1},
            }
            | {"p_value": 0.5},
        ]
        page = parse(write_report(sample, tmp_path / "r.html", comparisons=given))
        own = page.one("section", id="protocol-1").one("table", "paired").one("tbody").one("tr")
        assert own.text == (
            "grid instead of colour HitRate@1 +0.300 +0.200 to +0.400 < 0.0001 18 0 42 "
            "higher; the interval excludes 0"
        )
        other = page.one("section", id="differences").one("tbody").one("tr")
        assert other.text == (
            "grid instead of elsewhere RR −0.010 −0.100 to +0.100 0.5000 – – – "
            "not told apart; the interval includes 0"
        )

    def test_sections_and_credit_slot_in(self, sample: list[StoredResult], tmp_path: Path, parse: Parse) -> None:
        section = Section("leaks", "Leaks & copies", Markup("<p>{}</p>").format("<3 found>"))
        page = parse(write_report(sample, tmp_path / "r.html", sections=[section], credit="Pictures: <A & B>"))
        assert page.one("section", id="leaks").one("p").text == "<3 found>"
        assert "Leaks & copies" in page.one("nav").text
        assert page.one("footer").all("p")[0].text == "Pictures: <A & B>"

    @pytest.mark.parametrize("anchor", ["origin", "protocol-1", "picture-3", "Leaks", "a b", "", '"x'])
    def test_a_section_may_not_take_the_pages_own_anchors(
        self, sample: list[StoredResult], tmp_path: Path, anchor: str
    ) -> None:
        with pytest.raises(InputError, match="anchor"):
            write_report(sample, tmp_path / "r.html", sections=[Section(anchor, "t", Markup("x"))])

    def test_a_section_of_plain_text_is_refused(self, sample: list[StoredResult], tmp_path: Path) -> None:
        with pytest.raises(InputError, match="must be Markup"):
            write_report(sample, tmp_path / "r.html", sections=[Section("a", "t", "<b>x</b>")])  # type: ignore[arg-type]

    def test_wrong_arguments_are_named(self, sample: list[StoredResult], tmp_path: Path) -> None:
        out = tmp_path / "r.html"
        with pytest.raises(InputError, match="at least one result"):
            write_report([], out)
        with pytest.raises(InputError, match=r"no result of a model named 'x'; there are \['colour', 'grid'\]"):
            write_report(sample, out, baseline="x")
        with pytest.raises(InputError, match="2 problems"):
            write_report(sample, out, comparisons=[{"a": "x"}, {"b": "y", "measure": "RR"}])
        with pytest.raises(InputError, match="got -1 and 10"):
            write_report(sample, out, cases=-1)
        assert not out.exists()

    def test_two_results_of_one_name_are_told_apart(
        self, sample: list[StoredResult], tmp_path: Path, parse: Parse
    ) -> None:
        page = parse(write_report([sample[0], sample[0].path], tmp_path / "r.html"))
        names = [row.one("th").text for row in page.one("table", "headline").one("tbody").all("tr")[:2]]
        assert names == ["grid (loo-grid.json)", "grid (loo-grid.json, 2)"]
