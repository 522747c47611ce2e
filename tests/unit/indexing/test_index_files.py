"""Saving and loading: what comes back, and what is refused with what is wrong."""

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from visual_search.errors import (
    DimensionError,
    FileFormatError,
    InputError,
    UnknownNameError,
)
from visual_search.formats.fingerprint import fingerprint_file
from visual_search.indexing.embedders.contract import EmbedderDescription
from visual_search.indexing.index_folder import IndexFolder
from visual_search.indexing.index_table import VectorIndex


def gaussian(count: int, seed: int = 0) -> npt.NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(count, 8))


def filled(count: int = 50, **options: Any) -> VectorIndex:
    index = VectorIndex(**options)
    index.add([f"img_{number:03d}" for number in range(count)], gaussian(count))
    return index


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    filled().save(tmp_path / "index")
    return tmp_path / "index"


def manifest_of(folder: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
    return record


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock")


# What comes back


@pytest.mark.parametrize("engine", ["flat", "hnsw", "ivf"])
@pytest.mark.parametrize("metric", ["cosine", "ip", "l2"])
def test_everything_comes_back(tmp_path: Path, engine: str, metric: str) -> None:
    described = EmbedderDescription("onnx:net.onnx", 8, "224 x 224, ImageNet mean", "sha256:00")
    index = filled(engine=engine, metric=metric, embedder=described)
    index.remove(["img_010", "img_000"])
    index.add(["img_010"], gaussian(1, seed=5))
    index.extra["items"] = {"root": "photos", "paths": {"img_010": "ä/ö.jpg"}}
    index.save(tmp_path / "index")
    again = VectorIndex.open(tmp_path / "index")
    assert (again.dimension, again.metric, again.engine) == (8, metric, engine)
    assert again.settings == index.settings
    assert again.ids == index.ids
    assert again.ids[-1] == "img_010"
    assert again.embedder == described
    assert again.extra == index.extra
    assert again.fingerprint() == index.fingerprint()
    before, after = index.search(gaussian(4, seed=1), 5), again.search(gaussian(4, seed=1), 5)
    for query in range(4):
        assert before.listed(query) == after.listed(query)
    again.add(["img_000"], gaussian(1))
    again.remove(["img_001"])
    again.save(tmp_path / "index")
    assert VectorIndex.open(tmp_path / "index").fingerprint() == again.fingerprint()


@pytest.mark.parametrize(
    "ids",
    [
        [3, -1, 2**63 + 5, 0],
        ["a/b.jpg", "ünïcode ☃", "line\nbreak", os.fsdecode(b"latin-\xe9.jpg")],
    ],
)
def test_ids_come_back_as_they_were(tmp_path: Path, ids: list[Any]) -> None:
    index = VectorIndex()
    index.add(ids, gaussian(4))
    index.save(tmp_path / "index")
    assert list(VectorIndex.open(tmp_path / "index").ids) == ids


def test_an_untrained_index_comes_back_untrained(tmp_path: Path) -> None:
    VectorIndex(8, engine="ivf", nlist=2, nprobe=2).save(tmp_path / "index")
    again = VectorIndex.open(tmp_path / "index")
    assert len(again) == 0
    again.add(range(78), gaussian(78))
    assert again.settings["nlist"] == 2


def test_the_manifest_tells_what_the_index_is(saved: Path) -> None:
    record = manifest_of(saved)
    assert list(record)[:2] == ["format", "format_version"]
    assert record["format"] == "visual-search index"
    assert (record["metric"], record["engine"], record["dimension"], record["count"]) == ("cosine", "flat", 8, 50)
    assert {"visual_search", "faiss", "numpy", "python"} <= set(record["versions"])
    for companion in record["files"].values():
        path = saved / companion["name"]
        assert fingerprint_file(path) == companion["sha256"]
        assert companion["name"].split("-")[1].split(".")[0] == companion["sha256"].removeprefix("sha256:")[:8]
        assert path.stat().st_size == companion["bytes"]
    assert visible(saved) == sorted(["manifest.json", *(entry["name"] for entry in record["files"].values())])
    assert record["fingerprint"] == VectorIndex.open(saved).fingerprint() == filled().fingerprint()


def test_the_companion_is_a_file_that_faiss_reads(saved: Path) -> None:
    import faiss

    index = faiss.read_index(str(saved / manifest_of(saved)["files"]["vectors"]["name"]))
    assert index.ntotal == 50


def test_saving_again_keeps_the_time_of_making_and_clears_old_companions(saved: Path) -> None:
    index = VectorIndex.open(saved)
    before = manifest_of(saved)
    index.add(["new"], gaussian(1, seed=9))
    index.save(saved)
    after = manifest_of(saved)
    assert after["created"] == before["created"]
    assert after["files"]["vectors"]["name"] != before["files"]["vectors"]["name"]
    assert len(visible(saved)) == 3
    index.save(saved)
    assert manifest_of(saved)["files"] == after["files"]


def test_many_tombstones_are_cleared_when_saving(tmp_path: Path) -> None:
    index = filled(engine="hnsw")
    index.remove([f"img_{number:03d}" for number in range(16)])
    index.save(tmp_path / "index")
    assert manifest_of(tmp_path / "index")["tombstones"] == 16
    assert VectorIndex.open(tmp_path / "index").tombstones == 16
    index.remove(["img_016"])
    index.save(tmp_path / "index")
    assert manifest_of(tmp_path / "index")["tombstones"] == 0
    assert index.tombstones == 0
    assert len(VectorIndex.open(tmp_path / "index")) == 33


# What was asked for


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"dimension": 512}, DimensionError, r"dimension: 8 in the file.*made with 512"),
        ({"metric": "l2"}, InputError, r"metric: 'cosine' in the file.*'l2'"),
        ({"engine": "hnsw"}, InputError, r"engine: 'flat' in the file.*'hnsw'"),
        ({"engine": "hnsw", "m": 16, "metric": "ip"}, InputError, r"3 problems"),
        ({"embedder": EmbedderDescription("pixels", 8, "grey", None)}, InputError, r"embedder: None in the file"),
    ],
)
def test_another_index_than_asked_for_is_refused(
    saved: Path, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    index = VectorIndex(**options)
    with pytest.raises(error, match=message):
        index.load(saved)
    assert len(index) == 0


def test_a_failed_load_leaves_the_index_as_it_was(saved: Path, tmp_path: Path) -> None:
    index = VectorIndex.open(saved)
    fingerprint = index.fingerprint()
    with pytest.raises(FileFormatError):
        index.load(tmp_path / "nowhere")
    assert index.fingerprint() == fingerprint
    other = VectorIndex(8)
    other.add(["only"], gaussian(1))
    other.save(tmp_path / "other")
    index.load(tmp_path / "other")
    assert list(index.ids) == ["only"]


# What is wrong with it


def test_paths_that_are_no_index(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "flat.faiss").write_bytes(b"IxFI")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "manifest.json").write_text('{"name": "a web page"}')
    for name, message in {
        "nowhere": r"no index folder there; make it first",
        "empty": r"a folder without manifest\.json",
        "flat.faiss": r"is a file: if it is a FAISS index, use VectorIndex\.from_faiss",
        "flat": r"flat\.faiss is a file.*from_faiss",
        "foreign": r"not the manifest of an index \(format is None",
    }.items():
        with pytest.raises(FileFormatError, match=message):
            VectorIndex.open(tmp_path / name)


