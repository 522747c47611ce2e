"""Evaluates a ranking against a relevance."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, first_few
from visual_search.evaluation.joining import join
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.parsing import parse_measures
from visual_search.evaluation.notes import notes_on
from visual_search.evaluation.positions import Positions
from visual_search.evaluation.result import IntervalMaker, MeasureResult, Result
from visual_search.evaluation.ties import TieRule, checked_tie_rule
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id, Ids
from visual_search.rankings.ranking import Ranking

__all__ = ["evaluate", "evaluate_positions"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
Groups: TypeAlias = "Mapping[Id, Hashable] | Sequence[Hashable] | npt.NDArray[np.generic]"


def evaluate(
    ranking: Ranking,
    relevance: Relevance,
    measures: Iterable[str | Measure],
    *,
    ties: TieRule = "expected",
    groups: Groups | None = None,
    interval: IntervalMaker | None = None,
) -> Result:
    """Measure a ranking against the right answers.

    Parameters
    ----------
    ranking : Ranking
        What a system returned.
    relevance : Relevance
        What the right answers are. Every query of it is evaluated; one that the ranking lacks has an empty list.
    measures : iterable of str or Measure
        Text forms as in ``"nDCG@10"``, ``"AP(denominator=min)@100"``.
    ties : {"expected", "best", "worst", "listed", "id_desc", "id_asc"}
        What is done with items of equal score: the exact expectation over their orders, the best or worst order,
        the order as returned, or that of their ids.
    groups : mapping or sequence, optional
        For each query the independent unit it belongs to (scene, identity); handed to ``interval``.
    interval : callable, optional
        Makes an interval for each measure.

    Returns
    -------
    Result
        ``result["nDCG@10"].mean``, ``.values`` (one float64 per query, NaN where undefined), ``.counted``,
        ``.undefined``, ``.interval``; and what was missing or noteworthy.

    Raises
    ------
    UnknownNameError, InputError
        A measure that does not exist or is not well formed; ids of two kinds; no query in common.

    Examples
    --------
    >>> from visual_search import Ranking, Relevance
    >>> result = evaluate(
    ...     Ranking.from_dict({"q1": {"d1": 0.9, "d2": 0.4}, "q2": {"d1": 0.8}}),
    ...     Relevance.from_dict({"q1": {"d2": 1}, "q2": {"d1": 1}}),
    ...     ["RR", "HitRate@1"],
    ... )
    >>> result["RR"].mean, result["HitRate@1"].values.tolist()
    (0.75, [0.0, 1.0])
    """
    chosen = parse_measures(measures)
    return evaluate_positions(join(ranking, relevance), chosen, ties=ties, groups=groups, interval=interval)


def evaluate_positions(
    positions: Positions,
    measures: Iterable[str | Measure],
    *,
    ties: TieRule = "expected",
    groups: Groups | None = None,
    interval: IntervalMaker | None = None,
) -> Result:
    """Measure positions that are joined already; parameters and result as for `evaluate`."""
    rule = checked_tie_rule(ties)
    chosen = parse_measures(measures)
    if not chosen:
        raise InputError("measures: none given; name at least one, as in ['nDCG@10']")
    codes = None if groups is None else _group_codes(groups, positions.queries)
    measured = {measure: _measured(measure, positions, rule, codes, interval) for measure in chosen}
    return Result(
        positions.queries,
        measured,
        ties=rule,
        missing_queries=tuple(positions.queries.take(np.flatnonzero(positions.missing).tolist())),
        unjudged_queries=positions.unjudged_queries,
        notes=notes_on(positions, measured, rule),
    )


def _measured(
    measure: Measure, positions: Positions, ties: TieRule, groups: Int64Array | None, interval: IntervalMaker | None
) -> MeasureResult:
    values = measure.values(positions, ties)
    undefined = np.flatnonzero(~values.defined)
    return MeasureResult(
        measure=measure,
        parts=values,
        mean=measure.mean(values),
        counted=len(positions) - len(undefined),
        undefined=len(undefined),
        undefined_queries=tuple(positions.queries.take(undefined.tolist())),
        ties=measure.tie_rule(ties),
        interval=None if interval is None else interval(measure, values, groups),
    )


def _group_codes(groups: Groups, queries: Ids) -> Int64Array:
    """One code per query, equal where the groups are."""
    if isinstance(groups, Mapping):
        lacking = [query for query in queries if query not in groups]
        if lacking:
            raise InputError(f"groups: {len(lacking)} queries have none, first: {first_few(lacking)}")
        named: Sequence[Hashable] = [groups[query] for query in queries]
    else:
        named = list(groups)
        if len(named) != len(queries):
            raise InputError(
                f"groups: {len(named)} given for {len(queries)} queries; give one per query, in their order"
            )
    codes: dict[Hashable, int] = {}
    return np.fromiter((codes.setdefault(group, len(codes)) for group in named), dtype=np.int64, count=len(named))
