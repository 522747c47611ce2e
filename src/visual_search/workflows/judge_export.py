"""Judgements out of a store: one row each, or made one grade a pair by a stated rule; and from files into one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from visual_search.counted import counted
from visual_search.errors import InputError
from visual_search.formats.atomic import write_json
from visual_search.formats.evaluation_dataset import DatasetContent, write_dataset
from visual_search.formats.evaluation_query import EvaluationQuery
from visual_search.formats.judgement_files import read_judgement_file, write_judgement_file
from visual_search.formats.trec import write_qrels
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id
from visual_search.judging.aggregation import DEFAULT_RULE, RULE_WORDS, checked_rule, relevance_of_judgements
from visual_search.judging.importing import Imported, import_judgements
from visual_search.judging.judgement_table import JudgementTable
from visual_search.judging.pool import PoolQuery
from visual_search.judging.records import judgement_columns
from visual_search.judging.store import JudgementStore
from visual_search.workflows.score_files import read_relevance

__all__ = ["Exported", "export_judgements", "import_judgement_file"]

Place = str | os.PathLike[str]

_ROWS = (".csv", ".tsv", ".parquet")
_QRELS = (".trec", ".qrels", ".txt")


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written.

    Attributes
    ----------
    path : Path
    rows : int
        Judgements, or pairs where a rule made one grade of several.
    rule : str or None
        That rule; None where every judgement has a row of its own.
    """

    path: Path
    rows: int
    rule: str | None

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {"path": str(self.path), "rows": self.rows, "rule": self.rule}

    def words(self) -> str:
        """In a line."""
        if self.rule is None:
            return f"{self.path}: {counted(self.rows, 'record', 'records')}, one row each"
        words = RULE_WORDS[checked_rule(self.rule)]
        return f"{self.path}: {counted(self.rows, 'pair', 'pairs')}; rule {self.rule}: {words}"


def export_judgements(store: Place, out: Place, *, rule: str | None = None, log: bool = False) -> Exported:
    """Write what judges said, by the ending of a name.

    Parameters
    ----------
    store : path or URL
    out : path
        ``.csv``, ``.tsv``, ``.parquet``: one row a judgement that holds. ``.json``: an evaluation dataset. ``.trec``,
        ``.qrels``, ``.txt``: TREC qrels, with the rule in ``NAME.json`` beside them, since qrels have no place for it.
    rule : str, optional
        How several grades of a pair become one; ``adjudicated`` for datasets and qrels, and with tables none, which
        then have one row a pair where a rule is named.
    log : bool
        All records, also those that were replaced or taken back; tables only.

    Raises
    ------
    InputError
        Another ending or rule, a log that is no table, or nothing judged yet.
    """
    target = Path(out)
    ending = target.suffix.lower()
    if ending not in (*_ROWS, *_QRELS, ".json"):
        raise InputError(
            f"out: {target.name!r}; a name that ends in {', '.join((*_ROWS, '.json', *_QRELS))} is needed"
        )
    if log and (ending not in _ROWS or rule is not None):
        raise InputError("log: every record has a row of its own; give .csv, .tsv or .parquet, and no rule")
    with JudgementStore(store, create=False) as held:
        if ending in _ROWS and rule is None:
            records = held.log() if log else held.standing()
            write_judgement_file(target, judgement_columns(records))
            return Exported(target, len(records), None)
        chosen = checked_rule(rule or DEFAULT_RULE)
        columns = held.table(graded=False)
        if not columns["grade"]:
            raise InputError(f"store: {held.database.shown} has no judgements yet; there is nothing to export")
        relevance = relevance_of_judgements(JudgementTable.from_table(columns), chosen)
        pairs = _pairs(relevance)
        facts = _facts(held, columns, chosen, len(pairs))
        if ending in _ROWS:
            query, item, grade = ([pair[place] for pair in pairs] for place in range(3))
            write_judgement_file(
                target, {"query": query, "item": item, "grade": grade, "rule": [chosen] * len(pairs)}
            )
        elif ending == ".json":
            _write_dataset(target, held.queries(), relevance, facts)
        else:
            write_qrels(target, pairs)
            write_json(target.with_name(f"{target.name}.json"), facts)
    return Exported(target, len(pairs), chosen)


def _pairs(relevance: Relevance) -> list[tuple[Id, Id, float]]:
    return [(query, item, grade) for query in relevance.queries for item, grade in relevance.judged(query).items()]


def _facts(held: JudgementStore, columns: Mapping[str, Sequence[Any]], rule: str, pairs: int) -> dict[str, Any]:
    task = held.task
    return {
        "rule": rule,
        "rule_in_words": RULE_WORDS[checked_rule(rule)],
        "pairs": pairs,
        "judgements": len(columns["grade"]),
        "cannot_tell": sum(grade is None for grade in columns["grade"]),
        "adjudications": sum(map(bool, columns["adjudicated"])),
        "judges": len(set(columns["judge"])),
        "grades": [{"value": grade.value, "name": grade.name} for grade in task.grades],
        "guideline": task.guideline,
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def _write_dataset(
    target: Path, queries: Sequence[PoolQuery], relevance: Relevance, facts: Mapping[str, Any]
) -> None:
    made = tuple(
        EvaluationQuery(
            query.query_id,
            relevance.judged(query.query_id),
            image_path=_image_path(query, target.absolute().parent),
            text=query.text,
        )
        for query in queries
        if query.query_id in relevance.queries
    )
    # What nobody judged is unjudged, and not wrong.
    write_dataset(target, DatasetContent(made, complete=False, judged=facts))


def _image_path(query: PoolQuery, folder: Path) -> str | None:
    if query.image is None or query.image.member is not None:  # a dataset names files only
        return None
    path = query.image.path.absolute()
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def import_judgement_file(
    store: Place, file: Place, *, judge: str | None = None, add_pairs: bool = False
) -> Imported:
    """Take a file of judgements into a store that is there, all of it or nothing.

    Parameters
    ----------
    store : path or URL
    file : path
        ``.csv``, ``.tsv``, ``.parquet`` with columns query, item, grade and any others that an export has; else qrels,
        an evaluation dataset or ``{query: {item: grade}}``, whose judge must be named.
    judge : str, optional
    add_pairs : bool
        Whether pairs that no pool has are added.

    Raises
    ------
    FileFormatError, InputError
        As for `read_judgement_file` and `import_judgements`.
    """
    if Path(file).suffix.lower() in _ROWS:
        columns: Mapping[str, Sequence[Any]] = read_judgement_file(file)
    else:
        pairs = _pairs(read_relevance(file)[0])
        columns = {name: [pair[place] for pair in pairs] for place, name in enumerate(("query", "item", "grade"))}
    with JudgementStore(store, create=False) as held:
        return import_judgements(held, columns, judge=judge, add_pairs=add_pairs)
