"""Files to signatures: what is left out, what is taken up again, and that threads change nothing."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from visual_search.formats.journal import Journal
from visual_search.images import decoding
from visual_search.images.hashes import perceptual_hash, pixels_digest
from visual_search.images.image_source import ImageSource
from visual_search.images.sources import list_images
from visual_search.leaks import signing
from visual_search.leaks.signatures import SIGNATURE, signature_of
from visual_search.leaks.signing import sign_pictures
from visual_search.testing.textures import texture


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "pictures"
    place.mkdir()
    for number in range(12):
        texture(number).save(place / f"{number:02}.png")
    return place


def test_a_signature_is_made_of_digest_hashes_and_small_copy() -> None:
    picture = texture(1, (301, 200))
    signature = signature_of(picture)
    assert SIGNATURE.itemsize == 1840
    assert signature["digest"].tobytes().hex() == pixels_digest(picture).removeprefix("sha256:")
    assert (signature["hash64"] == perceptual_hash(picture, 64)).all()
    assert (signature["hash256"] == perceptual_hash(picture, 256)).all()
    assert signature["small"].shape == (24, 24, 3)
    mirrored = signature_of(picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT))
    assert (signature["mirrored64"] != mirrored["hash64"]).sum() <= 1
    assert (mirrored["mirrored64"] != signature["hash64"]).sum() <= 1


def test_damaged_and_foreign_files_are_left_out_with_their_reasons(folder: Path) -> None:
    whole = (folder / "00.png").read_bytes()
    (folder / "cut.png").write_bytes(whole[: len(whole) // 2])
    (folder / "cut again.png").write_bytes(whole[: len(whole) // 2])
    (folder / "words.jpg").write_text("no picture")
    signed = sign_pictures(list_images(folder))
    assert len(signed.signatures) == len(signed.ledger.used) == 12
    assert {entry.id for entry in signed.ledger.left_out} == {"cut.png", "cut again.png", "words.jpg"}
    assert all(entry.reason for entry in signed.ledger.left_out)


def test_the_same_whatever_the_threads_and_the_stored_format(folder: Path) -> None:
    sources = list_images(folder)
    one, many = sign_pictures(sources, threads=1), sign_pictures(sources, threads=4)
    assert (one.signatures == many.signatures).all()
    assert one.ledger == many.ledger
    with Image.open(folder / "03.png") as image:
        image.save(folder / "03.bmp")
    both = sign_pictures([ImageSource(name, folder / name) for name in ("03.png", "03.bmp")]).signatures
    assert both[0] == both[1]


def test_grey_and_the_same_grey_stored_in_colour_are_one_picture(tmp_path: Path) -> None:
    grey = texture(4).convert("L")
    grey.save(tmp_path / "grey.png")
    grey.convert("RGB").save(tmp_path / "colour.png")
    grey.convert("P").save(tmp_path / "palette.png")
    signed = sign_pictures(list_images(tmp_path))
    assert len({one.tobytes() for one in signed.signatures["digest"]}) == 1


def test_a_killed_run_goes_on_where_it_was(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = list_images(folder)
    journal = tmp_path / ".leaks.unfinished"
    whole = sign_pictures(sources)
    monkeypatch.setattr(signing, "_BATCH", 4)
    append = Journal.append

    def killed(self: Journal, record: object, payload: bytes = b"") -> None:
        append(self, record, payload)
        if len(record) == 4 and record[0]["entry"]["id"] == "04.png":  # type: ignore[arg-type,index]
            raise KeyboardInterrupt

    monkeypatch.setattr(Journal, "append", killed)
    with pytest.raises(KeyboardInterrupt):
        sign_pictures(sources, journal=journal)
    monkeypatch.setattr(Journal, "append", append)
    # One of the finished ones changes meanwhile; another is called otherwise, which changes no pixel.
    texture(50).save(folder / "01.png")
    os.utime(folder / "01.png", ns=(1, 1))
    decoded: list[int] = []

    def noted(data: bytes, rules: decoding.DecodingRules) -> decoding.DecodedImage:
        decoded.append(len(data))
        return decoding.decode(data, rules)

    monkeypatch.setattr(signing, "decode", noted)
    again = sign_pictures(sources, journal=journal)
    assert again.resumed == 7
    assert len(decoded) == 5
    unchanged = [row for row in range(12) if row != 1]
    assert (again.signatures[unchanged] == whole.signatures[unchanged]).all()
    assert again.signatures[1] == signature_of(texture(50))


def test_what_was_left_out_is_tried_again(folder: Path, tmp_path: Path) -> None:
    sources = [*list_images(folder), ImageSource("late.png", folder / "late.png")]
    journal = tmp_path / ".leaks.unfinished"
    assert len(sign_pictures(sources, journal=journal).signatures) == 12
    texture(60).save(folder / "late.png")
    again = sign_pictures(sources, journal=journal)
    assert (len(again.signatures), again.resumed) == (13, 12)


def test_no_pictures_give_no_signatures(tmp_path: Path) -> None:
    signed = sign_pictures([ImageSource("gone.png", tmp_path / "gone.png")])
    assert signed.signatures.shape == (0,)
    assert signed.signatures.dtype == np.dtype(SIGNATURE)
