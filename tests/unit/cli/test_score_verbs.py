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
    Path("run.csv").write_text(RUN.replace(" ", ","))


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
        assert len(json.loads(Path(name).read_text())["per_query_results"]) == 4
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
        (["conventions", "run.trec", "qrels.trec", "--reported", "high"], "is no number"),
        (["conventions", "run.trec", "qrels.trec", "FirstRank", "--preset", "guide"], "no rules have a measure of"),
        (["score", "qrels.trec", "run.trec"], "these lines look like qrels: are the two files exchanged?"),
        (["score", "run.trec", "run.trec"], "these lines look like a run: are the two files exchanged?"),
        (["score", "run.csv", "qrels.trec"], "fields are separated by white space, not commas"),
    ],
)
def test_wrong_use_is_told(capsys: Capture, words: list[str], said: str) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_two_examples_of_a_kind_of_bad_line_are_shown(capsys: Capture) -> None:
    assert main(["score", "run.csv", "qrels.trec"]) == 2
    said = capsys.readouterr().err
    assert said.count("  - line") == 2
    assert "  - and of the kinds above: lines 3-4\n" in said


def test_what_score_wrote_is_compared_gated_and_reported(capsys: Capture) -> None:
    places = {"old": [1, 2, 1, 3] * 5, "new": [1] * 20}
    for name, ranks in places.items():
        lines = []
        for query, place in enumerate(ranks):
            items = [f"x{n}" for n in range(place - 1)] + ["right", "y"]
            lines += [f"q{query} Q0 {item} {n + 1} {10 - n} t" for n, item in enumerate(items)]
        # A query without right answers is not evaluated.
        Path(f"{name}.trec").write_text("\n".join([*lines, "stray Q0 right 1 1 t"]) + "\n")
    Path("truth").write_text("".join(f"q{n} 0 right 1\nq{n} 0 y 0\n" for n in range(20)))
    Path("groups.tsv").write_text("".join(f"q{n}\tg{n // 2}\n" for n in range(20)))
    for name in places:
        words = [f"{name}.trec", "truth", "RR", "HitRate@1", "--groups", "groups.tsv", "--out", f"{name}.json"]
        assert main(["score", *words]) == 0
        said = capsys.readouterr()
        assert f"written: {name}.json" in said.err
        assert "HitRate" not in said.out
    record = json.loads(Path("old.json").read_text())
    assert (record["model_name"], record["dataset"], record["k_values"]) == ("old", "truth", [1])
    assert record["mrr"] == record["hit_rate_at_1"] == 0.5
    assert main(["compare", "old.json", "new.json", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["comparable"]
    assert (told["queries"], told["groups"]) == (20, 10)
    by_measure = {one["measure"]: one for one in told["contrasts"]}
    assert by_measure["RR"]["difference"] == pytest.approx(1 - (1 + 1 / 2 + 1 + 1 / 3) / 4)
    assert main(["gate", "new.json", "old.json", "--measure", "RR", "--margin", "0.01"]) == 0
    assert main(["gate", "old.json", "new.json", "--measure", "RR", "--margin", "0.01"]) == 1
    assert main(["report", "old.json", "new.json", "-o", "page.html"]) == 0
    assert 'new</bdi> <span class="muted">instead of</span> <bdi>old' in Path("page.html").read_text("utf-8")
    # Other right answers are not comparable.
    Path("truth").write_text("".join(f"q{n} 0 y 1\n" for n in range(20)))
    assert main(["score", "new.trec", "truth", "RR", "--out", "other.json", "--model-name", "mine"]) == 0
    capsys.readouterr()
    assert main(["compare", "old.json", "other.json"]) == 2
    refused = capsys.readouterr().err
    assert "relevance (the right answers)" in refused
    assert "'mine'" in refused
    assert "give --despite a reason" in refused
    assert main(["compare", "old.json", "new.json", "--measure", "mRR@5"]) == 2
    capsys.readouterr()
    assert main(["compare", "old.json", "new.json", "--measure", "mrr_at_5"]) == 2
    assert "did you mean RR?" in capsys.readouterr().err


def test_measures_may_be_named_with_a_flag_and_by_the_guides_names(capsys: Capture) -> None:
    found = scored(capsys, "run.trec", "qrels.trec", "--measure", "hit_rate_at_1", "--measure", "mrr_at_5")
    assert list(found) == ["HitRate@1", "RR@5"]


def test_a_warning_notes_and_the_mean_of_the_queries_are_told(capsys: Capture) -> None:
    assert main(["score", "run.trec", "qrels.trec", "RR", "--per-query"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[-1].split() == ["mean", "0.4722"]
    assert "note: no groups given" in said.err
    Path("other").write_text("q1 0 d8 1\nq2 0 d9 1\n")
    assert main(["score", "run.trec", "other", "RR"]) == 0
    assert "warning: " in capsys.readouterr().err


def test_an_interval_without_width_is_marked(capsys: Capture) -> None:
    Path("sure.trec").write_text("".join(f"q{n} Q0 a 1 1.0 t\n" for n in range(30)))
    Path("truth").write_text("".join(f"q{n} 0 a 1\n" for n in range(30)))
    Path("groups.tsv").write_text("".join(f"q{n}\tg{n // 3}\n" for n in range(30)))
    assert main(["score", "sure.trec", "truth", "HitRate@1", "--groups", "groups.tsv"]) == 0
    said = capsys.readouterr().out
    assert "1.0000*" in said
    assert "* all 10 groups agree" in said
    assert "up to 25.9 % of groups may still differ" in said
    assert main(["score", "sure.trec", "truth", "HitRate@1", "--groups", "groups.tsv", "--out", "sure.json"]) == 0
    assert main(["report", "sure.json", "-o", "page.html"]) == 0
    page = Path("page.html").read_text("utf-8")
    assert "1.000–1.000*" in page
    assert "* All 10 groups agree" in page


def test_conventions_of_one_family_and_where_a_published_value_comes_from(capsys: Capture) -> None:
    words = ["conventions", "run.trec", "qrels.trec", "AP@3", "--preset", "guide", "torchmetrics"]
    assert main([*words, "--reported", "0.500"]) == 0
    table = capsys.readouterr().out.split("\n\n")[0].splitlines()
    assert all("AP(" in line for line in table[1:])
    assert [line.split()[0] for line in table if line.endswith("= 0.500")] == ["guide"]
    assert main([*words, "--reported", "0.9"]) == 0
    assert "no row rounds to 0.9" in capsys.readouterr().out
    assert main([*words, "--reported", "0.5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["guide"]["reported"] == ["AP(denominator=all)@3"]
