"""Dictionaries of dictionaries: ``{query: {item: number}}``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError, first_few

__all__ = ["nested_keys", "nested_numbers"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Nested: TypeAlias = Mapping[Any, Mapping[Any, Any]]


def nested_keys(nested: Any, *, what: str) -> Iterator[Any]:
    """All inner keys, one inner dictionary after the other.

    Raises
    ------
    InputError
        Not a dictionary of dictionaries.
    """
    if not isinstance(nested, Mapping):
        raise InputError(f"{what}: {type(nested).__name__}; a dictionary {{query: {{item: number}}}} is needed")
    wrong = [outer for outer, inner in nested.items() if not isinstance(inner, Mapping)]
    if wrong:
        kind = type(nested[wrong[0]]).__name__
        raise InputError(
            f"{what}: {counted(len(wrong), 'query has', 'queries have')} no {{item: number}} "
            f"dictionary, first: {first_few(wrong)} with a {kind}"
        )
    return chain.from_iterable(nested.values())


def nested_numbers(nested: Nested, *, what: str) -> FloatArray:
    """All inner values as float64, in the order of `nested_keys`.

    Raises
    ------
    InputError
        A value that is not a number; text that looks like one is none.

    Examples
    --------
    >>> nested_numbers({"q": {"a": 1, "b": 0.5}}, what="run").tolist()
    [1.0, 0.5]
    """
    # The kinds are looked at first: numpy would take None for NaN and parse text.
    kinds = set(map(type, _values(nested)))
    strange = {kind for kind in kinds if not issubclass(kind, Real | np.number | np.bool_)}
    if strange:
        wrong = [
            (outer, item, value)
            for outer, inner in nested.items()
            for item, value in inner.items()
            if type(value) in strange
        ]
        raise InputError(
            f"{what}: {counted(len(wrong), 'value is no number', 'values are not numbers')}, first "
            f"(query, item, value): {first_few(wrong, 3)}"
        )
    try:
        return np.fromiter(_values(nested), dtype=np.float64, count=sum(map(len, nested.values())))
    except OverflowError as error:
        raise InputError(f"{what}: a value is beyond what float64 holds ({error})") from error


def _values(nested: Nested) -> Iterator[Any]:
    return chain.from_iterable(inner.values() for inner in nested.values())
