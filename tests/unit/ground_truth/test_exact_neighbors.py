"""The value of an exact answer: what it holds, what it refuses, and its file."""

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search import ExactNeighbors
from visual_search.errors import DuplicateIdError, FileFormatError, FingerprintError, InputError
from visual_search.formats.fingerprint import fingerprint_vectors
from visual_search.ground_truth.gallery_ids import GalleryIds
from visual_search.ground_truth.truth_scope import TruthScope
from visual_search.ids import Ids
from visual_search.testing.exact_answers import exact_by_brute_force

GALLERY = np.array([[0.0], [1.0], [1.0], [1.0], [5.0]])
QUERIES = np.array([[0.0], [5.0]])
NAMES = ["a", "b", "č", "d", "e"]


def made(**options: Any) -> ExactNeighbors:
    return exact_by_brute_force(GALLERY, QUERIES, 2, **{"gallery_ids": NAMES, "query_ids": ["q1", "q2"], **options})


def test_ids_distances_and_ties_stand_side_by_side() -> None:
    truth = made()
    assert truth.ids.tolist() == [["a", "b"], ["e", "b"]]
    assert truth.distances.tolist() == [[0, 1], [0, 4]]
    assert truth.ties == [["č", "d"], ["č", "d"]]
    assert (truth.k, truth.gallery_size, truth.kind, len(truth)) == (2, 5, "full", 2)
    assert truth.certified.all()
    assert not truth.ties_capped.any()
    assert made(tie_cap=1).ties_capped.all()
    assert "visual-search" in truth.versions
    assert "the 2 nearest by l2 in the full gallery of 5 items" in repr(truth)


@pytest.mark.parametrize("ids", [None, [50, 40, 30, 20, 10], np.arange(10, 15), NAMES], ids=str)
def test_a_saved_truth_is_the_same(ids: Any, tmp_path: Path) -> None:
    truth = made(gallery_ids=ids, query_ids=[7, 3])
    truth.save(tmp_path / "truth.npz")
    loaded = ExactNeighbors.load(tmp_path / "truth.npz")
    assert loaded.fingerprint == truth.fingerprint
    assert loaded.ids.tolist() == truth.ids.tolist()
    assert loaded.ties == truth.ties
    assert list(loaded.queries) == [7, 3]
    assert loaded.versions == truth.versions
    loaded.verify(GALLERY, QUERIES)
    loaded.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "truth.npz").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.npz", "truth.npz"]
    with np.load(tmp_path / "truth.npz") as opened:  # other programs can read it
        assert opened["distances"].tolist() == truth.distances.tolist()


@pytest.mark.parametrize(
    "options",
    [{"scope": TruthScope.sample(of=90, seed=4)}, {"allowed": [[0, 3], [4]]}, {"allowed": [[], [1, 2, 3]]}],
    ids=["sample", "filtered", "empty filter"],
)
def test_every_kind_is_saved(options: dict[str, Any], tmp_path: Path) -> None:
    truth = made(**options)
    truth.save(tmp_path / "truth")
    loaded = ExactNeighbors.load(tmp_path / "truth")
    assert loaded.label() == truth.label()
    assert loaded.lengths.tolist() == truth.lengths.tolist()
    assert loaded.ids.tolist() == truth.ids.tolist()


def test_kinds_are_told_apart_in_words() -> None:
    sampled = made(scope=TruthScope.sample(of=1000, seed=4))
    assert "a sample of 5 items out of 1,000 (seed 4), not the full gallery" in sampled.label()
    filtered = made(allowed=[[0, 3], [4]])
    assert filtered.lengths.tolist() == [2, 1]
    assert filtered.ids.tolist() == [["a", "d"], ["e", ""]]
    assert "each query's own subset, 1 to 2 of 5 items" in filtered.label()
    assert TruthScope.filtered([3, 3]).label(5) == "each query's own subset, 3 of 5 items"
    with pytest.raises(InputError, match="how many items"):
        TruthScope("sample")
    with pytest.raises(InputError, match="subset size"):
        TruthScope("filtered")


def test_a_stale_or_foreign_truth_says_which_part_differs() -> None:
    truth = made()
    truth.verify(GALLERY, QUERIES, gallery_ids=NAMES, query_ids=["q1", "q2"])
    truth.verify(truth.gallery_fingerprint, truth.queries_fingerprint)
    assert truth.gallery_fingerprint == fingerprint_vectors(Ids(NAMES), GALLERY)
    moved = GALLERY.copy()
    moved[3] += 1e-12
    # As many rows as before is no proof.
    with pytest.raises(FingerprintError, match="gallery: float64 vectors of dimension 1 that are not those"):
        truth.verify(moved)
    with pytest.raises(FingerprintError, match="gallery: float32 vectors"):
        truth.verify(GALLERY.astype(np.float32))
    with pytest.raises(FingerprintError, match=r"queries: shape \(3, 1\) here, and the truth was made for 2 rows"):
        truth.verify(queries=np.zeros((3, 1)))
    with pytest.raises(FingerprintError, match="ids differ, first in row 1: 'č' here and 'b' in the truth"):
        truth.verify(GALLERY, gallery_ids=["a", "č", "b", "d", "e"])
    with pytest.raises(FingerprintError, match="4 ids here and 5 in the truth"):
        truth.verify(gallery_ids=NAMES[:4])
    with pytest.raises(FingerprintError, match="2 problems") as both:
        truth.verify("sha256:0", QUERIES[::-1])
    assert "gallery: fingerprint sha256:0" in str(both.value)
    assert "queries: float64" in str(both.value)


