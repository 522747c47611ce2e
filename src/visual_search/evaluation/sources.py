"""Positions from whatever a system's answers are in: a ranking, a run file, arrays of ids, a dict of dicts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import DuplicateIdError, InputError, NonFiniteError, first_few
from visual_search.evaluation.joining import join
from visual_search.evaluation.joining_dicts import join_dicts
from visual_search.evaluation.positions import Positions, falling_grades
from visual_search.evaluation.ties import TiePlaces
from visual_search.formats.arrays import rounded_to_float32
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id, Ids
from visual_search.kernels.dispatch import kernels
from visual_search.kernels.joined import IdHits, JudgedIds, JudgedNames, ListHits, ScoreKind
from visual_search.rankings.id_lists import IdLists
from visual_search.rankings.ranking import Ranking
from visual_search.rankings.run_file import RunFile

__all__ = ["Joined", "RankingSource"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
RankingSource: TypeAlias = Ranking | RunFile | IdLists | Mapping[Any, Mapping[Any, float]]

# What a gallery is taken to hold where lists have more different items than anyone counted.
_MANY = int(np.iinfo(np.int64).max)


class Joined:
    """A ranking joined with the right answers, for each form of its scores that is asked for, when first asked for.

    Parameters
    ----------
    ranking : Ranking, RunFile, IdLists, or mapping
        What the system returned.
    relevance : Relevance, or mapping
        What the right answers are, or ``{query: {item: grade}}``.
    """

    def __init__(self, ranking: RankingSource, relevance: Relevance | Mapping[Any, Mapping[Any, float]]) -> None:
        _check_order(ranking, relevance)
        self._ranking = ranking
        self._relevance = relevance if isinstance(relevance, Relevance) else Relevance.from_dict(relevance)
        self._positions: dict[ScoreKind, Positions] = {}
        self._notes: tuple[str, ...] = ranking.notes if isinstance(ranking, Ranking) else ()

    @property
    def relevance(self) -> Relevance:
        """What the right answers are."""
        return self._relevance

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the numbers should know about the ranking; of a run file once it was read."""
        return self._notes

    def positions(self, scores: ScoreKind) -> Positions:
        """Positions for scores as they are given, rounded to float32, or of those above 0 only.

        Raises
        ------
        InputError
            Ids of two kinds, or no query in common.
        FileFormatError
            A run file with bad lines, all of which are listed.
        DuplicateIdError, NonFiniteError
            Arrays or dictionaries with repeated ids, or with scores that are NaN or infinite.
        """
        if scores not in self._positions:
            self._positions[scores] = self._joined(scores)
        return self._positions[scores]

    def _joined(self, scores: ScoreKind) -> Positions:
        ranking, relevance = self._ranking, self._relevance
        if isinstance(ranking, RunFile):
            positions, self._notes = _of_run_file(ranking, relevance, scores)
            return positions
        if isinstance(ranking, IdLists):
            if scores != "positive":
                return _of_id_lists(ranking, relevance, scores)
            ranking = ranking.ranking()
        elif not isinstance(ranking, Ranking):
            if scores == "as given":
                return join_dicts(ranking, relevance)
            ranking = Ranking.from_dict(ranking)
        self._ranking = ranking
        if scores == "float32":
            ranking = ranking.rounded_to_float32()
        elif scores == "positive":
            ranking = ranking.where_positive()
        return join(ranking, relevance)


def _check_order(ranking: object, relevance: object) -> None:
    for given, what, how in (
        (ranking, "ranking", "Ranking.from_trec(path), Ranking.from_parquet(path) or RunFile(path)"),
        (relevance, "relevance", "Relevance.from_trec(path) or Relevance.from_parquet(path)"),
    ):
        if isinstance(given, str | os.PathLike):
            raise InputError(f"{what} is the path {os.fspath(given)!r}; read it first: {how}")
    if isinstance(ranking, Relevance) or isinstance(relevance, Ranking):
        raise InputError(
            f"the ranking comes first and the relevance second; got {type(ranking).__name__} and "
            f"{type(relevance).__name__}"
        )


def _of_run_file(run: RunFile, relevance: Relevance, scores: ScoreKind) -> tuple[Positions, tuple[str, ...]]:
    path = os.fspath(run.path)
    for ids, what in ((relevance.queries, "query"), (relevance.items, "item")):
        if len(ids) and ids.kind is not str:
            raise InputError(
                f"{what} ids are int in the relevance ({first_few(ids, 2)}) and str in {path}; nothing would match: "
                "convert the relevance"
            )
    found = kernels().join_run(
        path,
        JudgedNames(
            _texts(relevance.queries), _texts(relevance.items), relevance.offsets, relevance.rows, relevance.ignored
        ),
        scores=scores,
    )
    if found.lists == len(found.unjudged_queries) and len(relevance):
        _refuse_strangers(relevance.queries, found.unjudged_queries)
    notes: tuple[str, ...] = ()
    if found.against_rank:
        against = (
            f"{path}: the rank column contradicts the scores in {found.against_rank} of "
            f"{counted(found.lists, 'query', 'queries')}; the "
            "scores were followed, as trec_eval does; if they are distances, write their negatives"
        )
        notes = (against,)
    return _positions(relevance, found.hits, found.unjudged_queries, found.gallery_size), notes