def edited(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        record = manifest_of(folder)
        change(record)
        (folder / "manifest.json").write_text(json.dumps(record))

    return edit


def cut(role: str, length: int) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / manifest_of(folder)["files"][role]["name"]
        path.write_bytes(path.read_bytes()[:length])

    return edit


def flip(role: str) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / manifest_of(folder)["files"][role]["name"]
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)

    return edit


def lose(role: str) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        (folder / manifest_of(folder)["files"][role]["name"]).unlink()

    return edit


def consistent(role: str, content: bytes) -> Callable[[Path], None]:
    """Other content under a manifest that agrees with it: only reading it can tell."""

    def edit(folder: Path) -> None:
        record = manifest_of(folder)
        path = folder / record["files"][role]["name"]
        path.write_bytes(content)
        record["files"][role] |= {"sha256": fingerprint_file(path), "bytes": len(content)}
        (folder / "manifest.json").write_text(json.dumps(record))

    return edit


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut("vectors", 100), r"vectors-.*100 bytes, but the manifest says.*cut short"),
        (cut("ids", 0), r"ids-.*0 bytes"),
        (flip("vectors"), r"vectors-.*SHA-256"),
        (flip("ids"), r"ids-.*SHA-256"),
        (lose("vectors"), r"vectors-.*missing; it holds the vectors"),
        (lose("ids"), r"ids-.*missing; it holds the ids"),
        (edited(lambda record: record.update(format_version=2)), r"format version 2.*update visual-search"),
        (edited(lambda record: record.update(format_version="1")), r"format version '1'"),
        (edited(lambda record: record.update(dimension=9)), r"hold \{'dimension': 8.*says \{'dimension': 9"),
        (edited(lambda record: record.update(count=49)), r"'vectors': 49"),
        (edited(lambda record: record.update(count=-1)), r"count: -1; must be at least 0"),
        (edited(lambda record: record.update(count=True)), r"count: True is bool, not int"),
        (edited(lambda record: record.update(metric="l2")), r"FAISS metric 0 in the file, but metric 'l2'"),
        (edited(lambda record: record.update(metric="jaccard")), r"metric: 'jaccard'; must be one of"),
        (edited(lambda record: record.update(metric="hamming")), r"'hamming' in.*'flat' takes cosine, ip, l2"),
        (edited(lambda record: record.update(engine="hnsw")), r"no such setting|IndexFlat"),
        (edited(lambda record: record.pop("engine")), r"engine: missing"),
        (edited(lambda record: record.update(embedder={"name": "x"})), r"(?s)embedder: .*missing"),
        (edited(lambda record: record["files"].pop("ids")), r"files\.ids: None; must have name"),
        (edited(lambda record: record["files"]["ids"].update(name="../../etc/passwd")), r"must look like ids-"),
        (edited(lambda record: record["files"]["ids"].update(bytes="9")), r"files\.ids"),
        (
            edited(lambda record: record.update(embedder={"name": 1, "dimension": "8", "preprocessing": []})),
            r"(?s)name is 1; text.*preprocessing is \[\].*dimension is '8'.*weights_hash is missing",
        ),
        (lambda folder: (folder / "manifest.json").write_text("[" * 200_000), r"nested too deeply"),
        (lambda folder: (folder / "manifest.json").write_text("{"), r"not JSON"),
        (lambda folder: (folder / "manifest.json").write_bytes(b"\xff\xfe"), r"not JSON"),
        (lambda folder: (folder / "manifest.json").write_text("[]"), r"a JSON list"),
        (consistent("ids", b"[]"), r"not the ids of an index"),
        (consistent("ids", b"[" * 200_000), r"nested too deeply"),
        (consistent("ids", b'{"ids": ["a"], "rows": [0], "next_row": 1000000000}'), r"next_row is 1,000,000,000"),
        (consistent("ids", b'{"ids": ["a"], "rows": [0], "next_row": 1.5}'), r"next_row is 1\.5"),
        (consistent("ids", b'{"ids": ["a", "a"], "rows": null, "next_row": 2}'), r"repeated ids"),
        (consistent("ids", b'{"ids": ["a", "b"], "rows": null, "next_row": 3}'), r"do not fit"),
        (consistent("ids", b'{"ids": ["a", "b"], "rows": [1, 0], "next_row": 3}'), r"do not fit"),
        (consistent("ids", b'{"ids": ["a", "b"], "rows": null, "next_row": 2}'), r"'ids': 2"),
        (consistent("vectors", b"not faiss"), r"not a whole FAISS index file"),
    ],
)
def test_damage_is_refused_and_named(saved: Path, damage: Callable[[Path], Any], message: str) -> None:
    damage(saved)
    with pytest.raises((FileFormatError, InputError), match=message) as caught:
        VectorIndex.open(saved)
    assert str(saved) in str(caught.value) or "setting" in str(caught.value)


