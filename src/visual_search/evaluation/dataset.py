"""The evaluation dataset: which queries are asked, and what the right answer to each is."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from visual_search.errors import DatasetError, InputError
from visual_search.evaluation.folds import Fold, split_folds
from visual_search.formats.evaluation_dataset import (
    DatasetContent,
    content_as_json,
    parse_dataset,
    read_dataset,
    write_dataset,
)
from visual_search.formats.evaluation_query import EvaluationQuery
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id

__all__ = ["EvaluationDataset", "EvaluationQuery"]


class EvaluationDataset:
    """Queries with their right answers, checked whole.

    Parameters
    ----------
    content : DatasetContent
        As :mod:`visual_search.formats.evaluation_dataset` reads it; mostly one of the ``from_`` methods is called.
    folder : path, optional
        Where relative image paths are looked for first.

    Convention
    ----------
    A relative ``image_path`` is that of a file beside the JSON when one is there, else it is taken from the current
    folder. A query whose ``ground_truth`` is empty is kept, left out of every mean that divides by the number of
    relevant items, and counted.

    Examples
    --------
    >>> dataset = EvaluationDataset.from_dict(
    ...     {"queries": [{"query_id": "q1", "ground_truth": ["a", "b"]}, {"query_id": "q2", "ground_truth": ["c"]}]}
    ... )
    >>> len(dataset.queries), dataset.queries[0].ground_truth
    (2, ['a', 'b'])
    >>> dataset.subset([1])
    EvaluationDataset(1 query)
    """

    def __init__(self, content: DatasetContent, *, folder: str | os.PathLike[str] | None = None) -> None:
        self._content = content
        self._folder = None if folder is None else Path(folder)

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> EvaluationDataset:
        """Read a dataset file.

        Raises
        ------
        DatasetError
            Not JSON (with line and column), or all problems of its content at once, each with index and id.
        """
        return cls(read_dataset(path), folder=Path(path).absolute().parent)

    @classmethod
    def from_dict(
        cls, value: Mapping[str, Any], *, folder: str | os.PathLike[str] | None = None
    ) -> EvaluationDataset:
        """Take the same structure as a dictionary; checked in the same way."""
        return cls(parse_dataset(value), folder=folder)

    @classmethod
    def from_queries(cls, queries: Iterable[EvaluationQuery], *, name: str | None = None) -> EvaluationDataset:
        """Take query objects; checked in the same way."""
        return cls.from_dict(content_as_json(DatasetContent(tuple(queries), name)))

    @property
    def queries(self) -> Sequence[EvaluationQuery]:
        """The queries, in the file's order; what scikit-learn's splitters take."""
        return self._content.queries

    @property
    def name(self) -> str | None:
        """The dataset's name, if it has one."""
        return self._content.name

    @property
    def pseudo(self) -> Mapping[str, Any] | None:
        """How a machine made the truth; None where people did."""
        return self._content.pseudo

    @property
    def complete(self) -> bool:
        """Whether an item that a query does not list is not relevant; else it is unjudged.

        True unless the dataset says otherwise or a machine made the truth. No measure of the guide depends on it.
        """
        stated = self._content.complete
        return self.pseudo is None if stated is None else stated

    @property
    def warnings(self) -> Sequence[str]:
        """What looked odd on reading without being wrong."""
        return self._content.warnings

    @property
    def folder(self) -> Path | None:
        """Where relative image paths are looked for first."""
        return self._folder

    def __len__(self) -> int:
        return len(self.queries)

    def __iter__(self) -> Iterator[EvaluationQuery]:
        return iter(self.queries)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EvaluationDataset) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # equal by content, which a hash would have to read whole

    def __repr__(self) -> str:
        named = "" if self.name is None else f"{self.name!r}, "
        return f"EvaluationDataset({named}{len(self)} quer{'y' if len(self) == 1 else 'ies'})"

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON value; reading it back gives an equal dataset."""
        return content_as_json(self._content)

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write the dataset file whole or not at all.

        Everything comes back on reading. Where the new file lies in another folder, a relative image path is
        rewritten so that it means the same image from there, even when that folder has a file of this name too.
        """
        folder = Path(path).absolute().parent
        moved = [replace(query, image_path=self._path_from(folder, query)) for query in self.queries]
        write_dataset(path, replace(self._content, queries=tuple(moved)))

    def _path_from(self, folder: Path, query: EvaluationQuery) -> str | None:
        written = query.image_path
        image = self.image_of(query)
        if written is None or image is None or Path(written).is_absolute() or self._folder == folder:
            return written
        # Unlike Path.is_file, this one is False for all text that can be no path.
        found, taken = os.path.isfile(image), os.path.isfile(folder / written)  # noqa: PTH113
        if taken and found and image.samefile(folder / written):
            return written
        # One that is nowhere keeps its path, unless the new folder would give it a meaning that it had not.
        if self._folder is None and not (found and taken):
            return written
        if not found and not taken:
            return written
        return _reaching(image if found or self._folder is None else self._folder / written, folder)

    def image_of(self, query: EvaluationQuery) -> Path | None:
        """Where a query's image should be: beside the JSON if a file is there, else from the current folder."""
        if query.image_path is None:
            return None
        path = Path(query.image_path)
        if path.is_absolute() or self._folder is None:
            return path
        beside = self._folder / path
        return beside if beside.is_file() else path

    def subset(self, rows: Iterable[int]) -> EvaluationDataset:
        """Keep the queries at these rows, in the order given.

        Parameters
        ----------
        rows : iterable of int
            Rows of ``queries`` (a fold's test indices, for example), each once.

        Raises
        ------
        InputError
            A row outside the dataset, or none at all.
        DatasetError
            A row given twice.
        """
        listed = [int(row) for row in rows]
        outside = [row for row in listed if not 0 <= row < len(self)]
        if outside or not listed:
            raise InputError(f"rows must lie in 0..{len(self) - 1} and not be empty; got {outside or listed}")
        if len(set(listed)) != len(listed):
            raise DatasetError("rows: a query is taken twice; each query counts once")
        return EvaluationDataset(
            replace(self._content, queries=tuple(self.queries[row] for row in listed)), folder=self._folder
        )

    def folds(self, n_splits: int = 5, seed: int = 0) -> list[Fold]:
        """Split the queries into folds that keep each group whole; see :func:`split_folds`."""
        return split_folds([query.group for query in self.queries], n_splits, seed)

    def relevance(self, *, ignore_self: bool = False) -> Relevance:
        """Give the right answers as a table.

        Parameters
        ----------
        ignore_self : bool
            Also ignore, for each query, the item that has the query's own id (leave-one-out).
        """
        ignored: dict[Id, list[Id]] = {query.query_id: list(query.ignored) for query in self.queries}
        judgements = {query.query_id: query.judgements for query in self.queries}
        if ignore_self:
            kinds = {type(item) for query in self.queries for item in query.judgements}
            for query in self.queries:
                own = query.query_id
                if kinds and type(own) not in kinds:
                    continue  # query ids of another kind than the items' name none of them
                judgements[own] = {item: grade for item, grade in query.judgements.items() if item != own}
                ignored[own] = list(dict.fromkeys((*query.ignored, own)))
        return Relevance.from_dict(judgements, ignored=ignored)


def _reaching(image: Path, folder: Path) -> str:
    """Path of a file from a folder, through links as the system follows them; absolute from another drive."""
    absolute = image.absolute()
    try:
        parent = os.path.relpath(os.path.realpath(absolute.parent), os.path.realpath(folder))
    except ValueError:  # another drive
        return str(absolute)
    return (Path(parent) / absolute.name).as_posix()
