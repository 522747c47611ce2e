"""A look at the query set before its numbers are believed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from visual_search.counted import counted
from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.evaluation.statistics.independence import about_groups
from visual_search.ids import Id

__all__ = ["FEWEST_QUERIES", "Audit", "audit_dataset"]

FEWEST_QUERIES = 50
# Beyond these the mean is mostly that of the largest; rules of thumb, told as such.
_UNEVEN_TRUTH = 10
_UNEVEN_CATEGORIES = 5


@dataclass(frozen=True, slots=True)
class Audit:
    """What the query set looks like, and what about it weakens the numbers.

    Attributes
    ----------
    queries : int
    groups : int or None
        Independent groups, where the dataset names them.
    truth_sizes : dict
        min, median and max of R over the queries that have relevant items.
    empty : tuple of ids
        Queries without relevant items.
    categories : dict or None
        Queries per category, the most first; ``None`` is the key of those without one.
    trivial : dict of id to str
        Queries that find themselves or a copy, and how that was seen.
    warnings : tuple of str
    """

    queries: int
    groups: int | None
    truth_sizes: Mapping[str, float]
    empty: tuple[Id, ...]
    categories: Mapping[str | None, int] | None
    trivial: Mapping[Id, str]
    warnings: tuple[str, ...]

    @property
    def trivial_share(self) -> float:
        """Share of the queries that are trivial, 0 to 1."""
        return len(self.trivial) / self.queries

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "queries": self.queries,
            "groups": self.groups,
            "warnings": list(self.warnings),
            "truth_sizes": dict(self.truth_sizes),
            "empty_truths": list(self.empty),
            "categories": None
            if self.categories is None
            else {"(none)" if name is None else name: count for name, count in self.categories.items()},
            "trivial_queries": list(self.trivial),
            "trivial_because": {str(query): reason for query, reason in self.trivial.items()},
        }


def audit_dataset(
    dataset: EvaluationDataset, *, k_values: Sequence[int], application_k: int | None, trivial: Mapping[Id, str]
) -> Audit:
    """Look at a query set.

    Parameters
    ----------
    dataset : EvaluationDataset
    k_values : sequence of int
        Cut-offs that will be reported.
    application_k : int, optional
        How many results the application shows.
    trivial : mapping of id to str
        Queries already known to find themselves, and how that was seen.
    """
    sizes = np.array([len(query.ground_truth) for query in dataset.queries])
    empty = tuple(query.query_id for query, size in zip(dataset.queries, sizes, strict=True) if not size)
    groups = {query.group for query in dataset.queries if query.group is not None}
    categories = _categories(dataset)
    warnings = [
        *_about_number(len(dataset)),
        *about_groups([query.group for query in dataset.queries], len(dataset)),
        *_about_truth(dataset, sizes[sizes > 0], empty),
        *_about_categories(categories),
        *_about_trivial(trivial, len(dataset)),
        *_about_k(k_values, application_k),
    ]
    return Audit(
        queries=len(dataset),
        groups=len(groups) + sum(query.group is None for query in dataset.queries) if groups else None,
        truth_sizes=_spread(sizes[sizes > 0]),
        empty=empty,
        categories=categories,
        trivial=trivial,
        warnings=tuple(warnings),
    )


def _spread(sizes: Any) -> dict[str, float]:
    if not len(sizes):
        return {"min": 0, "median": 0, "max": 0}
    return {"min": int(sizes.min()), "median": float(np.median(sizes)), "max": int(sizes.max())}


def _categories(dataset: EvaluationDataset) -> dict[str | None, int] | None:
    numbers = Counter(query.category for query in dataset.queries)
    return None if set(numbers) == {None} else dict(numbers.most_common())


def _about_number(count: int) -> list[str]:
    said = []
    if count < FEWEST_QUERIES:
        said.append(f"only {counted(count, 'query', 'queries')}: fewer than {FEWEST_QUERIES} give rough numbers")
    return said


def _about_truth(dataset: EvaluationDataset, sizes: Any, empty: Sequence[Id]) -> list[str]:
    said = []
    if len(sizes) and sizes.max() >= _UNEVEN_TRUTH * np.median(sizes):
        said.append(
            f"ground truth sizes are uneven: the median query has {np.median(sizes):g} relevant items, the largest "
            f"{sizes.max()}"
        )
    if empty:
        fate = "it is left out" if len(empty) == 1 else "they are left out"
        what = "nothing can be measured" if not len(sizes) else f"{fate} of every mean"
        of_all = counted(len(dataset), "query has", "queries have")
        said.append(f"{len(empty)} of {of_all} no relevant item; {what}")
    between = sum(any(0 < grade < 1 for grade in query.judgements.values()) for query in dataset.queries)
    if between:
        who = counted(between, "query has", "queries have")
        said.append(f"{who} grades between 0 and 1: gains in nDCG, not relevant elsewhere (from 1)")
    return said


def _about_categories(categories: Mapping[str | None, int] | None) -> list[str]:
    if categories is None:
        return []
    said = []
    named = {name: count for name, count in categories.items() if name is not None}
    largest, smallest = max(named, key=named.__getitem__), min(named, key=named.__getitem__)
    if named[largest] >= _UNEVEN_CATEGORIES * named[smallest]:
        most = counted(named[largest], "query", "queries")
        said.append(f"categories are unbalanced: {largest!r} has {most}, {smallest!r} only {named[smallest]}")
    if None in categories:
        said.append(f"{counted(categories[None], 'query has', 'queries have')} no category")
    return said


def _about_trivial(trivial: Mapping[Id, str], count: int) -> list[str]:
    if not trivial:
        return []
    reasons = ", ".join(f"{number} {reason}" for reason, number in Counter(trivial.values()).most_common())
    of_all = counted(count, "query is", "queries are")
    said = f"{len(trivial)} of {of_all} trivial, since the gallery holds the query itself: {reasons}"
    by_id = sum(reason == "by id" for reason in trivial.values())
    if 2 * by_id > count:
        said += "; exclude_self=True (--exclude-self) takes each query's own item out of its ranking"
    elif 2 * len(trivial) > count:
        said += (
            "; give queries the ids of their own items and exclude_self=True (--exclude-self) takes these out of "
            "their rankings"
        )
    return [said]


def _about_k(k_values: Sequence[int], application_k: int | None) -> list[str]:
    if application_k is None or application_k in k_values:
        return []
    shown = counted(application_k, "result", "results")
    return [f"the application shows {shown}, which is not among k = {', '.join(map(str, k_values))}"]
