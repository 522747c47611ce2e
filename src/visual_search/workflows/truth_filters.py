"""Which items each query may find, from a file: a list of ids a query, or a mask."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from visual_search.counted import counted
from visual_search.errors import FileFormatError, InputError, Problems, first_few
from visual_search.formats.npy_header import check_whole_npy
from visual_search.formats.strict_json import read_unrepeated_json
from visual_search.ground_truth.truth_vectors import TruthVectors

__all__ = ["read_filters"]


def read_filters(path: str | os.PathLike[str], queries: TruthVectors) -> list[Any]:
    """Read the filter of each query, in the order of the queries.

    Parameters
    ----------
    path : path
        ``.json``: an object of query id to list of item ids (of queries without ids, their row numbers as text), or a
        list of such lists in the order of the queries. ``.npy``: bool of shape (queries, gallery), True where a query
        may find an item.
    queries : TruthVectors

    Raises
    ------
    FileFormatError
        Neither of these.
    InputError
        A query without a filter, a filter of no query, or a filter that is no list of ids; all problems at once.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".npy":
        check_whole_npy(path)
        try:
            mask = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise FileFormatError(f"{os.fspath(path)}: no array that can be read: {error}") from error
        if mask.dtype != np.bool_ or mask.ndim != 2:
            raise FileFormatError(
                f"{os.fspath(path)}: {mask.dtype} of shape {mask.shape}; bool of shape (queries, gallery) is needed"
            )
        return list(mask)
    if suffix != ".json":
        raise InputError(f"allowed: {os.fspath(path)} is neither .json nor .npy; see truth build --help")
    value = read_unrepeated_json(path)
    problems = Problems(f"allowed: {os.fspath(path)}")
    if isinstance(value, dict):
        named = _by_query(value, queries, problems)
        found = [value.get(name) for name in named]
        _note_no_lists({name: value[name] for name in named if name in value}, problems)
        problems.raise_if_any(InputError)
        return found
    if not isinstance(value, list):
        raise FileFormatError(
            f"{os.fspath(path)}: {type(value).__name__} given; an object or a list of lists of ids is needed"
        )
    if len(value) != len(queries):
        problems.add(f"{len(value)} filters for {len(queries)} queries; give one to each, in order")
    _note_no_lists(dict(enumerate(value)), problems)
    problems.raise_if_any(FileFormatError)
    return value


def _by_query(value: dict[str, Any], queries: TruthVectors, problems: Problems) -> list[str]:
    """The queries as the file names them; those without a filter, and filters without a query, are noted."""
    names = [str(query) for query in queries.ids.take(range(len(queries)))]
    if len(set(names)) < len(names):
        problems.add("names queries as text, and two query ids are the same as text; give a list")
    missing = [name for name in names if name not in value]
    known = set(names)
    foreign = [name for name in value if name not in known]
    if missing:
        problems.add(f"no filter for {counted(len(missing), 'query', 'queries')}, first {first_few(missing)}")
    if foreign:
        problems.add(f"filters of {counted(len(foreign), 'query', 'queries')} not searched: {first_few(foreign)}")
    return names


def _note_no_lists(filters: Mapping[Any, Any], problems: Problems) -> None:
    wrong = [
        query
        for query, one in filters.items()
        if not isinstance(one, list) or any(type(item) not in (int, str) for item in one)
    ]
    if wrong:
        problems.add(
            f"{counted(len(wrong), 'filter is', 'filters are')} no list of ids (text or whole numbers), "
            f"first {first_few(wrong)}"
        )
