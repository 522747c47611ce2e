"""``sweep`` and ``choose`` on files."""

import json
from pathlib import Path

import numpy as np
import pytest

from visual_search.cli.main import main
from visual_search.formats.vectors import write_vectors
from visual_search.testing.exact_answers import exact_by_brute_force


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    centres = 2 * rng.normal(size=(20, 8))
    gallery = (centres[rng.integers(0, 20, 800)] + rng.normal(size=(800, 8))).astype(np.float32)
    queries = (centres[rng.integers(0, 20, 200)] + rng.normal(size=(200, 8))).astype(np.float32)
    np.save(tmp_path / "base.npy", gallery)
    np.save(tmp_path / "q.npy", queries)
    exact_by_brute_force(gallery, queries, 10).save(tmp_path / "truth.npz")
    return tmp_path


def swept(folder: Path, *more: str) -> int:
    given = ["--vectors", str(folder / "base.npy"), "--queries", str(folder / "q.npy")]
    return main(["sweep", *given, "-o", str(folder / "sweep.jsonl"), *more])


def test_sweep_then_choose(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--truth", str(folder / "truth.npz"), "--engine", "ivf(nlist=16)", "--set", "nprobe=1,4,16"]
    assert swept(folder, *asked, "--rate", "5000") == 0
    shown = capsys.readouterr().out
    assert "ivf(nlist=16) nprobe=4" in shown
    assert "95th percentile" in shown
    assert "5000 queries/s for 1 at a time" in shown
    assert swept(folder, *asked, "--rate", "5000", "--json") == 0  # all there: nothing is measured again
    assert len(json.loads(capsys.readouterr().out)["points"]) == 3
    figure, report = folder / "front.svg", folder / "page.html"
    file = str(folder / "sweep.jsonl")
    assert main(["choose", file, "--target-recall", ".9", "--figure", str(figure), "--report", str(report)]) == 0
    words, told = capsys.readouterr()
    assert f"figure: {figure}\nreport: {report}\n" in told
    assert "chosen: ivf(nlist=16) nprobe=" in words
    assert figure.read_text().startswith("<?xml")
    page = report.read_text("utf-8")
    assert words.splitlines()[-4].partition(" at ")[0] in page
    assert page.count('class="figure"') == 3  # latency, throughput, size
    assert main(["choose", file, "--target-recall", ".999", "--json"]) == 1
    uncertain = json.loads(capsys.readouterr().out)
    assert uncertain["certified"] is False
    assert uncertain["words"].startswith("not certified at 160 validation queries")


def test_a_name_that_ends_in_a_slash_is_a_folder_and_the_file_in_it_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--vectors", str(folder / "base.npy"), "--queries", str(folder / "q.npy")]
    asked = [*given, "--truth", str(folder / "truth.npz"), "--engine", "flat", "--no-costs"]
    assert main(["sweep", *asked, "-o", f"{folder}/sweeps/"]) == 0
    (file,) = (folder / "sweeps").iterdir()
    assert f"sweep: {file}\n" in capsys.readouterr().err
    assert main(["sweep", *asked, "-o", f"{folder}/sweeps/", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == str(file)
    queries = str(folder / "q.npy")
    assert main(["truth", "build", str(folder / "base.npy"), queries, "-k", "5", "-o", f"{folder}/truths/"]) == 2
    assert "names a folder; give a file" in capsys.readouterr().err
    assert not (folder / "truths").exists()


def test_tuned_on_relevance_with_groups(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gallery, queries = np.load(folder / "base.npy"), np.load(folder / "q.npy")
    nearest = exact_by_brute_force(gallery, queries, 3).ids
    (folder / "right.json").write_text(json.dumps({str(row): {str(nearest[row, 2]): 1} for row in range(200)}))
    asked = ["--qrels", str(folder / "right.json"), "--metric", "l2", "--engine", "hnsw", "--set", "ef_search=64"]
    code = swept(folder, *asked, "--measure", "HitRate@10", "--no-costs")
    out = capsys.readouterr()
    assert code == 0, out.err
    assert "cost not measured" in out.out
    (folder / "groups.csv").write_text("query,scene\n" + "".join(f"{row},s{row // 2}\n" for row in range(200)))
    file = str(folder / "sweep.jsonl")
    more = ["--measure", "HitRate@10", "--groups", str(folder / "groups.csv"), "--json"]
    assert main(["choose", file, "--target", ".9", *more]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["validation"] == {"queries": 160, "groups": 80}
    assert told["cost"] is None


def test_wrong_use_says_how(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    truth = ["--truth", str(folder / "truth.npz")]
    assert swept(folder, *truth, "--engine", "ivf(nlist=16)", "--set", "nprobe") == 2
    assert "setting=value,value" in capsys.readouterr().err
    np.save(folder / "q.npy", np.load(folder / "q.npy") + 1)
    assert swept(folder, *truth, "--engine", "flat") == 2
    assert "queries" in capsys.readouterr().err
    assert not (folder / "sweep.jsonl").exists()
    (folder / "sweep.jsonl").write_text("{}\n")
    assert main(["choose", str(folder / "sweep.jsonl"), "--target", ".9"]) == 2
    assert "no finished record" in capsys.readouterr().err


def test_a_report_is_not_written_over_the_sweep(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--truth", str(folder / "truth.npz"), "--engine", "flat", "--no-costs"]
    assert swept(folder, *asked) == 0
    file = folder / "sweep.jsonl"
    before = file.read_bytes()
    assert main(["choose", str(file), "--target-recall", ".9", "--report", str(file)]) == 2
    assert "would be written over what is read" in capsys.readouterr().err
    assert file.read_bytes() == before
    page = str(folder / "page.svg")
    assert main(["choose", str(file), "--target-recall", ".9", "--report", page, "--figure", page]) == 2
    assert not Path(page).exists()


def test_groups_with_and_without_a_first_line_and_with_an_unknown_query(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--truth", str(folder / "truth.npz"), "--engine", "flat", "--no-costs"]
    assert swept(folder, *asked) == 0
    table = folder / "groups.csv"
    lines = [f"{query},scene {query // 2}" for query in range(200)]
    for first in ([], ["query,group"]):
        table.write_text("\n".join([*first, *lines]))
        assert main(["choose", str(folder / "sweep.jsonl"), "--target", ".9", "--groups", str(table)]) == 0
        assert "160 validation queries in 80 groups" in capsys.readouterr().out
    table.write_text("\n".join(["2OO,scene 0", *lines]))
    assert main(["choose", str(folder / "sweep.jsonl"), "--target", ".9", "--groups", str(table)]) == 2
    assert "'2OO'" in capsys.readouterr().err


def test_right_answers_where_only_one_side_has_ids_of_its_own(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gallery = np.load(folder / "base.npy")
    names = [f"photo {row}" for row in range(len(gallery))]
    write_vectors(folder / "base.parquet", gallery, ids=names)
    exact = exact_by_brute_force(gallery, np.load(folder / "q.npy"), 1)
    right = {str(query): {names[row]: 1} for query, (row,) in enumerate(exact.positions.tolist())}
    (folder / "qrels.json").write_text(json.dumps(right))
    given = ["--vectors", str(folder / "base.parquet"), "--queries", str(folder / "q.npy"), "--metric", "l2"]
    given += ["--qrels", str(folder / "qrels.json"), "--engine", "flat", "--no-costs", "--json"]
    assert main(["sweep", *given, "-o", str(folder / "named.jsonl")]) == 0
    assert json.loads(capsys.readouterr().out)["points"][0]["means"] == {"HitRate@10": 1.0}
    (folder / "qrels.json").write_text(json.dumps({"q-one": {names[0]: 1}}))
    assert main(["sweep", *given, "-o", str(folder / "named.jsonl")]) == 2
    told = json.loads(capsys.readouterr().out)["error"]["message"]
    assert "queries: 1 ids are no row numbers, first: 'q-one'" in told
    assert "items" not in told


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (["--rate", "nan"], "rate: got nan"),
        (["--rate", "inf"], "rate: got inf"),
        (["--rate", "0"], "rate: got 0.0"),
        (["--rate", "1e300"], "at most 1,000,000,000"),
        (["--rate", "1e-6"], "take 11,574.1 days; give a rate of at least 0.012"),
        (["--time-limit", "0"], "time_limit: got 0.0; must be seconds, above 0"),
        (["--time-limit", "nan"], "time_limit: got nan"),
        (["--time-limit", "2", "--rate", "100"], "1,000 queries at 100 a second take 10.0 s by themselves"),
        (
            ["--set", "nprobe=3"],
            "nprobe: no engine of the sweep has it; known: hnsw: m, ef_construction, ef_search",
        ),
        (["--seed", "-1"], "seed is -1; a whole number of at least 0"),
        (["--set", "ef_search=16", "--set", "hnsw.ef_search=32"], "given for all engines and for hnsw alone"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is_built(
    folder: Path, capsys: pytest.CaptureFixture[str], asked: list[str], words: str
) -> None:
    assert swept(folder, "--truth", str(folder / "truth.npz"), "--engine", "hnsw", *asked) == 2
    assert words in capsys.readouterr().err
    assert not (folder / "sweep.jsonl").exists()


def test_all_that_is_wrong_with_a_choice_is_told_at_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert swept(folder, "--truth", str(folder / "truth.npz"), "--engine", "flat", "--no-costs") == 0
    capsys.readouterr()
    asked = ["--target", "7", "--confidence", "1e-300", "--test-share", "4", "--threshold", "8", "--seed", "-4"]
    assert main(["choose", str(folder / "sweep.jsonl"), *asked]) == 2
    told = capsys.readouterr().err
    for words in (
        "5 problems",
        "target: got 7.0",
        "confidence: got 1e-300",
        "test_share: got 4.0",
        "threshold: got 8.0",
        "seed is -4",
    ):
        assert words in told, words


def test_where_settings_go_is_said_before_anything_is_measured(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engines = ["--engine", "hnswlib(m=8)", "--engine", "faiss(factory=IVF4,Flat)"]
    asked = ["--truth", str(folder / "truth.npz"), *engines, "--set", "ef_search=16,32", "--no-costs"]
    assert swept(folder, *asked) == 0
    table, told = capsys.readouterr()
    assert "ef_search goes to hnswlib(m=8), not to faiss(factory=IVF4,Flat)" in told.splitlines()[0]
    assert [line.split("  ")[0] for line in table.splitlines()[1:4]] == [
        "hnswlib(m=8) ef_search=16",
        "hnswlib(m=8) ef_search=32",
        "faiss(factory=IVF4,Flat)",
    ]
    assert swept(folder, *asked, "--json") == 0
    assert json.loads(capsys.readouterr().out)["applied"] == {"ef_search": ["hnswlib(m=8)"]}


def test_a_stopped_sweep_says_what_is_kept_and_how_to_go_on(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("visual_search.workflows.sweep.sweep_files", interrupted)
    assert swept(folder, "--truth", str(folder / "truth.npz"), "--engine", "flat") == 130
    told = capsys.readouterr().err
    assert f"stands in {folder / 'sweep.jsonl'}; the same command again goes on from there\nstopped\n" in told


def test_a_setting_that_takes_too_long_is_told_by_every_verb(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # No build of so wide a graph takes a hundredth of a second; the process itself begins before the clock does.
    asked = ["--truth", str(folder / "truth.npz"), "--engine", "hnsw(m=64,ef_construction=4000)"]
    assert swept(folder, *asked, "--no-costs", "--time-limit", "0.01") == 0
    table, told = capsys.readouterr()
    assert "build not finished within 0.01 s" in table
    assert "1 setting was given up" in told
    assert main(["choose", str(folder / "sweep.jsonl"), "--target-recall", ".9"]) == 2
    assert "no point is finished; 1 setting was given up" in capsys.readouterr().err
    more = ["--truth", str(folder / "truth.npz"), "--engine", "flat", "--no-costs"]
    assert swept(folder, *more) == 0
    capsys.readouterr()
    page = folder / "page.html"
    assert (
        main(["choose", str(folder / "sweep.jsonl"), "--target-recall", ".9", "--json", "--report", str(page)]) == 0
    )
    (late,) = json.loads(capsys.readouterr().out)["not_finished"]
    assert (late["step"], late["seconds"]) == ("build", 0.01)
    assert "<td>build not finished within 0.01 s</td>" in page.read_text("utf-8")
