"""What an index's maker attaches is kept, checked and replaced with the index."""

from pathlib import Path

import pytest

from visual_search.errors import FileFormatError, InputError
from visual_search.indexing.index_table import VectorIndex


def an_index() -> VectorIndex:
    index = VectorIndex()
    index.add(["a"], [[1.0, 2.0]])
    return index


def test_attachments_come_back(tmp_path: Path) -> None:
    index = an_index()
    index.attachments = {"ledger.jsonl": b"one\ntwo\n", "notes.txt": b""}
    index.save(tmp_path / "index")
    assert VectorIndex.open(tmp_path / "index").attachments == index.attachments


def test_a_later_save_without_them_clears_them_away(tmp_path: Path) -> None:
    index = an_index()
    index.attachments = {"ledger.jsonl": b"one"}
    index.save(tmp_path / "index")
    index.attachments = {}
    index.save(tmp_path / "index")
    assert not list((tmp_path / "index").glob("attached-*"))
    assert VectorIndex.open(tmp_path / "index").attachments == {}


def test_a_changed_attachment_is_refused(tmp_path: Path) -> None:
    index = an_index()
    index.attachments = {"ledger.jsonl": b"one"}
    index.save(tmp_path / "index")
    (attached,) = (tmp_path / "index").glob("attached-*")
    attached.write_bytes(b"two")
    with pytest.raises(FileFormatError, match="SHA-256"):
        VectorIndex.open(tmp_path / "index")


@pytest.mark.parametrize("name", ["../escape.txt", "no suffix", "", "UPPER.txt", "a.b.c"])
def test_a_name_that_is_no_plain_file_name_is_refused(tmp_path: Path, name: str) -> None:
    index = an_index()
    index.attachments = {name: b"x"}
    with pytest.raises(InputError, match="a name is lower-case letters and a suffix"):
        index.save(tmp_path / "index")
    assert not (tmp_path / "index").exists()
