"""``codes``: from files to the table, the JSON and the page."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search import SharedLabels, evaluate_codes
from visual_search.cli.main import main
from visual_search.indexing.hashing import HashName, fit_hasher

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    labels = {"ql": (rng.random((20, 6)) < 0.3).astype(int), "gl": (rng.random((80, 6)) < 0.3).astype(int)}
    leaning = rng.standard_normal((6, 16))
    for side, name in (("q", "ql"), ("g", "gl")):
        vectors = labels[name] @ leaning + rng.standard_normal((len(labels[name]), 16))
        np.save(f"{side}.npy", vectors.astype(np.float32))
        np.save(f"{side}c.npy", np.where(vectors > 0, 1, -1))
        np.save(f"{side}p.npy", np.packbits(vectors > 0, axis=1))
        np.save(f"{name}.npy", labels[name])
    rows = ["a,b,c,d,e,f", *(",".join(map(str, row)) for row in labels["gl"].tolist())]
    Path("gl.csv").write_text("\n".join(rows) + "\n")


def told(capsys: Capture, *words: str) -> Any:
    assert main(["codes", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


LABELS = ("--query-labels", "ql.npy", "--gallery-labels", "gl.csv")


def test_codes_from_files_in_any_form(capsys: Capture) -> None:
    wanted = evaluate_codes(
        np.load("qc.npy"), np.load("gc.npy"), SharedLabels.of(np.load("ql.npy"), np.load("gl.npy")), ["AP"]
    )["AP"].mean
    for words in (("qc.npy", "gc.npy"), ("qp.npy", "gp.npy", "--packed")):
        study = told(capsys, *words, *LABELS)["there"]["16 bits"]
        row = study["measures"][0]
        assert row["expected"] == pytest.approx(wanted, abs=1e-12)
        assert row["worst"] < row["expected"] < row["best"]
        assert row["chance"] < row["expected"]
        assert {each["rules"] for each in study["measures"]} >= {"", "cross-modal-hashing", "deephash"}
        assert any("a tool that sorts could have printed" in note for note in study["notes"])


def test_embeddings_are_hashed_and_stand_beside_their_codes(capsys: Capture) -> None:
    found = told(capsys, "q.npy", "g.npy", *LABELS, "--hash", "itq", "--bits", "4", "8", "--measures", "AP")
    assert list(found["there"]) == ["itq, 4 bits", "itq, 8 bits"]
    hasher = fit_hasher("itq", np.load("g.npy"), bits=8)
    truth = SharedLabels.of(np.load("ql.npy"), np.load("gl.npy"))
    wanted = evaluate_codes(hasher.codes(np.load("q.npy")), hasher.codes(np.load("g.npy")), truth, ["AP"])
    assert found["there"]["itq, 8 bits"]["measures"][0]["expected"] == pytest.approx(wanted["AP"].mean)
    assert found["vectors"]["measures"]["AP(denominator=all)"]["mean"] > 0
    assert found["back"] is None


def test_both_ways_and_a_page_and_a_file(capsys: Capture) -> None:
    words = ["codes", "q.npy", "g.npy", *LABELS, "--hash", "sign", "--bits", "8", "16", "--both"]
    assert main([*words, "--page", "codes.html", "--out", "codes.json"]) == 0
    printed = capsys.readouterr()
    assert "there" in printed.out
    assert "back" in printed.out
    page = Path("codes.html").read_text("utf-8")
    for shown in ("Queries to gallery", "Gallery to queries", "against bits", "float embedding", "empty balls"):
        assert shown in page
    assert "<script" not in page
    saved = json.loads(Path("codes.json").read_text())
    assert saved["back"]["sign, 8 bits"]["num_queries"] == 80
    assert len(saved["there"]["sign, 16 bits"]["within_radius"]["radius"]) == 17


def test_one_set_leaves_each_query_out_and_collapsed_codes_are_told(capsys: Capture) -> None:
    np.save("same.npy", np.ones((20, 8)))
    np.save("classes.npy", np.repeat(["a", "b"], 10))
    study = told(capsys, "same.npy", "--query-labels", "classes.npy")["there"]["8 bits"]
    row = study["measures"][0]
    assert row["expected"] == pytest.approx(row["chance"], abs=1e-15)
    assert any("exactly that of random retrieval" in note for note in study["notes"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["q.npy", "g.npy", *LABELS], "hold other values"),
        (["qc.npy", "gc.npy", "--query-labels", "ql.npy"], "given together"),
        (["qc.npy", "--query-labels", "ql.npy", "--both"], "one set"),
        (["qc.npy", "gc.npy", *LABELS, "--bits", "8"], "how codes are to be made"),
        (["gone.npy", "--query-labels", "ql.npy"], "gone.npy"),
        (["gl.csv", "--query-labels", "ql.npy"], "not a NumPy file"),
        (
            ["qc.npy", "gc.npy", "--query-labels", "gl.npy", "--gallery-labels", "gl.npy"],
            "20 rows and the labels 80",
        ),
    ],
)
def test_wrong_use_is_told(capsys: Capture, words: list[str], said: str) -> None:
    assert main(["codes", *words]) == 2
    assert said in capsys.readouterr().err


def test_median_of_an_odd_number_of_rows_and_relu_features_need_no_more_words(capsys: Capture) -> None:
    np.save("g.npy", np.maximum(np.load("g.npy")[:79], 0))
    np.save("q.npy", np.maximum(np.load("q.npy"), 0))
    np.save("gl79.npy", np.load("gl.npy")[:79])
    labels = ("--query-labels", "ql.npy", "--gallery-labels", "gl79.npy")
    names: tuple[HashName, ...] = ("median", "sign")
    for name in names:
        found = told(capsys, "q.npy", "g.npy", *labels, "--hash", name, "--measures", "AP")
        codes = fit_hasher(name, np.load("g.npy"))
        truth = SharedLabels.of(np.load("ql.npy"), np.load("gl79.npy"))
        wanted = evaluate_codes(codes.codes(np.load("q.npy")), codes.codes(np.load("g.npy")), truth, ["AP"])
        row = found["there"][f"{name}, 16 bits"]["measures"][0]
        assert row["expected"] == pytest.approx(wanted["AP"].mean)
    assert main(["codes", "q.npy", "g.npy", *labels, "--hash", "sign", "--zeros", "refuse"]) == 2
    assert "exactly at its threshold" in capsys.readouterr().err


def test_poor_vectors_are_told_in_a_note(capsys: Capture) -> None:
    np.save("g.npy", np.repeat(np.load("g.npy")[:4], 20, axis=0))
    found = told(capsys, "q.npy", "g.npy", *LABELS, "--hash", "itq", "--bits", "8", "--measures", "AP")
    assert any("differ in 3 directions; 5 of 8 bits tell nothing" in note for note in found["notes"])


def test_labels_without_a_header_are_told(capsys: Capture) -> None:
    Path("bare.csv").write_text("\n".join(["a", "b"] * 10) + "\n")
    assert main(["codes", "qc.npy", "--query-labels", "bare.csv"]) == 2
    assert "bare.csv: 19 rows under its first line, for 20 items; the first line is the header" in (
        " ".join(capsys.readouterr().err.split())
    )


def test_signs_and_bits_need_a_word(capsys: Capture) -> None:
    np.save("gb.npy", np.maximum(np.load("gc.npy"), 0))
    assert main(["codes", "qc.npy", "gb.npy", *LABELS]) == 2
    assert "--zeros" in capsys.readouterr().err
    plain = told(capsys, "qc.npy", "gc.npy", *LABELS)["there"]["16 bits"]["measures"][0]
    named = told(capsys, "qc.npy", "gb.npy", *LABELS, "--zeros", "zero")["there"]["16 bits"]["measures"][0]
    assert named["expected"] == plain["expected"]
