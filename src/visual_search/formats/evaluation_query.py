"""One query of an evaluation dataset: its JSON object, checked."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from visual_search.errors import Problems, first_few
from visual_search.formats.checks import (
    finite_number,
    id_trouble,
    optional_text,
    shown,
    unknown_keys,
    unknown_keys_words,
)
from visual_search.ids import Id

__all__ = ["EvaluationQuery", "QueryReader", "near_key", "query_as_json"]

KEYS = ("query_id", "image_path", "text", "ground_truth", "group", "category", "ignored")
RELEVANT_FROM = 1.0


@dataclass(frozen=True, slots=True)
class EvaluationQuery:
    """One query and its right answers.

    Attributes
    ----------
    query_id : str or int
    judgements : dict of id to grade
        Every judged item; relevant from grade 1, judged not relevant at 0 or below.
    image_path : str or None
        As written in the file; may be missing where embeddings are given.
    group : str or None
        Queries of one group are drawn and folded together.
    category : str or None
        For the audit's balance.
    ignored : tuple of ids
        Items taken out of the ranking and out of R.
    extra : dict
        Keys this format does not know, kept for the way back.
    text : str or None
        The query's words, where it is one of words, or beside its image.

    Examples
    --------
    >>> EvaluationQuery("q1", {"a": 2.0, "b": 0.0}).ground_truth
    ['a']
    """

    query_id: Id
    judgements: Mapping[Id, float]
    image_path: str | None = None
    group: str | None = None
    category: str | None = None
    ignored: tuple[Id, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    text: str | None = None

    @property
    def ground_truth(self) -> list[Id]:
        """Ids of the relevant items (grade 1 and above), in the file's order."""
        return [item for item, grade in self.judgements.items() if grade >= RELEVANT_FROM]


def query_as_json(query: EvaluationQuery) -> dict[str, Any]:
    """Give the JSON object, the evaluation guide's keys first; what is absent is left out."""
    value: dict[str, Any] = {"query_id": query.query_id}
    if query.image_path is not None:
        value["image_path"] = query.image_path
    if query.text is not None:
        value["text"] = query.text
    value["ground_truth"] = _truth_as_json(query.judgements)
    for key in ("group", "category"):
        if getattr(query, key) is not None:
            value[key] = getattr(query, key)
    if query.ignored:
        value["ignored"] = list(query.ignored)
    return value | dict(query.extra)


def _truth_as_json(judgements: Mapping[Id, float]) -> Any:
    if all(grade == 1 for grade in judgements.values()):
        return list(judgements)
    plain = {item: int(grade) if grade == int(grade) else grade for item, grade in judgements.items()}
    if all(isinstance(item, str) for item in plain):
        return plain
    # JSON object keys are always strings; integer ids would come back as another id.
    return [{"id": item, "grade": grade} for item, grade in plain.items()]


def near_key(wanted: str, keys: Iterable[Any], known: Sequence[str]) -> str:
    """Words for the key that is there and was probably meant to be the one that is not, or nothing.

    >>> near_key("ground_truth", ["query_id", "GroundTruth"], KEYS)
    ", but 'GroundTruth' (is 'ground_truth' meant?)"
    """
    plain = {re.sub("[^a-z]", "", str(key).lower()): key for key in keys if key not in known}
    close = difflib.get_close_matches(re.sub("[^a-z]", "", wanted), list(plain), n=1)
    return f", but {plain[close[0]]!r} (is {wanted!r} meant?)" if close else ""


