"""Files of vectors, truth and right answers to a sweep, and from a sweep to a choice: the verbs' work."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Protocol

from visual_search.errors import InputError, Problems, first_few
from visual_search.formats.vectors import read_vectors
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Ids
from visual_search.indexing.engines.contract import Metric
from visual_search.kernels.threads import thread_count
from visual_search.reports.choice_section import choice_section
from visual_search.reports.front_figure import write_front_figure
from visual_search.reports.section_page import write_section_page
from visual_search.tuning.choice import Choice
from visual_search.tuning.choose import choose
from visual_search.tuning.costs import CostPlan
from visual_search.tuning.engine_text import parse_engine, read_setting, settings_table
from visual_search.tuning.pareto import pareto_front
from visual_search.tuning.sweep import LoadPlan, SweepProgress, sweep
from visual_search.tuning.sweep_data import SweepData
from visual_search.tuning.sweep_record import Sweep
from visual_search.workflows.score_files import read_query_table, read_relevance

__all__ = ["choose_from_file", "read_sweep_data", "read_values", "sweep_files"]


_HEADERS = ("query", "query_id", "queries", "id", "qid")


class Bar(Protocol):
    """Shows progress while a block runs."""

    def __call__(self, words: str) -> AbstractContextManager[SweepProgress | None]: ...


def read_sweep_data(
    vectors: str | os.PathLike[str],
    queries: str | os.PathLike[str],
    *,
    k: int = 10,
    metric: Metric | None = None,
    truth: str | os.PathLike[str] | None = None,
    relevance: str | os.PathLike[str] | None = None,
    measures: Sequence[str] | None = None,
) -> SweepData:
    """Read what a sweep is made on.

    Parameters
    ----------
    vectors, queries : path
        Files of vectors of any layout that ``read_vectors`` knows; ids come from them where they have any.
    truth : path, optional
        As ``ExactNeighbors.save`` wrote it.
    relevance : path, optional
        TREC qrels, Parquet or JSON; its ids are row numbers where the vectors have no ids of their own.
    k, metric, measures
        As for ``SweepData.of``.
    """
    gallery, asked = read_vectors(vectors), read_vectors(queries)
    right = None if relevance is None else read_relevance(Path(relevance))[0]
    if right is not None:
        right = _by_row_numbers(right, Path(relevance or ""), queries=asked.ids is None, items=gallery.ids is None)
    return SweepData.of(
        gallery.vectors,
        asked.vectors,
        k=k,
        metric=metric,
        gallery_ids=gallery.ids,
        query_ids=asked.ids,
        truth=None if truth is None else ExactNeighbors.load(truth),
        relevance=right,
        measures=measures or None,
    )


def sweep_files(
    data: SweepData,
    engines: Sequence[str],
    values: Sequence[str] = (),
    *,
    out: str | os.PathLike[str],
    threads: int = 1,
    costs: bool = True,
    rate: float | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    bar: Bar | None = None,
    tell: Callable[[str], object] | None = None,
) -> Sweep:
    """Sweep over what was read; what is not told here is as for :func:`visual_search.tuning.sweep.sweep`.

    Parameters
    ----------
    data : SweepData
    engines, values : sequence of str
        ``"hnsw(m=16)"``; ``"ef_search=16,32,64"``.
    threads : int
        Of a search; builds take all processors.
    costs : bool
    rate : float, optional
        Measure latency under this many queries per second, too.
    """
    plan = CostPlan(threads=threads, build_threads=thread_count(), seed=seed)
    with nullcontext(None) if bar is None else bar("points") as progress:
        return sweep(
            data,
            engines,
            read_values(values, engines),
            out=out,
            costs=plan if costs else None,
            load=None if rate is None else LoadPlan(rate, workers=threads),
            seed=seed,
            time_limit=time_limit,
            progress=progress,
            tell=tell,
        )


def choose_from_file(
    path: str | os.PathLike[str],
    target: float | None = None,
    *,
    figure: str | os.PathLike[str] | None = None,
    report: str | os.PathLike[str] | None = None,
    groups: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Choice:
    """Choose from a sweep on disk; ``options`` as for :func:`visual_search.tuning.choose.choose`.

    Parameters
    ----------
    path : path
        The sweep's file.
    target : float, optional
    figure : path, optional
        Write quality against cost as SVG, PNG or PDF.
    report : path, optional
        Write one HTML page: the choice, quality against cost, every setting, and how it was measured.
    groups : path, optional
        CSV or tab-separated table of two columns, query and group, with or without a first line of these names.
    """
    held = Sweep.load(path)
    named = None if groups is None else _read_groups(Path(groups), held.query_ids)
    choice = choose(held, target, groups=named, **options)
    if figure is not None:
        if choice.cost is None:
            raise InputError("figure: cost not measured, so there is nothing to draw quality against")
        write_front_figure(
            pareto_front(held, choice.measure, choice.cost),
            figure,
            target=choice.target if choice.threshold is None else None,
            chosen=None if choice.chosen is None else choice.chosen.point,
        )
    if report is not None:
        write_section_page([choice_section(choice, held)], report, title="Which setting is enough?")
    return choice


def read_values(texts: Sequence[str], engines: Sequence[str]) -> dict[str, list[int | str]]:
    """Read ``"ef_search=16,32"`` as values by setting.

    Raises
    ------
    InputError
        Another form, or a setting twice.

    Examples
    --------
    >>> read_values(["ef_search=16,32", "ivf.nprobe=1"], ["hnsw", "ivf"])
    {'ef_search': [16, 32], 'ivf.nprobe': [1]}
    """
    tables = {parsed.name: settings_table(parsed.name) for parsed in map(parse_engine, engines)}
    values: dict[str, list[int | str]] = {}
    for text in texts:
        name, equals, listed = (part.strip() for part in text.partition("="))
        if not (name and equals and listed):
            raise InputError(f"values {text!r}: the form is setting=value,value,..., as in ef_search=16,32,64")
        if name in values:
            raise InputError(f"values {text!r}: {name} is given twice")
        own = name.rpartition(".")[2]
        declared = next((table[own] for table in tables.values() if own in table), None)
        values[name] = [read_setting(declared, part.strip()) for part in listed.split(",")]
    return values


def _by_row_numbers(relevance: Relevance, path: Path, *, queries: bool, items: bool) -> Relevance:
    """The same with numbers for the ids of vectors that have no ids of their own: text files have only text."""
    sides = {"queries": (relevance.queries, queries), "items": (relevance.items, items)}
    problems = Problems(str(path))
    for what, (ids, numbered) in sides.items():
        wrong = [name for name in ids if not str(name).isdecimal()] if numbered else []
        if wrong:
            problems.add(
                f"{what}: {len(wrong)} ids are no row numbers, first: {first_few(wrong)}; their vectors have no ids of "
                "their own, so give row numbers, or vectors with ids (Parquet)"
            )
    problems.raise_if_any(InputError)
    named = {what: Ids(map(int, ids), what=what) if numbered else ids for what, (ids, numbered) in sides.items()}
    return Relevance(
        named["queries"],
        named["items"],
        relevance.offsets,
        relevance.rows,
        relevance.grades,
        relevance.ignored,
    )


def _read_groups(path: Path, queries: Sequence[Any]) -> Mapping[Any, str]:
    table = read_query_table(path)
    by_text = {str(query): query for query in queries}
    header = next(iter(table), None)
    if header in _HEADERS and header not in by_text:
        del table[header]
    return {by_text.get(query, query): group for query, group in table.items()}
