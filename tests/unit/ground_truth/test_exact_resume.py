"""A search larger than its memory reads block by block; a killed one goes on and ends the same."""

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.errors import InputError
from visual_search.ground_truth.exact_checkpoint import Checkpoint, search_key
from visual_search.ground_truth.exact_search import search_exactly
from visual_search.ground_truth.nearest_so_far import NearestSoFar


def _oracle() -> Any:
    spec = importlib.util.spec_from_file_location("exact_oracle", Path(__file__).with_name("exact_oracle.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


oracle = _oracle()

Array = np.ndarray[Any, Any]


class Stop:
    """Ends a search after some blocks, as a kill would."""

    def __init__(self, blocks: int) -> None:
        self.blocks = blocks
        self.total: int | None = None
        self.done: list[int] = []

    def start(self, total: int | None) -> None:
        self.total = total

    def advance(self, count: int) -> None:
        self.done.append(count)
        if len(self.done) > self.blocks:
            raise KeyboardInterrupt


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("visual_search.ground_truth.gallery_blocks._COMFORTABLE", 1 << 15)


def mapped(folder: Path) -> Array:
    np.save(folder / "gallery.npy", np.random.default_rng(5).normal(size=(3000, 16)).astype(np.float32))
    loaded: Array = np.load(folder / "gallery.npy", mmap_mode="r")
    return loaded


@pytest.mark.usefixtures("small_blocks")
def test_a_stopped_search_goes_on(tmp_path: Path) -> None:
    gallery = mapped(tmp_path)
    queries = np.array(gallery[:30])
    whole = search_exactly(gallery, queries, 10)
    kept = tmp_path / "kept.npz"
    with pytest.raises(KeyboardInterrupt):
        search_exactly(gallery, queries, 10, checkpoint=kept, progress=Stop(4))
    assert kept.exists()
    rest = Stop(100)
    oracle.assert_same(search_exactly(gallery, queries, 10, checkpoint=kept, progress=rest), whole)
    assert rest.done[0] > 0, "some rows were known"
    assert sum(rest.done) == rest.total == 3000
    assert not kept.exists()


@pytest.mark.usefixtures("small_blocks")
def test_another_search_does_not_go_on_from_it(tmp_path: Path) -> None:
    gallery = mapped(tmp_path)
    queries = np.array(gallery[:30])
    kept = tmp_path / "kept.npz"
    with pytest.raises(KeyboardInterrupt):
        search_exactly(gallery, queries, 10, checkpoint=kept, progress=Stop(4))
    for other in ({"queries": queries[::-1]}, {"metric": "cosine"}, {"k": 11}, {"gallery": np.array(gallery)}):
        asked: dict[str, Any] = {"gallery": gallery, "queries": queries, "k": 10, "metric": "l2"} | other
        first = Stop(0)
        before = kept.read_bytes()
        with pytest.raises(KeyboardInterrupt):
            search_exactly(**asked, checkpoint=kept, progress=first)
        assert first.done == [0], other
        assert kept.read_bytes() == before


def test_a_damaged_file_is_begun_anew(tmp_path: Path) -> None:
    gallery = mapped(tmp_path)
    queries = np.array(gallery[:3])
    key = search_key(gallery, queries, k=2)
    kept = Checkpoint(tmp_path / "kept.npz", key)
    nearest = NearestSoFar(3, 2, 1)
    assert kept.load(nearest) == 0
    kept.save(nearest, 77)
    assert kept.load(nearest) == 77
    assert kept.load(NearestSoFar(3, 2, 2)) == 0
    data = (tmp_path / "kept.npz").read_bytes()
    for length in (0, 1, 50, len(data) // 2, len(data) - 1):
        (tmp_path / "kept.npz").write_bytes(data[:length])
        assert kept.load(nearest) == 0


@pytest.mark.parametrize("kind", ["text", "npy", "archive", "broken npy"])
def test_what_is_no_progress_is_neither_written_over_nor_removed(kind: str, tmp_path: Path) -> None:
    gallery = mapped(tmp_path)
    place = tmp_path / "precious"
    with place.open("wb") as stream:
        if kind == "text":
            stream.write(b"hello")
        elif kind == "broken npy":
            stream.write(b"\x93NUMPY\x01\x00\x40\x00" + b"(" * 63 + b"\n")
        elif kind == "npy":
            np.save(stream, np.zeros(3))
        else:
            np.savez(stream, mine=np.zeros(3))
    before = place.read_bytes()
    with pytest.raises(InputError, match="holds something else than the progress of a search"):
        search_exactly(gallery, np.array(gallery[:3]), 2, checkpoint=place)
    assert place.read_bytes() == before


def test_a_changed_file_is_another_gallery(tmp_path: Path) -> None:
    gallery = mapped(tmp_path)
    before = search_key(gallery, gallery[:3])
    os.utime(tmp_path / "gallery.npy", ns=(1, 1))
    assert search_key(gallery, gallery[:3]) != before


KILLED = """
import os, signal, sys
import numpy as np
import visual_search.ground_truth.gallery_blocks as blocks
from visual_search.ground_truth.exact_search import search_exactly
blocks._COMFORTABLE = 1 << 15
class Kill:
    seen = 0
    def start(self, total): pass
    def advance(self, count):
        self.seen += count
        if self.seen > 1500: os.kill(os.getpid(), signal.SIGKILL)
gallery = np.load(sys.argv[1], mmap_mode="r")
search_exactly(gallery, np.array(gallery[:30]), 10, checkpoint=sys.argv[2], progress=Kill())
"""


@pytest.mark.usefixtures("small_blocks")
def test_a_killed_process_goes_on(tmp_path: Path) -> None:
    gallery = mapped(tmp_path)
    kept = tmp_path / "kept.npz"
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "gallery.npy"), str(kept)], check=False, capture_output=True
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    rest = Stop(1000)
    queries = np.array(gallery[:30])
    resumed = search_exactly(gallery, queries, 10, checkpoint=kept, progress=rest)
    assert rest.done[0] > 1000
    oracle.assert_same(resumed, search_exactly(gallery, queries, 10))


def test_one_changed_row_of_a_gallery_in_memory_is_another_gallery(tmp_path: Path) -> None:
    """Of 5,000 rows a sample of 1,024 would not see it, and the old answers would pass as certified."""
    rng = np.random.default_rng(4)
    gallery = rng.normal(size=(5000, 4)).astype(np.float32)
    changed = gallery.copy()
    changed[1] = 0.0
    settings = {"k": 3, "metric": "l2", "tie_cap": 100}
    assert search_key(gallery, gallery[:2], **settings) == search_key(gallery.copy(), gallery[:2], **settings)
    assert search_key(gallery, gallery[:2], **settings) != search_key(changed, gallery[:2], **settings)
    queries = np.zeros((1, 4), dtype=np.float32)
    stale = NearestSoFar(1, 3, 100)
    stale.rows[0, :3], stale.distances[0, :3] = [7, 8, 9], [0.25, 0.5, 0.75]
    place = tmp_path / "kept"
    Checkpoint(place, search_key(gallery, queries, **settings)).save(stale, 5000)
    found = search_exactly(changed, queries, 3, metric="l2", checkpoint=place)
    assert found.positions[0, 0] == 1
    assert found.distances[0, 0] == 0.0