class QueryReader:
    """Reads query after query, noting what can be told only of all of them together."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._first_index: dict[Id, int] = {}
        self._kinds: dict[str, dict[type, str]] = {"query ids": {}, "item ids": {}}
        self._unknown: list[tuple[str, Mapping[str, Any]]] = []

    def read(self, index: int, value: Any) -> EvaluationQuery | None:
        """Read one query; None where it has no id of its own to stand under."""
        where = f"queries[{index}]"
        if not isinstance(value, Mapping):
            self._problems.add(f"{where} is {shown(value)}; it must be an object with query_id and ground_truth")
            return None
        query_id = self._query_id(value, index, where)
        if query_id is not None:
            where = f"{where} ({query_id!r})"
        judgements = self._judgements(value, where)
        ignored = self._ignored(value, where, judgements)
        image_path = optional_text(value, "image_path", where, self._problems)
        text = optional_text(value, "text", where, self._problems)
        group = optional_text(value, "group", where, self._problems)
        category = optional_text(value, "category", where, self._problems)
        extra = unknown_keys(value, KEYS, where, self._problems)
        if extra:
            self._unknown.append((where, extra))
        if query_id is None:
            return None
        return EvaluationQuery(query_id, judgements, image_path, group, category, ignored, extra, text)

    def check_together(self) -> None:
        """Note a mix of string and integer ids, which would never meet."""
        for what, kinds in self._kinds.items():
            if len(kinds) > 1:
                self._problems.add(
                    f"{what} are both strings and integers ({', '.join(kinds.values())}); use one kind"
                )

    def warnings(self) -> list[str]:
        """Tell what looked odd without being wrong."""
        return unknown_keys_words(self._unknown, KEYS)

    def _query_id(self, value: Mapping[str, Any], index: int, where: str) -> Id | None:
        if "query_id" not in value:
            self._problems.add(f"{where}: no query_id{near_key('query_id', value, KEYS)}; give each query its own")
            return None
        query_id: Id = value["query_id"]
        trouble = id_trouble(query_id)
        if trouble:
            self._problems.add(f"{where}: query_id is {trouble}")
            return None
        self._kinds["query ids"].setdefault(type(query_id), f"{query_id!r} at {where}")
        first = self._first_index.setdefault(query_id, index)
        if first != index:
            self._problems.add(
                f"{where}: query_id {query_id!r} is that of queries[{first}] too; each must be its own"
            )
        return query_id

    def _judgements(self, value: Mapping[str, Any], where: str) -> dict[Id, float]:
        if "ground_truth" not in value:
            hint = near_key("ground_truth", value, KEYS)
            self._problems.add(
                f"{where}: no ground_truth{hint}; give the list of relevant ids, empty if there are none"
            )
            return {}
        truth = value["ground_truth"]
        if isinstance(truth, Mapping):
            pairs = list(truth.items())
        elif isinstance(truth, list | tuple):
            pairs = [self._pair(entry, where) for entry in truth]
        else:
            self._problems.add(
                f"{where}: ground_truth is {shown(truth)}; it must be a list of ids or {{id: grade}}"
            )
            return {}
        items = self._distinct([item for item, _ in pairs], "ground_truth", where)
        grades = {item: self._grade(item, grade, where) for item, grade in pairs if isinstance(item, str | int)}
        return {item: grades[item] for item in items}

    def _pair(self, entry: Any, where: str) -> tuple[Any, Any]:
        if not isinstance(entry, Mapping):
            return entry, 1.0
        if set(entry) != {"id", "grade"}:
            self._problems.add(
                f'{where}: ground_truth holds {shown(entry)}; an object there is {{"id":, "grade":}}'
            )
        return entry.get("id", "?"), entry.get("grade", 1.0)

    def _grade(self, item: Id, grade: Any, where: str) -> float:
        number = finite_number(grade)
        if isinstance(number, str):
            self._problems.add(f"{where}: the grade of {item!r} is {number} (leave unjudged items out)")
            return 0.0
        return number

    def _ignored(self, value: Mapping[str, Any], where: str, judgements: Mapping[Id, float]) -> tuple[Id, ...]:
        listed = value.get("ignored")
        if listed is None:
            return ()
        if not isinstance(listed, list | tuple):
            self._problems.add(f"{where}: ignored is {shown(listed)}; it must be a list of ids")
            return ()
        ignored = self._distinct(list(listed), "ignored", where)
        both = [item for item in ignored if item in judgements]
        if both:
            self._problems.add(f"{where}: {first_few(both)} in both ground_truth and ignored; choose one")
        return tuple(ignored)

    def _distinct(self, items: list[Any], key: str, where: str) -> list[Id]:
        if _plain(items):
            self._kinds["item ids"].setdefault(str, f"{items[0]!r} at {where}")
            return items
        times: dict[Id, int] = {}
        for item in items:
            trouble = id_trouble(item)
            if trouble:
                self._problems.add(f"{where}: {key} holds {trouble}")
                continue
            self._kinds["item ids"].setdefault(type(item), f"{item!r} at {where}")
            times[item] = times.get(item, 0) + 1
        for item, count in times.items():
            if count > 1:
                self._problems.add(f"{where}: {key} names {item!r} more than once; name each item once")
        return list(times)


def _plain(items: list[Any]) -> bool:
    """Tell whether a list is distinct plain strings, as nearly all are, without a loop in Python."""
    return (
        set(map(type, items)) == {str}
        and len(set(items)) == len(items)
        and all(map(str.isascii, items))
        and "" not in items
        and not any(map(str.isspace, items))
    )
