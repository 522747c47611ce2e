"""The same measures on parts of the queries: by category, difficulty, length, or any attribute."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError, first_few
from visual_search.evaluation.measures.measure import Measure, MeasureValues
from visual_search.evaluation.result import MeasureResult, Result
from visual_search.ids import Id, Ids

__all__ = ["MEAN_OF_SLICES", "Attribute", "Slices", "attribute_values", "group_codes", "slices"]

Attribute: TypeAlias = "Mapping[Any, Hashable] | Sequence[Hashable] | npt.NDArray[np.generic]"

#: What the mean over slices is called where it stands among them.
MEAN_OF_SLICES = "(mean of slices)"


class Slices(Mapping[Hashable, Result]):
    """A result for each value of an attribute, in order of first appearance; and their mean.

    ``slices["hard"]["AP@10"].mean`` is the mean over the hard queries; ``slices.macro_mean("AP@10")`` the mean of such
    means, in which a small slice weighs as much as a large one. Values per query are those of the whole result.
    """

    def __init__(self, parts: Mapping[Hashable, Result]) -> None:
        self._parts = dict(parts)

    def __getitem__(self, value: Hashable) -> Result:
        return self._parts[value]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def macro_mean(self, measure: str | Measure) -> float:
        """Mean over the slices in which the measure is defined for a query; NaN where it is in none."""
        means = [part[measure].mean for part in self._parts.values()]
        known = [mean for mean in means if not np.isnan(mean)]
        return float(np.mean(known)) if known else float("nan")

    def undefined(self, measure: str | Measure) -> tuple[Hashable, ...]:
        """Slices that do not enter the macro mean, since the measure is defined for none of their queries."""
        return tuple(value for value, part in self._parts.items() if not part[measure].counted)

    def __repr__(self) -> str:
        return "Slices(" + ", ".join(f"{value!r}: {len(part.queries)}" for value, part in self._parts.items()) + ")"


def slices(result: Result, attribute: Attribute) -> Slices:
    """Part a result by an attribute of its queries.

    Parameters
    ----------
    result : Result
        Whole; its intervals are of the whole and are not carried over.
    attribute : mapping from query id, or one value per query in their order
        What to part by.

    Returns
    -------
    Slices
        A mapping from each value to a `Result`.

    Raises
    ------
    InputError
        Queries without a value.

    Examples
    --------
    >>> from visual_search import Ranking, Relevance, evaluate
    >>> run = {"q1": {"a": 2.0}, "q2": {"a": 2.0}, "q3": {"b": 1.0}}
    >>> truth = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    >>> result = evaluate(Ranking.from_dict(run), Relevance.from_dict(truth), ["HitRate@1"])
    >>> parts = slices(result, {"q1": "easy", "q2": "easy", "q3": "hard"})
    >>> parts["easy"]["HitRate@1"].mean, parts["hard"]["HitRate@1"].mean, parts.macro_mean("HitRate@1")
    (1.0, 0.0, 0.5)
    """
    rows: dict[Hashable, list[int]] = {}
    for row, value in enumerate(attribute_values(attribute, result.queries, what="attribute")):
        rows.setdefault(value, []).append(row)
    return Slices({value: _part(result, np.array(chosen)) for value, chosen in rows.items()})


def attribute_values(attribute: Attribute, queries: Ids, *, what: str) -> list[Hashable]:
    """One value per query, from a mapping by id or a sequence in their order.

    Raises
    ------
    InputError
        Queries without a value, or another number of values.
    """
    if isinstance(attribute, Mapping):
        lacking = [query for query in queries if query not in attribute]
        if lacking:
            raise InputError(
                f"{what}: {counted(len(lacking), 'query has', 'queries have')} none, first: {first_few(lacking)}"
            )
        return [attribute[query] for query in queries]
    listed = attribute.tolist() if isinstance(attribute, np.ndarray) else list(attribute)
    if len(listed) != len(queries):
        raise InputError(
            f"{what}: {len(listed)} given for {counted(len(queries), 'query', 'queries')}; give one per query, in order"
        )
    return listed


def _part(result: Result, rows: npt.NDArray[np.int64]) -> Result:
    queries = Ids(result.queries.take(rows.tolist()), what="queries")

    def kept(ids: tuple[Id, ...]) -> tuple[Id, ...]:
        return tuple(query for query in ids if query in queries)

    measured = {found.measure: _measured(found, rows, queries) for found in result.values()}
    groups = None if result.groups is None else result.groups[rows]
    return result.replaced(measured, queries=queries, missing_queries=kept(result.missing_queries), groups=groups)


def _measured(found: MeasureResult, rows: npt.NDArray[np.int64], queries: Ids) -> MeasureResult:
    parts = MeasureValues(found.parts.numerator[rows], found.parts.denominator[rows], found.parts.value[rows])
    undefined = np.flatnonzero(~parts.defined)
    return replace(
        found,
        parts=parts,
        mean=found.measure.mean(parts),
        counted=len(queries) - len(undefined),
        undefined=len(undefined),
        undefined_queries=tuple(queries.take(undefined.tolist())),
        interval=None,
    )


def group_codes(groups: Attribute, queries: Ids) -> npt.NDArray[np.int64]:
    """One code per query, equal where the groups are."""
    named = attribute_values(groups, queries, what="groups")
    codes: dict[Hashable, int] = {}
    return np.fromiter((codes.setdefault(group, len(codes)) for group in named), dtype=np.int64, count=len(named))
