"""Notes: nothing confirmed is lost, whoever writes and whoever dies."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from visual_search.catalogue.notes_file import NOTES_NAME, Note, NoteConflictError, NotesFile
from visual_search.errors import FileFormatError, InputError

HOSTILE = [
    "<script>alert(1)</script>\n\"quoted\" 'single' a/b\\c",
    "\u202eright to left \u05d0\u05d1 \u4e2d\u6587 \x00\x1b[31m",
    "line\u2028separator\u2029\x85\x0bend\r\nof lines",
    "x" * 10_000,
    "half \ud800 of a pair",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_comes_back(tmp_path: Path, text: str) -> None:
    notes = NotesFile(tmp_path)
    notes.write("a/<b>'\".json", text, version=0)
    assert NotesFile(tmp_path).read().notes["a/<b>'\".json"].text == text


def test_the_second_of_two_writers_gets_both_texts(tmp_path: Path) -> None:
    first, second = NotesFile(tmp_path), NotesFile(tmp_path)
    first.write("a.json", "mine", version=0)
    with pytest.raises(NoteConflictError, match="changed since you read it") as caught:
        second.write("a.json", "theirs", version=0)
    assert (caught.value.now.text, caught.value.offered) == ("mine", "theirs")
    assert second.read().notes["a.json"].text == "mine"
    assert second.write("a.json", "mine and theirs", version=1).version == 2


def test_of_many_writers_at_once_each_is_kept_or_told(tmp_path: Path) -> None:
    outcomes: list[str | None] = []

    def write(name: str) -> None:
        notes = NotesFile(tmp_path)
        while True:
            version = notes.read().notes.get("a.json", Note()).version
            try:
                notes.write("a.json", name, version=version)
            except NoteConflictError:
                continue
            outcomes.append(name)
            return

    threads = [threading.Thread(target=write, args=(str(number),)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 8
    assert NotesFile(tmp_path).read().notes["a.json"].version == 8


def test_a_note_too_long_is_refused_and_nothing_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"20,001 characters; at most 20,000"):
        NotesFile(tmp_path).write("a.json", "x" * 20_001, version=0)
    assert not (tmp_path / NOTES_NAME).exists()


def test_pins_are_in_order_and_can_be_let_go(tmp_path: Path) -> None:
    notes = NotesFile(tmp_path)
    for file in ("a", "b", "a", "c"):
        notes.pin(file, pinned=True)
    notes.pin("b", pinned=False)
    notes.pin("never", pinned=False)
    assert notes.read().pins == ["a", "c"]


def test_a_torn_end_is_cut_off_by_the_next_writer_only(tmp_path: Path) -> None:
    notes = NotesFile(tmp_path)
    notes.write("a.json", "kept", version=0)
    with notes.path.open("ab") as stream:
        stream.write(b'{"crc32": 1, "record": {"kind": "no')
    assert notes.read().notes["a.json"].text == "kept"
    notes.write("b.json", "later", version=0)
    assert {file: note.text for file, note in notes.read().notes.items()} == {"a.json": "kept", "b.json": "later"}
    assert notes.read().damaged == 0


def test_a_damaged_line_is_told_stays_and_takes_no_other_with_it(tmp_path: Path) -> None:
    notes = NotesFile(tmp_path)
    for number in range(3):
        notes.write(f"{number}.json", f"note {number}", version=0)
    broken = notes.path.read_bytes().replace(b"note 1", b"nOte 1")
    notes.path.write_bytes(broken)
    notes.write("3.json", "note 3", version=0)
    found = notes.read()
    assert (sorted(found.notes), found.damaged) == (["0.json", "2.json", "3.json"], 1)
    assert b"nOte 1" in notes.path.read_bytes()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a diary\nof mine\n", "holds no notes"),
        (b'{"crc32": 3526174571, "record": 1}\n', "holds no notes"),
    ],
)
def test_a_file_of_another_kind_is_left_alone(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / NOTES_NAME).write_bytes(content)
    with pytest.raises(FileFormatError, match=words):
        NotesFile(tmp_path).write("a.json", "text", version=0)
    assert (tmp_path / NOTES_NAME).read_bytes() == content


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    from visual_search.formats.json_lines import record_line

    (tmp_path / NOTES_NAME).write_bytes(record_line({"format": "visual-search notes", "version": 2}))
    with pytest.raises(FileFormatError, match="version 2; this program knows 1"):
        NotesFile(tmp_path).read()


_WRITER = """
import sys
from pathlib import Path
from visual_search.catalogue.notes_file import NotesFile
notes = NotesFile(Path(sys.argv[1]))
number = 0
while True:
    notes.write(f"{number % 5}.json", f"text {number}", version=number // 5)
    print(number, flush=True)
    number += 1
"""


def test_after_kill_9_every_confirmed_note_is_there(tmp_path: Path) -> None:
    writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    confirmed = [int(writer.stdout.readline()) for _ in range(25)]
    os.kill(writer.pid, signal.SIGKILL)
    confirmed += [int(line) for line in writer.stdout.read().split()]
    writer.stdout.close()
    writer.wait()
    last = {number % 5: number for number in confirmed}
    notes = NotesFile(tmp_path)
    found = notes.read()
    for place, number in last.items():
        note = found.notes[f"{place}.json"]
        # One more may have reached the disk without being confirmed.
        assert note.text in {f"text {number}", f"text {number + 5}"}
    notes.write("after.json", "the lock went with its holder", version=0)
    assert notes.read().notes["after.json"].version == 1
