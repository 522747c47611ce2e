"""What a JSON value must look like, said as a value of the same look, and checked to any depth."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

from visual_search.errors import Problems

__all__ = [
    "ANY",
    "COUNT",
    "FLAG",
    "ID",
    "NUMBER",
    "TEXT",
    "Each",
    "Shape",
    "There",
    "check_shape",
    "filled",
    "is_value",
    "needing",
    "whole",
]

#: A test with its words; a list of one shape; or an object of shapes, where other keys may stand as well.
Shape: TypeAlias = Any


def is_value(value: Any) -> bool:
    """Whether it is a finite number that 64 bits hold, or null."""
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or (type(value) is int and abs(value) < 1 << 63)


def _is_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_count(value: Any) -> bool:
    return value is None or (type(value) is int and 0 <= value < 1 << 63)


def _is_id(value: Any) -> bool:
    return value is None or type(value) in (str, int)


def _is_flag(value: Any) -> bool:
    return value is None or type(value) is bool


def _is_anything(value: Any) -> bool:  # noqa: ARG001 - only its being in an object matters
    return True


class Each:
    """An object whose every value has one shape."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape


class There:
    """A shape that may be absent and never null."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape


class _Needing(dict[str, Any]):
    """An object that, unless it is empty, has all of these keys."""

    needed: tuple[str, ...] = ()
    even_empty = False


def needing(*keys: str, **shape: Shape) -> _Needing:
    """An object that, unless it is empty, has all of these keys."""
    made = _Needing(shape)
    made.needed = keys
    return made


def whole(*keys: str, **shape: Shape) -> _Needing:
    """An object that always has all of these keys; all of the shape's where none is named."""
    made = needing(*(keys or shape), **shape)
    made.even_empty = True
    return made


NUMBER = (is_value, "a number or null")
TEXT = (_is_text, "text or null")
COUNT = (_is_count, "a whole number of at least 0 or null")
ID = (_is_id, "text, a whole number or null")
ANY = (_is_anything, "")
FLAG = (_is_flag, "true, false or null")


def filled(value: Any, shape: Shape) -> Any:
    """A checked value in which every key of its shape is there: absent objects are None, absent lists empty."""
    if isinstance(shape, There):
        shape = shape.shape
    if isinstance(shape, list):
        return [filled(inner, shape[0]) for inner in value or ()]
    if not isinstance(value, dict) or isinstance(shape, tuple):
        return value
    if isinstance(shape, Each):
        return {key: filled(inner, shape.shape) for key, inner in value.items()}
    return value | {key: filled(value.get(key), inner) for key, inner in shape.items()}


def check_shape(value: Any, shape: Shape, place: str, problems: Problems) -> None:
    """Add every value of another type than its shape has, by its place."""
    if isinstance(shape, There):
        if value is None:
            problems.add(f"{place}: it may be absent, not null")
            return
        shape = shape.shape
    if isinstance(shape, tuple):
        test, words = shape
        if not test(value):
            problems.add(f"{place}: {words} is needed; got {_short(value)}")
    elif isinstance(shape, list):
        _check_list(value, shape[0], place, problems)
    else:
        _check_object(value, shape, place, problems)


def _check_list(value: Any, shape: Any, place: str, problems: Problems) -> None:
    if value is not None and not isinstance(value, list):
        problems.add(f"{place}: a list or null is needed; got {_short(value)}")
    for row, inner in enumerate(value if isinstance(value, list) else ()):
        check_shape(inner, shape, f"{place}[{row}]", problems)


def _check_object(value: Any, shape: Any, place: str, problems: Problems) -> None:
    if value is None:
        return
    if not isinstance(value, dict):
        problems.add(f"{place}: an object or null is needed; got {type(value).__name__}")
        return
    needed = shape.needed if isinstance(shape, _Needing) and (value or shape.even_empty) else ()
    for key in needed:
        if key not in value:
            problems.add(f"{place}.{key}: needed where {place} is given")
    shapes = dict.fromkeys(value, shape.shape) if isinstance(shape, Each) else shape
    for key, inner in value.items():
        if key in shapes:
            check_shape(inner, shapes[key], f"{place}.{key}", problems)


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        text = "a whole number that is too long"
    return text if len(text) <= 60 else f"{text[:60]}..."
