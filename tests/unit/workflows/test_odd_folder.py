"""A folder with one file of every odd kind indexes to the end, and the ledger accounts for each."""

import os
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from visual_search.workflows.index_images import IndexingReport, index_images

USED = {
    "16-bit.png": "16 bit scaled",
    "cmyk.jpg": "CMYK converted",
    "rotated.jpg": "rotated",
    "palette.png": "alpha composited",
    "animated.gif": "first frame",
    "one-bit.png": None,
    "float.tif": "float scaled",
    "tiny.png": None,
    "photograph-without-suffix": None,
    "png-named.jpg": None,
}
LEFT_OUT = {
    "truncated.jpg": "truncated",
    "empty.jpg": "an empty file",
    "words.jpg": "not an image: text",
    "huge.png": "pixels",
    "pipe.jpg": "not a regular file",
}


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> IndexingReport:
    folder = tmp_path_factory.mktemp("odd") / "pictures"
    folder.mkdir()
    ramp = np.linspace(0, 65535, 64 * 48).reshape(48, 64)
    photograph = Image.fromarray(np.stack([ramp / 257] * 3, axis=-1).astype(np.uint8))
    Image.fromarray(ramp.astype(np.uint16)).save(folder / "16-bit.png")
    photograph.convert("CMYK").save(folder / "cmyk.jpg")
    exif = Image.Exif()
    exif[0x0112] = 6
    photograph.save(folder / "rotated.jpg", exif=exif)
    palette = photograph.quantize(8)
    palette.save(folder / "palette.png", transparency=0)
    photograph.save(folder / "animated.gif", save_all=True, append_images=[photograph.rotate(90)] * 3)
    photograph.convert("1").save(folder / "one-bit.png")
    Image.fromarray((ramp / 65535).astype(np.float32)).save(folder / "float.tif")
    Image.new("RGB", (1, 1), "red").save(folder / "tiny.png")
    photograph.save(folder / "photograph-without-suffix", "JPEG")
    photograph.save(folder / "png-named.jpg", "PNG")
    whole = (folder / "rotated.jpg").read_bytes()
    (folder / "truncated.jpg").write_bytes(whole[: len(whole) // 2])
    (folder / "empty.jpg").touch()
    (folder / "words.jpg").write_text("This is no picture at all, whatever its name says.\n")
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    bomb = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0" * 1000))
        + chunk(b"IEND", b"")
    )
    (folder / "huge.png").write_bytes(bomb)
    os.mkfifo(folder / "pipe.jpg")
    return index_images(folder, folder.parent / "index", embedder="histogram")


def test_the_ledger_accounts_for_every_file(report: IndexingReport) -> None:
    assert {entry.id for entry in report.ledger.used} == set(USED)
    assert {entry.id for entry in report.ledger.left_out} == set(LEFT_OUT)
    assert set(report.index.ids) == set(USED)


@pytest.mark.parametrize(("name", "change"), USED.items())
def test_what_was_done_to_those_used_is_told(report: IndexingReport, name: str, change: str | None) -> None:
    changes = report.ledger[name].changes
    assert changes == () if change is None else any(change in told for told in changes), changes


@pytest.mark.parametrize(("name", "reason"), LEFT_OUT.items())
def test_why_the_others_were_left_out_is_told(report: IndexingReport, name: str, reason: str) -> None:
    assert reason in str(report.ledger[name].reason)


def test_the_16_bit_picture_kept_its_greys(report: IndexingReport) -> None:
    """A 16-bit ramp cut at 255 has two greys left; scaled, it fills the bins of its histogram like its 8-bit twin."""
    sixteen, eight = report.index.vector("16-bit.png"), report.index.vector("png-named.jpg")
    assert np.count_nonzero(sixteen) == np.count_nonzero(eight) > 4
    assert float(sixteen @ eight) > 0.99


def test_the_rotated_picture_stands_upright(report: IndexingReport) -> None:
    assert (report.ledger["rotated.jpg"].width, report.ledger["rotated.jpg"].height) == (48, 64)
