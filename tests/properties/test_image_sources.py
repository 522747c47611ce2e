"""Any bytes given as an archive or list are listed or refused by one family of errors; patterns mean glob's."""

from __future__ import annotations

import glob
import io
import tarfile
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from visual_search.errors import InputError, UndecodableImageError
from visual_search.images.folders import find_by_pattern
from visual_search.images.ledger import Ledger, LedgerEntry
from visual_search.images.sources import list_images

FILES = {"a.png": b"one" * 40, "b/c.jpg": b"two" * 70, "b/d.gif": b""}
KINDS = ("zip", "stored", "tar", "gz", "bz2", "xz")


@cache
def archive(kind: str) -> bytes:
    stream = io.BytesIO()
    if kind in ("zip", "stored"):
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED if kind == "zip" else zipfile.ZIP_STORED) as written:
            for name, content in FILES.items():
                written.writestr(name, content)
    else:
        with tarfile.open(fileobj=stream, mode="w" if kind == "tar" else f"w:{kind}") as packed:  # type: ignore[call-overload]
            for name, content in FILES.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                packed.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def contents_or_reasons(path: Path) -> dict[str, bytes | str]:
    """List and read everything; no other error may come out."""
    try:
        sources = list_images(path)
    except InputError as error:
        assert str(error)
        return {}
    found: dict[str, bytes | str] = {}
    for source in sources:
        assert source.stamp
        try:
            found[source.id] = source.read(1 << 16)
        except UndecodableImageError as error:
            found[source.id] = str(error)
    return found


edits = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=6)


@given(st.sampled_from(KINDS), edits, st.floats(0, 1), st.booleans())
@settings(max_examples=300, deadline=None)
def test_mutated_archives(kind: str, changes: list[tuple[float, int]], kept: float, cut: bool) -> None:
    data = bytearray(archive(kind))
    for place, value in changes:
        data[int(place * len(data))] = value
    mutated = bytes(data[: int(kept * len(data))] if cut else data)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "archive")
        path.write_bytes(mutated)
        found = contents_or_reasons(path)
        if mutated == archive(kind):
            assert found == FILES
        # A zip's checksum covers its contents: what is read is right, whatever was broken around it.
        if kind in ("zip", "stored"):
            assert {v for v in found.values() if isinstance(v, bytes)} <= {*FILES.values(), b""}
        assert list(Path(folder).iterdir()) == [path]


@given(st.binary(max_size=300), st.sampled_from(["list", "list.csv", "list.tsv", "list.json", "list.txt"]))
@settings(max_examples=200, deadline=None)
def test_random_lists(data: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        contents_or_reasons(path)


names = st.text(alphabet="ab.*[]?-é\n ", min_size=1, max_size=5).filter(lambda name: name not in (".", ".."))
parts = st.sampled_from(["*", "**", "?", "a*", "*b", "[ab]*", ".*", "a", "b", "*.*", "[!a]"])


@given(st.lists(st.lists(names, min_size=1, max_size=3), max_size=8), st.lists(parts, min_size=1, max_size=3))
@settings(max_examples=400, deadline=None)
def test_patterns_match_what_glob_matches(tree: list[list[str]], pattern: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for path in tree:
            try:
                Path(folder, *path[:-1]).mkdir(parents=True, exist_ok=True)
                Path(folder, *path).touch()
            except (FileExistsError, NotADirectoryError, IsADirectoryError):
                continue
        text = "/".join(pattern)
        if not any(sign in text for sign in "*?["):
            return
        expected = glob.glob(text, root_dir=folder, recursive=True)  # noqa: PTH207 - the meaning to agree with
        # A part without signs before the first that has some belongs to the root.
        fixed = next(place for place, part in enumerate(pattern) if any(sign in part for sign in "*?["))
        if not Path(folder, *pattern[:fixed]).is_dir():
            return
        root, found = find_by_pattern(f"{folder}/{text}")
        assert root == Path(folder, *pattern[:fixed])
        assert {root / file.relative for file in found} == {
            Path(folder, path) for path in expected if Path(folder, path).is_file()
        }


@given(st.dictionaries(st.text(min_size=1), st.sampled_from(["used", "left_out"]), max_size=20), st.text())
@settings(max_examples=100, deadline=None)
def test_a_ledger_comes_back_as_it_was_written(images: dict[str, str], words: str) -> None:
    entries = [
        LedgerEntry(name, words, words, "used", (f"x: {words}",), None, "PNG", "L", 1, 2, 3, "00")
        if status == "used"
        else LedgerEntry(name, words, None, "left_out", reason=f"because {words}")
        for name, status in images.items()
    ]
    ledger = Ledger(entries)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ledger.jsonl")
        ledger.write(path)
        assert Ledger.read(path) == ledger
        assert list(Ledger.read(path)) == entries
    counts = ledger.as_json()
    assert counts["used"] + counts["left_out"] == len(ledger) == len(images)
    assert sum(counts["reasons"].values()) == counts["left_out"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_unbroken_archive_is_read_whole(kind: str, tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(archive(kind))
    assert contents_or_reasons(tmp_path / "archive") == FILES
