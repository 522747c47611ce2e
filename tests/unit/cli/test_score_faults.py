"""Files that ``score`` and ``conventions`` must refuse, each with an error a program can read."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from visual_search.cli.main import main

RUN = "q1 Q0 d1 1 0.9 x\nq1 Q0 d2 2 0.5 x\nq2 Q0 d1 1 0.3 x\n"
QRELS = "q1 0 d2 1\nq2 0 d1 1\n"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.trec").write_text(RUN)
    Path("qrels.trec").write_text(QRELS)


def refused(capsys: Capture, *words: str, code: int = 2) -> dict[str, str]:
    capsys.readouterr()
    assert main([*words, "--json"]) == code
    told: dict[str, str] = json.loads(capsys.readouterr().out)["error"]
    assert told["verb"] == words[0]
    return told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'{"q1":{"d2":1},"q1":{"d1":1}}', 'the key "q1" appears twice'),
        (b'{"q1":{"d2":1,"d2":0},"q2":{"d1":1}}', 'q1: the key "d2" appears twice'),
        (b'{"q1":{"d2":1},', "not valid JSON at line 1"),
        (b'{"q1":{"d\xff":1}}', "not UTF-8"),
        (b'{"q1":{"d2":' + b"9" * 5000 + b"}}", "too long"),
        (b'{"q1":{"d2":' + b"9" * 400 + b"}}", "beyond what float64 holds"),
        (b'{"q1":' * 100_000, "nested too deeply"),
        (b"{}", "no queries"),
    ],
)
def test_json_that_is_broken(capsys: Capture, text: bytes, said: str) -> None:
    Path("odd.json").write_bytes(text)
    for words in (("score", "run.trec", "odd.json"), ("conventions", "run.trec", "odd.json")):
        assert said in refused(capsys, *words)["message"]
    if text != b"{}":
        assert said in refused(capsys, "score", "odd.json", "qrels.trec")["message"]


def test_whole_numbers_in_json_that_would_tie(capsys: Capture) -> None:
    Path("run.json").write_text('{"q1":{"d1":9007199254740993,"d2":9007199254740992}}')
    assert "different ones would tie" in refused(capsys, "score", "run.json", "qrels.trec")["message"]


@pytest.mark.parametrize("option", ["--slices", "--groups"])
@pytest.mark.parametrize(
    ("table", "said"),
    [
        (b"q1\ta\nq2\tb\nq1\tb\n", "line 3: query 'q1' has a value in line 1 already"),
        (b"q1\ta\nq2\n", "line 2: 1 cell"),
        (b"q1\ta\nq\xff\tb\n", "not UTF-8"),
        (b"q1\ta\nq2\t" + b"x" * 200_000 + b"\n", "field larger"),
        (b'q1\ta\nq2\t"b"c\n', "line 2 is no row"),
        (b'q1\ta\nq2\t"b', "line 2 is no row"),
    ],
)
def test_tables_of_queries_that_are_broken(capsys: Capture, option: str, table: bytes, said: str) -> None:
    Path("table.tsv").write_bytes(table)
    assert said in refused(capsys, "score", "run.trec", "qrels.trec", option, "table.tsv")["message"]


def test_a_slice_is_not_named_like_the_mean_of_slices(capsys: Capture) -> None:
    Path("table.tsv").write_text("q1\t(mean of slices)\nq2\tb\n")
    assert (
        "name it otherwise"
        in refused(capsys, "score", "run.trec", "qrels.trec", "--slices", "table.tsv")["message"]
    )


def test_the_ignored_column_of_a_parquet_file_is_read(capsys: Capture) -> None:
    table = {"query": ["q1", "q1", "q2"], "item": ["d1", "d2", "d1"], "grade": [0, 1, 1]}
    pq.write_table(pa.table({**table, "ignored": [True, False, False]}), "qrels.parquet")
    for words in (
        ["score", "run.trec", "qrels.parquet", "RR"],
        ["conventions", "run.trec", "qrels.parquet", "--preset", "guide"],
    ):
        assert main([*words, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        result = told if words[0] == "score" else told["guide"]
        assert "1 pair counts neither way" in " ".join(result["notes"])
        found = next(one for text, one in result["measures"].items() if text.startswith("RR"))
        assert found["mean"] == 1


def test_words_that_are_refused_are_told_in_json(capsys: Capture) -> None:
    for words, said in (
        (["score", "run.trec", "--json"], "QRELS"),
        (["score", "run.trec", "qrels.trec", "--ties", "x", "--json"], "--ties"),
        (["scroe", "--json"], "scroe"),
    ):
        with pytest.raises(SystemExit) as left:
            main(words)
        assert left.value.code == 2
        assert said in json.loads(capsys.readouterr().out)["error"]["message"]


def test_a_fault_of_the_program_is_told_as_one(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr("visual_search.workflows.score.score_run", broken)
    told = refused(capsys, "score", "run.trec", "qrels.trec", code=70)
    assert told["type"] == "IndexError"
    assert "report it as a bug" in told["message"]
    assert main(["score", "run.trec", "qrels.trec"]) == 70
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" in said.err
    assert "report it as a bug" in said.err
