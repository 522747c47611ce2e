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

# From here on float64 does not hold every whole number.
_WHOLE = 2.0**53

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
        numbers = np.fromiter(_values(nested), dtype=np.float64, count=sum(map(len, nested.values())))
    except OverflowError as error:
        raise InputError(f"{what}: a value is beyond what float64 holds ({error})") from error
    _check_held(nested, numbers, what)
    return numbers


def _check_held(nested: Nested, numbers: FloatArray, what: str) -> None:
    """Refuse whole numbers that float64 rounds: two that differ would tie in silence."""
    if not (np.abs(numbers) >= _WHOLE).any():
        return
    wrong = [
        (outer, item, value)
        for outer, inner in nested.items()
        for item, value in inner.items()
        if isinstance(value, (int, np.integer)) and int(float(value)) != int(value)
    ]
    if wrong:
        raise InputError(
            f"{what}: {counted(len(wrong), 'whole number is', 'whole numbers are')} not held by float64 (they are up "
            f"to 2^53), first (query, item, value): {first_few(wrong, 3)}; different ones would tie: subtract a common "
            "base, or give ranks"
        )


def _values(nested: Nested) -> Iterator[Any]:
    return chain.from_iterable(inner.values() for inner in nested.values())
