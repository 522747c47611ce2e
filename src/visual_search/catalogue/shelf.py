"""Several folders and files of results, looked through as one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from visual_search.catalogue.catalogue import Catalogue, Refreshed
from visual_search.catalogue.database import Database
from visual_search.catalogue.entry import Entry
from visual_search.catalogue.notes_file import Note
from visual_search.errors import InputError, Problems, UnknownIdError
from visual_search.formats.results import StoredResult

__all__ = ["Shelf", "ShelvedResult"]


@dataclass(frozen=True, slots=True)
class ShelvedResult:
    """A result with its entry and the folder that it stands in."""

    entry: Entry
    stored: StoredResult
    folder: Path


class Shelf:
    """Catalogues of folders, and of files given one by one.

    Parameters
    ----------
    places : iterable of path
        Folders of results, and results JSON files. Keys of the first folder depend on nothing but the places of its
        files, those of others also on where the folder is.

    Raises
    ------
    InputError
        A place that is not there; all of them at once.
    """

    def __init__(self, places: Iterable[str | os.PathLike[str]]) -> None:
        folders, files = _sorted_out(places)
        self._catalogues = [
            Catalogue(folder, salt="" if number == 0 else f"{folder.resolve()}/")
            for number, folder in enumerate(folders)
        ]
        for number, (folder, names) in enumerate(files.items()):
            salt = "" if number == 0 and not folders else f"{folder.resolve()}/"
            self._catalogues.append(Catalogue(folder, only=names, salt=salt))

    def __bool__(self) -> bool:
        return bool(self._catalogues)

    @property
    def folders(self) -> list[Path]:
        """The folders that are looked through, or in which single files lie."""
        return [one.folder for one in self._catalogues]

    @property
    def database(self) -> Database | None:
        """Where what was computed is kept; None on an empty shelf."""
        return self._catalogues[0].database if self._catalogues else None

    def refresh(self, *, seconds: float | None = None, at_most_every: float = 0.0) -> Refreshed:
        """Read what is new or changed; see :meth:`visual_search.catalogue.catalogue.Catalogue.refresh`."""
        found = [one.refresh(seconds=seconds, at_most_every=at_most_every) for one in self._catalogues]
        return Refreshed(
            sum(one.read for one in found), sum(one.removed for one in found), sum(one.waiting for one in found)
        )

    def entries(self) -> list[Entry]:
        """Every result of every folder."""
        return [entry for one in self._catalogues for entry in one.entries()]

    def entry(self, key: str) -> Entry:
        """One result's line.

        Raises
        ------
        UnknownIdError
            No result has this key.
        """
        return self._holding(key)[1]

    def result(self, key: str) -> ShelvedResult:
        """One result, opened.

        Raises
        ------
        UnknownIdError
            No result has this key.
        FileFormatError
            It cannot be read.
        """
        catalogue, entry = self._holding(key)
        return ShelvedResult(entry, catalogue.result(key), catalogue.folder)

    def write_note(self, key: str, text: str, *, version: int) -> Note:
        """Write a result's note; see :meth:`visual_search.catalogue.notes_file.NotesFile.write`."""
        return self._holding(key)[0].write_note(key, text, version=version)

    def pin(self, key: str, *, pinned: bool) -> None:
        """Pin a result as baseline, or let it go."""
        self._holding(key)[0].pin(key, pinned=pinned)

    def lone_notes(self) -> dict[str, Note]:
        """Notes on files that are gone."""
        return {file: note for one in self._catalogues for file, note in one.lone_notes().items()}

    def problems(self) -> list[str]:
        """What is wrong with folders, with catalogues that cannot be kept there, and with files of notes."""
        return [problem for one in self._catalogues for problem in one.problems()]

    def _holding(self, key: str) -> tuple[Catalogue, Entry]:
        for one in self._catalogues:
            try:
                return one, one.entry(key)
            except UnknownIdError:
                continue
        raise UnknownIdError(f"no result {key[:40]!r} here; it may have been moved or removed")


def _sorted_out(places: Iterable[str | os.PathLike[str]]) -> tuple[list[Path], dict[Path, set[str]]]:
    problems = Problems("results")
    folders: list[Path] = []
    files: dict[Path, set[str]] = {}
    for place in map(Path, places):
        if place.is_dir():
            folders.append(place)
        elif place.is_file():
            files.setdefault(place.parent, set()).add(place.name)
        else:
            problems.add(f"{place}: not there; give folders of results, or results JSON files")
    problems.raise_if_any(InputError)
    return folders, files
