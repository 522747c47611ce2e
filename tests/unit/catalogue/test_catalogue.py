"""The catalogue: it follows the files, tells what is wrong with them, and can be lost without loss."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from visual_search.catalogue.catalogue import Catalogue, Refreshed
from visual_search.catalogue.database import DATABASE_NAME
from visual_search.catalogue.entry import Entry
from visual_search.catalogue.notes_file import NOTES_NAME
from visual_search.errors import FileFormatError, InputError, UnknownIdError
from visual_search.formats.results import read_result
from visual_search.testing.sample_results import sample_results


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    sample_results(folder, objects=3, views=3)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "results")
    return tmp_path / "results"


def opened(folder: Path) -> Catalogue:
    catalogue = Catalogue(folder)
    catalogue.refresh()
    return catalogue


def named(catalogue: Catalogue, file: str) -> Entry:
    return next(entry for entry in catalogue.entries() if entry.file == file)


def test_an_entry_has_what_the_record_says(folder: Path) -> None:
    catalogue = opened(folder)
    entry = named(catalogue, "loo-grid.json")
    record = read_result(folder / "loo-grid.json").record
    assert entry.facts["model"] == "grid"
    assert entry.facts["queries"] == record["num_queries"]
    assert list(entry.measures) == list(record["measures"])
    for text, told in record["measures"].items():
        mean = entry.measures[text]
        assert mean.mean == told["mean"]
        assert (mean.low, mean.high) == (told["interval"]["low"], told["interval"]["high"])
    assert entry.time.isoformat() == "2026-01-15T10:30:00+00:00"
    stored = catalogue.result(entry.key)
    assert stored.record["measures"] == record["measures"]
    assert stored.ranking().equals(read_result(folder / "loo-grid.json").ranking())


def test_a_result_with_the_guides_keys_alone_is_one_too(folder: Path) -> None:
    record = json.loads((folder / "loo-grid.json").read_text())
    guide = {"num_queries", "k_values", "map", "mrr", "per_query_results", "timestamp", "model_name"}
    plain = {key: value for key, value in record.items() if key in guide or key.startswith(("recall", "precision"))}
    (folder / "plain.json").write_text(json.dumps(plain))
    catalogue = opened(folder)
    entry = named(catalogue, "plain.json")
    assert entry.measures["AP(denominator=all)@10"].mean == record["map"]
    assert catalogue.result(entry.key).record["per_query_results"] == record["per_query_results"]


def test_only_what_changed_is_read_again(folder: Path) -> None:
    catalogue = opened(folder)
    assert catalogue.refresh() == Refreshed(0, 0, 0)
    record = json.loads((folder / "one-grid.json").read_text())
    (folder / "one-grid.json").write_text(json.dumps(record | {"model_name": "renamed"}))
    assert catalogue.refresh() == Refreshed(1, 0, 0)
    assert named(catalogue, "one-grid.json").name == "renamed"
    (folder / "one-grid.json").unlink()
    assert catalogue.refresh() == Refreshed(0, 1, 0)
    assert "one-grid.json" not in {entry.file for entry in catalogue.entries()}


def test_limited_in_time_the_rest_waits(folder: Path) -> None:
    catalogue = Catalogue(folder)
    assert catalogue.refresh(seconds=0.0) == Refreshed(1, 0, 3)
    assert len(catalogue.entries()) == 1
    assert catalogue.refresh() == Refreshed(3, 0, 0)


def test_a_result_that_waits_for_its_turn_is_there_when_it_is_asked_for(folder: Path) -> None:
    keys = {entry.file: entry.key for entry in opened(folder).entries()}
    for path in folder.glob(f"{DATABASE_NAME}*"):
        path.unlink()
    catalogue = Catalogue(folder)
    assert catalogue.refresh(seconds=0.0).waiting == 3
    assert catalogue.entry(keys["one-grid.json"]).name == "grid"
    assert catalogue.write_note(keys["one-colour.json"], "kept", version=0).version == 1
    assert catalogue.refresh() == Refreshed(1, 0, 0)
    (folder / "one-grid.json").unlink()
    catalogue.refresh()
    with pytest.raises(UnknownIdError):
        catalogue.entry(keys["one-grid.json"])


def test_folders_below_are_looked_through_and_other_json_is_not_shown(folder: Path) -> None:
    (folder / "week-3").mkdir()
    shutil.copy(folder / "loo-grid.json", folder / "week-3" / "loo-grid.json")
    (folder / ".hidden").mkdir()
    shutil.copy(folder / "loo-grid.json", folder / ".hidden" / "loo-grid.json")
    (folder / "dataset.json").write_text('{"queries": []}')
    (folder / "list.json").write_text("[1, 2]")
    catalogue = opened(folder)
    files = [entry.file for entry in catalogue.entries()]
    assert len(files) == 5
    assert "week-3/loo-grid.json" in files
    assert catalogue.refresh().read == 0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"num_queries": 1, "k_values"', "not JSON, or cut off"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b'{"num_queries": 1, "per_query_results": []}', "keys missing"),
        (b'{"format": "visual-search result", "format_version": 99}', "newer"),
        (b"[" * 100_000, "nested too deeply"),
    ],
    ids=["cut off", "bytes", "keys", "newer", "deep"],
)
def test_a_file_that_cannot_be_read_is_told(folder: Path, content: bytes, words: str) -> None:
    (folder / "bad.json").write_bytes(content)
    catalogue = opened(folder)
    entry = named(catalogue, "bad.json")
    assert entry.problem is not None
    assert words in entry.problem
    assert entry.name == "bad.json"
    with pytest.raises(FileFormatError, match=r"bad\.json"):
        catalogue.result(entry.key)


def test_a_key_that_nobody_has_is_named(folder: Path) -> None:
    with pytest.raises(UnknownIdError, match=r"\.\./\.\./etc/passwd"):
        opened(folder).result("../../etc/passwd")


def delete(database: Path) -> None:
    for path in database.parent.glob(f"{database.name}*"):
        path.unlink()


def overwrite(database: Path) -> None:
    database.write_bytes(b"no database at all" * 1000)


def cut(database: Path) -> None:
    database.write_bytes(database.read_bytes()[:5000])


def scribble(database: Path) -> None:
    data = bytearray(database.read_bytes())
    data[4096:] = bytes(b ^ 0x5A for b in data[4096:])
    database.write_bytes(data)


def other_version(database: Path) -> None:
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA user_version = 77")
    connection.close()


@pytest.mark.parametrize("harm", [delete, overwrite, cut, scribble, other_version])
def test_a_lost_or_damaged_catalogue_is_built_again_with_notes_and_pins(
    folder: Path, harm: Callable[[Path], None]
) -> None:
    catalogue = opened(folder)
    key = named(catalogue, "loo-grid.json").key
    catalogue.write_note(key, "the camera was moved", version=0)
    catalogue.pin(key, pinned=True)
    before = catalogue.entries()
    catalogue.database.close()
    harm(folder / DATABASE_NAME)
    again = opened(folder)
    assert again.entries() == before
    assert (again.entry(key).note.text, again.entry(key).pinned) == ("the camera was moved", 1)


@pytest.mark.parametrize("harm", [delete, overwrite])
def test_it_may_be_lost_while_it_is_open(folder: Path, harm: Callable[[Path], None]) -> None:
    catalogue = opened(folder)
    before = catalogue.entries()
    harm(folder / DATABASE_NAME)
    catalogue.refresh()
    assert catalogue.entries() == before


def test_notes_outlive_the_file_they_are_on(folder: Path) -> None:
    catalogue = opened(folder)
    key = named(catalogue, "loo-grid.json").key
    catalogue.write_note(key, "look here", version=0)
    kept = (folder / "loo-grid.json").read_bytes()
    (folder / "loo-grid.json").unlink()
    catalogue.refresh()
    assert {file: note.text for file, note in catalogue.lone_notes().items()} == {"loo-grid.json": "look here"}
    (folder / "loo-grid.json").write_bytes(kept)
    catalogue.refresh()
    assert catalogue.entry(key).note.text == "look here"
    assert catalogue.lone_notes() == {}


def test_notes_of_another_process_are_seen(folder: Path) -> None:
    ours, theirs = opened(folder), opened(folder)
    key = named(ours, "loo-grid.json").key
    theirs.write_note(key, "from the other window", version=0)
    ours.refresh()
    assert ours.entry(key).note.text == "from the other window"


def test_damaged_notes_are_told(folder: Path) -> None:
    catalogue = opened(folder)
    catalogue.write_note(named(catalogue, "loo-grid.json").key, "text", version=0)
    path = folder / NOTES_NAME
    path.write_bytes(path.read_bytes().replace(b'"text": "text"', b'"text": "tExt"'))
    catalogue.refresh()
    assert "1 line is damaged" in " ".join(catalogue.problems())


def test_a_file_name_that_is_no_text(folder: Path) -> None:
    name = os.fsdecode(b"gr\xfcn.json")
    shutil.copy(folder / "loo-grid.json", folder / name)
    catalogue = opened(folder)
    entry = named(catalogue, name)
    catalogue.write_note(entry.key, "green", version=0)
    assert catalogue.entry(entry.key).note.text == "green"
    assert catalogue.result(entry.key).record["model_name"] == "grid"


def test_readers_go_on_while_another_writes(folder: Path) -> None:
    catalogue = opened(folder)
    stop = threading.Event()
    seen: list[int] = []
    wrong: list[BaseException] = []

    def read() -> None:
        try:
            while not stop.is_set():
                seen.append(len(catalogue.entries()))
        except BaseException as problem:  # noqa: BLE001 - a thread's fault must reach the test
            wrong.append(problem)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    other = Catalogue(folder)
    for number in range(20):
        os.utime(folder / "loo-grid.json", (number, number))
        other.refresh()
    stop.set()
    for reader in readers:
        reader.join()
    assert wrong == []
    assert set(seen) == {4}


_REFRESHER = """
import os, sys
from pathlib import Path
from visual_search.catalogue.catalogue import Catalogue
folder = Path(sys.argv[1])
catalogue = Catalogue(folder)
number = 0
while True:
    number += 1
    for path in folder.glob("l*.json"):
        if ".items." not in path.name:
            os.utime(path, (number, number))
    catalogue.refresh()
    print(number, flush=True)
