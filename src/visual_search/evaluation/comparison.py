"""Two or more results on the same queries: what differs between them, and whether it is more than luck."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from visual_search.counted import counted
from visual_search.errors import InputError, UnknownNameError, first_few
from visual_search.evaluation.compared import AnyResult, ComparedResult, canonical, depth_of
from visual_search.evaluation.comparison_sides import (
    checked_differences,
    chosen_texts,
    common_queries,
    reasons,
    sides_of,
)
from visual_search.evaluation.contrast import Contrast, PairedSums, contrasts_of, paired_sums
from visual_search.evaluation.joint_groups import joint_groups
from visual_search.evaluation.slices import Attribute, attribute_values
from visual_search.evaluation.statistics.independence import about_groups
from visual_search.evaluation.statistics.interval import Resampling, resampling_groups
from visual_search.ids import Id, Ids

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Differences between systems, measure by measure.

    Attributes
    ----------
    systems : tuple of str
        Names; the first is the baseline.
    measures : tuple of str
        Canonical texts.
    contrasts : tuple of Contrast
        One for each pair and measure.
    queries, groups : int
        Compared.
    despite : str or None
        Reason given for comparing what is not comparable.
    differences : tuple of str
        What differs between the systems' data; empty unless ``despite`` is given.
    left_out : mapping of canonical text to str
        Measures that are not compared, and why.
    notes : tuple of str
        What to bear in mind.
    unproven : tuple of str
        Systems whose split does not hold what such a split promises, allowed by name or not.
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    contrasts: tuple[Contrast, ...]
    queries: int
    groups: int
    despite: str | None
    differences: tuple[str, ...]
    left_out: Mapping[str, str]
    notes: tuple[str, ...]
    unproven: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Contrast]:
        return iter(self.contrasts)

    def contrast(self, a: str, b: str | None = None, measure: str | None = None) -> Contrast:
        """One difference: system ``a`` minus ``b`` (the baseline where left out) on a measure (the first).

        Raises
        ------
        UnknownNameError
            No such pair or measure.
        """
        against = self.systems[0] if b is None else b
        wanted = self.measures[0] if measure is None else canonical(measure)
        for one in self.contrasts:
            if (one.a, one.b, one.measure) == (a, against, wanted):
                return one
        there = sorted({(one.a, one.b) for one in self.contrasts})
        raise UnknownNameError(
            f"{a!r} minus {against!r} on {wanted} is not among the comparisons; pairs are {first_few(there)}, measures "
            f"{', '.join(self.measures)}"
        )

    def as_json(self) -> dict[str, Any]:
        """As a JSON object; undefined is null."""
        return {
            "systems": list(self.systems),
            "measures": list(self.measures),
            "queries": self.queries,
            "groups": self.groups,
            "comparable": not self.differences,
            "despite": self.despite,
            "differences": list(self.differences),
            "contrasts": [one.as_json() for one in self.contrasts],
            "left_out": dict(self.left_out),
            "notes": list(self.notes),
            "unproven": list(self.unproven),
        }


def compare(
    results: Sequence[AnyResult] | Mapping[str, AnyResult],
    measures: Sequence[str] | None = None,
    *,
    all_pairs: bool = False,
    groups: Attribute | None = None,
    resampling: Resampling | None = None,
    flips: int = 10_000,
    despite: str | None = None,
    shown: int = 5,
) -> Comparison:
    r"""Compare systems that answered the same queries.

    For each pair and measure the differences are taken query by query,

    .. math:: \bar d = \frac{\sum_i (a_i - b_i)}{\sum_i w_i}

    with :math:`w_i = 1`, or the query's denominator where the mean is micro.

    Parameters
    ----------
    results : sequence of results, or mapping of name to result
        What ``evaluate``, ``evaluate_model`` or ``read_result`` gave, or paths of results JSON files. The first is
        the baseline.
    measures : sequence of str, optional
        Text forms; all that every result has where left out.
    all_pairs : bool
        Each with each, instead of each with the first.
    groups : mapping or sequence, optional
        Independent group of each query, in the baseline's order; the results' own where left out. Where these
        differ, queries that any result puts into one group are taken together, and a note says so.
    resampling : Resampling, optional
        Of the intervals; its seed also draws the flips.
    flips : int
        Of the randomisation test; one set for all pairs and measures.
    despite : str, optional
        A reason to compare results that differ in their data: the queries that all have are compared, and the
        comparison is marked with the reason and with what differs.
    shown : int
        How many of the queries that changed most are named on either side.

    Returns
    -------
    Comparison

    Raises
    ------
    FingerprintError
        Gallery, queries, right answers, exclusions, metric, tie rule or preset differ, or are not told; every
        difference of every result is listed.
    InputError, UnknownNameError
        Fewer than two results, names that are not distinct, a measure that a result lacks, no query or measure in
        common.

    Convention
    ----------
    p-values are (1 + c)/(1 + B), two-sided. ``p_holm`` and ``p_max`` count all pairs and measures of the call as one
    family.

    How to read it
    --------------
    A small adjusted p says that these queries tell the two systems apart. A large one does not say that they are
    equal: ``detectable`` is the difference that would have been found four times in five.

    Examples
    --------
    >>> from visual_search import Relevance, evaluate
    >>> truth = Relevance.from_dict({f"q{n}": {"a": 1} for n in range(12)})
    >>> before = evaluate({f"q{n}": {"a": 1.0, "b": 2.0 - n % 3} for n in range(12)}, truth, ["RR"])
    >>> after = evaluate({f"q{n}": {"a": 2.0, "b": 1.0} for n in range(12)}, truth, ["RR"])
    >>> found = compare({"before": before, "after": after}).contrast("after")
    >>> round(found.difference, 3), found.wins, found.losses, found.ties
    (0.25, 8, 0, 4)
    """
    sides = sides_of(results)
    differ = checked_differences(sides, despite)
    chosen, left_out = chosen_texts(sides, measures)
    queries = common_queries(sides)
    alone = _about_queries(sides, queries)
    given = None if groups is None else _by_query(groups, sides[0], queries)
    sides = [side.at(queries) for side in sides]
    named, about = (given, []) if given is not None else joint_groups([side.groups for side in sides])
    pairs = list(combinations(sides, 2)) if all_pairs else [(sides[0], other) for other in sides[1:]]
    columns: list[PairedSums] = []
    for first, second in pairs:
        for measure in chosen:
            column = paired_sums(second, first, measure)
            if column is None:
                left_out[measure] = "the denominators of its micro mean differ between the systems"
            else:
                columns.append(column)
    if not columns:
        raise InputError("measures: none that can be compared is left; " + reasons(left_out))
    settings = resampling or Resampling()
    contrasts = contrasts_of(columns, queries, groups=named, resampling=settings, flips=flips, shown=shown)
    kept = tuple(measure for measure in chosen if any(one.measure == measure for one in contrasts))
    return Comparison(
        systems=tuple(side.name for side in sides),
        measures=kept,
        contrasts=contrasts,
        queries=len(queries),
        groups=resampling_groups(named, len(queries))[1],
        despite=despite if differ else None,
        differences=differ,
        left_out=left_out,
        notes=(
            *about_groups(named, len(queries)),
            *about,
            *alone,
            *_about_undefined(contrasts),
            *_about_depths(sides, contrasts),
            *_notes(sides, contrasts),
        ),
        unproven=tuple(side.name for side in sides if side.unproven),
    )


def _by_query(groups: Attribute, side: ComparedResult, queries: Sequence[Id]) -> list[object]:
    """Given groups in the order of the queries compared."""
    named = attribute_values(groups, Ids(side.queries, what="queries"), what="groups")
    owners = dict(zip(side.queries, named, strict=True))
    return [owners[query] for query in queries]


def _about_queries(sides: Sequence[ComparedResult], queries: Sequence[Id]) -> list[str]:
    return [
        f"{counted(alone, 'query', 'queries')} of {side.name!r} not compared, since not every result has them"
        for side in sides
        if (alone := len(side.queries) - len(queries))
    ]


def _about_undefined(contrasts: Sequence[Contrast]) -> list[str]:
    """Say where queries drop out because only one of two systems has a value for them."""
    return [
        f"{one.measure}: {counted(one.only_a, 'query has', 'queries have')} a value in {one.a!r} only and "
        f"{one.only_b:,} in {one.b!r} only; the difference is over the other {one.queries:,}, and says nothing of these"
        for one in contrasts
        if one.only_a or one.only_b
    ]


def _about_depths(sides: Sequence[ComparedResult], contrasts: Sequence[Contrast]) -> list[str]:
    """Say where one system's lists end before a measure does that reads the other's further."""
    ends = {side.name: side.longest_list for side in sides}
    found: dict[tuple[str, int, str, int], list[str]] = {}
    for one in contrasts:
        ours, theirs = ends[one.a], ends[one.b]
        if ours is None or theirs is None:
            continue
        depth = depth_of(one.measure)
        read = [end if depth is None else min(end, depth) for end in (ours, theirs)]
        if read[0] != read[1]:
            found.setdefault((one.a, ours, one.b, theirs), []).append(one.measure)
    return [
        f"{', '.join(texts)}: the lists of {a!r} have at most {counted(ours, 'item', 'items')}, those of {b!r} "
        f"{theirs:,}; what stands deeper in the longer ones counts for that system alone. Cut both at one depth, or "
        f"compare a measure cut at {min(ours, theirs):,} or above"
        for (a, ours, b, theirs), texts in found.items()
    ]


def _notes(sides: Sequence[ComparedResult], contrasts: Sequence[Contrast]) -> list[str]:
    said = []
    if all("gallery" not in side.parts for side in sides):
        said.append(
            "lists do not tell what they were drawn from: that all systems searched one gallery is not checked"
        )
    unproven: dict[tuple[str, ...], list[str]] = {}
    for side in sides:
        if side.unproven:
            unproven.setdefault(side.unproven, []).append(repr(side.name))
    said += [
        f"the split of {', '.join(names)} is not proven ({'; '.join(claims)}): such numbers flatter, and so may the "
        "difference"
        for claims, names in unproven.items()
    ]
    cautions: dict[str, list[str]] = {}
    for one in contrasts:
        if one.caution:
            cautions.setdefault(one.caution, []).append(one.measure)
    for caution, texts in cautions.items():
        whose = "" if len(texts) == len(contrasts) else f"{', '.join(dict.fromkeys(texts))}: "
        said.append(f"{whose}{caution}")
    return said
