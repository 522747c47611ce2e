"""Several folders and files looked through as one."""

from pathlib import Path

import pytest

from visual_search.catalogue.database import DATABASE_NAME
from visual_search.catalogue.kept import Kept
from visual_search.catalogue.shelf import Shelf
from visual_search.errors import InputError
from visual_search.testing.sample_results import sample_results


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    made = tmp_path_factory.mktemp("a"), tmp_path_factory.mktemp("b")
    for folder in made:
        sample_results(folder, objects=2, views=2)
    return made


def test_files_of_one_name_in_two_folders_have_two_keys(folders: tuple[Path, Path]) -> None:
    shelf = Shelf(folders)
    shelf.refresh()
    entries = shelf.entries()
    assert len({entry.key for entry in entries}) == len(entries) == 8
    for entry in entries:
        assert shelf.result(entry.key).stored.record["model_name"] == entry.name


def test_a_file_alone_brings_nothing_else_of_its_folder(folders: tuple[Path, Path]) -> None:
    shelf = Shelf([folders[0] / "loo-grid.json"])
    shelf.refresh()
    assert [entry.file for entry in shelf.entries()] == ["loo-grid.json"]
    alone = shelf.entries()[0]
    shelf.write_note(alone.key, "alone", version=0)
    whole = Shelf([folders[0]])
    whole.refresh()
    assert whole.entry(alone.key).note.text == "alone"


def test_every_place_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"(?s)one.*two"):
        Shelf([tmp_path / "one", tmp_path / "two"])


def test_what_is_kept_is_bounded(folders: tuple[Path, Path]) -> None:
    database = Shelf([folders[1]]).database
    assert database is not None
    assert database.path == folders[1] / DATABASE_NAME
    kept = Kept(database, "test", most=3)
    for number in range(6):
        kept.put({"n": number}, number)
    assert [kept.get({"n": number}) for number in range(6)] == [None, None, None, 3, 4, 5]
