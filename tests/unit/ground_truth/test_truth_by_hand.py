"""Truth files that somebody changed, and ids and filters that no gallery has."""

import io
import json
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.cli.main import main
from visual_search.errors import FileFormatError, InputError, UnknownIdError
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.ground_truth.gallery_ids import GalleryIds
from visual_search.ground_truth.truth_building import exact_neighbors
from visual_search.workflows.truth_recall import recall_of_file

RNG = np.random.default_rng(4)
GALLERY = RNG.normal(size=(30, 4)).astype(np.float32)


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    exact_neighbors(GALLERY, GALLERY[:5], 3).save(tmp_path / "t.npz")
    return tmp_path / "t.npz"


def changed(truth: Path, name: str, change: Callable[[Any], Any]) -> Path:
    """The same file with one part changed, under checksums that fit."""
    made = truth.with_name("changed.npz")
    with zipfile.ZipFile(truth) as old, zipfile.ZipFile(made, "w") as new:
        for member in old.namelist():
            data = old.read(member)
            if member == "manifest.json" == name:
                data = change(json.loads(data)).encode()
            elif member == name:
                stream = io.BytesIO()
                np.save(stream, change(np.load(io.BytesIO(data))))
                data = stream.getvalue()
            new.writestr(member, data)
    return made


def told(**values: Any) -> Callable[[Any], str]:
    return lambda manifest: json.dumps(manifest | values)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (told(metric="foo"), "metric: got 'foo'; must be one of l2, ip, cosine"),
        (told(metric=5), "metric: got 5"),
        (told(metric=["l2"]), "metric: got"),
        (told(metric="cosine"), "none by cosine, which are -1 to 1"),
        (told(metric="hamming"), "none by hamming, which are whole numbers"),
        (told(gallery_fingerprint=None), "gallery_fingerprint: got None; a text is needed"),
        (told(versions=[1]), "versions: got"),
        (told(versions=None), "versions: got None"),
        (told(gallery_ids={"kind": "rows", "count": 10**30}), "gallery_ids.count: got 1"),
        (told(gallery_ids={"kind": "rows", "count": -5}), "gallery_ids.count: got -5"),
        (lambda manifest: json.dumps(manifest)[:-1] + ', "metric": "ip"}', "keep one of them"),
    ],
)
def test_a_manifest_that_no_writer_wrote_is_refused(truth: Path, change: Callable[[Any], str], words: str) -> None:
    with pytest.raises(FileFormatError, match=words):
        ExactNeighbors.load(changed(truth, "manifest.json", change))


def test_distances_that_are_none_are_refused(truth: Path) -> None:
    with pytest.raises(FileFormatError, match="distances of 5 queries are none by l2, which are 0 or more"):
        ExactNeighbors.load(changed(truth, "distances.npy", lambda distances: distances - 9))


def test_every_flipped_bit_of_the_directory_is_told_as_damage(truth: Path) -> None:
    whole = truth.read_bytes()
    fingerprint = ExactNeighbors.load(truth).fingerprint
    for place in range(len(whole) - 400, len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 0x80
        truth.write_bytes(damaged)
        with suppress(FileFormatError):
            assert ExactNeighbors.load(truth).fingerprint == fingerprint


@pytest.mark.parametrize("wrong", [10**30, -(10**30), 2**63, 1.5, 1.0, True, "x", "\u0663", None])
def test_what_is_no_id_is_nowhere_in_a_gallery_of_numbers(wrong: Any) -> None:
    for ids in (GalleryIds(5), GalleryIds([3, 1, 40])):
        assert ids.rows([wrong]).tolist() == [-1]
        assert ids.rows([3, wrong]).tolist()[1] == -1
    with pytest.raises((UnknownIdError, InputError), match="allowed"):
        exact_neighbors(GALLERY, GALLERY[:1], 1, allowed=[[3, wrong]])


def test_unsigned_ids_are_not_taken_for_empty_places(truth: Path) -> None:
    np.save(truth.with_name("r.npy"), np.full((5, 3), 2**64 - 1, dtype=np.uint64))
    with pytest.raises(
        InputError, match="15 ids that 64 bits with a sign do not hold, first: 18446744073709551615"
    ):
        recall_of_file(truth.with_name("r.npy"), truth, k=[1])
    with pytest.raises(InputError, match="3 problems"):
        recall_of_file(truth.with_name("r.npy"), truth, k=[0], threshold=float("nan"), worst=-1)


@pytest.mark.parametrize("kind", ["behind", "cut", "header", "true"])
def test_a_mask_that_is_not_whole_is_refused(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "g.npy", GALLERY)
    np.save(tmp_path / "m.npy", np.ones((30, 30), dtype=np.bool_))
    data = (tmp_path / "m.npy").read_bytes()
    wrong = {
        "behind": data + b"zz",
        "cut": data[:-3],
        "header": b"\x93NUMPY\x01\x00\x40\x00" + b"(" * 63 + b"\n",
        "true": data.replace(b"(30, 30)", b"(True,9)"),
    }
    (tmp_path / "m.npy").write_bytes(wrong[kind])
    gallery = str(tmp_path / "g.npy")
    asked = ["--k", "2", "--allowed", str(tmp_path / "m.npy"), "-o", str(tmp_path / "t.npz")]
    assert main(["truth", "build", gallery, gallery, *asked]) == 2
    assert "m.npy: " in capsys.readouterr().err
    assert not (tmp_path / "t.npz").exists()


def test_a_seed_below_zero_is_refused(truth: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "g.npy", GALLERY)
    np.save(tmp_path / "q.npy", GALLERY[:5])
    asked = [str(truth), str(tmp_path / "g.npy"), str(tmp_path / "q.npy"), "--recompute", "2", "--seed", "-1"]
    assert main(["truth", "verify", *asked]) == 2
    assert "seed is -1; a whole number of at least 0" in capsys.readouterr().err
