"""Which items each query may find, from a file: a list of ids a query, or a mask."""

from __future__ import annotations

import os
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
        Neither of these; all problems at once.
    InputError
        A query without a filter, or a filter of no query.
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
    lists = _by_query(value, queries, os.fspath(path)) if isinstance(value, dict) else value
    _check_lists(lists, os.fspath(path))
    return list(lists)


def _by_query(value: dict[str, Any], queries: TruthVectors, path: str) -> list[Any]:
    names = [str(query) for query in queries.ids.take(range(len(queries)))]
    if len(set(names)) < len(names):
        raise InputError(
            f"allowed: {path} names queries as text, and two query ids are the same as text; give a list"
        )
    missing = [name for name in names if name not in value]
    known = set(names)
    foreign = [name for name in value if name not in known]
    problems = Problems(f"allowed: {path}")
    if missing:
        problems.add(f"no filter for {counted(len(missing), 'query', 'queries')}, first {first_few(missing)}")
    if foreign:
        problems.add(f"filters of {counted(len(foreign), 'query', 'queries')} not searched: {first_few(foreign)}")
    problems.raise_if_any(InputError)
    return [value[name] for name in names]


def _check_lists(lists: Any, path: str) -> None:
    if not isinstance(lists, list):
        raise FileFormatError(
            f"{path}: {type(lists).__name__} given; an object or a list of lists of ids is needed"
        )
    wrong = [
        row
        for row, one in enumerate(lists)
        if not isinstance(one, list) or any(type(item) not in (int, str) for item in one)
    ]
    if wrong:
        raise FileFormatError(
            f"{path}: {counted(len(wrong), 'filter is', 'filters are')} no list of ids (text or whole numbers), "
            f"first {first_few(wrong)}"
        )
