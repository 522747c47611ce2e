"""The evaluation dataset's JSON: queries with their right answers, checked whole before anything is measured.

::

    {"queries": [{"query_id": "q001", "image_path": "queries/q001.jpg", "ground_truth": ["img_001", "img_002"]}]}

Beyond that, all optional: ``ground_truth`` with grades, as ``{"img_001": 2, "img_002": 1}`` or, where ids are
integers, as ``[{"id": 7, "grade": 2}, 8]`` (an id alone has grade 1); per query ``group`` (queries of one group are
not independent: one person, one scene), ``category``, ``ignored`` (items that count neither way), ``text`` (the
query's words); for the whole ``name``, ``pseudo`` (how a machine made the truth), ``judged`` (how people's grades
became one) and ``complete`` (whether what is not listed is not relevant, true unless said or pseudo; if false it is
unjudged). Other keys are kept, and warned of.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from visual_search.errors import DatasetError, Problems, first_few
from visual_search.formats.atomic import write_json
from visual_search.formats.checks import optional_text, shown, unknown_keys, unknown_keys_words
from visual_search.formats.evaluation_query import EvaluationQuery, QueryReader, near_key, query_as_json
from visual_search.formats.strict_json import read_json

__all__ = ["DatasetContent", "content_as_json", "parse_dataset", "read_dataset", "write_dataset"]

KEYS = ("name", "complete", "pseudo", "judged", "queries")


@dataclass(frozen=True, slots=True)
class DatasetContent:
    """All that a dataset's JSON says, and what in it looks odd without being wrong."""

    queries: tuple[EvaluationQuery, ...]
    name: str | None = None
    pseudo: Mapping[str, Any] | None = None
    complete: bool | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    judged: Mapping[str, Any] | None = None


def read_dataset(path: str | os.PathLike[str]) -> DatasetContent:
    """Read and check a dataset file.

    Raises
    ------
    DatasetError
        Broken JSON, with line and column; or every problem of the content, each with index and id.
    """
    value, repeated = read_json(path, DatasetError)
    return parse_dataset(value, subject=str(path), repeated=repeated)


def write_dataset(path: str | os.PathLike[str], content: DatasetContent) -> None:
    """Write a dataset file whole or not at all."""
    write_json(path, content_as_json(content))


def parse_dataset(value: Any, *, subject: str = "dataset", repeated: Sequence[str] = ()) -> DatasetContent:
    """Check a parsed JSON value and take it in.

    Raises
    ------
    DatasetError
        Lists every problem, each with index and id.

    Examples
    --------
    >>> parse_dataset({"queries": [{"query_id": "q1", "ground_truth": ["a", "a"]}, {"ground_truth": []}]})
    Traceback (most recent call last):
    ...
    visual_search.errors.DatasetError: dataset: 2 problems
      - queries[0] ('q1'): ground_truth names 'a' more than once; name each item once
      - queries[1]: no query_id; give each query its own
    """
    problems = Problems(subject)
    for line in repeated:
        problems.add(line)
    reader = QueryReader(problems)
    read = [reader.read(index, query) for index, query in enumerate(_queries_of(value, problems))]
    reader.check_together()
    whole: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    name = optional_text(whole, "name", "", problems)
    pseudo = whole.get("pseudo")
    if pseudo is not None and not isinstance(pseudo, Mapping):
        problems.add(f"pseudo is {shown(pseudo)}; it must be an object that tells how the truth was made")
    elif pseudo is not None and not _are_ids(cut := pseudo.get("cut_at_k", [])):
        problems.add(f"pseudo.cut_at_k is {shown(cut)}; it must be a list of query ids")
    judged = whole.get("judged")
    if judged is not None and not isinstance(judged, Mapping):
        problems.add(f"judged is {shown(judged)}; it must be an object that tells how people's grades became one")
    complete = whole.get("complete")
    if complete is not None and not isinstance(complete, bool):
        problems.add(f"complete is {shown(complete)}; it must be true or false")
    extra = unknown_keys(whole, KEYS, "", problems)
    problems.raise_if_any(DatasetError)
    warnings = (*unknown_keys_words([("the dataset", extra)], KEYS), *reader.warnings())
    queries = tuple(query for query in read if query is not None)
    return DatasetContent(queries, name, pseudo, complete, extra, warnings, judged)


def content_as_json(content: DatasetContent) -> dict[str, Any]:
    """Give the JSON value; what is absent is left out, so a plain dataset stays as plain as it was."""
    value: dict[str, Any] = {} if content.name is None else {"name": content.name}
    if content.complete is not None:
        value["complete"] = content.complete
    if content.pseudo is not None:
        value["pseudo"] = dict(content.pseudo)
    if content.judged is not None:
        value["judged"] = dict(content.judged)
    value |= content.extra
    value["queries"] = [query_as_json(query) for query in content.queries]
    return value


def _are_ids(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(type(one) in (str, int) for one in value)


def _queries_of(value: Any, problems: Problems) -> Sequence[Any]:
    if not isinstance(value, Mapping):
        problems.add(f'the top is {shown(value)}; it must be an object {{"queries": [...]}}')
        return ()
    if "queries" not in value:
        hint = near_key("queries", value, KEYS)
        problems.add(
            f'no "queries"{hint}; {f"the keys are {first_few(value)}" if value else "the object is empty"}'
        )
        return ()
    queries = value["queries"]
    if not isinstance(queries, list | tuple):
        problems.add(f"queries is {shown(queries)}; it must be a list of objects")
        return ()
    if not queries:
        problems.add("queries is empty; there is nothing to evaluate")
    return queries
