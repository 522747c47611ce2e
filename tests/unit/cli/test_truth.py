"""``visual-search truth`` as a person types it."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from visual_search import ExactNeighbors, exact_neighbors
from visual_search.cli.main import main
from visual_search.formats.neighbors import write_neighbors
from visual_search.formats.vectors import write_vectors
from visual_search.formats.vectors_hdf5 import write_hdf5
from visual_search.indexing.index_table import VectorIndex

RNG = np.random.default_rng(5)
GALLERY = RNG.normal(size=(400, 6)).astype(np.float32)
QUERIES = RNG.normal(size=(12, 6)).astype(np.float32)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_vectors("gallery.npy", GALLERY)
    write_vectors("queries.fvecs", QUERIES)


def test_build_verify_info(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["truth", "build", "gallery.npy", "queries.fvecs", "--k", "7", "-o", "t.npz"]) == 0
    assert "the 7 nearest by l2 in the full gallery of 400 items, for 12 queries" in capsys.readouterr().out
    truth = ExactNeighbors.load("t.npz")
    assert truth.fingerprint == exact_neighbors(GALLERY, QUERIES, 7).fingerprint
    assert sorted(path.name for path in Path().iterdir()) == ["gallery.npy", "queries.fvecs", "t.npz"]
    assert main(["truth", "verify", "t.npz", "gallery.npy", "queries.fvecs", "--recompute", "5", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["passed"] is True
    assert told["recomputed"] == 5
    assert main(["truth", "info", "t.npz", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["k"], told["metric"], told["certified"], told["num_queries"]) == (7, "l2", 12, 12)
    assert main(["truth", "info", "t.npz"]) == 0
    assert "certified: 12 of 12" in capsys.readouterr().out


def test_1_for_other_vectors_of_the_same_shape_2_for_no_truth(capsys: pytest.CaptureFixture[str]) -> None:
    main(["truth", "build", "gallery.npy", "queries.fvecs", "--k", "7", "-o", "t.npz"])
    write_vectors("other.npy", GALLERY[::-1])
    assert main(["truth", "verify", "t.npz", "other.npy", "queries.fvecs"]) == 1
    assert "not of these vectors" in (said := capsys.readouterr().out)
    assert "gallery: fingerprint sha256:" in said
    assert "queries:" not in said
    write_vectors("fewer.npy", GALLERY[:399])
    assert main(["truth", "verify", "t.npz", "fewer.npy", "queries.fvecs"]) == 1
    assert "399 ids here and 400 in the truth" in capsys.readouterr().out
    assert main(["truth", "verify", "gallery.npy", "gallery.npy", "queries.fvecs"]) == 2
    assert main(["truth", "build", "gallery.npy", "queries.fvecs", "--k", "401", "-o", "t.npz"]) == 2
    assert main(["truth", "build", "nowhere.npy", "queries.fvecs", "-o", "t.npz"]) == 2
    assert main(["truth", "build", "gallery.npy", "queries.fvecs", "-o", "gallery.npy"]) == 2
    assert "is no truth" in capsys.readouterr().err
    assert np.array_equal(np.load("gallery.npy"), GALLERY)
    assert main(["truth", "build", "gallery.npy", "queries.fvecs", "--memory", "lots", "-o", "t.npz"]) == 2


def test_a_wrong_answer_is_found_by_computing_it_again(capsys: pytest.CaptureFixture[str]) -> None:
    truth = exact_neighbors(GALLERY, QUERIES, 7)
    truth.positions[4, 6], truth.distances[4, 6] = 399, truth.distances[4, 6] + 1e-9
    truth.save("t.npz")
    assert main(["truth", "verify", "t.npz", "gallery.npy", "queries.fvecs"]) == 0
    assert main(["truth", "verify", "t.npz", "gallery.npy", "queries.fvecs", "--recompute", "12"]) == 1
    assert "1 differ, first 4" in capsys.readouterr().out


def test_a_truth_is_used_again_only_for_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    def origin(*words: str) -> str:
        assert main(["truth", "build", "gallery.npy", "queries.fvecs", "-o", "t.npz", "--json", *words]) == 0
        return str(json.loads(capsys.readouterr().out)[0]["origin"])

    assert origin("--k", "3") == "computed"
    assert origin("--k", "3") == "reused"
    assert origin("--k", "4") == "computed"
    assert origin("--k", "4", "--metric", "ip") == "computed"
    assert origin("--k", "4", "--metric", "inner_product") == "reused"
    write_vectors("gallery.npy", GALLERY[::-1])  # as many rows, other vectors
    assert origin("--k", "4", "--metric", "ip") == "computed"


def test_several_sets_of_queries_and_a_sample(capsys: pytest.CaptureFixture[str]) -> None:
    write_vectors("more.npy", QUERIES[:3])
    assert main(["truth", "build", "gallery.npy", "queries.fvecs", "more.npy", "--k", "5", "-o", "truths"]) == 0
    for name, queries in (("queries.fvecs", QUERIES), ("more.npy", QUERIES[:3])):
        made = ExactNeighbors.load(f"truths/{name}.npz")
        assert made.fingerprint == exact_neighbors(GALLERY, queries, 5).fingerprint
    words = [
        "truth",
        "build",
        "gallery.npy",
        "more.npy",
        "--k",
        "5",
        "-o",
        "s.npz",
        "--sample",
        "50",
        "--seed",
        "3",
    ]
    assert main(words) == 0
    assert "a sample of 50 items out of 400 (seed 3), not the full gallery" in capsys.readouterr().out
    assert main(["truth", "verify", "s.npz", "gallery.npy", "more.npy", "--recompute", "3"]) == 0
    assert main(["truth", "verify", "s.npz", "gallery.npy", "queries.fvecs"]) == 1


def test_an_index_is_a_gallery_with_its_ids_and_metric(capsys: pytest.CaptureFixture[str]) -> None:
    index = VectorIndex(metric="cosine")
    index.add([f"i{row}" for row in range(400)], GALLERY)
    index.save("faces.index")
    assert main(["truth", "build", "faces.index", "queries.fvecs", "--k", "5", "-o", "t.npz"]) == 0
    truth = ExactNeighbors.load("t.npz")
    assert truth.metric == "cosine"
    assert truth.gallery_fingerprint == index.fingerprint()
    assert truth.ids[0, 0] == index.search(QUERIES[:1], 1).listed(0)[0][0]
    assert main(["truth", "verify", "t.npz", "faces.index", "queries.fvecs", "--recompute", "2"]) == 0
    capsys.readouterr()
    assert (
        main(["truth", "build", "faces.index", "queries.fvecs", "--k", "5", "--metric", "ip", "-o", "x.npz"]) == 2
    )
    assert "says 'cosine'" in capsys.readouterr().err


def test_ground_truth_of_others_is_taken_over_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    exact = exact_neighbors(GALLERY, QUERIES, 9)
    write_neighbors("gt.ibin", exact.positions, (exact.distances**2).astype(np.float32))
    words = ["truth", "build", "gallery.npy", "queries.fvecs", "--adopt", "gt.ibin", "-o", "t.npz"]
    assert main(words) == 0
    said = capsys.readouterr()
    assert "squared distance, under l2" in said.err
    assert "certified: 0 of 12" in said.out
    mine = ExactNeighbors.load("t.npz")
    assert np.array_equal(mine.distances, exact.distances)
    assert np.array_equal(mine.positions, exact.positions)
    write_vectors("other.npy", GALLERY[::-1])
    assert main(["truth", "build", "other.npy", "queries.fvecs", "--adopt", "gt.ibin", "-o", "x.npz"]) == 2
    assert main([*words[:-1], "x.npz", "--metric", "ip"]) == 2
    assert main([*words[:-1], "x.npz", "--k", "10"]) == 2  # it is nine deep
    assert not Path("x.npz").exists()


def test_a_data_set_inside_a_file_is_named_behind_a_colon() -> None:
    write_hdf5(Path("data.hdf5"), train=GALLERY, test=QUERIES, metric="cosine")
    assert main(["truth", "build", "data.hdf5", "data.hdf5:test", "--k", "5", "-o", "t.npz"]) == 0
    assert ExactNeighbors.load("t.npz").fingerprint == exact_neighbors(GALLERY, QUERIES, 5, "cosine").fingerprint


KILLED = """
import os, signal, sys
from visual_search.cli import progress
from visual_search.cli.main import main
from visual_search.ground_truth import gallery_blocks
gallery_blocks._COMFORTABLE = 1 << 15
shown = progress.WorkProgress.advance
def advance(self, count):
    shown(self, count)
    if self._bar.tasks[0].completed > 1500:
        os.kill(os.getpid(), signal.SIGKILL)
