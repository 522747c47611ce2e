"""Evaluates a ranking against a relevance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from visual_search.errors import InputError
from visual_search.evaluation.measures.measure import Measure, MeasureValues
from visual_search.evaluation.measures.parsing import parse_measures
from visual_search.evaluation.notes import notes_on
from visual_search.evaluation.positions import Positions
from visual_search.evaluation.protocols.presets import PRESETS, Preset, preset_named
from visual_search.evaluation.result import IntervalMaker, MeasureResult, Result
from visual_search.evaluation.setting import Setting
from visual_search.evaluation.slices import Attribute, group_codes
from visual_search.evaluation.sources import Joined, RankingSource
from visual_search.evaluation.statistics.independence import about_groups
from visual_search.evaluation.statistics.measure_intervals import with_intervals
from visual_search.evaluation.ties import TieRule, checked_tie_rule
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.ground_truth.relevance import Relevance

__all__ = [
    "assembled",
    "chosen_measures",
    "chosen_tie_rule",
    "evaluate",
    "evaluate_positions",
    "evaluate_presets",
    "values_of",
]


def evaluate(
    ranking: RankingSource,
    relevance: Relevance | ExactNeighbors | Mapping[Any, Mapping[Any, float]],
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
    ranking : Ranking, RunFile, IdLists, or mapping
        What a system returned. Of a run file, of lists of integer ids and of ``{query: {item: score}}`` no ranking is
        made: only items that are judged are looked up.
    relevance : Relevance, or mapping
        What the right answers are, or ``{query: {item: grade}}``. Every query of it is evaluated; one that the
        ranking lacks has an empty list. Or exact neighbours, with which an index is compared: `NeighborRecall` and
        `DistanceRatio` read them, and no other measure does.
    measures : iterable of str or Measure, optional
        Text forms as in ``"nDCG@10"``, ``"AP(denominator=min)@100"``. With a preset they may be left out; the
        preset's own are taken.
    ties : {"expected", "best", "worst", "listed", "id_desc", "id_asc"}, optional
        What is done with items of equal score: the exact expectation over their orders, the best or worst order,
        the order as returned, or that of their ids. The default is the preset's, or ``"expected"``.
    preset : str or Preset, optional
        A field's rules for ties, empty and missing queries, and for what a text form leaves open.
    groups : mapping or sequence, optional
        For each query the independent unit it belongs to (scene, identity). Every measure then has an interval over
        these groups.
    interval : callable, optional
        Makes an interval for each measure, in place of the usual one.

    Returns
    -------
    Result
        ``result["nDCG@10"].mean``, ``.values`` (one float64 per query, NaN where undefined), ``.counted``,
        ``.undefined``, ``.interval``; and what was missing or noteworthy.

    Raises
    ------
    UnknownNameError, InputError
        A measure or preset that does not exist or is not well formed, or that this kind of truth cannot answer; ids
        of two kinds; no query in common.

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
    chosen = chosen_measures(measures, rules)
    if isinstance(relevance, ExactNeighbors):
        from visual_search.evaluation.neighbor_scoring import evaluate_neighbors

        return evaluate_neighbors(
            ranking, relevance, chosen, ties=ties, rules=rules, groups=groups, interval=interval
        )
    rule = chosen_tie_rule(ties, rules)
    return _measured(Joined(ranking, relevance), chosen, rule, rules, groups, interval)


def evaluate_presets(
    ranking: RankingSource,
    relevance: Relevance | ExactNeighbors | Mapping[Any, Mapping[Any, float]],
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
        All of `PRESETS` that this kind of truth can answer, by default.
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
    kind = "neighbors" if isinstance(relevance, ExactNeighbors) else "relevance"
    fitting = [preset for preset in PRESETS.values() if preset.truth == kind]
    chosen = [preset_named(preset) for preset in (fitting if presets is None else presets)]
    if isinstance(relevance, ExactNeighbors):
        return {
            rules.name: evaluate(ranking, relevance, rules.measures_at(k_values), preset=rules) for rules in chosen
        }
    joined = Joined(ranking, relevance)
    return {
        rules.name: _measured(joined, rules.measures_at(k_values), chosen_tie_rule(None, rules), rules)
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
    rule = checked_tie_rule(ties)
    values = {measure: values_of(measure, positions, rule) for measure in chosen_measures(measures)}
    return assembled(positions, values, ties=rule, groups=groups, interval=interval)


def chosen_tie_rule(ties: TieRule | None, rules: Preset | None) -> TieRule:
    """The call's rule, or the preset's, or the expectation.

    Raises
    ------
    InputError
        No such rule, or a preset for exact neighbours.
    """
    if rules is not None and rules.truth == "neighbors":
        raise InputError(
            f"preset {rules.name} compares an index with the exact neighbours; give them as the truth, not relevance"
        )
    return checked_tie_rule(ties or (rules.ties if rules else "expected"))


def _measured(
    joined: Joined,
    measures: tuple[Measure, ...],
    ties: TieRule,
    rules: Preset | None,
    groups: Attribute | None = None,
    interval: IntervalMaker | None = None,
) -> Result:
    positions = {
        measure: joined.positions("as given" if rules is None else rules.list_kind(measure)) for measure in measures
    }
    first = next(iter(positions.values()))
    return assembled(
        first,
        {measure: values_of(measure, positions[measure], ties, rules) for measure in measures},
        ties=ties,
        rules=rules,
        notes=joined.notes,
        groups=groups,
        interval=interval,
        setting=Setting(joined.relevance, longest_list=first.longest_list),
    )


def chosen_measures(measures: Iterable[str | Measure] | None, rules: Preset | None = None) -> tuple[Measure, ...]:
    """The measures that were asked for, or those of a preset."""
    if measures is None and rules is not None:
        return rules.measures_at()
    if isinstance(measures, str):
        raise InputError(f"measures={measures!r} is one text; give a list of them, [{measures!r}]")
    listed = list(measures or ())
    if not listed:
        raise InputError("measures: none given; name at least one, as in ['nDCG@10'], or give a preset")
    return parse_measures(listed) if rules is None else rules.read(listed)


def values_of(measure: Measure, positions: Positions, ties: TieRule, rules: Preset | None = None) -> MeasureValues:
    """Values of a measure for each query, those that a preset leaves out undefined."""
    values = measure.values(positions, ties)
    return values if rules is None else values.without(rules.left_out(positions))


def assembled(
    outline: Positions,
    values: Mapping[Measure, MeasureValues],
    *,
    ties: TieRule,
    rules: Preset | None = None,
    notes: tuple[str, ...] = (),
    groups: Attribute | None = None,
    interval: IntervalMaker | None = None,
    setting: Setting | None = None,
) -> Result:
    """Make a result of values per query.

    Parameters
    ----------
    outline : Positions
        Queries, list lengths and what was missing; its hits are not read.
    values : mapping
        Values of each measure for these queries.
    ties, rules
        What they were computed under.
    notes : tuple of str
        Notes on the ranking, which come before all others.
    groups, interval
        As for `evaluate`.
    setting : Setting, optional
        What it was measured on.
    """
    codes = None if groups is None else group_codes(groups, outline.queries)
    measured = {}
    for measure, parts in values.items():
        undefined = np.flatnonzero(~parts.defined)
        measured[measure] = MeasureResult(
            measure=measure,
            parts=parts,
            mean=measure.mean(parts),
            counted=len(outline) - len(undefined),
            undefined=len(undefined),
            undefined_queries=tuple(outline.queries.take(undefined.tolist())),
            ties=measure.tie_rule(ties),
            interval=None if interval is None else interval(measure, parts, codes),
        )
    asked = interval is not None or codes is not None
    result = Result(
        outline.queries,
        measured,
        ties=ties,
        preset=rules.name if rules else None,
        reader=rules.read if rules else None,
        missing_queries=tuple(outline.queries.take(np.flatnonzero(outline.missing).tolist())),
        unjudged_queries=outline.unjudged_queries,
        notes=(
            *notes,
            *notes_on(outline, measured, ties, rules),
            *(about_groups(None if codes is None else codes.tolist(), len(outline)) if asked else ()),
        ),
        groups=codes,
        setting=setting,
    )
    # Where groups are known, intervals are there unless another maker was asked for.
    return with_intervals(result, groups=codes.tolist()) if interval is None and codes is not None else result
