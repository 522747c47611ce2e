"""At which depths the guide's measures are taken."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from visual_search.errors import InputError, Problems

__all__ = ["NAMED_K_VALUES", "checked_k_values"]

NAMED_K_VALUES = {"user": (10, 20), "analysis": (1, 5, 10, 50, 100)}


def checked_k_values(k_values: str | Iterable[Any]) -> list[int]:
    """Give distinct positive depths in rising order.

    Parameters
    ----------
    k_values : iterable of int, or str
        ``"user"`` is 10 and 20 (what a page shows), ``"analysis"`` 1, 5, 10, 50 and 100.

    Raises
    ------
    InputError
        None given, one that is not a positive integer, or one given twice; all problems at once.

    Examples
    --------
    >>> checked_k_values([10, 1, 5]), checked_k_values("user")
    ([1, 5, 10], [10, 20])
    """
    if isinstance(k_values, str):
        if k_values not in NAMED_K_VALUES:
            raise InputError(f"k_values is {k_values!r}; give integers, or one of {', '.join(NAMED_K_VALUES)}")
        return list(NAMED_K_VALUES[k_values])
    if not isinstance(k_values, Iterable):
        raise InputError(f"k_values is {k_values!r}; give a list of integers, such as [1, 5, 10]")
    problems = Problems("k_values")
    depths = [depth for value in k_values if (depth := _depth(value, problems)) is not None]
    repeated = sorted({depth for depth in depths if depths.count(depth) > 1})
    if repeated:
        problems.add(f"{', '.join(map(str, repeated))} given more than once; give each depth once")
    if not depths and not len(problems):
        problems.add("empty; give at least one depth, such as [1, 5, 10]")
    problems.raise_if_any(InputError)
    return sorted(depths)


def _depth(value: Any, problems: Problems) -> int | None:
    try:
        depth = operator.index(value)
    except TypeError:
        depth = 0
    if isinstance(value, bool) or depth < 1:
        problems.add(f"{value!r} is not a depth; it must be an integer of at least 1")
        return None
    return depth
