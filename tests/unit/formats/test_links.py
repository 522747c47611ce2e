"""What is written onto a link goes to what the link leads to, whatever the format."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from visual_search import ExactNeighbors, exact_neighbors
from visual_search.errors import InputError
from visual_search.formats.atomic import atomic_write, write_json, write_text
from visual_search.formats.neighbors import write_neighbors
from visual_search.formats.outputs import refuse_overwriting
from visual_search.formats.result_copy import copy_result
from visual_search.formats.results import check_result_path, read_result
from visual_search.formats.vectors import VECTOR_FORMATS, write_vectors
from visual_search.testing.sample_pool import sample_pool
from visual_search.testing.sample_results import sample_results

TYPES = {"bvecs": "u1", "ivecs": "i4", "ibin": "i4", "u8bin": "u1", "i8bin": "i1", "f16bin": "f2"}


def array(name: str) -> np.ndarray:
    return np.arange(6).reshape(3, 2).astype(TYPES.get(name, "f4"))


def written(name: str, path: Path) -> None:
    write_vectors(path, array(name), format=name)


WRITERS: dict[str, Callable[[Path], object]] = {
    "text": lambda path: write_text(path, "new"),
    "json": lambda path: write_json(path, {"new": 1}),
    "truth": lambda path: exact_neighbors(np.eye(3), np.eye(3), 1).save(path),
    "neighbors": lambda path: write_neighbors(path, [[0]], np.array([[0.5]]), format="ibin"),
    **{f"vectors as {name}": partial(written, name) for name in VECTOR_FORMATS},
}


@pytest.fixture
def link(tmp_path: Path) -> Path:
    """A link in one folder through a second link to a file in another."""
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    (tmp_path / "there" / "real").write_text("old", "utf-8")
    (tmp_path / "there" / "second").symlink_to("real")
    link = tmp_path / "here" / "link"
    link.symlink_to(Path("..") / "there" / "second")
    return link


@pytest.mark.parametrize("kind", WRITERS)
def test_the_link_stays_and_what_it_leads_to_is_new(kind: str, link: Path, tmp_path: Path) -> None:
    WRITERS[kind](link)
    WRITERS[kind](tmp_path / "plain")
    real = tmp_path / "there" / "real"
    assert link.is_symlink()
    assert real.with_name("second").is_symlink()
    assert not real.is_symlink()
    if kind != "vectors as hdf5":
        assert real.read_bytes() == (tmp_path / "plain").read_bytes()
    else:
        assert real.stat().st_size == (tmp_path / "plain").stat().st_size
    assert sorted(path.name for path in link.parent.iterdir()) == ["link"]
    assert sorted(path.name for path in real.parent.iterdir()) == ["real", "second"]


def test_a_write_that_fails_leaves_link_and_file_as_they_were(link: Path) -> None:
    def half() -> None:
        with atomic_write(link) as stream:
            stream.write(b"half")
            raise ValueError("broke off")

    with pytest.raises(ValueError, match="broke off"):
        half()
    assert link.read_text("utf-8") == "old"
    assert sorted(path.name for path in link.resolve().parent.iterdir()) == ["real", "second"]


@pytest.mark.parametrize("kind", WRITERS)
def test_a_link_to_nothing_and_one_to_a_folder_are_refused_and_stay(kind: str, tmp_path: Path) -> None:
    lost, folder = tmp_path / "lost", tmp_path / "folder"
    lost.symlink_to(tmp_path / "gone" / "file")
    folder.symlink_to(tmp_path)
    for path, words in ((lost, "leads to no file .*gone/file is not there"), (folder, "a link to .*, is a folder")):
        with pytest.raises(InputError, match=words):
            WRITERS[kind](path)
        assert path.is_symlink()
    assert not (tmp_path / "gone").exists()


def test_outputs_that_no_file_can_be_written_to_are_told_together_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "lost").symlink_to(tmp_path / "gone")
    os.mkfifo(tmp_path / "pipe")
    written = {"--out": tmp_path / "lost", "--page": tmp_path / "pipe", "--figure": tmp_path}
    with pytest.raises(InputError, match="3 problems") as found:
        refuse_overwriting(written, [])
    for words in ("--out: .*leads to no file", "--page: .*pipe or socket", "--figure: .*is a folder"):
        with pytest.raises(InputError, match=words):
            raise found.value
    refuse_overwriting({"--out": tmp_path}, [], folders=True)


def test_a_result_goes_with_its_companions_to_where_the_link_leads(tmp_path: Path) -> None:
    stored = sample_results(tmp_path / "one")[0]
    real, link = stored.path, tmp_path / "latest.json"
    link.symlink_to(real)
    through = read_result(link)
    assert through.ranking() == stored.ranking()
    item = stored.queries()["query"][0].as_py()
    assert through.query_location(item) == stored.query_location(item)
    assert copy_result(through, real.with_name("copy.json")).queries() == stored.queries()
    beside = link.parent
    beside_before = sorted(beside.iterdir())
    copied = copy_result(read_result(real.with_name("copy.json")), _linked(beside / "second.json", real))
    assert copied.path == real.resolve()
    assert read_result(real).ranking() == copied.ranking()
    assert sorted(beside.iterdir()) == sorted([*beside_before, beside / "second.json"])


def _linked(link: Path, real: Path) -> Path:
    link.symlink_to(real)
    return link


def test_a_link_to_what_cannot_be_a_result_s_name_says_so(tmp_path: Path) -> None:
    (tmp_path / "blob").write_text("mine", "utf-8")
    with pytest.raises(InputError, match=r"latest\.json leads to 'blob'; a result is JSON"):
        check_result_path(_linked(tmp_path / "latest.json", tmp_path / "blob"))


def test_links_to_a_record_and_to_each_companion_read_too(tmp_path: Path) -> None:
    stored = sample_results(tmp_path / "one")[0]
    store, view = tmp_path / "store", tmp_path / "view"
    store.mkdir()
    view.mkdir()
    for number, name in enumerate([stored.path.name, *stored.record["files"].values()]):
        stored.path.with_name(name).rename(store / str(number))
        (view / name).symlink_to(store / str(number))
    assert len(read_result(view / stored.path.name).ranking()) > 0


def test_a_pool_goes_with_its_companions_to_where_the_link_leads(tmp_path: Path) -> None:
    from visual_search.judging.pool import Pool

    pool = Pool.load(sample_pool(tmp_path / "one"))
    real = tmp_path / "there" / "pool.json"
    pool.save(real)
    link = _linked(tmp_path / "pool.json", real)
    assert Pool.load(link) == pool
    pool.save(link)
    assert link.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "pool.json", "there"]
    assert Pool.load(real) == Pool.load(link) == pool


def test_a_search_goes_on_from_where_a_link_leads(link: Path) -> None:
    link.resolve().unlink()
    with pytest.raises(InputError, match="checkpoint: .*leads to no file"):
        exact_neighbors(np.eye(3), np.eye(3), 1, checkpoint=link)
    with pytest.raises(InputError, match="checkpoint: .*is a folder"):
        exact_neighbors(np.eye(3), np.eye(3), 1, checkpoint=link.parent)


def test_a_truth_that_is_read_through_a_link_is_the_one_written(link: Path) -> None:
    truth = exact_neighbors(np.eye(3), np.eye(3), 1)
    truth.save(link)
    assert ExactNeighbors.load(link).fingerprint == ExactNeighbors.load(link.resolve()).fingerprint
