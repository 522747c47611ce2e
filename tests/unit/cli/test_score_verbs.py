"""``score`` and ``conventions`` as a person types them."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from visual_search.cli.main import main

RUN = "q1 Q0 d1 1 0.9 x\nq1 Q0 d2 2 0.5 x\nq1 Q0 d3 3 0.5 x\nq2 Q0 d1 1 0.3 x\n"
QRELS = "q1 0 d2 1\nq1 0 d1 0\nq2 0 d1 2\nq3 0 d9 1\nq4 0 d1 0\n"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.trec").write_text(RUN)
    Path("qrels.trec").write_text(QRELS)


def scored(capsys: Capture, *words: str) -> dict[str, float | None]:
    capsys.readouterr()
    assert main(["score", *words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    return {text: found["mean"] for text, found in told["measures"].items()}


def test_ties_are_exact_and_can_be_had_in_every_order(capsys: Capture) -> None:
    """d2 ties with d3 at ranks 2 and 3; q3 is missing from the run and counts 0; q4 has nothing relevant."""
    for ties, first in (("expected", (1 / 2 + 1 / 3) / 2), ("best", 1 / 2), ("worst", 1 / 3), ("id_desc", 1 / 3)):
        found = scored(capsys, "run.trec", "qrels.trec", "AP", "--ties", ties)
        assert found["AP(denominator=all)"] == pytest.approx((first + 1 + 0) / 3, abs=1e-12)


def test_queries_missing_or_undefined_are_counted_and_named(capsys: Capture) -> None:
    assert main(["score", "run.trec", "qrels.trec", "AP"]) == 0
    said = capsys.readouterr()
    assert "'q3'" in said.err
    assert "undefined for 1 query, first: q4" in said.err
    assert said.out.split()[-2:] == ["3", "1"]


def test_per_query_tab_separated(capsys: Capture) -> None:
    assert main(["score", "run.trec", "qrels.trec", "map", "P_5", "--per-query", "--tsv"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["query", "q1", "q2", "q3", "q4"]
    assert float(rows[1][1]) == pytest.approx(1 / 3, abs=1e-12)


def test_every_kind_of_file_gives_the_same(capsys: Capture) -> None:
    wanted = scored(capsys, "run.trec", "qrels.trec", "AP", "nDCG@10")
    Path("run.trec.gz").write_bytes(gzip.compress(RUN.encode()))
    run = {"q1": {"d1": 0.9, "d2": 0.5, "d3": 0.5}, "q2": {"d1": 0.3}}
    qrels = {"q1": {"d2": 1, "d1": 0}, "q2": {"d1": 2}, "q3": {"d9": 1}, "q4": {"d1": 0}}
    Path("run.json").write_text(json.dumps(run))
    Path("qrels.json").write_text(json.dumps(qrels))
    truths = [{"query_id": query, "ground_truth": items} for query, items in qrels.items()]
    Path("eval.json").write_text(json.dumps({"queries": truths}))
    pairs = [(query, item, score) for query, items in run.items() for item, score in items.items()]
    pq.write_table(pa.table(dict(zip(("query", "item", "score"), map(list, zip(*pairs, strict=True)), strict=True))),
                   "run.parquet")  # fmt: skip
    for run_file in ("run.trec.gz", "run.json", "run.parquet"):
        for qrels_file in ("qrels.trec", "qrels.json", "eval.json"):
            assert scored(capsys, run_file, qrels_file, "AP", "nDCG@10") == pytest.approx(wanted, abs=1e-12)


def test_slices_and_their_mean(capsys: Capture) -> None:
    Path("difficulty.tsv").write_text("q1\thard\nq2\teasy\nq3\thard\nq4\teasy\n")
    assert main(["score", "run.trec", "qrels.trec", "RR", "--slices", "difficulty.tsv", "--tsv"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    means = {row[-1]: float(row[1]) for row in rows[1:]}
    assert means["easy"] == 1.0
    assert means["(mean of slices)"] == pytest.approx((means["easy"] + means["hard"]) / 2, abs=1e-12)


@pytest.mark.parametrize("name", ["scores.tsv", "scores.json", "scores.parquet"])
def test_the_table_can_be_written(name: str) -> None:
    assert main(["score", "run.trec", "qrels.trec", "AP", "--out", name, "--per-query"]) == 0
    if name.endswith("parquet"):
        assert pq.read_table(name)["query"].to_pylist() == ["q1", "q2", "q3", "q4"]
    elif name.endswith("json"):
        assert len(json.loads(Path(name).read_text())["per_query"]) == 4
    else:
        assert len(Path(name).read_text().splitlines()) == 5


def test_conventions_side_by_side(capsys: Capture) -> None:
    assert (
        main(["conventions", "run.trec", "qrels.trec", "--preset", "guide", "deephash", "--k", "3", "--json"]) == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert told["guide"]["measures"]["AP(denominator=all)@3"]["mean"] == pytest.approx(0.5, abs=1e-12)
    assert told["deephash"]["measures"]["AP(denominator=found,empty=zero)@3"]["counted"] == 4
    assert "".join(told["guide"]["why"])
    assert main(["conventions", "run.trec", "qrels.trec"]) == 0
    assert "deephash" in capsys.readouterr().out


def test_the_presets_are_listed(capsys: Capture) -> None:
    assert main(["conventions", "--list"]) == 0
    assert "market1501" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["score", "run.trec", "qrels.trec", "nDGC@10"], "nDCG"),
        (["score", "run.trec", "qrels.trec", "--preset", "guid"], "guide"),
        (["score", "gone.trec", "qrels.trec"], "gone.trec"),
        (["score", "qrels.trec", "run.trec"], "qrels.trec"),
        (["score", "run.trec", "qrels.trec", "--slices", "run.trec"], "two columns"),
        (["conventions", "run.trec"], "RUN and QRELS are needed"),
    ],
)
def test_wrong_use_is_told(capsys: Capture, words: list[str], said: str) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err
