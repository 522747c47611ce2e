"""The indexes that are looked through, each under a short name of its own."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from visual_search.errors import InputError, UnknownIdError, UnknownNameError, VisualSearchError, first_few
from visual_search.evaluation.near_ids import NearIds
from visual_search.formats.results import ImageLocation
from visual_search.ids import Id
from visual_search.indexing.embedders.contract import TextEmbedder
from visual_search.indexing.index_table import VectorIndex
from visual_search.indexing.item_images import ItemImages
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch
from visual_search.workflows.form_ids import FormIds
from visual_search.workflows.item_files import ItemFiles, PictureOfItem

__all__ = ["ExploredIndex", "ExploredIndexes"]

_LONGEST_QUOTED = 200
_LONGEST_GUESSED = 1000  # longer ids are not compared letter by letter


class ExploredIndex:
    """One index with the name under which pages know it.

    Parameters
    ----------
    name : str
        Distinct among those explored together; never read as a path.
    path : Path
    service : NearestNeighborSearch
    """

    def __init__(self, name: str, path: Path, service: NearestNeighborSearch) -> None:
        self.name = name
        self.path = path
        self.service = service
        self._making = threading.Lock()

    @property
    def index(self) -> VectorIndex:
        """The vectors."""
        return self.service.index

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What it is, as a JSON object: size, engine and settings, metric, embedder, what became of its images."""
        index = self.index
        embedder = index.embedder
        return {
            "name": self.name,
            "items": len(index),
            "dimension": index.dimension,
            "metric": index.metric,
            "engine": index.engine,
            "exact": index.exact,
            "settings": dict(index.settings),
            "index_bytes": index.index_bytes,
            "memory_bytes": index.memory_bytes,
            "embedder": None if embedder is None else embedder.as_json(),
            "images": None if self.images is None else self.images.counts(),
        }

    @cached_property
    def fingerprint(self) -> str:
        """Of ids and vectors."""
        return self.index.fingerprint()

    @cached_property
    def images(self) -> ItemImages | None:
        """Where its images are; None for vectors alone."""
        return self.service.item_images

    @cached_property
    def takes(self) -> dict[str, Any]:
        """Which queries it takes beside its own items: ``{"image", "text", "why_not"}``.

        ``why_not`` has the words of what stands in the way, such as a package that is not installed.
        """
        if self.index.embedder is None:
            return {"image": False, "text": False, "why_not": "the index does not say what made its vectors"}
        try:
            embedder = self.service.embedder
        except VisualSearchError as error:
            return {"image": False, "text": False, "why_not": str(error)}
        return {"image": True, "text": isinstance(embedder, TextEmbedder), "why_not": None}

    def check_takes_pictures(self) -> None:
        """Refuse a picture before it is kept.

        Raises
        ------
        InputError
            The index does not say what made its vectors, so that nothing can make one of a picture.
        VisualSearchError
            What it names cannot be had; a package that is not installed, for one.
        """
        if self.index.embedder is None:
            raise InputError(
                f"index: {self.name} does not say what made its vectors, so a picture cannot be searched by; search by "
                "one of its items, or make the index from images with `visual-search index`"
            )
        _ = self.service.embedder

    def item(self, text: str) -> Id:
        """The item that a text names, in an address or as typed.

        Raises
        ------
        UnknownIdError
            None; the message has ids like it.
        """
        number = self.index.ids.kind is int and re.fullmatch(r"-?[0-9]{1,20}", text) is not None
        item: Id = int(text) if number else text
        if item in self.index:
            return item
        if (meant := self._form_ids.meant(text)) is not None:
            return meant
        with self._making:
            near = self._near_ids.of(item) if len(text) <= _LONGEST_GUESSED else []
        mend = f"is {first_few(near)} meant?" if near else "none is like it"
        raise UnknownIdError(f"item: {self.name} has no {_short(text)}; {mend}")

    def place(self, item: Id) -> PictureOfItem | None:
        """Where one item's picture is and what it should be; None where the index does not say."""
        images = self.images
        if images is None or item not in self.index or item not in images.ledger:
            return None
        entry = images.ledger[str(item)]
        return PictureOfItem(ImageLocation(Path(entry.path), entry.member), entry.sha256, images.rules)

    @cached_property
    def _form_ids(self) -> FormIds:
        return FormIds(self.index.ids)

    @cached_property
    def _near_ids(self) -> NearIds:
        return NearIds(self.index.ids)

    def some_items(self, seed: int, count: int) -> list[Id]:
        """Items drawn by seed, distinct."""
        ids = self.index.ids
        drawn = np.random.default_rng(seed).choice(len(ids), size=min(count, len(ids)), replace=False)
        return ids.take(drawn.tolist())


def _short(text: str) -> str:
    """A text from outside as a message quotes it."""
    return repr(text if len(text) <= _LONGEST_QUOTED else f"{text[:_LONGEST_QUOTED]}...")


class ExploredIndexes:
    """Indexes by name.

    Parameters
    ----------
    paths : iterable of path
        Folders that ``VectorIndex.save`` wrote; a name is the folder's, with a number where two are alike.
    found : iterable of path
        More of them, which nobody asked for by name: one that cannot be opened is told in ``problems``.

    Raises
    ------
    FileFormatError
        No index there, or one that cannot be read, its ledger included.
    """

    def __init__(
        self, paths: Iterable[str | os.PathLike[str]], *, found: Iterable[str | os.PathLike[str]] = ()
    ) -> None:
        self._by_name: dict[str, ExploredIndex] = {}
        self.problems: list[str] = []
        self._files: ItemFiles | None = None
        self._listing = threading.Lock()
        for path in map(Path, paths):
            self._open(path)
        for path in map(Path, found):
            try:
                self._open(path)
            except (VisualSearchError, OSError) as problem:
                self.problems.append(f"{path.name} is not served: {problem}")

    def _open(self, path: Path) -> None:
        name = _distinct(path.resolve().name, self._by_name)
        explored = ExploredIndex(name, path, NearestNeighborSearch(VectorIndex.open(path)))
        _ = explored.facts  # reads the ledger: seconds for a large one, spent now and not on the first page
        self._by_name[name] = explored

    def picture_at(self, location: ImageLocation) -> PictureOfItem | None:
        """The item's picture whose file, links followed, is the one at a place; None where no index has it."""
        with self._listing:  # one lists, the others wait for it
            if self._files is None:
                self._files = ItemFiles([one.images for one in self if one.images is not None])
        return self._files.at(location)

    def __iter__(self) -> Iterator[ExploredIndex]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def named(self, name: str | None) -> ExploredIndex:
        """The index of a name; the first where none is given.

        Raises
        ------
        UnknownNameError
            None has it, or there are none.
        """
        if not self._by_name:
            raise UnknownNameError("index: none is served; start again with --index INDEX")
        if name is None:
            return next(iter(self._by_name.values()))
        if name not in self._by_name:
            raise UnknownNameError(f"index: none is named {_short(name)}; there are {first_few(self._by_name)}")
        return self._by_name[name]


def _distinct(name: str, taken: Iterable[str]) -> str:
    names = set(taken)
    number, found = 1, name
    while found in names:
        number += 1
        found = f"{name} ({number})"
    return found
