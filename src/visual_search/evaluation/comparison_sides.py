"""The results of a comparison, taken in: their names, what differs between their data, and what they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from visual_search.errors import FingerprintError, InputError, Problems, first_few
from visual_search.evaluation.comparability import differences
from visual_search.evaluation.compared import ComparedResult, canonical
from visual_search.evaluation.result import Result
from visual_search.ids import Id

__all__ = ["checked_differences", "chosen_texts", "common_queries", "reasons", "sides_of"]


def sides_of(results: Any) -> list[ComparedResult]:
    """Take in the results, each under a name of its own."""
    if isinstance(results, Mapping) and not isinstance(results, Result):
        listed = [ComparedResult.of(result, name) for name, result in results.items()]
    elif isinstance(results, str) or not isinstance(results, Sequence):
        raise InputError(
            f"results is {type(results).__name__}; give a list of at least two, or a mapping of names to them"
        )
    else:
        listed = [ComparedResult.of(result) for result in results]
    if len(listed) < 2:
        raise InputError(f"results: {len(listed)} given; a comparison needs at least two")
    names = [side.name for side in listed]
    if len(set(names)) == len(names):
        return listed
    if isinstance(results, Mapping):
        raise InputError(f"results: names must be distinct text; got {first_few(names)}")
    # One model before and after a change has one name.
    return [
        replace(side, name=f"{side.name} ({place})") if names.count(side.name) > 1 else side
        for place, side in enumerate(listed, start=1)
    ]


def checked_differences(sides: Sequence[ComparedResult], despite: str | None) -> tuple[str, ...]:
    """What differs, where a reason allows it; refused where none does."""
    if despite is not None and not despite.strip():
        raise InputError("despite is empty; give the reason for comparing results that are not comparable")
    found = []
    for other in sides[1:]:
        found += differences(sides[0], other)
    if despite is None:
        problems = Problems(
            "the results cannot be compared, since they were not measured on the same; give despite= a "
            "reason to compare the common queries all the same"
        )
        for one in found:
            problems.add(one)
        problems.raise_if_any(FingerprintError)
    return tuple(found)


def common_queries(sides: Sequence[ComparedResult]) -> list[Id]:
    """Queries that every result has, in the order of the first."""
    others = [set(side.queries) for side in sides[1:]]
    common = [query for query in sides[0].queries if all(query in other for other in others)]
    if not common:
        raise InputError("results: no query in common")
    return common


def chosen_texts(
    sides: Sequence[ComparedResult], measures: Sequence[str] | None
) -> tuple[list[str], dict[str, str]]:
    """Measures to compare, and those that cannot be with the reason."""
    left_out: dict[str, str] = {}
    for side in sides:
        left_out |= side.left_out
    if isinstance(measures, str):
        raise InputError(f"measures={measures!r} is one text; give a list of them, [{measures!r}]")
    if measures is not None:
        wanted = list(dict.fromkeys(map(canonical, measures)))
        problems = Problems("measures")
        for text in wanted:
            lacking = [side.name for side in sides if text not in side.tops]
            if text in left_out:
                problems.add(f"{text}: {left_out[text]}")
            elif lacking:
                problems.add(f"{text}: not measured in {first_few(lacking)}; {_instead(text, sides)}")
        problems.raise_if_any(InputError)
        return wanted, {}
    everywhere = [text for text in sides[0].tops if all(text in side.tops for side in sides)]
    for text in dict.fromkeys(text for side in sides for text in side.tops):
        lacking = [side.name for side in sides if text not in side.tops]
        if lacking and text not in left_out:
            left_out[text] = f"not measured in {first_few(lacking)}"
    if not everywhere:
        raise InputError("measures: the results have none in common; " + reasons(left_out))
    return everywhere, left_out


def _instead(text: str, sides: Sequence[ComparedResult]) -> str:
    """What may have been meant: a measure that all have, of the same family; else all that there are."""
    everywhere = [name for name in sides[0].tops if all(name in side.tops for side in sides)]
    alike = [name for name in everywhere if _family(name) == _family(text)]
    if not alike:
        return f"there are {', '.join(sides[0].tops)}"
    short = {"AP": "mAP", "RR": "MRR", "nDCG": "NDCG"}.get(_family(text), _family(text))
    named = [
        f"{short}{at}{k} ({name})" if (at := name.rpartition("@")[1]) and (k := name.rpartition("@")[2]) else name
        for name in alike
    ]
    return f"did you mean {' or '.join(named)}?"


def _family(text: str) -> str:
    return text.partition("(")[0].partition("@")[0]


def reasons(left_out: Mapping[str, str]) -> str:
    """Write measures that are left out, each with its reason."""
    return "; ".join(f"{text}: {reason}" for text, reason in left_out.items())
