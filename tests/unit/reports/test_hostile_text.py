"""Texts of a result that would be markup, or cannot be shown at all, on the report page."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from visual_search.formats.results import StoredResult
from visual_search.reports.page import write_report

Parse = Callable[[Path], Any]
Changed = Callable[..., StoredResult]
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}{% raw %}",
    "a/b\\c'd`e",
    "x" * 10_000,
    "שלום/مرحبا.jpg",
    "日本語 🙂",
    "\u202egpj.exe",
    "\x00\x1b[31m red \ud800",
    "&lt;b&gt; $x^2$ %s",
    "]]> --> </style> </svg>",
]


class TestHostileText:
    def test_no_text_of_a_result_becomes_markup(
        self, results: list[StoredResult], changed: Changed, tmp_path: Path, parse: Parse
    ) -> None:
        hostile = "".join(text for text in HOSTILE if "\ud800" not in text)
        base = results[0].record
        measures = {name: entry | {"words": hostile} for name, entry in base["measures"].items()}
        entries = [dict(entry) for entry in base["per_query_results"]]
        names = {e["query_id"]: h for e, h in zip(entries, [h for h in HOSTILE if "\ud800" not in h], strict=False)}
        for entry in entries:
            entry["query_id"] = names.get(entry["query_id"], entry["query_id"])
            entry["group"] = hostile

        def renamed(columns: dict[str, Any]) -> dict[str, Any]:
            return columns | {side: [names.get(name, name) for name in columns[side]] for side in ("query", "item")}

        result = changed(
            results[0],
            ranking=renamed,
            model_name=hostile[:300],
            protocol={"name": hostile[:200], "words": hostile},
            per_query_results=entries,
            measures=measures,
            warnings=[hostile],
            notes=[hostile],
            timestamp=hostile,
            embedder={"name": hostile},
            ledger={"used": 1, "reasons": {hostile: hostile}},
            audit=base["audit"] | {"categories": {hostile: 3}, "trivial_queries": HOSTILE[:5]},
            versions={hostile: hostile},
        )
        out = write_report([result], tmp_path / "r.html", title=hostile, credit=hostile)
        page = parse(out)
        tags = {element.tag for element in page.all()}
        assert not tags & {"script", "img"}
        for element in page.all():
            assert not [name for name in element.attributes if name.startswith("on") or name == "style"]
        shown = {bdi.text for bdi in page.all("bdi")}
        assert "<script>alert(1)</script>" in shown
        assert "{{ 7 * 7 }}{% raw %}" in shown
        assert "שלום/مرحبا.jpg" in shown
        assert out.stat().st_size < 3_000_000

    def test_what_cannot_be_shown_is_replaced(
        self, results: list[StoredResult], tmp_path: Path, parse: Parse
    ) -> None:
        text = results[0].path.read_text().replace('"grid"', r'"\u0000\u001b[31m red \ud800"')
        results[0].path.write_text(text)
        page = parse(write_report([results[0].path], tmp_path / "r.html"))
        name = page.one("table", "headline").one("tbody").all("tr")[0].one("th").text
        assert name == "\ufffd\ufffd[31m red \ufffd"
