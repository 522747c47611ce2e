"""Zip and tar archives, honest and hostile."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import pickle
import stat
import struct
import tarfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from visual_search.errors import FileFormatError, InputError, UndecodableImageError
from visual_search.images import archive_limits
from visual_search.images.decoding import decode
from visual_search.images.sources import ImageSource, list_images

Encode = Callable[..., bytes]
Files = dict[str, bytes]

FILES: Files = {"b.jpg": b"bb" * 5000, "a/1.png": b"one", "a/2.png": os.urandom(3000), "empty.gif": b""}


def write_zip(path: Path, files: Files, method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.mkdir("a/")
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def write_tar(path: Path, files: Files, mode: str = "w", **options: int) -> Path:
    with tarfile.open(path, mode, **options) as archive:  # type: ignore[call-overload]
        folder = tarfile.TarInfo("a")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            info.mtime = 1_700_000_000
            archive.addfile(info, io.BytesIO(content))
    return path


WRITERS: dict[str, Callable[[Path, Files], Path]] = {
    "zip deflated": write_zip,
    "zip stored": lambda path, files: write_zip(path, files, zipfile.ZIP_STORED),
    "zip bzip2": lambda path, files: write_zip(path, files, zipfile.ZIP_BZIP2),
    "tar": write_tar,
    "tar pax": lambda path, files: write_tar(path, files, "w", format=tarfile.PAX_FORMAT),
    "tar gnu": lambda path, files: write_tar(path, files, "w", format=tarfile.GNU_FORMAT),
    "tar gz": lambda path, files: write_tar(path, files, "w:gz"),
    "tar bz2": lambda path, files: write_tar(path, files, "w:bz2"),
    "tar xz": lambda path, files: write_tar(path, files, "w:xz"),
}
each_kind = pytest.mark.parametrize("kind", WRITERS)


def contents(sources: list[ImageSource]) -> Files:
    return {source.id: source.read() for source in sources}


@each_kind
def test_members_are_listed_sorted_and_read_in_any_order(kind: str, tmp_path: Path) -> None:
    path = WRITERS[kind](tmp_path / "archive.jpg", FILES)  # told by content, whatever it is called
    sources = list_images(path)
    assert [source.id for source in sources] == ["a/1.png", "a/2.png", "b.jpg", "empty.gif"]
    assert all(source.path == path and source.member == source.id for source in sources)
    assert contents(sources[::-1]) == FILES


@each_kind
def test_sources_travel_to_other_processes(kind: str, tmp_path: Path) -> None:
    sources = list_images(WRITERS[kind](tmp_path / "archive", FILES))
    assert contents(pickle.loads(pickle.dumps(sources))) == FILES


@each_kind
def test_threads_read_side_by_side(kind: str, tmp_path: Path) -> None:
    files = {f"{n}.bin": os.urandom(20_000) for n in range(30)}
    sources = list_images(WRITERS[kind](tmp_path / "archive", files))
    wrong: list[str] = []

    def work(mine: list[ImageSource]) -> None:
        wrong.extend(source.id for source in mine if source.read() != files[source.id])

    threads = [threading.Thread(target=work, args=(sources[start:] + sources[:start],)) for start in (0, 7, 15, 22)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@each_kind
def test_the_stamp_of_a_member_is_known_without_reading_and_changes(kind: str, tmp_path: Path) -> None:
    path = WRITERS[kind](tmp_path / "one", FILES)
    before = {s.id: s.stamp for s in list_images(path)}
    assert {s.id: s.stamp for s in list_images(path)} == before
    changed = {s.id: s.stamp for s in list_images(WRITERS[kind](tmp_path / "three", {**FILES, "a/1.png": b"ones"}))}
    # A tar tells only that some member has changed, a zip which.
    altered = {"a/1.png"} if kind.startswith("zip") else set(FILES)
    assert {name for name in before if before[name] != changed[name]} == altered


@each_kind
def test_other_content_under_the_same_names_sizes_and_times_is_noticed(kind: str, tmp_path: Path) -> None:
    path = WRITERS[kind](tmp_path / "archive", {"a.png": b"old!"})
    os.utime(path, ns=(10, 10))
    before = list_images(path)[0].stamp
    WRITERS[kind](path, {"a.png": b"new!"})
    os.utime(path, ns=(11, 11))
    assert list_images(path)[0].stamp != before


@each_kind
def test_a_member_longer_than_allowed_is_not_unpacked(kind: str, tmp_path: Path) -> None:
    (source,) = list_images(WRITERS[kind](tmp_path / "archive", {"a.bin": b"x" * 1000}))
    assert source.read(1000) == b"x" * 1000
    with pytest.raises(UndecodableImageError, match=r"^too many bytes: 1000, more than max_bytes=999$"):
        source.read(999)


@each_kind
def test_hidden_and_system_members_have_their_reason(kind: str, tmp_path: Path) -> None:
    files = {"a.png": b"1", "__MACOSX/._a.png": b"2", ".hidden/b.png": b"3", "x/Thumbs.db": b"4"}
    assert {s.id: s.reason for s in list_images(WRITERS[kind](tmp_path / "archive", files))} == {
        "a.png": None,
        "__MACOSX/._a.png": "a system's side file",
        ".hidden/b.png": "hidden",
        "x/Thumbs.db": "a system's side file",
    }


@each_kind
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../../etc/passwd", "leads out of its archive"),
        ("a/../../b.png", "leads out of its archive"),
        ("/etc/passwd", "an absolute path in an archive"),
        ("C:/windows/b.png", "an absolute path in an archive"),
        ("..\\b.png", "leads out of its archive"),
    ],
)
def test_a_member_that_leads_out_is_left_out_and_named(kind: str, name: str, reason: str, tmp_path: Path) -> None:
    sources = list_images(WRITERS[kind](tmp_path / "archive", {"fine.png": b"1", name: b"2"}))
    left_out = next(source for source in sources if source.id != "fine.png")
    assert (left_out.id, left_out.reason) == (name, reason)
    with pytest.raises(UndecodableImageError, match=f"^{reason}$"):
        left_out.read()


def test_a_dot_in_front_is_no_part_of_the_id(tmp_path: Path) -> None:
    (source,) = list_images(write_tar(tmp_path / "archive", {"./a/b.png": b"1"}))
    assert (source.id, source.member, source.reason) == ("a/b.png", "./a/b.png", None)


def test_names_of_a_tar_that_are_no_text(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.png")
    (source,) = list_images(write_tar(tmp_path / "archive", {name: b"1"}))
    assert (source.id, source.member, source.read()) == (r"caf\xE9.png", name, b"1")


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_links_devices_and_pipes_in_a_tar(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "archive"
    kinds = {
        "link": tarfile.SYMTYPE,
        "hard": tarfile.LNKTYPE,
        "device": tarfile.CHRTYPE,
        "block": tarfile.BLKTYPE,
        "pipe": tarfile.FIFOTYPE,
    }
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, kind in kinds.items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    assert {source.id: source.reason for source in list_images(path)} == {
        "link": "a link in an archive, not followed",
        "hard": "a link in an archive, not followed",
        "device": "not a regular file",
        "block": "not a regular file",
        "pipe": "not a regular file",
    }


def test_links_and_devices_in_a_zip(tmp_path: Path) -> None:
    path = tmp_path / "archive"
    with zipfile.ZipFile(path, "w") as archive:
        for name, kind in (("link", stat.S_IFLNK), ("device", stat.S_IFCHR), ("file", stat.S_IFREG)):
            info = zipfile.ZipInfo(name)
            info.external_attr = (kind | 0o644) << 16
            archive.writestr(info, b"/etc/passwd")
    assert {source.id: source.reason for source in list_images(path)} == {
        "device": "not a regular file",
        "file": None,
        "link": "a link in an archive, not followed",
    }


def test_encrypted_and_rarely_packed_members_of_a_zip(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "archive", {"a.png": b"1" * 100})
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02")
    data[at + 8] |= 1
    path.write_bytes(data)
    assert [source.reason for source in list_images(path)] == ["encrypted in its archive"]
    rare = write_zip(tmp_path / "rare", {"a.png": b"1" * 100}, zipfile.ZIP_LZMA)
    assert [s.reason for s in list_images(rare)] == ["packed by zip method 14, which is not read; pack by deflate"]


def test_a_zip_member_that_lies_about_its_size_is_never_unpacked_further(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "archive", {"a.png": bytes(50 << 20)})
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, at + 24, 1000)
    path.write_bytes(data)
    (source,) = list_images(path)
    with pytest.raises(UndecodableImageError, match=r"^damaged in its archive"):
        source.read(1 << 20)


def test_a_damaged_member_does_not_cost_the_others(tmp_path: Path) -> None:
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2):
        path = write_zip(tmp_path / "archive", {"a.png": b"A" * 10 + os.urandom(500), "b.png": b"fine"}, method)
        data = bytearray(path.read_bytes())
        data[200] ^= 0xFF
        path.write_bytes(data)
        damaged, fine = list_images(path)
        with pytest.raises(UndecodableImageError, match=r"^damaged in its archive"):
            damaged.read()
        assert fine.read() == b"fine"


def test_an_archive_that_is_replaced_is_noticed(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "archive", {"a.png": b"1" * 100, "b.png": b"2" * 100})
    sources = list_images(path)
    write_zip(path, {"other.png": b"3" * 1000})
    for source in sources:
        with pytest.raises(UndecodableImageError, match="archive"):
            source.read()
    path.unlink()
    with pytest.raises(UndecodableImageError, match=r"^no such file$"):
        sources[0].read()


@pytest.mark.parametrize("kind", ["tar gz", "tar bz2", "tar xz"])
def test_a_packed_tar_that_is_replaced_is_unpacked_anew(kind: str, tmp_path: Path) -> None:
    path = WRITERS[kind](tmp_path / "archive", {"a.png": b"old!"})
    (source,) = list_images(path)
    assert source.read() == b"old!"
    WRITERS[kind](path, {"a.png": b"new!"})
    os.utime(path, ns=(5, 5))
    assert source.read() == b"new!"


@each_kind
@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_truncated_archive_is_an_error_that_names_it(kind: str, share: float, tmp_path: Path) -> None:
    files = {f"{n}.bin": os.urandom(900) for n in range(20)}
    path = WRITERS[kind](tmp_path / "archive", files)
    data = path.read_bytes().rstrip(b"\x00")
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(FileFormatError, match="archive that can be listed"):
        list_images(path)


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_a_tar_with_a_damaged_header_does_not_just_end_there(mode: str, tmp_path: Path) -> None:
    path = write_tar(tmp_path / "archive", {f"{n}.bin": b"x" * 512 for n in range(5)}, mode)
    plain = bytearray(gzip.decompress(path.read_bytes()) if mode == "w:gz" else path.read_bytes())
    at = plain.index(b"3.bin")
    plain[at + 100] ^= 0xFF
    path.write_bytes(gzip.compress(plain) if mode == "w:gz" else plain)
    with pytest.raises(FileFormatError, match="no end mark"):
        list_images(path)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_packed_file_that_is_no_tar(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "list.txt.packed"
    path.write_bytes(pack(b"a.jpg\nb.jpg\n"))
    with pytest.raises(FileFormatError, match=r"archive that can be listed"):
        list_images(path)


def test_a_tar_that_swells_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_limits, "_FREE_BYTES", 1 << 20)
    path = write_tar(tmp_path / "archive", {"a.bin": bytes(8 << 20)}, "w:gz")
    with pytest.raises(FileFormatError, match="unpacks to more than 200 times its size"):
        list_images(path)


def test_an_empty_archive(tmp_path: Path) -> None:
    for write in (write_zip, write_tar):
        with pytest.raises(InputError, match="no file there"):
            list_images(write(tmp_path / "archive", {}))


def test_an_archive_inside_a_folder_is_left_out_with_advice(tmp_path: Path) -> None:
    write_zip(tmp_path / "more.zip", FILES)
    write_tar(tmp_path / "more.tar", FILES)
    for source in list_images(tmp_path):
        with pytest.raises(UndecodableImageError, match=r"^not an image: a (zip|tar) archive; list it by itself"):
            decode(source.read())


def test_images_come_out_of_an_archive(tmp_path: Path, encode: Encode, photograph: Image.Image) -> None:
    data = encode(photograph, "PNG")
    for kind, write in WRITERS.items():
        (source,) = list_images(write(tmp_path / "archive", {"p.png": data}))
        assert decode(source.read()).pixels.tobytes() == photograph.tobytes(), kind


def test_long_and_foreign_names_in_every_kind(tmp_path: Path) -> None:
    names = ["d/" * 60 + "deep.png", "日本語.png", "ü" * 80 + ".png"]
    for kind, write in WRITERS.items():
        sources = list_images(write(tmp_path / "archive", {name: name.encode() for name in names}))
        assert {source.id for source in sources} == set(names), kind
        assert all(source.read() == source.id.encode() for source in sources)


def tar_header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    """A header with any size, in base 256 as GNU tar writes what octal digits cannot."""
    info = tarfile.TarInfo(name)
    info.type = kind
    header = bytearray(info.tobuf(tarfile.USTAR_FORMAT))
    header[124:136] = size.to_bytes(12, "big", signed=True) if size < 0 else b"\x80" + size.to_bytes(11, "big")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


def pax_header(fields: dict[str, str]) -> bytes:
    return tarfile.TarInfo.create_pax_global_header(fields)


TAR_END = bytes(10240)
HOSTILE_TARS = {
    "a size below zero": tar_header("a.png", -512) + TAR_END,
    "a size far below zero": tar_header("fine.png", 0) + tar_header("a.png", -1024) + TAR_END,
    "a name of a size below zero": tar_header("a.png", -512, tarfile.GNUTYPE_LONGNAME) + TAR_END,
    "fields of a size below zero": tar_header("a.png", -512, tarfile.XHDTYPE) + TAR_END,
    "a size below zero in the fields": pax_header({"size": "-1536"}) + tar_header("a.png", 0) + TAR_END,
    "a size without end": tar_header("a.png", 1 << 70) + TAR_END,
    "a name without end": tar_header("a.png", 1 << 21, tarfile.GNUTYPE_LONGNAME) + bytes(1 << 22),
    "headers of headers": tar_header("a", 0, tarfile.XHDTYPE) * 3000 + tar_header("a.png", 0) + TAR_END,
}


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("data", HOSTILE_TARS.values(), ids=HOSTILE_TARS)
def test_a_tar_whose_sizes_lead_nowhere_is_refused_at_once(
    data: bytes, pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / "archive.tar"
    path.write_bytes(pack(data))
    with pytest.raises(FileFormatError, match=r"archive\.tar: (no (tar|gzip) archive that can be|unpacks to more)"):
        list_images(path)


def test_a_zip_that_swells_is_refused_when_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"{n}.png": bytes(1 << 20) for n in range(8)}
    path = write_zip(tmp_path / "archive.zip", files)
    assert len(list_images(path)) == 8  # up to 64 MiB any archive may have
    monkeypatch.setattr(archive_limits, "_FREE_BYTES", 1 << 20)
    with pytest.raises(FileFormatError, match=r"archive\.zip: unpacks to more than 200 times its size"):
        list_images(path)


def test_members_of_a_zip_that_share_bytes_are_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "archive.zip", {f"{n}.png": os.urandom(500) for n in range(3)})
    data = bytearray(path.read_bytes())
    last = data.rindex(b"PK\x01\x02")
    second = data.rindex(b"PK\x01\x02", 0, last)
    data[last + 42 : last + 46] = data[second + 42 : second + 46]
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=r"archive\.zip: .*'1\.png' overlaps '2\.png'|'2\.png' overlaps '1"):
        list_images(path)
