"""Where ``visual-search truth build`` writes, and what it says of a place before any work is done for it."""

import os
from pathlib import Path

import numpy as np
import pytest

from visual_search import ExactNeighbors
from visual_search.cli.main import main
from visual_search.errors import InputError
from visual_search.formats.neighbors import write_neighbors
from visual_search.formats.outputs import written_file
from visual_search.formats.vectors import write_vectors
from visual_search.workflows import truth_build

RNG = np.random.default_rng(5)
BUILD = ["truth", "build", "gallery.npy", "queries.npy", "-k", "3", "-o"]
SEVERAL = ["truth", "build", "gallery.npy", "queries.npy", "more.npy", "-k", "3", "-o"]
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    gallery = RNG.normal(size=(50, 4)).astype(np.float32)
    write_vectors("gallery.npy", gallery)
    write_vectors("queries.npy", gallery[:5])
    write_vectors("more.npy", gallery[:2])


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*_: object, **__: object) -> None:
        raise AssertionError("vectors were opened")

    monkeypatch.setattr(truth_build, "placed_vectors", opened)


def test_a_link_to_a_truth_stays_one(capsys: Capture) -> None:
    Path("kept").mkdir()
    assert main([*BUILD, "kept/t.npz"]) == 0
    old = ExactNeighbors.load("kept/t.npz")
    Path("link.npz").symlink_to("kept/t.npz")
    assert main([*BUILD, "link.npz"]) == 0
    assert "link.npz (reused)" in capsys.readouterr().out
    assert main([*BUILD[:-3], "-k", "4", "-o", "link.npz"]) == 0
    assert "link.npz (computed)" in capsys.readouterr().out
    assert Path("link.npz").is_symlink()
    assert (old.k, ExactNeighbors.load("kept/t.npz").k) == (3, 4)
    assert [path.name for path in Path("kept").iterdir()] == ["t.npz"]
    assert main(["truth", "verify", "link.npz", "gallery.npy", "queries.npy"]) == 0


@pytest.mark.usefixtures("no_work")
def test_a_link_to_nothing_a_folder_and_a_pipe_are_refused_first(capsys: Capture) -> None:
    Path("lost.npz").symlink_to("gone.npz")
    Path("folder").mkdir()
    Path("to-folder").symlink_to("folder")
    os.mkfifo("pipe")
    for out, words in (
        ("lost.npz", "lost.npz is a link that leads to no file"),
        ("to-folder", "to-folder is a folder; name a file in it"),
        ("pipe", "pipe is a device, pipe or socket"),
        ("folder/", "folder/ is a folder; name a file in it, as folder/queries.truth.npz"),
        ("new/", "new/ names a folder; give a file"),
    ):
        for build in ([*BUILD, out], [*BUILD[:4], "--adopt", "gt.ivecs", "-o", out]):
            assert main(build) == 2
            assert words in capsys.readouterr().err
    assert Path("lost.npz").is_symlink()
    assert not Path("gone.npz").exists()
    assert not Path("new").exists()


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("name", ["t.npz", "T.NPZ"])
def test_several_sets_of_queries_do_not_become_one_file(name: str, capsys: Capture) -> None:
    assert main([*SEVERAL, name]) == 2
    said = capsys.readouterr().err
    assert f"out: {name} names one file, but 2 sets of queries become a file each; name a folder for them" in said
    assert not Path(name).exists()


@pytest.mark.usefixtures("no_work")
def test_several_sets_go_to_a_folder_that_takes_them(capsys: Capture) -> None:
    Path("there").write_text("mine", "utf-8")
    assert main([*SEVERAL, "there"]) == 2
    assert "there is there and is no folder; 2 sets of queries need one" in capsys.readouterr().err
    Path("truths").mkdir()
    Path("truths/more.npy.npz").symlink_to("gone")
    assert main([*SEVERAL, "truths"]) == 2
    assert "truths/more.npy.npz is a link that leads to no file" in capsys.readouterr().err
    assert [path.name for path in Path("truths").iterdir()] == ["more.npy.npz"]


