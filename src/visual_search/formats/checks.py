"""Checks on values that came out of JSON, each with words for what is wrong."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from visual_search.errors import Problems

__all__ = ["finite_number", "id_trouble", "optional_text", "shown", "unknown_keys", "unknown_keys_words"]


def shown(value: Any) -> str:
    """Write a value with its type, cut short.

    >>> shown([1, 2]), shown(None)
    ('list [1, 2]', 'null')
    """
    text = repr(value)
    text = text if len(text) <= 60 else f"{text[:57]}..."
    return "null" if value is None else f"{type(value).__name__} {text}"


def id_trouble(value: Any) -> str | None:
    """Tell what keeps a value from being an id, or None if nothing does."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return f"{shown(value)}; an id is a non-empty string or an integer"
    if isinstance(value, int):
        return None if -(2**63) <= value < 2**63 else f"{value}, beyond 64 bits; write it as a string"
    if not value.strip():
        return f"the empty id {value!r}; an id is a non-empty string or an integer"
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return f"{value!r}, which is not valid Unicode (half of a surrogate pair)"
    return None


def finite_number(value: Any) -> float | str:
    """Give a number as a float, or the words for what keeps it from being one.

    >>> finite_number(2), finite_number(True)
    (2.0, 'bool True; it must be a number')
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"{shown(value)}; it must be a number"
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    return number if math.isfinite(number) else f"{number}; it must be finite"


def optional_text(value: Mapping[str, Any], key: str, where: str, problems: Problems) -> str | None:
    """Give the string under a key, or None where the key is missing or null."""
    text = value.get(key)
    if text is None:
        return None
    place = f"{where}: " if where else ""
    if not isinstance(text, str):
        problems.add(f"{place}{key} is {shown(text)}; it must be a string")
        return None
    if not text.strip():
        problems.add(f"{place}{key} is empty; leave the key out instead")
        return None
    return text


def unknown_keys(value: Mapping[str, Any], known: Sequence[str], where: str, problems: Problems) -> dict[str, Any]:
    """Give the entries under keys that are not known; a value that JSON cannot hold is a problem."""
    extra = {key: inner for key, inner in value.items() if key not in known}
    for key, inner in extra.items():
        try:
            json.dumps(inner, allow_nan=False)
        except (TypeError, ValueError) as reason:
            place = f"{where}: " if where else ""
            problems.add(f"{place}the value of the key {key!r} cannot stand in JSON ({reason})")
    return extra


def unknown_keys_words(found: Sequence[tuple[str, Mapping[str, Any]]], known: Sequence[str]) -> list[str]:
    """Write one line for each unknown key, however many places have it.

    >>> unknown_keys_words([("queries[0]", {"imagepath": "a.jpg"})], ["image_path"])
    ["unknown key 'imagepath' in queries[0] (is 'image_path' meant?); it is kept and not used"]
    """
    places: dict[str, list[str]] = {}
    for where, extra in found:
        for key in extra:
            places.setdefault(key, []).append(where)
    words = []
    for key, listed in places.items():
        close = difflib.get_close_matches(key, known, n=1)
        hint = f" (is {close[0]!r} meant?)" if close else ""
        more = f" and {len(listed) - 1} more" if len(listed) > 1 else ""
        words.append(f"unknown key {key!r} in {listed[0]}{more}{hint}; it is kept and not used")
    return words