"""


def test_after_kill_9_under_a_refresh_the_catalogue_is_whole(folder: Path) -> None:
    for round_ in range(3):
        refresher = subprocess.Popen(
            [sys.executable, "-c", _REFRESHER, str(folder)], stdout=subprocess.PIPE, text=True
        )
        assert refresher.stdout is not None
        for _ in range(3 + round_):
            refresher.stdout.readline()
        os.kill(refresher.pid, signal.SIGKILL)
        refresher.wait()
        refresher.stdout.close()
        catalogue = opened(folder)
        assert [entry.file for entry in catalogue.entries()] == [
            *("loo-colour.json", "loo-grid.json", "one-colour.json", "one-grid.json")
        ]
        assert all(entry.measures and entry.problem is None for entry in catalogue.entries())
        assert catalogue.database.rebuilt == 0


def test_a_folder_that_cannot_be_written_is_looked_through_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Any = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and real(path, mode))
    catalogue = opened(folder)
    assert len(catalogue.entries()) == 4
    assert not (folder / DATABASE_NAME).exists()


def test_no_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
        Catalogue(tmp_path / "nowhere")


def test_a_count_that_is_null_is_told_and_shown_on_no_page(folder: Path) -> None:
    record = json.loads((folder / "loo-grid.json").read_text())
    (folder / "loo-grid.json").write_text(json.dumps(record | {"audit": {"categories": {"shoes": None}}}))
    assert "audit.categories.shoes" in str(named(opened(folder), "loo-grid.json").problem)
