"""``judge agreement``: tables of text, JSON, a page; from a CSV, Parquet, a store."""

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from visual_search.cli.judge_agreement import RULES
from visual_search.cli.main import main
from visual_search.judging import aggregation
from visual_search.testing.simulated_judgements import simulated_study


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("judged")
    ranking, table = simulated_study(15, 2, seed=5)
    rows = [
        {
            "judge": table.judges[int(table.judge[row])],
            "query": str(table.queries[int(table.query[row])])[
                1:
            ],  # whole numbers, of which the file tells no kind
            "item": table.items[int(table.item[row])],
            "grade": "" if row == 0 else int(table.grade[row]),
            "adjudicated": "no",
        }
        for row in range(len(table))
        if table.item[row] < 7
    ]
    with (place / "marks.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    columns = {name: [row[name] for row in rows] for name in ("judge", "query", "item")}
    grades = [None if row["grade"] == "" else float(row["grade"]) for row in rows]
    pq.write_table(pa.table({**columns, "grade": grades}), place / "marks.parquet")
    for name, sign in (("good", 1), ("bad", -1)):
        lines = [
            f"{str(query)[1:]} Q0 {item} 1 {sign * score:.6f} x"
            for query in ranking.queries
            for item, score in ranking.listed(query)[::sign]
        ]
        (place / f"{name}.trec").write_text("\n".join(lines) + "\n")
    return place


def test_judges_scores_rules_and_forecast_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "judge",
        "agreement",
        str(folder / "marks.csv"),
        str(folder / "good.trec"),
        f"worse={folder / 'bad.trec'}",
    ]
    assert main([*words, "--measure", "nDCG@5", "--disagreements", "2"]) == 0
    told = capsys.readouterr().out
    for said in (
        "Krippendorff's alpha (ordinal)", "j0 down, j1 across", "pairs wait for an adjudicator", "good: scores",
        "and judges", "worse: effect of the rule", "in use", "the same grades", "good and worse: nDCG",
        "1 mark says that the judge could not tell",
    ):  # fmt: skip
        assert said in told


def test_json_is_the_same_from_csv_and_parquet(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for name in ("marks.csv", "marks.parquet"):
        assert main(["judge", "agreement", str(folder / name), str(folder / "good.trec"), "--json"]) == 0
        told.append(json.loads(capsys.readouterr().out))
    assert told[0] == told[1]
    assert set(told[0]) == {"rule", "rule_words", "agreement", "disagreements", "systems", "judgements_needed"}
    (system,) = told[0]["systems"].values()
    first = system["measures"][0]
    assert first["bounds_of_lists"]["low"] <= first["mean"] <= first["bounds_of_lists"]["high"]
    assert first["interval"]["low"] <= first["queries_only"]["low"]


def test_the_page_shows_it_all_and_escapes_names(folder: Path, tmp_path: Path) -> None:
    text = (folder / "marks.csv").read_text().replace("j0,", "<b>ann</b>,")
    (tmp_path / "marks.csv").write_text(text)
    page = tmp_path / "page.html"
    words = ["judge", "agreement", str(tmp_path / "marks.csv"), str(folder / "good.trec"), "--report", str(page)]
    assert main([*words, "--measure", "AP"]) == 0
    written = page.read_text()
    assert "&lt;b&gt;ann" in written
    assert "<b>ann" not in written
    for said in ("Agreement of the judges", "effect of the rule", "due to judges"):
        assert said in written


def test_rules_offered_are_those_there_are() -> None:
    assert tuple(RULES) == aggregation.RULES


@pytest.mark.parametrize(
    ("cell", "said"), [("good", "grade 'good' is no number"), ("maybe", "adjudicated is 'maybe'")]
)
def test_a_bad_cell_is_named_by_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cell: str, said: str
) -> None:
    row = f"ann,q,a,{cell},no" if cell == "good" else f"ann,q,a,1,{cell}"
    (tmp_path / "marks.csv").write_text(f"judge,query,item,grade,adjudicated\n{row}\n")
    assert main(["judge", "agreement", str(tmp_path / "marks.csv")]) == 2
    told = capsys.readouterr().err
    assert "line 2" in told
    assert said in told


def test_the_page_may_not_be_written_over_the_judgements(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    marks = str(folder / "marks.csv")
    assert main(["judge", "agreement", marks, "--report", marks]) == 2
    assert "--report" in capsys.readouterr().err
