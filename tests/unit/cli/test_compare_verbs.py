"""``compare``, ``gate`` and ``evaluate --baseline previous`` as a person types them."""

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from visual_search.cli.main import main
from visual_search.formats.result_copy import copy_result
from visual_search.formats.results import read_result, write_result
from visual_search.testing.sample_results import sample_results

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sample_results(Path("out"), objects=10, views=3)


def test_a_comparison_names_the_changes_and_what_its_numbers_are(capsys: Capture) -> None:
    assert main(["compare", "out/loo-colour.json", "out/loo-grid.json", "--measure", "RR"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[1].split()[:3] == ["RR", "grid", "colour"]
    assert "grid instead of colour, RR: improved most: " in said.out
    assert "30 queries in 10 independent groups" in said.err
    assert "hold for all 1 comparison" in said.err


def test_every_form_of_the_table_escapes_names(capsys: Capture) -> None:
    stored = read_result("out/loo-grid.json")
    record = {key: value for key, value in stored.record.items() if not key.startswith("file")}
    write_result(
        "out/odd.json",
        record | {"model_name": "a_b|<i>&"},
        ranking=stored.ranking().to_pydict(),
        queries=stored.queries().to_pydict(),
        items=None,
    )
    shown = {}
    for form in ("md", "latex", "html", "csv"):
        assert main(["compare", "out/loo-colour.json", "out/odd.json", "--measure", "AP@10", "--format", form]) == 0
        shown[form] = capsys.readouterr().out
    assert r"| a\_b\|&lt;i>& |" in shown["md"]
    assert r"& a\_b|\textless{}i\textgreater{}\& &" in shown["latex"]
    assert shown["latex"].count(r"\begin{tabular}") == shown["latex"].count(r"\end{tabular}") == 1
    assert "<td>a_b|&lt;i&gt;&amp;</td>" in shown["html"]
    [row] = csv.DictReader(io.StringIO(shown["csv"]))
    assert row["system"] == "a_b|<i>&"
    assert main(["compare", "out/loo-colour.json", "out/odd.json", "--measure", "AP@10", "--json"]) == 0
    [told] = json.loads(capsys.readouterr().out)["contrasts"]
    assert float(row["difference"]) == told["difference"] == pytest.approx(told["mean_a"] - told["mean_b"])
    assert (float(row["low"]), float(row["p_holm"])) == (told["interval"]["low"], told["p_holm"])


def test_results_on_other_data_end_with_2_and_the_whole_list(capsys: Capture) -> None:
    assert main(["compare", "out/loo-colour.json", "out/one-grid.json"]) == 2
    said = capsys.readouterr().err
    assert all(f"  - {part} (" in said for part in ("gallery", "queries", "relevance", "exclusions"))
    assert main(["compare", "out/loo-colour.json", "out/one-grid.json", "--json", "--despite", "a trial"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["comparable"], told["despite"], told["queries"]) == (False, "a trial", 20)
    assert main(["compare", "out/loo-colour.json", "out/one-grid.json", "--despite", "a trial"]) == 0
    assert "NOT COMPARABLE, compared nevertheless because: a trial" in capsys.readouterr().err


def test_everything_that_is_no_result_is_told_at_once(capsys: Capture) -> None:
    Path("answers.json").write_text('{"queries": []}', encoding="utf-8")
    Path("leaks.json").write_text('{"format": "visual-search leaks"}', encoding="utf-8")
    assert main(["compare", "out/loo-colour.json", "answers.json", "leaks.json"]) == 2
    told = capsys.readouterr().err
    assert "results: 2 problems" in told
    assert "answers.json: not a result" in told
    assert "leaks.json: its format is 'visual-search leaks'" in told
    assert main(["compare", "out/loo-colour.json", "leaks.json"]) == 2
    assert "problem" not in capsys.readouterr().err


def test_the_baseline_is_chosen_by_model_or_file(capsys: Capture) -> None:
    for name in ("grid", "loo-grid.json", "out/loo-grid.json"):
        words = ["compare", "out/loo-colour.json", "out/loo-grid.json", "--baseline", name, "--json"]
        assert main(words) == 0
        assert json.loads(capsys.readouterr().out)["systems"] == ["grid", "colour"]
    assert main(["compare", "out/loo-colour.json", "out/loo-grid.json", "--baseline", "else"]) == 2
    assert main(["compare", "out/loo-colour.json", "out/loo-colour.json"]) == 2
    assert "given twice" in capsys.readouterr().err


def test_the_gate_tells_by_its_exit_code_and_says_why(capsys: Capture) -> None:
    better = ["gate", "out/loo-grid.json", "out/loo-colour.json", "--measure", "nDCG@5", "--margin", "0.01"]
    assert main(better) == 0
    assert capsys.readouterr().out.startswith("passed: nDCG(gain=linear)@5: candidate - baseline is +")
    worse = ["gate", "out/loo-colour.json", "out/loo-grid.json", "--measure", "nDCG@5", "--margin", "0.01"]
    assert main(worse) == 1
    assert capsys.readouterr().out.startswith("failed: ")
    assert main([*worse[:-1], "0.2", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["passed"], told["verdict"]) == (False, "not decided")
    assert "groups would be needed" in told["reason"]
    assert main(["gate", "out/loo-grid.json", "out/one-grid.json", "--measure", "RR", "--margin", "0.01"]) == 2


def test_a_copy_of_a_result_outlives_it(tmp_path: Path) -> None:
    stored = read_result("out/loo-grid.json")
    rows = stored.queries().to_pydict()
    places = stored.query_location("object 1/view 1.png")
    copy = copy_result(stored, "out/loo-grid.previous.json")
    for companion in stored.record["files"].values():
        (tmp_path / "out" / companion).unlink()
    again = read_result("out/loo-grid.previous.json")
    assert copy.record == again.record
    assert again.queries().to_pydict() == rows
    assert again.query_location("object 1/view 1.png") == places
    before = set(Path("out").iterdir())
    copy_result(read_result("out/loo-colour.json"), "out/loo-grid.previous.json")
    assert len(set(Path("out").iterdir()) - before) == len(before - set(Path("out").iterdir()))
    shutil.rmtree("out/images")
