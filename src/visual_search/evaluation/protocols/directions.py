"""Both directions of a split: there, back, pooled over all queries, and how far the two differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.evaluation.measures.measure import Measure, MeasureValues
from visual_search.evaluation.products import Metric
from visual_search.evaluation.protocols.measured import (
    Measures,
    evaluate_split,
    evaluate_split_codes,
    evaluate_split_vectors,
)
from visual_search.evaluation.protocols.presets import Preset
from visual_search.evaluation.protocols.split import Split
from visual_search.evaluation.result import MeasureResult, Result
from visual_search.evaluation.sources import RankingSource
from visual_search.evaluation.statistics.agreement import agreement_note, between
from visual_search.evaluation.statistics.interval import Resampling
from visual_search.evaluation.statistics.measure_intervals import with_intervals
from visual_search.evaluation.statistics.paired import PairedDifference, paired_difference
from visual_search.evaluation.text_table import decimals, p_text, text_table
from visual_search.evaluation.ties import TieRule
from visual_search.formats.binary_codes import BinaryCodes
from visual_search.ids import Id, Ids

__all__ = ["Directions", "evaluate_directions", "evaluate_directions_codes", "evaluate_directions_vectors"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Directions:
    """Three results of one split, and the difference of the first two.

    Attributes
    ----------
    there, back : Result
        The queries ask, and the gallery asks.
    pooled : Result
        Over the queries of both directions; what a group asks in either direction is drawn together.
    asymmetry : mapping of measure's text to PairedDifference
        There minus back, group by group: a group's mean in one direction against its mean in the other. Empty where no
        groups are known.
    sides : pair of str
        What the split's queries and its gallery are called.

    How to read it
    --------------
    An asymmetry whose interval excludes 0 says that one side is the harder one to search from; the pooled number is
    then a mean of two different tasks, and both are to be reported.
    """

    there: Result
    back: Result
    pooled: Result
    asymmetry: Mapping[str, PairedDifference]
    sides: tuple[str, str] = ("front", "back")

    def as_json(self) -> dict[str, Any]:
        """The whole as a JSON object."""
        return {
            "there": self.there.as_json(),
            "back": self.back.as_json(),
            "pooled": self.pooled.as_json(),
            "asymmetry": {text: found.as_json() for text, found in self.asymmetry.items()},
        }

    def summary(self) -> str:
        """One line a measure: both ways, pooled with interval, and the first less the second with its own."""
        rows = [
            [
                text,
                decimals(self.there[text].mean, 4),
                decimals(self.back[text].mean, 4),
                decimals(self.pooled[text].mean, 4),
                between(self.pooled[text].interval, ".4f"),
                *self._difference(text),
            ]
            for text in self.there
        ]
        one, other = self.sides
        ways = [f"{one} -> {other}", f"{other} -> {one}"]
        head = ["", *ways, "pooled", "interval", "difference by group", "interval", "p"]
        note = agreement_note(self.pooled[text].interval for text in self.there)
        return text_table(head, rows) + ("" if note is None else f"\n{note}")

    def _difference(self, text: str) -> list[str]:
        found = self.asymmetry.get(text)
        if found is None:
            return ["", "", ""]
        return [f"{found.difference:+.4f}", between(found.interval, ".4f"), p_text(found.p_value)]


def evaluate_directions(
    split: Split,
    there: RankingSource,
    back: RankingSource,
    measures: Measures = None,
    *,
    ties: TieRule | None = None,
    preset: str | Preset | None = "textbook",
    resampling: Resampling | None = None,
) -> Directions:
    """Measure two rankings, one for each direction.

    Parameters
    ----------
    split : Split
        Its proof must hold, and that of its reverse.
    there, back : Ranking, RunFile, IdLists, or mapping
        Of the queries over the gallery, and of the gallery over the queries.
    measures, ties, preset, resampling
        As for `visual_search.evaluation.protocols.measured.evaluate_split`.

    Returns
    -------
    Directions

    Raises
    ------
    ProofError
        The split, or the split reversed, does not hold what it promises.

    Examples
    --------
    >>> from visual_search.evaluation.protocols.query_gallery import by_view
    >>> table = {"scene": ["a", "a", "b", "b"], "view": [0, 1, 0, 1]}
    >>> split = by_view(table, group="scene", view="view", query=0, gallery=1)
    >>> there = {0: {1: 0.9, 3: 0.2}, 2: {1: 0.8, 3: 0.7}}
    >>> back = {1: {0: 0.9, 2: 0.8}, 3: {0: 0.2, 2: 0.7}}
    >>> found = evaluate_directions(split, there, back, ["HitRate@1"])
    >>> [one["HitRate@1"].mean for one in (found.there, found.back, found.pooled)]
    [0.5, 1.0, 0.75]
    >>> found.asymmetry["HitRate@1"].difference, found.pooled["HitRate@1"].interval.groups
    (-0.5, 2)
    """
    other = split.require().reversed().require()
    results = (
        evaluate_split(split, there, measures, ties=ties, preset=preset, resampling=resampling),
        evaluate_split(other, back, measures, ties=ties, preset=preset, resampling=resampling),
    )
    return _both(split, other, results, resampling)


def evaluate_directions_vectors(
    split: Split,
    query_vectors: Any,
    gallery_vectors: Any,
    measures: Measures = None,
    *,
    metric: Metric = "cosine",
    ties: TieRule | None = None,
    preset: str | Preset | None = "textbook",
    resampling: Resampling | None = None,
) -> Directions:
    """Measure both directions from two arrays of vectors, each over its whole gallery.

    Parameters
    ----------
    split, measures, metric, ties, preset, resampling
        As for `visual_search.evaluation.protocols.measured.evaluate_split_vectors`.
    query_vectors, gallery_vectors : array-like of shape (n, d) and (m, d)
        In the order of ``split.query_ids`` and ``split.gallery_ids``.

    Returns
    -------
    Directions
    """
    one_way = partial(
        evaluate_split_vectors,
        measures=measures,
        metric=metric,
        ties=ties,
        preset=preset,
        resampling=resampling,
    )
    return _of_rows(split, query_vectors, gallery_vectors, one_way, resampling)


def evaluate_directions_codes(
    split: Split,
    query_codes: Any,
    gallery_codes: Any,
    measures: Measures = None,
    *,
    packed: bool = False,
    ties: TieRule | None = None,
    preset: str | Preset | None = "textbook",
    resampling: Resampling | None = None,
) -> Directions:
    """Measure both directions from two arrays of binary codes, each over its whole gallery by Hamming distance.

    Parameters
    ----------
    split, measures, ties, preset, resampling
        As for `evaluate_directions_vectors`.
    query_codes, gallery_codes : array-like
        Codes as for `visual_search.evaluate_codes`, in the order of ``split.query_ids`` and ``split.gallery_ids``.
    packed : bool
        Whether the codes have eight bits a byte.
    """
    one_way = partial(
        evaluate_split_codes,
        measures=measures,
        packed=packed,
        ties=ties,
        preset=preset,
        resampling=resampling,
    )
    return _of_rows(split, query_codes, gallery_codes, one_way, resampling)


def _of_rows(
    split: Split,
    query: Any,
    gallery: Any,
    one_way: Callable[[Split, Any, Any], Result],
    resampling: Resampling | None,
) -> Directions:
    """Both directions from vectors or codes, of which ``one_way`` measures one."""
    other = split.require().reversed().require()
    there = one_way(split, query, gallery)
    back = one_way(other, _asking(split, other, gallery), query)
    return _both(split, other, (there, back), resampling)


def _asking(split: Split, other: Split, gallery: Any) -> Any:
    """Rows that ask the other way round; items without an answer there are still searched, and ask nothing."""
    rows = split.gallery_ids.rows(other.query_ids)
    whole = len(rows) == len(split.gallery)
    return (
        gallery if whole else gallery.take(rows) if isinstance(gallery, BinaryCodes) else np.asarray(gallery)[rows]
    )


def _both(split: Split, other: Split, results: tuple[Result, Result], resampling: Resampling | None) -> Directions:
    there, back = results
    groups = split.groups, other.groups
    known = None if groups[0] is None or groups[1] is None else [*groups[0], *groups[1]]
    record = {**split.record(), "directions": "both, pooled", "reverse": other.record()}
    pooled = with_intervals(_pooled(there, back), groups=known, resampling=resampling).replaced(protocol=record)
    asymmetry = {}
    if groups[0] is not None and groups[1] is not None:
        asymmetry = {
            text: _asymmetry(found.values, back[text].values, (groups[0], groups[1]), resampling)
            for text, found in there.items()
        }
    return Directions(there, back, pooled, asymmetry)


def _pooled(there: Result, back: Result) -> Result:
    """All queries of both; by name, with the direction where two have one name."""
    sides = list(there.queries), list(back.queries)
    clash = there.queries.kind is not back.queries.kind or any(query in there.queries for query in back.queries)
    names: list[tuple[Id, ...]] = [
        tuple(f"{way}: {query}" if clash else query for query in side)
        for way, side in zip(("there", "back"), sides, strict=True)
    ]
    queries = Ids([*names[0], *names[1]], what="queries")
    measured: dict[Measure, MeasureResult] = {}
    for text, first in there.items():
        second = back[text]
        parts = MeasureValues(
            *(
                np.concatenate((getattr(first.parts, name), getattr(second.parts, name)))
                for name in ("numerator", "denominator", "value")
            )
        )
        undefined = np.flatnonzero(~parts.defined)
        measured[first.measure] = replace(
            first,
            parts=parts,
            mean=first.measure.mean(parts),
            counted=len(queries) - len(undefined),
            undefined=len(undefined),
            undefined_queries=tuple(queries.take(undefined.tolist())),
            interval=None,
        )
    gone: list[Id] = []
    for result, side, named in zip((there, back), sides, names, strict=True):
        missing = set(result.missing_queries)
        gone += [name for query, name in zip(side, named, strict=True) if query in missing]
    counts = there.relevant_counts, back.relevant_counts
    relevant = None if counts[0] is None or counts[1] is None else np.concatenate((counts[0], counts[1]))
    return there.replaced(measured, queries=queries, missing_queries=tuple(gone), relevant=relevant)


def _asymmetry(
    there: FloatArray, back: FloatArray, groups: tuple[list[Id], list[Id]], resampling: Resampling | None
) -> PairedDifference:
    both = list(dict.fromkeys([*groups[0], *groups[1]]))
    if len(there) != len(groups[0]) or len(back) != len(groups[1]):
        raise InputError("directions: a result has other queries than its split")
    means = [_group_means(values, own, both) for values, own in zip((there, back), groups, strict=True)]
    return paired_difference(means[0], means[1], resampling=resampling)


def _group_means(values: FloatArray, own: list[Id], groups: list[Id]) -> FloatArray:
    """Mean of each group's defined values; NaN where it has none."""
    places = {group: place for place, group in enumerate(groups)}
    codes = np.array([places[group] for group in own], dtype=np.int64)
    defined = ~np.isnan(values)
    sums = np.bincount(codes[defined], weights=values[defined], minlength=len(groups))
    counts = np.bincount(codes[defined], minlength=len(groups))
    means = np.full(len(groups), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means
