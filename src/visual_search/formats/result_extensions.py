"""What the keys of a result beyond the evaluation guide's must hold, to any depth that is read again."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from visual_search.errors import Problems

__all__ = ["check_extensions", "is_value"]

Test = Callable[[Any], bool]


def is_value(value: Any) -> bool:
    """Whether it is a finite number that 64 bits hold, or null."""
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or (type(value) is int and abs(value) < 1 << 63)


def check_extensions(record: Mapping[str, Any], problems: Problems) -> None:
    """Add every value of another type than the format has, by its place."""
    for key in _SHAPES.keys() & record.keys():
        _check(record[key], _SHAPES[key], key, problems)


def _is_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_count(value: Any) -> bool:
    return value is None or (type(value) is int and 0 <= value < 1 << 63)


def _is_id(value: Any) -> bool:
    return value is None or type(value) in (str, int)


def _is_anything(value: Any) -> bool:  # noqa: ARG001 - only its being in an object matters
    return True


class _Each:
    """An object whose every value has one shape."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape


class _There:
    """A shape that may be absent and never null."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape


class _Needing(dict[str, Any]):
    """An object that, unless it is empty, has all of these keys."""

    needed: tuple[str, ...] = ()


def _needing(*keys: str, **shape: Any) -> _Needing:
    made = _Needing(shape)
    made.needed = keys
    return made


_NUMBER = (is_value, "a number or null")
_TEXT = (_is_text, "text or null")
_COUNT = (_is_count, "a whole number of at least 0 or null")
_ID = (_is_id, "text, a whole number or null")
_ANY = (_is_anything, "")

_INTERVAL = _needing(
    *("low", "high"),
    low=_NUMBER,
    high=_NUMBER,
    confidence=_NUMBER,
    method=_TEXT,
    resamples=_COUNT,
    seed=_ID,
    groups=_COUNT,
)
_MEASURE = {
    "mean": _NUMBER,
    "words": _TEXT,
    "ties": _TEXT,
    "counted": _COUNT,
    "undefined": _COUNT,
    "undefined_queries": [_ID],
    "interval": _INTERVAL,
}
_AUDIT = {
    "warnings": _There([_TEXT]),
    "truth_sizes": _needing(
        *("min", "max", "median"), min=_There(_NUMBER), max=_There(_NUMBER), median=_There(_NUMBER)
    ),
    "categories": _Each(_COUNT),
    "trivial_queries": [_ID],
    "absent_items": _Each([_ID]),
}
_LEDGER = {**dict.fromkeys(("used", "changed", "left_out"), _There(_COUNT)), "reasons": _Each(_ANY)}
_PROOF = {"allowed": [_TEXT], "failed": [_TEXT], "claims": [{"name": _TEXT, "status": _TEXT, "words": _TEXT}]}
_SHAPES: dict[str, Any] = {
    "preset": _TEXT,
    "ties": _TEXT,
    "dataset": _TEXT,
    "protocol": {"name": _TEXT, "words": _TEXT, "proof": _PROOF},
    "measures": _Each(_There(_MEASURE)),
    "random_baseline": _Each(_NUMBER),
    "ceilings": _Each(_NUMBER),
    "truth": {"kind": _TEXT, "pseudo_model": _TEXT},
    "audit": _AUDIT,
    "left_out": _Each(_ANY),
    "embedder": {"name": _TEXT, "dimension": _COUNT, "weights_hash": _TEXT},
    "index": {"engine": _TEXT, "metric": _TEXT, "items": _COUNT, "settings": _Each(_ANY)},
    "ledger": _LEDGER,
    "fingerprints": _Each(_TEXT),
    "longest_list": _COUNT,
    "versions": _Each(_ANY),
    "machine": _Each(_ANY),
    "seeds": _Each(_ANY),
    "files": _Each(_ANY),
    "file_checksums": _Each(_TEXT),
    "warnings": _There([_TEXT]),
    "notes": _There([_TEXT]),
}


def _check(value: Any, shape: Any, place: str, problems: Problems) -> None:
    if isinstance(shape, _There):
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
        _check(inner, shape, f"{place}[{row}]", problems)


def _check_object(value: Any, shape: Any, place: str, problems: Problems) -> None:
    if value is None:
        return
    if not isinstance(value, dict):
        problems.add(f"{place}: an object or null is needed; got {type(value).__name__}")
        return
    needed = shape.needed if isinstance(shape, _Needing) and value else ()
    for key in needed:
        if key not in value:
            problems.add(f"{place}.{key}: needed where {place} is given")
    shapes = dict.fromkeys(value, shape.shape) if isinstance(shape, _Each) else shape
    for key, inner in value.items():
        if key in shapes:
            _check(inner, shapes[key], f"{place}.{key}", problems)


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        text = "a whole number that is too long"
    return text if len(text) <= 60 else f"{text[:60]}..."
