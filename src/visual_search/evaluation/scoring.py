"""Evaluates a ranking against a relevance."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.evaluation.joining import join
from visual_search.evaluation.joining_dicts import join_dicts
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.parsing import parse_measures
from visual_search.evaluation.notes import notes_on
from visual_search.evaluation.positions import Positions
from visual_search.evaluation.protocols.preset import ListKind
from visual_search.evaluation.protocols.presets import PRESETS, Preset, preset_named
from visual_search.evaluation.result import IntervalMaker, MeasureResult, Result
from visual_search.evaluation.slices import Attribute, attribute_values
from visual_search.evaluation.ties import TieRule, checked_tie_rule
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Ids
from visual_search.rankings.ranking import Ranking

__all__ = ["evaluate", "evaluate_positions", "evaluate_presets"]

Int64Array: TypeAlias = npt.NDArray[np.int64]


def evaluate(
    ranking: Ranking | Mapping[Any, Mapping[Any, float]],
    relevance: Relevance | Mapping[Any, Mapping[Any, float]],
    measures: Iterable[str | Measure] | None = None,
    *,
    ties: TieRule | None = None,
    preset: str | Preset | None = None,
    groups: Attribute | None = None,
    interval: IntervalMaker | None = None,
) -> Result:
    """Measure a ranking against the right answers.

    Parameters
    ----------
    ranking : Ranking, or mapping
        What a system returned; ``{query: {item: score}}`` is read without looking up any item that is not judged.
    relevance : Relevance, or mapping
        What the right answers are, or ``{query: {item: grade}}``. Every query of it is evaluated; one that the
        ranking lacks has an empty list.
    measures : iterable of str or Measure, optional
        Text forms as in ``"nDCG@10"``, ``"AP(denominator=min)@100"``. With a preset they may be left out; the
        preset's own are taken.
    ties : {"expected", "best", "worst", "listed", "id_desc", "id_asc"}, optional
        What is done with items of equal score: the exact expectation over their orders, the best or worst order,
        the order as returned, or that of their ids. The default is the preset's, or ``"expected"``.
    preset : str or Preset, optional
        A field's rules for ties, empty and missing queries, and for what a text form leaves open.
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
        A measure or preset that does not exist or is not well formed; ids of two kinds; no query in common.

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
    rules = None if preset is None else preset_named(preset)
    chosen = _chosen(measures, rules)
    rule = checked_tie_rule(ties or (rules.ties if rules else "expected"))
    return _run(_Joined(ranking, relevance), chosen, rule, rules).result(groups, interval)


def evaluate_presets(
    ranking: Ranking | Mapping[Any, Mapping[Any, float]],
    relevance: Relevance | Mapping[Any, Mapping[Any, float]],
    presets: Iterable[str | Preset] | None = None,
    *,
    k_values: Sequence[int] | None = None,
) -> dict[str, Result]:
    """Measure one ranking under several fields' rules, side by side.

    Parameters
    ----------
    ranking, relevance
        As for `evaluate`.
    presets : iterable of str or Preset, optional
        All of `PRESETS` by default.
    k_values : sequence of int, optional
        Cut-offs for every preset; each field's usual ones by default.

    Returns
    -------
    dict
        For each preset's name its `Result`, whose first note says why its numbers are what they are.

    Examples
    --------
    >>> from visual_search import Ranking, Relevance
    >>> ranking = Ranking.from_arrays([["a", "x", "b"]])
    >>> results = evaluate_presets(
    ...     ranking, Relevance.from_dict({0: {"a": 1, "b": 1, "c": 1}}), ["guide", "deephash"], k_values=[3]
    ... )
    >>> {name: round(result["AP@3"].mean, 4) for name, result in results.items()}
    {'guide': 0.5556, 'deephash': 0.8333}
    """
    joined = _Joined(ranking, relevance)
    chosen = [preset_named(preset) for preset in (PRESETS if presets is None else presets)]
    return {
        rules.name: _run(joined, rules.measures_at(k_values), rules.ties, rules).result(None, None)
        for rules in chosen
    }


def evaluate_positions(
    positions: Positions,
    measures: Iterable[str | Measure],
    *,
    ties: TieRule = "expected",
    groups: Attribute | None = None,
    interval: IntervalMaker | None = None,
) -> Result:
    """Measure positions that are joined already; parameters and result as for `evaluate`."""
    chosen = _chosen(measures, None)
    run = _Run(positions=dict.fromkeys(chosen, positions), ties=checked_tie_rule(ties), rules=None)
    return run.result(groups, interval)


