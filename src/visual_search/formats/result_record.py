"""What a result's JSON record must hold, checked when it is written and when it is read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import partial
from typing import Any, TypeGuard

import numpy as np

from visual_search.errors import InputError, Problems, first_few
from visual_search.formats.json_shapes import is_value
from visual_search.formats.result_extensions import check_extensions

__all__ = [
    "FORMAT",
    "FORMAT_VERSION",
    "checked_record",
    "guide_keys",
    "is_plain_name",
    "plain_record",
    "record_text",
]

FORMAT = "visual-search result"
FORMAT_VERSION = 1

_PER_QUERY = ("query_id", "recall_at_k", "precision_at_k", "average_precision", "reciprocal_rank")


def guide_keys(k_values: list[int]) -> list[str]:
    """Keys of the evaluation guide's results JSON, in its order.

    >>> guide_keys([1, 5])[2:6]
    ['recall_at_1', 'recall_at_5', 'precision_at_1', 'precision_at_5']
    """
    at_k = [f"{measure}_at_{k}" for measure in ("recall", "precision") for k in k_values]
    return ["num_queries", "k_values", *at_k, "map", "mrr", "per_query_results", "timestamp", "model_name"]


def plain_record(record: Mapping[str, Any], *, odd_names: bool = False) -> dict[str, Any]:
    """A copy in which numpy scalars, arrays and tuples are JSON values, whatever their depth.

    ``odd_names`` lets texts stand that are file names with bytes that are no text; they are to be written as escapes.

    Raises
    ------
    InputError
        NaN or infinity (undefined values are None), or a value that JSON has no form for; all places at once.
    """
    problems = Problems("record")
    plain = _plain(record, "record", problems, odd_names=odd_names)
    problems.raise_if_any(InputError)
    assert isinstance(plain, dict)
    return plain


def _plain(value: Any, place: str, problems: Problems, *, odd_names: bool) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            problems.add(f"{place} is {value}; write None where a value is undefined")
        return value
    if isinstance(value, str):
        if not (odd_names or value.isascii() or _is_utf8(value)):
            problems.add(f"{place}: {value!r} cannot be written as UTF-8; rename it")
        return value
    if isinstance(value, Mapping):
        if len({str(key) for key in value}) != len(value):
            problems.add(f"{place}: two keys become the same text; keys must differ as text")
        return {
            str(key): _plain(inner, f"{place}.{key}", problems, odd_names=odd_names) for key, inner in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_plain(inner, f"{place}[{row}]", problems, odd_names=odd_names) for row, inner in enumerate(value)]
    problems.add(f"{place}: {type(value).__name__} has no JSON form")
    return None


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def record_text(record: Mapping[str, Any]) -> str:
    """JSON that reads well and writes fast: a key a line, and a line for each query or image of the long tables."""
    dump = partial(json.dumps, ensure_ascii=False, allow_nan=False)
    lines = []
    for key, value in record.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            text = "[\n    " + ",\n    ".join(map(dump, value)) + "\n  ]"
        elif isinstance(value, dict) and value:
            text = "{\n    " + ",\n    ".join(f"{dump(k)}: {dump(v)}" for k, v in value.items()) + "\n  }"
        else:
            text = dump(value)
        lines.append(f"  {dump(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def checked_record(value: Any, subject: str, *, error: type[InputError], in_order: bool = False) -> None:
    """Check that a JSON value is a result of this version, or one with only the guide's keys.

    Raises
    ------
    InputError or FileFormatError
        As asked by ``error``; every problem of the record is listed.
    """
    if not isinstance(value, dict):
        raise error(f"{subject}: a result is a JSON object; got {type(value).__name__}")
    _check_version(value, subject, error)
    problems = Problems(subject)
    k_values = value.get("k_values")
    if not _are_depths(k_values):
        problems.add(f"k_values: a list of distinct whole numbers of at least 1 is needed; got {k_values!r}")
        k_values = []
    expected = guide_keys(k_values)
    missing = [key for key in expected if key not in value]
    if missing:
        problems.add(f"keys missing: {first_few(missing, 8)}")
    elif in_order and (found := list(value)[: len(expected)]) != expected:
        wrong = next(place for place, key in enumerate(found) if key != expected[place])
        problems.add(f"the guide's keys come first: key {wrong} is {found[wrong]!r}, {expected[wrong]!r} is due")
    _check_values(value, k_values, problems)
    if "per_query_results" in value:
        _check_per_query(value["per_query_results"], problems)
    check_extensions(value, problems)
    _check_files(value, problems)
    problems.raise_if_any(error)


def _check_version(value: dict[str, Any], subject: str, error: type[InputError]) -> None:
    form, version = value.get("format", FORMAT), value.get("format_version", FORMAT_VERSION)
    if form != FORMAT:
        raise error(f"{subject}: its format is {form!r}; a result's is {FORMAT!r}")
    if type(version) is not int or version < 1:
        raise error(f"{subject}: format_version is {version!r}; a whole number of at least 1 is needed")
    if version > FORMAT_VERSION:
        raise error(
            f"{subject}: format_version {version} is newer than {FORMAT_VERSION}, the newest this version reads; "
            "upgrade visual-search"
        )
    if "format" not in value and not value.keys() & set(guide_keys([])):
        raise error(f"{subject}: not a result: it has none of the keys num_queries, k_values, map, mrr")


def _are_depths(value: Any) -> TypeGuard[list[int]]:
    return (
        isinstance(value, list)
        and all(type(k) is int and k >= 1 for k in value)
        and len(set(value)) == len(value)
        and len(value) > 0
    )


def _check_values(value: dict[str, Any], k_values: list[int], problems: Problems) -> None:
    count = value.get("num_queries")
    if "num_queries" in value and (type(count) is not int or count < 0):
        problems.add(f"num_queries: a whole number of at least 0 is needed; got {count!r}")
    at_k = [f"{m}_at_{k}" for m in ("recall", "precision", "ndcg", "hit_rate") for k in k_values]
    for key in (*at_k, "map", "mrr"):
        if key in value and not is_value(value[key]):
            problems.add(f"{key}: a number or null is needed; got {value[key]!r}")
    for key in ("timestamp", "model_name"):
        if key in value and not isinstance(value[key], str):
            problems.add(f"{key}: text is needed; got {value[key]!r}")


def _check_per_query(entries: Any, problems: Problems) -> None:
    if not isinstance(entries, list):
        problems.add(f"per_query_results: a list is needed; got {type(entries).__name__}")
        return
    for row, entry in enumerate(entries):
        for wrong in _wrong_in_query(entry):
            problems.add(f"per_query_results[{row}]{wrong}")


def _wrong_in_query(entry: Any) -> list[str]:
    if not isinstance(entry, dict):
        return [f": an object is needed; got {entry!r}"]
    if missing := [key for key in _PER_QUERY if key not in entry]:
        return [f": keys missing: {first_few(missing)}"]
    wrong = []
    if type(entry["query_id"]) not in (str, int):
        wrong.append(f".query_id: text or a whole number is needed; got {entry['query_id']!r}")
    numbers, tables = (*_PER_QUERY[3:], *({"num_relevant"} & entry.keys())), _PER_QUERY[1:3]
    if type(entry.get("group")) not in (str, int, type(None)):
        wrong.append(f".group: text, a whole number or null is needed; got {entry['group']!r}")
    wrong += [f".{k}: a number or null is needed; got {entry[k]!r}" for k in numbers if not is_value(entry[k])]
    wrong += [
        f".{k}: an object of numbers is needed; got {entry[k]!r}" for k in tables if not _are_values(entry[k])
    ]
    return wrong


def _check_files(value: dict[str, Any], problems: Problems) -> None:
    files = value.get("files")
    for name, file in files.items() if isinstance(files, dict) else ():
        # A companion lies beside its record; a record from elsewhere must not make this one read other files.
        if not is_plain_name(file):
            problems.add(f"files.{name}: the plain name of a file beside the record is needed; got {file!r}")


def is_plain_name(value: Any) -> TypeGuard[str]:
    """Whether it names a file in one folder, the same on every system: no separator, no drive, not hidden.

    >>> is_plain_name("results.json"), is_plain_name("run 10:30.json"), is_plain_name("../results.json")
    (True, False, False)
    """
    return isinstance(value, str) and value != "" and not value.startswith(".") and not set(value) & set("/\\:\0")


def _are_values(value: Any) -> bool:
    return isinstance(value, dict) and all(map(is_value, value.values()))
