"""A run and right answers on disk, to numbers: under one convention, or under every field's side by side."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from visual_search.errors import InputError
from visual_search.evaluation.result import Result
from visual_search.evaluation.run_record import write_run_result
from visual_search.evaluation.scoring import evaluate
from visual_search.evaluation.slices import MEAN_OF_SLICES, Slices, slices
from visual_search.evaluation.statistics.independence import about_groups
from visual_search.evaluation.statistics.measure_intervals import with_intervals
from visual_search.evaluation.ties import TieRule
from visual_search.formats.atomic import atomic_path, write_text
from visual_search.ground_truth.relevance import Relevance
from visual_search.rankings.ranking import Ranking
from visual_search.undefined import none_if_nan
from visual_search.workflows.score_files import query_values, read_ranking, read_relevance

__all__ = ["DEFAULT_MEASURES", "Scored", "score_run"]

DEFAULT_MEASURES = ("AP", "nDCG@10", "RR", "Precision@10", "Recall@100", "HitRate@1")


@dataclass(frozen=True, slots=True)
class Scored:
    """What :func:`score_run` found.

    Attributes
    ----------
    result : Result
    parts : Slices or None
        The result by an attribute of the queries, where one was given, each part with its own intervals.
    ranking, relevance
        What was scored.
    name, dataset : str
        What run and right answers are called.
    groups : sequence or None
        Group of each query, where a table of them was given.
    sliced_by : str or None
        What the attribute is called.
    """

    result: Result
    parts: Slices | None
    ranking: Ranking
    relevance: Relevance
    name: str
    dataset: str
    groups: Sequence[Hashable] | None = None
    sliced_by: str | None = None

    def table(self, *, per_query: bool = False) -> list[dict[str, Any]]:
        """Rows of the result: one a measure (and slice); with ``per_query`` one a query, a column a measure."""
        if per_query:
            queries = list(self.result.queries)
            columns = {text: _plain(found.values.tolist()) for text, found in self.result.items()}
            return [
                {"query": query, **{text: values[row] for text, values in columns.items()}}
                for row, query in enumerate(queries)
            ]
        rows = [_row(None, text, self.result) for text in self.result]
        for value, part in ({} if self.parts is None else self.parts).items():
            rows += [_row(value, text, part) for text in part]
        if self.parts is not None:
            rows += [
                {"slice": MEAN_OF_SLICES, "measure": text, "mean": none_if_nan(self.parts.macro_mean(text))}
                for text in self.result
            ]
        return rows

    def as_json(self, *, per_query: bool = False) -> dict[str, Any]:
        """The whole as a JSON object; undefined values are null."""
        told = {**self.result.as_json(), "missing_queries": list(self.result.missing_queries)}
        if self.parts is not None:
            told["slices"] = [row for row in self.table() if row.get("slice") is not None]
        if per_query:
            told["per_query"] = self.table(per_query=True)
        return told

    def write(self, path: str | os.PathLike[str], *, per_query: bool = False) -> None:
        """Write a result in ``.json``, which ``compare``, ``gate`` and ``report`` read; else the table.

        The table is Parquet where the name ends in ``.parquet``, else tab-separated. A result has every query's values
        and lists in files beside it, whether they are asked for or not.
        """
        target = Path(path)
        if target.suffix == ".json":
            sliced = [] if self.parts is None else [row for row in self.table() if row.get("slice") is not None]
            write_run_result(
                target,
                self.result,
                self.ranking,
                self.relevance,
                name=self.name,
                dataset=self.dataset,
                groups=self.groups,
                more={"sliced_by": self.sliced_by, "slices": sliced} if sliced else None,
            )
        elif target.suffix == ".parquet":
            _write_parquet(target, self.table(per_query=per_query))
        else:
            write_text(target, tab_separated(self.table(per_query=per_query)))


def score_run(
    run: str | os.PathLike[str],
    qrels: str | os.PathLike[str],
    measures: Sequence[str] = (),
    *,
    preset: str | None = None,
    ties: TieRule | None = None,
    attribute: str | os.PathLike[str] | None = None,
    groups: str | os.PathLike[str] | None = None,
    name: str | None = None,
) -> Scored:
    """Score a run file against right answers.

    Parameters
    ----------
    run : path
        TREC run (also .gz), Parquet, or JSON ``{query: {item: score}}``.
    qrels : path
        TREC qrels (also .gz), Parquet, the evaluation dataset's JSON, or JSON ``{query: {item: grade}}``.
    measures : sequence of str
        Text forms; the preset's, or a usual set, where there are none.
    preset : str, optional
        A field's rules.
    ties : str, optional
        What is done with equal scores.
    attribute : path, optional
        A table of two columns (tab or comma), query and value: the result is given for each value as well. A result
        that is written calls the attribute by the table's name.
    groups : path, optional
        A table of two columns, query and independent group; intervals are drawn over the groups. Without it over
        the queries.
    name : str, optional
        What the run is called in a result that is written; its file's name where left out.

    Returns
    -------
    Scored
    """
    ranking, (relevance, said) = read_ranking(run), read_relevance(qrels)
    chosen = list(measures) or (None if preset is not None else DEFAULT_MEASURES)
    by_group = None if groups is None else query_values(groups, relevance.queries)
    result = evaluate(ranking, relevance, chosen, preset=preset, ties=ties, groups=by_group)
    if by_group is None:
        said = (*said, *about_groups(None, len(result.queries)))
        result = with_intervals(result)
    result = result.replaced(notes=(*result.notes, *said))
    parts = None if attribute is None else _sliced(result, _slice_values(attribute, result))
    return Scored(
        result,
        parts,
        ranking,
        relevance,
        name or _stem(run),
        Path(qrels).name,
        None if groups is None else by_group,
        None if attribute is None else _stem(attribute),
    )


def tab_separated(rows: Sequence[Mapping[str, Any]]) -> str:
    """A table in text, a header first; empty where a value is undefined."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, delimiter="\t", lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows({name: "" if value is None else value for name, value in row.items()} for row in rows)
    return stream.getvalue()


def _stem(path: str | os.PathLike[str]) -> str:
    name = Path(path).name
    for ending in (".gz", ".trec", ".run", ".txt", ".tsv", ".csv", ".parquet", ".json"):
        name = name.removesuffix(ending) or name
    return name


def _sliced(result: Result, values: Sequence[str]) -> Slices:
    """The parts, each with intervals over the queries or groups of its own."""
    parts = slices(result, values)
    return Slices(
        {
            value: with_intervals(part, groups=None if part.groups is None else part.groups.tolist())
            for value, part in parts.items()
        }
    )


def _slice_values(path: str | os.PathLike[str], result: Result) -> list[str]:
    values = query_values(path, result.queries)
    if MEAN_OF_SLICES in values:
        raise InputError(
            f"{path}: a value is {MEAN_OF_SLICES!r}, as the mean over the slices is named; name it otherwise"
        )
    return values


def _row(part: Hashable | None, text: str, result: Result) -> dict[str, Any]:
    found = result[text]
    between = found.interval
    row: dict[str, Any] = {} if part is None else {"slice": str(part)}
    return {
        **row,
        "measure": text,
        "mean": none_if_nan(found.mean),
        "low": None if between is None else between.low,
        "high": None if between is None else between.high,
        "counted": found.counted,
        "undefined": found.undefined,
    }


def _plain(values: list[float]) -> list[float | None]:
    return [none_if_nan(value) for value in values]


def _write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with atomic_path(path) as temporary:
        pq.write_table(pa.Table.from_pylist(rows), temporary)
