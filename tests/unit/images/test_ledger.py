"""Every image seen is there exactly once; files are whole and checked."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from visual_search.errors import (
    DuplicateIdError,
    FileFormatError,
    InputError,
    UndecodableImageError,
    UnknownIdError,
)
from visual_search.images.decoding import decode
from visual_search.images.ledger import Ledger, LedgerEntry, kind_of
from visual_search.images.sources import list_images

Encode = Callable[..., bytes]

USED = LedgerEntry(
    "a.jpg", "x/a.jpg", None, "used", ("rotated: orientation 6",), None, "JPEG", "RGB", 4, 3, 99, "ab"
)
OUT = LedgerEntry("b.jpg", "x/b.jpg", None, "left_out", reason="not an image: text", size=5, sha256="cd")


def test_counts_and_words() -> None:
    ledger = Ledger([USED, OUT])
    ledger.append(replace(USED, id="c.jpg", changes=("rotated: orientation 3", "first frame: of 2")))
    ledger.append(replace(USED, id="d.jpg", changes=()))
    ledger.append(replace(OUT, id="e.jpg", reason="not an image: a PDF document"))
    ledger.append(replace(OUT, id="f.jpg", reason="hidden"))
    assert ledger.as_json() == {
        "used": 3,
        "changed": 2,
        "left_out": 3,
        "changes": {"rotated": 2, "first frame": 1},
        "reasons": {"not an image": 2, "hidden": 1},
    }
    assert ledger.summary() == (
        "6 images seen: 3 used (2 of them changed), 3 left out\n"
        "  changed: 2 rotated, 1 first frame\n"
        "  left out: 2 not an image, 1 hidden"
    )
    assert [entry.id for entry in ledger.used] == ["a.jpg", "c.jpg", "d.jpg"]
    assert [entry.id for entry in ledger.left_out] == ["b.jpg", "e.jpg", "f.jpg"]
    assert (len(ledger), "a.jpg" in ledger, "z.jpg" in ledger) == (6, True, False)
    assert ledger["b.jpg"] is OUT
    assert repr(ledger) == "Ledger(3 used, 3 left out)"


def test_an_empty_ledger() -> None:
    assert Ledger().summary() == "0 images seen: 0 used, 0 left out"
    assert Ledger().as_json()["used"] == 0


def test_an_image_is_entered_once() -> None:
    ledger = Ledger([USED])
    with pytest.raises(DuplicateIdError, match=r"'a\.jpg' is there already"):
        ledger.append(replace(OUT, id="a.jpg"))
    assert list(ledger) == [USED]


def test_an_unknown_image() -> None:
    with pytest.raises(UnknownIdError, match=r"no image 'z\.jpg' among 1"):
        Ledger([USED])["z.jpg"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"id": ""}, "id: give"),
        ({"status": "lost"}, "status='lost'"),
        ({"reason": "why"}, "reason: give one when, and only when"),
        ({"status": "left_out"}, "reason: give one when, and only when"),
        ({"status": "left_out", "reason": "x"}, "has none"),
        ({"width": 0}, "has format, mode, width and height"),
        ({"format": None}, "has format, mode, width and height"),
    ],
)
def test_entries_that_contradict_themselves(changes: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        replace(USED, **changes)  # type: ignore[arg-type]


def test_merging() -> None:
    later = replace(OUT, id="a.jpg")
    assert list(Ledger([USED]).merge(Ledger([OUT]))) == [USED, OUT]
    with pytest.raises(DuplicateIdError, match=r"1 image is in both, first: 'a.jpg'"):
        Ledger([USED, OUT]).merge(Ledger([later]))
    first = Ledger([USED, OUT])
    assert list(first.merge(Ledger([later]), replace=True)) == [later, OUT]
    assert list(first) == [USED, OUT]


def test_written_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    ledger = Ledger([USED, OUT, replace(USED, id="línea\n日本", path=os.fsdecode(b"x/\xff"), member="m")])
    ledger.write(path)
    assert Ledger.read(path) == ledger
    lines = path.read_bytes().splitlines()
    assert len(lines) == 3
    assert [json.loads(line)["id"] for line in lines] == ["a.jpg", "b.jpg", "línea\n日本"]
    assert list(json.loads(lines[0])) == list(USED.as_json())


def test_plain_names_are_written_to_be_read_by_people(tmp_path: Path) -> None:
    Ledger([replace(USED, id="日本.jpg")]).write(tmp_path / "ledger.jsonl")
    assert "日本.jpg" in (tmp_path / "ledger.jsonl").read_text("utf-8")


def test_names_that_are_no_text_come_back(tmp_path: Path) -> None:
    odd = os.fsdecode(b"bad\xff\xfe.jpg")
    Ledger([replace(OUT, id=odd)]).write(tmp_path / "ledger.jsonl")
    assert Ledger.read(tmp_path / "ledger.jsonl")[odd].id == odd


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ledger.jsonl"
    Ledger([USED]).write(path)
    before = path.read_bytes()

    def failing(_: LedgerEntry) -> dict[str, object]:
        raise KeyboardInterrupt

    monkeypatch.setattr(LedgerEntry, "as_json", failing)
    with pytest.raises(KeyboardInterrupt):
        Ledger([OUT]).write(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["ledger.jsonl"]


def test_a_file_with_faults_lists_them_all(tmp_path: Path) -> None:
    good, other = USED.as_json(), OUT.as_json()
    lines = [
        json.dumps(good),
        "{",
        "[]",
        json.dumps({**good, "id": "n", "extra": 1}),
        json.dumps({key: value for key, value in other.items() if key != "sha256"}),
        json.dumps({**good, "id": "w", "width": "wide", "height": True}),
        json.dumps({**good, "id": "c", "changes": [1]}),
        json.dumps(good),
        json.dumps({**good, "id": "s", "status": "gone"}),
    ]
    path = tmp_path / "ledger.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(FileFormatError) as caught:
        Ledger.read(path)
    message = str(caught.value)
    assert "8 problems" in message
    for words in (
        "line 2: ",
        "line 3: a ledger entry is an object; got list",
        "extra: unknown",
        "sha256: missing",
        "width='wide': a str is not allowed",
        "height=True: a bool is not allowed",
        "changes: give strings",
        "line 8: ledger: 'a.jpg' is there already",
        "status='gone'",
    ):
        assert words in message


def test_details_are_no_part_of_what_is_counted() -> None:
    assert kind_of("first frame: of 12") == kind_of("first frame: of 3") == "first frame"
    assert kind_of("hidden") == "hidden"


def test_a_folder_of_odd_files_is_accounted_for_to_the_last(
    tmp_path: Path, encode: Encode, photograph: Image.Image, make_tiff: Callable[..., bytes]
) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    alpha = photograph.copy()
    alpha.putalpha(100)
    jpeg = encode(photograph, "JPEG")
    grey = Image.linear_gradient("L").convert("I").point(lambda value: value * 257)
    files = {
        "16bit.png": encode(grey.convert("I;16"), "PNG"),
        "cmyk.jpg": encode(photograph.convert("CMYK"), "JPEG"),
        "turned.jpg": encode(photograph, "JPEG", exif=exif),
        "truncated.jpg": jpeg[: len(jpeg) // 2],
        "zero.jpg": b"",
        "text.jpg": b"not a photograph",
        "palette.png": encode(photograph.quantize(8), "PNG", transparency=0),
        "animated.gif": encode(photograph, "GIF", save_all=True, append_images=[photograph.rotate(90)]),
        "bits.png": encode(photograph.convert("1"), "PNG"),
        "float.tif": make_tiff(2, 1, b"\x00\x00\x80\x3f\x00\x00\xc0\x7f", "<", bits=[32], sample_format=[3]),
        "huge.pgm": b"P5 60000 60000 255\n",
        "one.png": encode(photograph.resize((1, 1)), "PNG"),
        "alpha.webp": encode(alpha, "WEBP"),
        "png_called.jpg": encode(photograph, "PNG"),
        ".hidden.jpg": jpeg,
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    os.mkfifo(tmp_path / "pipe.jpg")

    ledger = Ledger()
    for source in list_images(tmp_path):
        data = None
        try:
            data = source.read(1 << 20)
            ledger.append(LedgerEntry.used(source, data, decode(data)))
        except UndecodableImageError as error:
            ledger.append(LedgerEntry.left_out(source, error, data))

    assert {entry.id for entry in ledger} == {*files, "pipe.jpg"}
    changed = {entry.id: [kind_of(change) for change in entry.changes] for entry in ledger.used}
    assert changed == {
        "16bit.png": ["16 bit scaled"],
        "alpha.webp": ["alpha composited"],
        "animated.gif": ["first frame"],
        "bits.png": [],
        "cmyk.jpg": ["CMYK converted"],
        "float.tif": ["float scaled", "not finite set to black or white"],
        "one.png": [],
        "palette.png": ["alpha composited"],
        "png_called.jpg": [],
        "turned.jpg": ["rotated"],
    }
    assert {entry.id: kind_of(entry.reason or "") for entry in ledger.left_out} == {
        ".hidden.jpg": "hidden",
        "huge.pgm": "too many pixels",
        "pipe.jpg": "not a regular file",
        "text.jpg": "not an image",
        "truncated.jpg": "truncated or damaged JPEG",
        "zero.jpg": "an empty file",
    }
    assert ledger["png_called.jpg"].format == "PNG"
    assert (ledger["turned.jpg"].width, ledger["turned.jpg"].height) == (36, 48)
    assert ledger["truncated.jpg"].sha256 == hashlib.sha256(files["truncated.jpg"]).hexdigest()
    assert (ledger["pipe.jpg"].size, ledger["pipe.jpg"].sha256) == (None, None)
    ledger.write(tmp_path / "ledger.jsonl")
    assert Ledger.read(tmp_path / "ledger.jsonl") == ledger
