"""``visual-search truth recall``: an index's answers from a file against a truth."""

import json
from pathlib import Path

import numpy as np
import pytest

from visual_search import Relevance, exact_neighbors, neighbor_recall
from visual_search.cli.main import main
from visual_search.tuning.attribution import attribute_loss

RNG = np.random.default_rng(11)
GALLERY = RNG.normal(size=(300, 5)).astype(np.float32)
QUERIES = RNG.normal(size=(20, 5)).astype(np.float32)
TRUTH = exact_neighbors(GALLERY, QUERIES, 10)


@pytest.fixture(autouse=True)
def returned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """The exact answers with some places lost, as an array and as a run."""
    monkeypatch.chdir(tmp_path)
    TRUTH.save("truth.npz")
    found = TRUTH.positions.copy()
    found[::2, 4] = -1
    found[1, :] = -1
    found[:, [4, 9]] = found[:, [9, 4]]  # empty places stand at the end
    np.save("found.npy", found)
    lines = [
        f"{query} Q0 {item} {rank + 1} {-rank} here\n"
        for query, row in enumerate(found)
        for rank, item in enumerate(row.tolist())
        if item >= 0
    ]
    Path("run.trec").write_text("".join(lines), "utf-8")
    return found


def test_array_and_run_give_what_python_gives(returned: np.ndarray, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("found.npy", "run.trec"):
        assert main(["truth", "recall", name, "truth.npz", "-k", "1", "10", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        for k, one in zip((1, 10), told["recall"], strict=True):
            expected = neighbor_recall(returned, TRUTH, k)
            assert one["recall"] == pytest.approx(expected.tolist(), abs=1e-12)
        assert told["recall"][1]["zero_recall_queries"] == [1]
        assert told["attribution"] is None
    assert told["notes"] == ["1 query of the truth is missing from the run and counts as an empty list: 1"]
    assert main(["truth", "recall", "run.trec", "truth.npz", "--worst", "2"]) == 0
    said = capsys.readouterr().out
    assert "NeighborRecall(ties=exact)@10 = 0.900 over 20 queries" in said
    assert "share of queries below 0.9: 0.050" in said


def test_with_right_answers_the_loss_is_split(returned: np.ndarray, capsys: pytest.CaptureFixture[str]) -> None:
    right = {query: int(TRUTH.positions[query, 4]) for query in range(20)}
    Path("qrels.trec").write_text("".join(f"{query} 0 {item} 1\n" for query, item in right.items()), "utf-8")
    words = ["truth", "recall", "run.trec", "truth.npz", "-k", "5", "10", "--qrels", "qrels.trec"]
    assert main([*words, "--report", "page.html", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["attribution"]
    lists = {
        query: {item: float(-rank) for rank, item in enumerate(row) if item >= 0}
        for query, row in enumerate(returned.tolist())
    }
    expected = attribute_loss(
        lists,
        TRUTH,
        Relevance.from_dict({query: {item: 1} for query, item in right.items()}),
        k=[5, 10],
        index="run.trec",
    )
    assert told == expected.as_json()
    assert expected[10].representation_loss == 0
    assert expected[10].index_loss == pytest.approx(11 / 20)
    page = Path("page.html").read_text("utf-8")
    assert "What the index misses among the first 10" in page
    assert "Index error and representation error" in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run.trec", "-k", "11"], "k = 11, but truth.npz is 10 deep"),
        (["run.trec", "-k", "0"], "at least one depth from 1"),
        (["short.npy"], "19 lists for the 20 queries"),
        (["floats.npy"], "ids, whole numbers, are needed"),
        (["named.trec"], "the truth's ids are whole numbers"),
        (["foreign.npy"], "not in the gallery of the truth"),
        (["run.trec", "--report", "truth.npz"], "truth.npz"),
        (["nowhere.trec"], "nowhere.trec"),
    ],
)
def test_what_cannot_be(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("short.npy", TRUTH.positions[:19])
    np.save("floats.npy", TRUTH.positions.astype(np.float32))
    np.save("foreign.npy", TRUTH.positions + 300)
    Path("named.trec").write_text("0 Q0 007 1 1.0 here\n", "utf-8")
    assert main(["truth", "recall", words[0], "truth.npz", *words[1:]]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("threshold", ["nan", "90", "-0.1"])
def test_a_threshold_that_is_no_recall_is_refused(threshold: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["truth", "recall", "found.npy", "truth.npz", f"--threshold={threshold}"]) == 2
    assert "a recall from 0 to 1 is needed" in capsys.readouterr().err
    assert main(["truth", "recall", "found.npy", "truth.npz", "--worst=-1"]) == 2
    assert "worst: got -1" in capsys.readouterr().err
