"""A measure given by its value on one ranked list; the tie rules follow by going through the orders."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product
from math import factorial, prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.positions import Positions
from visual_search.evaluation.ties import TieRule

__all__ = ["MAX_ORDERS", "ListMeasure"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

# Distinct orders of one query's ties that are gone through; beyond that a measure must bring its own expectation.
MAX_ORDERS = 10_000


@dataclass(frozen=True, kw_only=True)
class ListMeasure(Measure):
    """A measure of your own, in a few lines: say what it is for one list, and every tie rule works.

    Exact, but slow: a list at a time, and under ``expected``, ``best`` and ``worst`` each distinct order of its
    ties. With a ``k``, where those are more than 10,000, each distinct order of the first k places, so that the value
    must not depend on the order of what follows. A measure for large runs says its expectation over tied groups
    instead (`Measure.expectation`).

    Raises
    ------
    InputError
        On evaluation, when the ties of a query have more than 10,000 distinct orders, of the first k places too.

    Examples
    --------
    >>> from visual_search.evaluation.measures.parameters import cutoff
    >>> from visual_search.evaluation.measures.registry import register
    >>> @register
    ... @dataclass(frozen=True, kw_only=True)
    ... class PairFound(ListMeasure):
    ...     "Whether two relevant items are among the first k."
    ...     k: int | str | None = cutoff()
    ...
    ...     def of_list(self, grades, judged):
    ...         return (grades[: self.k] >= 1).sum() >= 2
    >>> from visual_search import Ranking, Relevance, evaluate
    >>> ranking = Ranking.from_dict({"q": {"a": 1.0, "b": 0.5, "c": 0.5}})
    >>> evaluate(ranking, Relevance.from_dict({"q": {"a": 1, "b": 1}}), ["PairFound@2"])["PairFound@2"].mean
    0.5
    """

    @abstractmethod
    def of_list(self, grades: FloatArray, judged: FloatArray) -> Any:
        """Value of one query.

        Parameters
        ----------
        grades : float64 array of shape (list length,)
            Grades down the list, ignored items taken out, NaN where an item is unjudged.
        judged : float64 array of shape (judged,)
            Grades of all judged items, in the list or not, falling.

        Returns
        -------
        number or None
            None, or NaN, where the measure is undefined.
        """

    def expectation(self, positions: Positions) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Mean over the distinct orders, which are equally likely."""
        return self._over_orders(positions, "expected")

    def pairs(self, positions: Positions, ties: TieRule) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Mean or extreme over the distinct orders."""
        if ties in ("best", "worst"):
            return self._over_orders(positions, ties)
        return super().pairs(positions, ties)

    def _over_orders(self, positions: Positions, ties: TieRule) -> tuple[FloatArray, FloatArray]:
        positions = positions.one_by_one()
        values, defined = np.zeros(len(positions)), np.zeros(len(positions))
        for row in range(len(positions)):
            judged = positions.judged_grades[slice(*positions.judged_offsets[row : row + 2])]
            depth = self.depth if isinstance(self.depth, int) else None
            orders = list(_orders(positions, row, depth))
            found = [self.of_list(grades, judged) for _, grades in orders]
            made = np.array([np.nan if value is None else value for value in found], dtype=np.float64)
            known = made[~np.isnan(made)]
            if not len(known):
                continue
            higher = (ties == "best") == self.higher_is_better
            if ties == "expected":
                shares = np.array([share for share, _ in orders])[~np.isnan(made)]
                values[row] = float((known * shares).sum() / shares.sum())
            else:
                values[row] = known.max() if higher else known.min()
            defined[row] = 1
        return values, defined


def _orders(positions: Positions, row: int, depth: int | None) -> Iterator[tuple[float, FloatArray]]:
    """Distinct orders of one query's list, as grades with NaN for unjudged items, each with its share of all orders.

    Every order where they are not too many; else every order of the first places, whatever follows.
    """
    groups = _groups(positions, row)
    places = [size for _, size, _ in groups]
    if prod(_order_count(size, Counter(grades)) for _, size, grades in groups) > MAX_ORDERS and depth is not None:
        places = [min(size, max(depth - above, 0)) for above, size, _ in groups]
    parts = [
        list(islice(_arrangements(size, Counter(grades), first), MAX_ORDERS + 1))
        for (_, size, grades), first in zip(groups, places, strict=True)
    ]
    if prod(map(len, parts)) > MAX_ORDERS:
        count = prod(_order_count(size, Counter(grades)) for _, size, grades in groups)
        where = "" if depth is None else f", and more than so many of the first {depth} places"
        raise InputError(
            f"query {positions.queries[row]!r}: its ties have {count} distinct orders, more than {MAX_ORDERS}{where}; "
            "choose ties='listed', 'id_desc' or 'id_asc', or give the measure an expectation over tied groups"
        )
    base = np.full(int(positions.lengths[row]), np.nan)
    for chosen in product(*parts):
        grades, share = base.copy(), 1.0
        for (above, size, _), (part, order) in zip(groups, chosen, strict=True):
            grades[above : above + size] = order
            share *= part
        yield share, grades


def _groups(positions: Positions, row: int) -> list[tuple[int, int, list[float]]]:
    groups: dict[tuple[int, int], list[float]] = {}
    for hit in range(*positions.offsets[row : row + 2]):
        key = int(positions.above[hit]), int(positions.tied[hit])
        groups.setdefault(key, []).append(float(positions.grades[hit]))
    return [(*key, grades) for key, grades in groups.items()]


def _order_count(size: int, judged: Counter[float]) -> int:
    unjudged = size - judged.total()
    return factorial(size) // (factorial(unjudged) * prod(map(factorial, judged.values())))


def _arrangements(size: int, judged: Counter[float], places: int) -> Iterator[tuple[float, list[float]]]:
    """Distinct orders of the first places of a group of some grades and unjudged items, filled up to its size.

    With each the share of all orders that begin so.
    """
    if not places:
        rest = list(judged.elements())
        yield 1.0, [*rest, *[float("nan")] * (size - len(rest))]
        return
    for grade, number in judged.items():
        for share, rest in _arrangements(size - 1, judged - Counter([grade]), places - 1):
            yield share * number / size, [grade, *rest]
    unjudged = size - judged.total()
    if unjudged > 0:
        for share, rest in _arrangements(size - 1, judged, places - 1):
            yield share * unjudged / size, [float("nan"), *rest]
