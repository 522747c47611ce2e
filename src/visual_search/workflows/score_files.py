"""What a scoring reads: a run, right answers, and tables of one value a query, each known by its content."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from visual_search.counted import counted
from visual_search.errors import FileFormatError, InputError, Problems, first_few
from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.formats.columns import parquet_column_names
from visual_search.formats.strict_json import read_unrepeated_json
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Ids
from visual_search.rankings.ranking import Ranking

__all__ = ["query_values", "read_query_table", "read_ranking", "read_relevance"]

_IGNORED = "ignored"


def read_ranking(path: str | os.PathLike[str]) -> Ranking:
    """Read a run by its content: Parquet, JSON, or TREC text."""
    kind = _kind(path)
    if kind == "parquet":
        return Ranking.from_parquet(path)
    if kind == "json":
        return Ranking.from_dict(_nested(path, read_unrepeated_json(path), "scores"))
    return Ranking.from_trec(path)


def read_relevance(path: str | os.PathLike[str]) -> tuple[Relevance, tuple[str, ...]]:
    """Read right answers by their content: Parquet, the dataset's JSON, a nested JSON, or TREC qrels.

    Returns
    -------
    relevance : Relevance
    notes : tuple of str
        What was done without being asked: a Parquet file's column ``ignored`` is taken as it is named.

    Raises
    ------
    FileFormatError
        A file that is none of these, is cut off, or contradicts itself.
    """
    relevance, notes = _relevance(path)
    if not len(relevance):
        raise FileFormatError(f"{path}: no queries; a file of right answers has at least one")
    return relevance, notes


def _relevance(path: str | os.PathLike[str]) -> tuple[Relevance, tuple[str, ...]]:
    kind = _kind(path)
    if kind == "parquet":
        return _of_parquet(path)
    if kind == "trec":
        return Relevance.from_trec(path), ()
    value = read_unrepeated_json(path)
    if isinstance(value, Mapping) and isinstance(value.get("queries"), list):
        return EvaluationDataset.from_json(path).relevance(), ()
    return Relevance.from_dict(_nested(path, value, "grades")), ()


def query_values(path: str | os.PathLike[str], ids: Ids) -> list[str]:
    """One value for each query, from a table of two columns.

    Raises
    ------
    FileFormatError
        As for :func:`read_query_table`.
    InputError
        Queries without a value.
    """
    known = read_query_table(path)
    queries = [str(query) for query in ids]
    lacking = [query for query in queries if query not in known]
    if lacking:
        raise InputError(
            f"{path}: no value for {counted(len(lacking), 'query', 'queries')}, first: {first_few(lacking)}"
        )
    return [known[query] for query in queries]


def read_query_table(path: str | os.PathLike[str]) -> dict[str, str]:
    """Queries and their values, in the order of the lines, from a table of two columns.

    Raises
    ------
    FileFormatError
        Not UTF-8, not a table of two columns, or a query that comes twice; all lines at once.
    """
    known: dict[str, tuple[str, int]] = {}
    problems = Problems(str(path))
    for number, row in _lines(path):
        if len(row) != 2:
            problems.add(
                f"line {number}: {counted(len(row), 'cell', 'cells')}; two columns are needed, query and value"
            )
        elif row[0] in known:
            problems.add(
                f"line {number}: query {row[0]!r} has a value in line {known[row[0]][1]} already; keep one"
            )
        else:
            known[row[0]] = (row[1], number)
    problems.raise_if_any(FileFormatError)
    return {query: value for query, (value, _) in known.items()}


def _lines(path: str | os.PathLike[str]) -> list[tuple[int, list[str]]]:
    """Rows of a table with tabs or commas, with the numbers of their lines; blank lines are left out."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        raise FileFormatError(f"{path}: not UTF-8 text (byte {reason.start}); save it as UTF-8") from None
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return [(reader.line_num, row) for row in reader if row]
    except csv.Error as reason:
        raise FileFormatError(
            f"{path}: line {reader.line_num} is no row of a table: {reason}; write a quotation mark within quoted "
            "text twice"
        ) from None


def _kind(path: str | os.PathLike[str]) -> Literal["parquet", "json", "trec"]:
    with Path(path).open("rb") as stream:
        head = stream.read(256)
    if head.startswith(b"PAR1"):
        return "parquet"
    return "json" if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") else "trec"


def _of_parquet(path: str | os.PathLike[str]) -> tuple[Relevance, tuple[str, ...]]:
    if _IGNORED not in parquet_column_names(path):
        return Relevance.from_parquet(path), ()
    relevance = Relevance.from_parquet(path, ignored=_IGNORED)
    pairs = counted(int(relevance.ignored.sum()), "pair counts", "pairs count")
    return relevance, (f"{path}: by its column {_IGNORED!r}, {pairs} neither way",)


def _nested(path: str | os.PathLike[str], value: Any, what: str) -> dict[Any, dict[Any, float]]:
    wrong = [query for query, items in value.items() if not isinstance(items, Mapping)]
    if wrong:
        raise FileFormatError(f"{path}: {wrong[0]!r} holds no object; {what} are {{query: {{item: number}}}}")
    numbers = [number for items in value.values() for number in items.values()]
    if any(isinstance(number, bool) or not isinstance(number, int | float) for number in numbers):
        raise FileFormatError(f"{path}: {what} must be numbers")
    return {query: dict(items) for query, items in value.items()}