def test_a_folder_is_taken_by_any_name_and_not_made_for_nothing() -> None:
    assert main(["truth", "build", "none.npy", "queries.npy", "more.npy", "-o", "truths"]) == 2
    assert not Path("truths").exists()
    Path("old.npz").mkdir()
    for out in ("old.npz", "truths", "made/"):
        assert main([*SEVERAL, out]) == 0
        assert len(list(Path(out).iterdir())) == 2


@pytest.mark.usefixtures("no_work")
def test_another_file_at_the_output_is_told_before_a_truth_is_taken_over(capsys: Capture) -> None:
    write_neighbors("gt.ivecs", [[0, 1]] * 5)
    Path("mine.txt").write_text("mine", "utf-8")
    assert main([*BUILD[:4], "--adopt", "gt.ivecs", "-o", "mine.txt"]) == 2
    assert "mine.txt is there and is no truth" in capsys.readouterr().err
    assert Path("mine.txt").read_text("utf-8") == "mine"


def test_verify_and_info_tell_of_bytes_behind_the_end(capsys: Capture) -> None:
    assert main([*BUILD, "t.npz"]) == 0
    with Path("t.npz").open("ab") as stream:
        stream.write(b"left behind")
    for words in (["verify", "t.npz", "gallery.npy", "queries.npy"], ["info", "t.npz"]):
        assert main(["truth", *words]) == 2
        assert "t.npz: 11 bytes behind its end" in capsys.readouterr().err


def test_all_sets_of_queries_are_looked_at_before_one_is_searched(capsys: Capture) -> None:
    write_vectors("wide.npy", np.ones((3, 5), dtype=np.float32))
    write_vectors("broken.npy", np.full((3, 4), np.nan, dtype=np.float32))
    sets = ["truth", "build", "gallery.npy", "queries.npy", "wide.npy", "broken.npy", "-k", "3", "-o", "truths"]
    assert main(sets) == 2
    said = capsys.readouterr().err
    assert "queries: 2 problems" in said
    assert "gallery has dimension 4 and queries have 5" in said
    assert "broken.npy: queries: rows 0, 1, 2 have NaN or infinity" in said
    assert not Path("truths").exists()


@pytest.mark.usefixtures("no_work")
def test_all_files_that_would_be_lost_are_told(capsys: Capture) -> None:
    Path("truths").mkdir()
    for name in ("queries.npy", "more.npy"):
        Path("truths", f"{name}.npz").write_text("mine", "utf-8")
    assert main([*SEVERAL, "truths"]) == 2
    said = capsys.readouterr().err
    assert "out: 2 problems" in said
    assert said.count("is there and is no truth") == 2


def test_a_file_in_place_of_the_folder_of_checkpoints(capsys: Capture) -> None:
    Path("mine").write_text("mine", "utf-8")
    for place in ("mine", "mine/folder"):
        assert main([*BUILD, "t.npz", "--checkpoint", place]) == 2
        assert (
            f"checkpoint: {place} cannot be made, since a file or link is in its place" in capsys.readouterr().err
        )


def test_a_pipe_or_folder_is_no_truth_and_is_not_waited_for(capsys: Capture) -> None:
    os.mkfifo("pipe")
    for place in ("pipe", "."):
        assert main(["truth", "info", place]) == 2
        assert f"{place}: a folder, pipe or device; a truth is a file" in capsys.readouterr().err


def test_what_the_output_of_a_program_leads_to_is_no_file() -> None:
    read, write = os.pipe()
    link = Path("stdout")
    link.symlink_to(f"/proc/self/fd/{write}")
    with pytest.raises(InputError, match="device, pipe or socket"):
        written_file(link)
    os.close(read)
    os.close(write)
