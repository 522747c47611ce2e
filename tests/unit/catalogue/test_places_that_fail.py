"""Where a folder, its disk or what lies in it fails: pages go on, and what is not written is told."""

import errno
import os
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from visual_search.catalogue import database as database_module
from visual_search.catalogue.catalogue import Catalogue
from visual_search.catalogue.database import DATABASE_NAME
from visual_search.catalogue.notes_file import NOTES_NAME, NotesFile
from visual_search.errors import FileFormatError, InputError
from visual_search.formats.json_lines import record_line
from visual_search.testing.sample_results import sample_results

HEADER = record_line({"format": "visual-search notes", "version": 1})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sample_results(tmp_path / "results", objects=2, views=2)
    return tmp_path / "results"


def shown(catalogue: Catalogue) -> int:
    catalogue.refresh()
    return len(catalogue.entries())


@contextmanager
def no_room(size: int) -> Iterator[None]:
    """No file may grow beyond so many bytes: the system itself refuses, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def as_folder(path: Path) -> None:
    path.mkdir()
    (path / "in it").touch()


@pytest.mark.parametrize("name", [DATABASE_NAME, f"{DATABASE_NAME}-wal"])
def test_a_folder_in_the_catalogues_place_is_left_and_told(folder: Path, name: str) -> None:
    as_folder(folder / name)
    catalogue = Catalogue(folder)
    assert shown(catalogue) == 4
    assert (folder / name / "in it").exists()
    (told,) = catalogue.problems()
    assert "cannot be kept" in told
    assert "temporary folder" in told


def test_what_is_put_in_the_catalogues_place_while_it_is_open_is_left(folder: Path) -> None:
    catalogue = Catalogue(folder)
    assert shown(catalogue) == 4
    for path in folder.glob(f"{DATABASE_NAME}*"):
        path.unlink()
    as_folder(folder / DATABASE_NAME)
    assert shown(catalogue) == 4
    assert (folder / DATABASE_NAME / "in it").exists()
    assert "cannot be kept" in catalogue.problems()[0]


def test_a_full_disk_moves_the_catalogue_and_spoils_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Catalogue(folder)
    assert shown(first) == 4
    first.write_note(first.entries()[0].key, "from before", version=0)
    real: Callable[[Path], sqlite3.Connection] = database_module._opened

    def narrow(path: Path) -> sqlite3.Connection:
        connection = real(path)
        if path.parent == folder:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {max(1, pages)}")
        return connection

    monkeypatch.setattr(database_module, "_opened", narrow)
    catalogue = Catalogue(folder)
    for number in range(40):  # more than fits into the pages there are
        shutil.copy(folder / "loo-grid.json", folder / f"copy {number}.json")
    assert shown(catalogue) == 44
    assert "full" in catalogue.problems()[0]
    assert {entry.note.text for entry in catalogue.entries()} == {"from before", ""}
    monkeypatch.undo()
    with sqlite3.connect(folder / DATABASE_NAME) as whole:  # the file of those who have room is as it was
        assert whole.execute("SELECT count(*) FROM files").fetchone() == (4,)


def test_without_room_for_a_note_it_is_said_and_what_was_confirmed_stays(folder: Path) -> None:
    notes = NotesFile(folder)
    notes.write("a.json", "confirmed", version=0)
    with no_room((folder / NOTES_NAME).stat().st_size + 50):
        with pytest.raises(InputError, match="make room on the disk"):
            notes.write("a.json", "x" * 19_000, version=1)
        assert notes.read().notes["a.json"].text == "confirmed"
    assert notes.write("a.json", "later", version=1).version == 2
    assert (notes.read().notes["a.json"].text, notes.read().damaged) == ("later", 0)


def test_a_folder_that_goes_and_comes_back(folder: Path, tmp_path: Path) -> None:
    catalogue = Catalogue(folder)
    assert shown(catalogue) == 4
    folder.rename(tmp_path / "away")
    assert shown(catalogue) == 0
    assert catalogue.problems() == [
        f"{folder}: the folder is gone; bring it back, or start the server on another one"
    ]
    (tmp_path / "away").rename(folder)
    assert shown(catalogue) == 4


@pytest.mark.parametrize("put", [os.mkfifo, Path.mkdir], ids=["pipe", "folder"])
def test_what_is_no_file_in_the_place_of_notes_is_told_and_not_waited_for(
    folder: Path, put: Callable[[Path], None]
) -> None:
    put(folder / NOTES_NAME)
    catalogue = Catalogue(folder)
    assert shown(catalogue) == 4
    assert "move it away" in catalogue.problems()[0]
    with pytest.raises(FileFormatError, match="move it away"):
        catalogue.write_note(catalogue.entries()[0].key, "text", version=0)


def test_a_link_in_the_place_of_notes_is_not_written_through(folder: Path, tmp_path: Path) -> None:
    (folder / NOTES_NAME).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="a link, through which nothing is written"):
        NotesFile(folder).write("a.json", "text", version=0)
    assert not (tmp_path / "elsewhere").exists()


def test_notes_that_may_not_be_read_are_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / NOTES_NAME).write_bytes(HEADER)

    def refuse(_: Path) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(FileFormatError, match="cannot be read"):
        NotesFile(folder).read()


@pytest.mark.parametrize(
    "record",
    [
        {"kind": "note", "file": "a.json", "text": "no version"},
        {"kind": "note", "file": "a.json", "text": "no number", "version": "1"},
        {"kind": "note", "file": "a.json", "text": "no text before", "version": 0},
        {"kind": "note", "file": "a.json", "text": "longer than 64 bits", "version": 1 << 63},
        {"kind": "note", "file": "a.json", "text": None, "version": 1},
        {"kind": "note", "file": None, "text": "of no file", "version": 1},
        {"kind": "note", "file": "\ud800", "text": "of no name that a file can have", "version": 1},
        {"kind": "pin", "file": ["a.json"], "pinned": True},
        {"kind": "pin", "file": "a.json"},
    ],
)
def test_a_record_that_is_whole_and_none_of_ours_is_counted_as_damaged(folder: Path, record: object) -> None:
    (folder / NOTES_NAME).write_bytes(HEADER + record_line(record))
    catalogue = Catalogue(folder)
    assert shown(catalogue) == 4
    assert "1 line is damaged" in catalogue.problems()[0]
