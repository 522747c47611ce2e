"""Tables of results for terminals, Markdown and programs."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest

from visual_search.errors import InputError
from visual_search.formats.results import StoredResult
from visual_search.reports.tables import LONG_COLUMNS, results_tables, to_delimited
from visual_search.reports.wording import value

Changed = Callable[..., StoredResult]


def test_one_table_a_protocol_with_a_row_a_system_and_the_references(sample: list[StoredResult]) -> None:
    first, second = results_tables(sample, baseline="colour")
    assert first.title == "leave-one-out, 60 queries"
    assert second.title == "one view an object, 48 queries"
    assert first.columns == ["system", "HitRate@1", "Recall@1", "mAP@10", "MRR", "nDCG@10"]
    assert [row[0] for row in first.rows] == ["grid", "colour (baseline)", "random order", "best reachable"]
    stated = sample[0].record["measures"]["HitRate@1"]
    interval = stated["interval"]
    assert first.rows[0][1] == f"{value(stated['mean'])} [{value(interval['low'])}, {value(interval['high'])}]"


def test_text_has_every_cell_and_no_colours(sample: list[StoredResult]) -> None:
    (table, _) = results_tables(sample)
    text = table.to_text()
    lines = text.split("\n")
    assert lines[0] == table.title
    for row, line in zip(table.rows, lines[2:], strict=True):
        assert line.split() == " ".join(row).split()
    assert "\x1b" not in text
    assert not any(line.endswith(" ") for line in lines)


def test_markdown_escapes_what_would_be_markup(results: list[StoredResult], changed: Changed) -> None:
    (table,) = results_tables([changed(results[0], model_name="a|b <i> *c* \x1b[31m")])
    lines = table.to_markdown().split("\n")
    assert lines[2].count(" | ") == len(table.columns) - 1
    assert lines[4].startswith("| a\\|b &lt;i> \\*c\\* \ufffd[31m | ")


def test_names_are_never_read_as_rich_markup(results: list[StoredResult], changed: Changed) -> None:
    (table,) = results_tables([changed(results[0], model_name="[red]x[/red] :cat:")])
    assert "[red]x[/red] :cat:" in table.to_text()


def test_delimited_text_has_every_measure_in_full_precision(sample: list[StoredResult]) -> None:
    rows = list(csv.reader(io.StringIO(to_delimited(results_tables(sample))), delimiter="\t"))
    assert tuple(rows[0]) == LONG_COLUMNS
    found = {(row[2], row[3]): row for row in rows[1:]}
    assert len(found) == len(rows) - 1 == sum(len(result.record["measures"]) for result in sample)
    for result in sample:
        for name, stated in result.record["measures"].items():
            row = dict(zip(rows[0], found[result.path.name, name], strict=True))
            assert float(row["mean"]) == stated["mean"]
            assert float(row["low"]) == stated["interval"]["low"]
            assert int(row["counted"]) == stated["counted"]
            assert float(row["random"]) == result.record["random_baseline"][name]


def test_delimiters_and_line_breaks_in_names_are_quoted(results: list[StoredResult], changed: Changed) -> None:
    name = 'a,b\t"c"\nd'
    tables = results_tables([changed(results[0], model_name=name)])
    for delimiter in ("\t", ","):
        rows = list(csv.reader(io.StringIO(to_delimited(tables, delimiter)), delimiter=delimiter))
        assert {row[1] for row in rows[1:]} == {name}


def test_undefined_values_are_empty_and_counted(results: list[StoredResult], changed: Changed) -> None:
    measures: dict[str, Any] = dict(results[0].record["measures"])
    measures["RR"] = measures["RR"] | {"mean": None, "interval": None, "undefined": 12, "counted": 0}
    (table,) = results_tables([changed(results[0], measures=measures)])
    assert table.rows[0][4] == "– (12 undefined)"
    rows = list(csv.DictReader(io.StringIO(to_delimited([table], ","))))
    assert next(row for row in rows if row["measure"] == "RR")["mean"] == ""


def test_columns_can_be_chosen(sample: list[StoredResult]) -> None:
    (table, _) = results_tables(sample, measures=["Precision(denominator=k)@5", "RR"])
    assert table.columns == ["system", "Precision@5", "MRR"]
    with pytest.raises(InputError, match="no result under 'leave-one-out' has 'Recall@3'; there are HitRate@1"):
        results_tables(sample, measures=["Recall@3"])


def test_notes_say_what_the_columns_are(sample: list[StoredResult]) -> None:
    (table, _) = results_tables(sample)
    words = sample[0].record["measures"]["AP(denominator=all)@10"]["words"]
    assert f"mAP@10: AP(denominator=all)@10; {words}" in table.notes
