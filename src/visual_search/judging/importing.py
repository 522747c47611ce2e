"""Judgements made elsewhere, taken into a store as records of its own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from visual_search.counted import counted
from visual_search.errors import InputError, Problems, first_few
from visual_search.ids import Id
from visual_search.judging.judging_rows import NewRecord, write_record
from visual_search.judging.pool import Pair, Pool, PoolQuery, Source
from visual_search.judging.priorities import Priorities
from visual_search.judging.records import Verdict
from visual_search.judging.schema import sa
from visual_search.judging.store import JudgementStore
from visual_search.judging.store_contents import pair_rows, stored_pool
from visual_search.judging.store_pools import add_pool_within, stored_task
from visual_search.judging.task import JudgingTask

__all__ = ["Imported", "import_judgements"]


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import brought.

    Attributes
    ----------
    written : int
        New records.
    there : int
        Records that an earlier import, or this store itself, had written.
    pairs : int
        Pairs that no pool had.
    """

    written: int
    there: int
    pairs: int

    def words(self) -> str:
        """In a line.

        >>> Imported(3, 0, 1).words()
        '3 judgements taken in, 0 were there, 1 pair added to the pool'
        """
        return (
            f"{counted(self.written, 'judgement', 'judgements')} taken in, {self.there:,} were there, "
            f"{counted(self.pairs, 'pair', 'pairs')} added to the pool"
        )


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    number: int | None
    record: NewRecord
    query: Id
    item: Id


def import_judgements(
    store: JudgementStore,
    columns: Mapping[str, Sequence[Any]],
    *,
    judge: str | None = None,
    add_pairs: bool = False,
) -> Imported:
    """Take judgements into a store, all or none.

    Parameters
    ----------
    store : JudgementStore
    columns : mapping of str to sequence
        ``query, item, grade`` and any others of `records.COLUMNS`; one row a judgement, as `JudgementStore.table` gives
        them. A row without a key gets one of its content, so that the same file taken in again adds nothing.
    judge : str, optional
        Who judged, where there is no column ``judge``, or nothing in it.
    add_pairs : bool
        Whether to add pairs that no pool has; their reason is then that somebody listed them.

    Returns
    -------
    Imported

    Raises
    ------
    InputError
        No judge, pairs that no pool has, grades that the task does not have, pairs that the same judge has judged
        otherwise; all at once, and nothing is written.

    Convention
    ----------
    Ids are taken in the store's kind: ``"7"`` of a text file is 7 where the store has integers. Time, note and seconds
    stay as they were; numbers are the store's own. Rows with ``undo`` and ``replaces``, as of a whole log, are
    replayed in the order of their numbers.
    """
    if judge is None and "judge" not in columns:
        raise InputError("judge: the file has no column 'judge'; say who judged")
    problems = Problems("import")
    with store.database.writing() as connection:
        store.database.without_judges(connection)
        pool = stored_pool(connection, stored_task(connection) or JudgingTask())
        rows = _rows(columns, judge, pool, problems)
        new = dict.fromkeys((row.query, row.item) for row in rows if (row.query, row.item) not in pool)
        if new and not add_pairs:
            problems.add(
                f"{counted(len(new), 'pair is', 'pairs are')} in no pool, first {first_few(new, 3)}; say that they are "
                "to be added, or grow the pool"
            )
        if new and add_pairs:
            add_pool_within(connection, _listed(new, pool))
        written = _written(connection, rows, pool, problems)
        problems.raise_if_any(InputError)
    store.memory.forget()
    return Imported(written, len(rows) - written, len(new))


def _rows(columns: Mapping[str, Sequence[Any]], judge: str | None, pool: Pool, problems: Problems) -> list[_Row]:
    query_kind = _kind(pool.queries)
    item_kind = _kind(dict.fromkeys(item for _, item in pool.sources))
    length = len(columns["query"])
    found = []
    for place in range(length):
        row = {name: values[place] for name, values in columns.items()}
        try:
            made = _row(place + 1, row, judge)
            query, item = _as_kind(row["query"], query_kind), _as_kind(row["item"], item_kind)
        except (InputError, ValueError) as error:
            problems.add(f"row {place + 1}: {' '.join(str(error).split())}")
            continue
        found.append(_Row(place + 1, row.get("number"), made, query, item))
    # A log is replayed in its own order.
    return sorted(found, key=lambda row: (row.number is None, row.number or 0))


def _row(line: int, row: Mapping[str, Any], judge: str | None) -> NewRecord:
    verdict = None
    if not row.get("undo"):
        reason = row.get("reason") or ""
        if row["grade"] is None and not reason:
            reason = "not said"
        verdict = Verdict(row["grade"], reason, row.get("note") or "", row.get("seconds"))
    who = judge if row.get("judge") in (None, "") else str(row["judge"])
    if who is None:
        raise InputError("no judge; name one in the row, or one for all rows that name none")
    key = row.get("key") or _content_key(row, who, line)
    role = "adjudicator" if row.get("adjudicated") else "judge"
    time = _time(row.get("time"))
    return NewRecord(str(key), 0, who, role, verdict, row.get("replaces"), time)  # type: ignore[arg-type]


def _time(text: str | None) -> datetime | None:
    if not text:
        return None
    time = datetime.fromisoformat(text)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _content_key(row: Mapping[str, Any], judge: str | None, line: int) -> str:
    # Two rows of one content are told apart by their place only where both say that they undo or replace.
    told = [repr(row.get(name)) for name in ("query", "item", "grade", "reason", "note", "time", "adjudicated")]
    more = [repr(line)] if row.get("undo") or row.get("replaces") is not None else []
    text = "\x1f".join([repr(judge), *told, *more])
    return f"import {hashlib.blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def _kind(ids: Mapping[Any, Any]) -> type | None:
    return type(next(iter(ids))) if ids else None


def _as_kind(value: Any, kind: type | None) -> Id:
    if kind is int and isinstance(value, str):
        # int() alone would take "1_0" and other digits than these for the id of another item.
        if not re.fullmatch(r"-?[0-9]{1,19}", value):
            raise InputError(f"id {value!r} is no integer, and the store's ids are")
        return int(value)
    if kind is str:
        return str(value)
    made: Id = value
    return made


def _listed(pairs: Mapping[Pair, None], pool: Pool) -> Pool:
    queries = {query: pool.queries.get(query, PoolQuery(query)) for query, _ in pairs}
    return Pool(queries, dict.fromkeys(pairs, (Source("listed"),)), task=pool.task)


def _written(connection: sa.Connection, rows: Sequence[_Row], pool: Pool, problems: Problems) -> int:
    places = pair_rows(connection)
    grades = tuple(grade.value for grade in pool.task.grades)
    ours: dict[int, int] = {}
    touched: set[int] = set()
    written = 0
    for row in rows:
        if (row.query, row.item) not in places:  # told already; what else is wrong is told with it
            continue
        pair, query = places[row.query, row.item]
        replaces = None if row.record.replaces is None else ours.get(row.record.replaces)
        record = replace(row.record, pair=pair, replaces=replaces)
        try:
            said, is_new = write_record(connection, record, (row.query, row.item), grades)
        except InputError as error:
            problems.add(f"row {row.line}: {error}")
            continue
        if row.number is not None and not said.is_undo:  # an undo is followed and not replaced
            ours[row.number] = said.number
        written += is_new
        touched.add(query)
    Priorities(pool.task).refresh_all(connection, touched)
    return written