def test_parts_that_contradict_each_other_are_refused_together() -> None:
    truth = made()
    answers = truth.answers
    with pytest.raises(InputError, match="2 answers for 1 query ids"):
        replace(truth, queries=Ids(["q1"]))
    with pytest.raises(InputError, match="distances fall in 1 queries, first rows: 0"):
        replace(truth, answers=replace(answers, distances=np.array([[2.0, 1.0], [0.0, 4.0]])))
    with pytest.raises(InputError) as found:
        replace(truth, answers=replace(answers, positions=np.array([[0, 0], [9, 1]])))
    assert "a gallery row appears twice in 1 queries" in str(found.value)
    assert "positions beyond the gallery of 5 rows" in str(found.value)
    with pytest.raises(InputError, match="fewer than k neighbours, which only a filtered truth may have"):
        replace(
            truth,
            answers=replace(
                answers, positions=np.array([[0, -1], [4, 1]]), distances=np.array([[0, np.inf], [0.0, 4.0]])
            ),
        )
    with pytest.raises(InputError, match="ties are in the answer"):
        replace(truth, answers=replace(answers, tie_positions=np.array([1, 2, 2, 3])))
    with pytest.raises(InputError, match="-1 is an id"):
        made(gallery_ids=[-1, 0, 1, 2, 3])
    with pytest.raises(InputError, match="NaN or infinite"):
        replace(truth, answers=replace(answers, distances=np.array([[0, np.nan], [0.0, 4.0]])))


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "truth"
    made().save(path)
    whole = path.read_bytes()
    for cut in (0, 10, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:cut])
        with pytest.raises(FileFormatError):
            ExactNeighbors.load(path)
    at = whole.index(b"NUMPY") + 200  # inside an array
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    with pytest.raises(FileFormatError):
        ExactNeighbors.load(path)
    np.savez(tmp_path / "other.npz", ids=np.arange(3))
    with pytest.raises(FileFormatError, match="no manifest.json inside"):
        ExactNeighbors.load(tmp_path / "other.npz")
    with pytest.raises(FileNotFoundError):
        ExactNeighbors.load(tmp_path / "nowhere")


def rewritten(path: Path, **changes: Any) -> Path:
    """The file with other parts; None leaves one out."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(parts["manifest.json"])
    manifest |= changes.pop("manifest", {})
    parts["manifest.json"] = json.dumps(manifest).encode()
    target = path.with_name("changed")
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in parts.items():
            changed = changes.get(name.removesuffix(".npy"), data)
            if changed is not None:
                archive.writestr(name, changed)
    return target


def test_a_file_of_a_newer_version_or_with_odd_parts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "truth"
    made().save(path)
    with pytest.raises(FileFormatError, match="version 99; this program reads version 1"):
        ExactNeighbors.load(rewritten(path, manifest={"version": 99}))
    with pytest.raises(FileFormatError, match="does not say that it is a file of exact neighbours"):
        ExactNeighbors.load(rewritten(path, manifest={"format": "other"}))
    with pytest.raises(FileFormatError, match="parts are missing"):
        ExactNeighbors.load(rewritten(path, distances=None))
    with pytest.raises(FileFormatError, match="query ids for 2 answers"):
        ExactNeighbors.load(rewritten(path, manifest={"query_ids": {"kind": "rows", "count": 10**15}}))
    with pytest.raises(FileFormatError, match="beyond the gallery of 1 rows"):
        ExactNeighbors.load(rewritten(path, manifest={"gallery_ids": {"kind": "rows", "count": 1}}))


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    import io

    path = tmp_path / "truth"
    made().save(path)
    pickled = io.BytesIO()
    np.lib.format.write_array(pickled, np.array([[print]], dtype=object), allow_pickle=True)
    with pytest.raises(FileFormatError, match="parts are missing or contradict each other"):
        ExactNeighbors.load(rewritten(path, positions=pickled.getvalue()))


def test_gallery_ids_of_every_kind() -> None:
    for values in (range(6), np.arange(6), [5, 3, 9], ["a", "b"], np.array([7, 2], dtype=np.uint64)):
        ids = GalleryIds(values)
        listed = [v.item() if isinstance(v, np.generic) else v for v in values]
        assert ids.fingerprint() == Ids(listed).fingerprint()
        assert ids.rows(listed).tolist() == list(range(len(listed)))
        assert ids.take(range(len(ids))) == listed
        assert ids.array(np.array([[0, -1]])).tolist() == [[listed[0], "" if ids.kind is str else -1]]
    assert isinstance(GalleryIds(np.arange(6)).held, range)  # row numbers are not stored
    assert GalleryIds(10**12).rows(np.array([10**11, 10**12])).tolist() == [10**11, -1]
    assert GalleryIds([5, 3]).rows(np.array([4])).tolist() == [-1]
    with pytest.raises(DuplicateIdError, match="1 repeated ids, first: 3"):
        GalleryIds(np.array([3, 1, 3]))
    with pytest.raises(InputError, match="64 bits"):
        GalleryIds([2**70, 1])