progress.WorkProgress.advance = advance
main(sys.argv[1:])
"""


def test_a_killed_build_goes_on_from_its_last_block(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    large = np.random.default_rng(6).normal(size=(3000, 16)).astype(np.float32)
    write_vectors("large.npy", large)
    write_vectors("asked.npy", large[:20] + 0.1)
    words = ["truth", "build", "large.npy", "asked.npy", "--k", "10", "-o", "t.npz"]
    ended = subprocess.run([sys.executable, "-c", KILLED, *words], check=False, capture_output=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert not Path("t.npz").exists()
    assert Path(".t.npz.progress").exists()

    advances: list[int] = []

    class Told:
        def start(self, total: int | None) -> None:
            assert total == 3000

        def advance(self, count: int) -> None:
            advances.append(count)

    @contextmanager
    def told(_words: str, **_options: object) -> Iterator[Told]:
        yield Told()

    monkeypatch.setattr("visual_search.ground_truth.gallery_blocks._COMFORTABLE", 1 << 15)
    monkeypatch.setattr("visual_search.cli.progress.work_progress", told)
    assert main(words) == 0
    assert "certified: 20 of 20" in capsys.readouterr().out
    assert advances[0] > 1000, "what was known is not searched again"
    assert sum(advances) == 3000
    assert not Path(".t.npz.progress").exists()
    assert ExactNeighbors.load("t.npz").fingerprint == exact_neighbors(large, large[:20] + 0.1, 10).fingerprint


def test_each_query_sees_what_its_filter_allows(capsys: pytest.CaptureFixture[str]) -> None:
    allowed = [sorted(RNG.choice(400, size=size, replace=False).tolist()) for size in (0, 3, *[40] * 10)]
    expected = exact_neighbors(GALLERY, QUERIES, 7, allowed=allowed)
    Path("by-id.json").write_text(json.dumps({str(row): allowed[row] for row in reversed(range(12))}), "utf-8")
    Path("in-order.json").write_text(json.dumps(allowed), "utf-8")
    mask = np.zeros((12, 400), dtype=np.bool_)
    for row, items in enumerate(allowed):
        mask[row, items] = True
    np.save("mask.npy", mask)
    for number, name in enumerate(("by-id.json", "in-order.json", "mask.npy")):
        words = [
            "truth",
            "build",
            "gallery.npy",
            "queries.fvecs",
            "-k",
            "7",
            "--allowed",
            name,
            "-o",
            f"{number}.npz",
        ]
        assert main(words) == 0
        truth = ExactNeighbors.load(f"{number}.npz")
        assert truth.positions.tolist() == expected.positions.tolist()
        assert truth.scope.kind == "filtered"
    assert "each query's own subset, 0 to 40 of 400 items" in capsys.readouterr().out
    np.save("returned.npy", np.full((12, 7), -1))
    assert main(["truth", "recall", "returned.npy", "0.npz", "-k", "5"]) == 0
    assert "whether the answers keep to them is not checked" in capsys.readouterr().out
    assert main(["truth", "verify", "0.npz", "gallery.npy", "queries.fvecs", "--recompute", "2"]) == 2
    assert "verify it without --recompute" in capsys.readouterr().err
    assert main(["truth", "verify", "0.npz", "gallery.npy", "queries.fvecs"]) == 0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"0": [1]}, "no filter for 11 queries, first '1'"),
        ({str(row): [row] for row in range(13)}, "filters of 1 query not searched: '12'"),
        ([[1]] * 11, "11 filters for 12 queries"),
        ([[1.5]] * 12, "12 filters are no list of ids"),
        ([[400]] * 12, "ids that the gallery does not have: 400; its ids are such as 0, 1"),
        ({str(row): row for row in range(1, 13)}, "no filter for 1 query, first '0'"),
        ({str(row): row for row in range(1, 13)}, "filters of 1 query not searched: '12'"),
        ({str(row): row for row in range(1, 13)}, "11 filters are no list of ids"),
        ("all", "an object or a list of lists of ids is needed"),
    ],
)
def test_filters_that_do_not_fit(content: object, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("filters.json").write_text(json.dumps(content), "utf-8")
    build = [
        "truth",
        "build",
        "gallery.npy",
        "queries.fvecs",
        "-k",
        "7",
        "--allowed",
        "filters.json",
        "-o",
        "t.npz",
    ]
    assert main(build) == 2
    assert words in capsys.readouterr().err
    assert not Path("t.npz").exists()


def test_a_filter_goes_with_one_set_of_queries_and_no_sample(capsys: pytest.CaptureFixture[str]) -> None:
    Path("filters.json").write_text(json.dumps([[1]] * 12), "utf-8")
    build = ["truth", "build", "gallery.npy", "queries.fvecs", "--allowed", "filters.json", "-o", "t.npz"]
    assert main([*build, "--sample", "20", "--checkpoint", "kept"]) == 2
    said = capsys.readouterr().err
    assert "excludes --sample" in said
    assert "excludes --checkpoint" in said