def test_an_engine_that_is_not_installed_is_named(saved: Path) -> None:
    edited(lambda record: record.update(engine="absent_engine"))(saved)
    with pytest.raises(UnknownNameError, match="no engine 'absent_engine'"):
        VectorIndex.open(saved)


def test_nothing_is_unpickled(saved: Path) -> None:
    import pickle

    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (os.mkdir, (str(saved / "trap"),))

    for role in ("vectors", "ids"):
        consistent(role, pickle.dumps(Trap()))(saved)
        with pytest.raises(FileFormatError):
            VectorIndex.open(saved)
    assert not (saved / "trap").exists()


# Where it may be written


def test_saving_never_touches_what_is_not_an_index(tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / "a.jpg").write_bytes(b"x")
    (photos / "vectors-0123abcd.faiss").write_bytes(b"x")
    with pytest.raises(InputError, match=r"holds other things \('a\.jpg'\)"):
        filled().save(photos)
    assert visible(photos) == ["a.jpg", "vectors-0123abcd.faiss"]
    with pytest.raises(InputError, match="is a file; an index is a folder"):
        filled().save(photos / "a.jpg")
    (photos / "a.jpg").unlink()
    (photos / "manifest.json").write_text('{"name": "a web page"}')
    with pytest.raises(FileFormatError, match="not the manifest of an index"):
        filled().save(photos)
    assert (photos / "manifest.json").read_text() == '{"name": "a web page"}'