def _of_id_lists(lists: IdLists, relevance: Relevance, scores: ScoreKind) -> Positions:
    if len(relevance.items) and relevance.items.kind is not int:
        raise InputError(
            f"item ids are str in the relevance ({first_few(relevance.items, 2)}) and int in the lists; nothing would "
            "match: convert one side"
        )
    query_of_list = _query_of_list(lists.queries, relevance.queries)
    if len(lists) and len(relevance) and not (query_of_list >= 0).any():
        _refuse_strangers(relevance.queries, tuple(lists.queries))
    values, pad, ids = lists.scores, lists.pad, lists.ids
    if scores == "float32" and values is not None:
        values = rounded_to_float32(values)
    judged = JudgedIds(relevance.offsets, _integers(relevance.items, lists)[relevance.rows], relevance.ignored)
    found = kernels().join_ids(ids, values, query_of_list, judged, pad=pad)
    _refuse_faults(found, lists)
    strangers = tuple(lists.queries.take(np.flatnonzero(query_of_list < 0).tolist()))
    return _positions(relevance, found.hits, strangers, found.gallery_size)


def _integers(items: Ids, lists: IdLists) -> Int64Array:
    """Ids of judged items in 64 bits; some beyond are no ids of such lists."""
    try:
        return np.fromiter(items, dtype=np.int64, count=len(items))
    except OverflowError:
        wide = [name for name in items if not -(2**63) <= int(name) < 2**63]
        raise InputError(
            f"item ids: {counted(len(wide), 'judged id is', 'judged ids are')} beyond 64 bits, first "
            f"{first_few(wide, 3)}, and the lists hold {lists.ids.dtype}; nothing would match: look how they were read"
        ) from None


def _query_of_list(lists: Ids, queries: Ids) -> Int64Array:
    if lists is queries:
        return np.arange(len(queries), dtype=np.int64)
    if len(lists) and len(queries) and lists.kind is not queries.kind:
        raise InputError(
            f"query ids are {queries.kind.__name__} in the relevance ({first_few(queries, 2)}) and "
            f"{lists.kind.__name__} in the lists ({first_few(lists, 2)}); nothing would match: convert one side"
        )
    return queries.rows(lists)


def _refuse_strangers(queries: Ids, there: tuple[Id, ...]) -> None:
    raise InputError(
        f"ranking and relevance have no query in common: {first_few(there, 3)} against {first_few(queries, 3)}; both "
        "must name the queries alike"
    )


def _refuse_faults(found: IdHits, lists: IdLists) -> None:
    def place(list_: int, column: int) -> str:
        return f"query {lists.queries[list_]!r}, item {int(lists.ids[list_, column])}"

    if found.not_finite.total:
        raise NonFiniteError(
            f"ids and scores: {counted(found.not_finite.total, 'score is', 'scores are')} NaN or infinite, first for "
            f"{place(*found.not_finite[1:])}; leave out items the system could not score"
        )
    if found.rising.total:
        raise InputError(
            "ids and scores: scores must not rise within a list; "
            f"{counted(found.rising.total, 'place does', 'places do')}, first for "
            f"{place(*found.rising[1:])}; if these are distances, give their negatives"
        )
    if found.repeated.total:
        raise DuplicateIdError(
            f"ids: {found.repeated.total} repeated items within a query's list, first {place(*found.repeated[1:])}; "
            "list each item once per query"
        )


def _texts(ids: Ids) -> list[str]:
    return [str(name) for name in ids] if ids.kind is int else list(ids)  # type: ignore[arg-type]


def _positions(
    relevance: Relevance, hits: ListHits, unjudged_queries: tuple[Id, ...], gallery_size: int | None
) -> Positions:
    judged_offsets, judged_grades = falling_grades(relevance)
    size = _MANY if gallery_size is None else gallery_size
    return Positions(
        queries=relevance.queries,
        offsets=hits.offsets,
        grades=relevance.grades[hits.entry],
        above=hits.above,
        tied=hits.tied,
        lengths=hits.lengths,
        judged_offsets=judged_offsets,
        judged_grades=judged_grades,
        ignored=hits.ignored,
        missing=hits.listed < 0,
        unjudged_queries=unjudged_queries,
        cut_ties=hits.ends_tied & (hits.listed < size),
        gallery=size,
        places=TiePlaces(lambda: hits.listed_place, lambda: hits.falling_place),
    )