def _chosen(measures: Iterable[str | Measure] | None, rules: Preset | None) -> tuple[Measure, ...]:
    if measures is None and rules is not None:
        return rules.measures_at()
    if isinstance(measures, str):
        raise InputError(f"measures={measures!r} is one text; give a list of them, [{measures!r}]")
    listed = list(measures or ())
    if not listed:
        raise InputError("measures: none given; name at least one, as in ['nDCG@10'], or give a preset")
    return parse_measures(listed) if rules is None else rules.read(listed)


def _check_order(ranking: object, relevance: object) -> None:
    if isinstance(ranking, Relevance) or isinstance(relevance, Ranking):
        raise InputError(
            f"the ranking comes first and the relevance second; got {type(ranking).__name__} and "
            f"{type(relevance).__name__}"
        )


class _Joined:
    """Positions of one ranking for each kind of list the presets read, joined when first asked for."""

    def __init__(
        self,
        ranking: Ranking | Mapping[Any, Mapping[Any, float]],
        relevance: Relevance | Mapping[Any, Mapping[Any, float]],
    ) -> None:
        _check_order(ranking, relevance)
        self._ranking = ranking
        self._relevance = relevance if isinstance(relevance, Relevance) else Relevance.from_dict(relevance)
        self._positions: dict[ListKind, Positions] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        return self._ranking.notes if isinstance(self._ranking, Ranking) else ()

    def positions(self, kind: ListKind) -> Positions:
        if kind not in self._positions:
            self._positions[kind] = self._joined(kind)
        return self._positions[kind]

    def _joined(self, kind: ListKind) -> Positions:
        if not isinstance(self._ranking, Ranking):
            if kind == "as given":
                return join_dicts(self._ranking, self._relevance)
            self._ranking = Ranking.from_dict(self._ranking)
        if kind == "float32":
            return join(self._ranking.rounded_to_float32(), self._relevance)
        return join(self._ranking.where_positive() if kind == "positive" else self._ranking, self._relevance)


def _run(joined: _Joined, measures: tuple[Measure, ...], ties: TieRule, rules: Preset | None) -> _Run:
    kinds: dict[Measure, ListKind] = {
        measure: "as given" if rules is None else rules.list_kind(measure) for measure in measures
    }
    positions = {measure: joined.positions(kind) for measure, kind in kinds.items()}
    return _Run(positions=positions, ties=ties, rules=rules, ranking_notes=joined.notes)


@dataclass(frozen=True, slots=True)
class _Run:
    """Measures with the positions each reads, and the rules they are read under."""

    positions: Mapping[Measure, Positions]
    ties: TieRule
    rules: Preset | None
    ranking_notes: tuple[str, ...] = ()

    def result(self, groups: Attribute | None, interval: IntervalMaker | None) -> Result:
        first = next(iter(self.positions.values()))
        codes = None if groups is None else _group_codes(groups, first.queries)
        measured = {measure: self._measured(measure, codes, interval) for measure in self.positions}
        return Result(
            first.queries,
            measured,
            ties=self.ties,
            preset=self.rules.name if self.rules else None,
            reader=self.rules.read if self.rules else None,
            missing_queries=tuple(first.queries.take(np.flatnonzero(first.missing).tolist())),
            unjudged_queries=first.unjudged_queries,
            notes=(*self.ranking_notes, *notes_on(first, measured, self.ties, self.rules)),
        )

    def _measured(
        self, measure: Measure, groups: Int64Array | None, interval: IntervalMaker | None
    ) -> MeasureResult:
        positions = self.positions[measure]
        values = measure.values(positions, self.ties)
        if self.rules is not None:
            values = values.without(self.rules.left_out(positions))
        undefined = np.flatnonzero(~values.defined)
        return MeasureResult(
            measure=measure,
            parts=values,
            mean=measure.mean(values),
            counted=len(positions) - len(undefined),
            undefined=len(undefined),
            undefined_queries=tuple(positions.queries.take(undefined.tolist())),
            ties=measure.tie_rule(self.ties),
            interval=None if interval is None else interval(measure, values, groups),
        )


def _group_codes(groups: Attribute, queries: Ids) -> Int64Array:
    """One code per query, equal where the groups are."""
    named = attribute_values(groups, queries, what="groups")
    codes: dict[Hashable, int] = {}
    return np.fromiter((codes.setdefault(group, len(codes)) for group in named), dtype=np.int64, count=len(named))