def test_what_cannot_be_saved_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="without vectors and without a dimension"):
        VectorIndex().save(tmp_path / "index")
    index = filled()
    for extra in ({"path": Path("x")}, {"score": float("nan")}):
        index.extra = extra
        with pytest.raises(InputError, match="JSON"):
            index.save(tmp_path / "index")
    index.extra = []  # type: ignore[assignment]
    with pytest.raises(InputError, match="must be a dict"):
        index.save(tmp_path / "index")
    assert not (tmp_path / "index").exists()


def test_a_write_that_fails_leaves_the_old_index(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = VectorIndex.open(saved)
    before, files = index.fingerprint(), visible(saved)
    index.add(["new"], gaussian(1))

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(os, name, full)
            with pytest.raises(OSError, match="No space"):
                index.save(saved)
        assert visible(saved) == files
        assert VectorIndex.open(saved).fingerprint() == before
    index.save(saved)
    assert "new" in VectorIndex.open(saved)


def test_a_name_taken_by_other_content_is_not_written_over(saved: Path) -> None:
    index = VectorIndex.open(saved)
    name = manifest_of(saved)["files"]["ids"]["name"]
    (saved / name).write_bytes(b"what only looks like it")
    index.save(saved)
    assert manifest_of(saved)["files"]["ids"]["name"] != name
    assert VectorIndex.open(saved).fingerprint() == index.fingerprint()


def test_two_savers_do_not_mix(saved: Path) -> None:
    with IndexFolder(saved).saving(), pytest.raises(InputError, match="being saved to"):
        filled(3).save(saved)
    filled(3).save(saved)
    assert len(VectorIndex.open(saved)) == 3


def test_a_reader_beside_a_saver_sees_one_whole_index(saved: Path) -> None:
    versions = {VectorIndex.open(saved).fingerprint()}
    index = filled()
    wrong: list[BaseException] = []
    seen: set[str] = set()
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                seen.add(VectorIndex.open(saved).fingerprint())
        except BaseException as error:  # noqa: BLE001 - shown by the assertion below
            wrong.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(40):
        index.add([f"more_{number}"], gaussian(1, seed=number))
        versions.add(index.fingerprint())
        index.save(saved)
    done.set()
    for reader in readers:
        reader.join()
    assert not wrong
    assert seen <= versions


def test_saving_leaves_alone_what_the_lock_file_links_to(saved: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("kept")
    (saved / ".lock").unlink()
    (saved / ".lock").symlink_to(precious)
    with pytest.raises(InputError, match="is a link"):
        filled(3).save(saved)
    assert precious.read_text() == "kept"
    assert len(VectorIndex.open(saved)) == 50


def test_saving_does_not_empty_a_second_name_of_another_file(saved: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("kept")
    (saved / ".lock").unlink()
    (saved / ".lock").hardlink_to(precious)
    filled(3).save(saved)
    assert precious.read_text() == "kept"
