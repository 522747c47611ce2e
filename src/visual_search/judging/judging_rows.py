"""Rows of the log of judgements: written once, with what follows from each kept in step."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from visual_search.errors import InputError, UnknownIdError
from visual_search.judging import schema
from visual_search.judging.records import Judgement, Role, Verdict
from visual_search.judging.schema import id_value, sa

__all__ = ["NewRecord", "as_judgement", "count_free", "judge_number", "lock_judge", "log_query", "write_record"]

LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record that is to be written.

    Attributes
    ----------
    key : str
    pair : int
    judge : str
    role : {"judge", "adjudicator"}
    verdict : Verdict or None
        None undoes.
    replaces : int or None
    """

    key: str
    pair: int
    judge: str
    role: Role
    verdict: Verdict | None
    replaces: int | None


def judge_number(connection: sa.Connection, name: str) -> int | None:
    """The row of a judge, or None of one who is new."""
    found = connection.execute(sa.select(schema.judges.c.id).where(schema.judges.c.name == name)).scalar()
    return None if found is None else int(found)


def lock_judge(connection: sa.Connection, name: str) -> int:
    """The row of a judge, made where he is new; one request of a judge at a time goes beyond this line."""
    lock = sa.select(schema.judges.c.id).where(schema.judges.c.name == name).with_for_update(key_share=True)
    found = connection.execute(lock).scalar()
    if found is None:
        _check_name(name, "judge")
        if connection.dialect.name == "postgresql":
            from sqlalchemy.dialects.postgresql import insert

            connection.execute(insert(schema.judges).values(name=name).on_conflict_do_nothing())
        else:
            connection.execute(schema.judges.insert().values(name=name))
        found = connection.execute(lock).scalar_one()
    return int(found)


def _check_name(text: str, what: str) -> None:
    if not text.strip() or len(text) > LONGEST_NAME or not text.isprintable():
        raise InputError(f"{what}: got {text!r}; from 1 to {LONGEST_NAME} printable characters are needed")


def write_record(
    connection: sa.Connection, record: NewRecord, grades: tuple[float, ...]
) -> tuple[Judgement, int | None]:
    """Write one record, or find the one that its key has written before.

    Returns
    -------
    judgement : Judgement
    query : int or None
        Row of the query whose order may have changed; None where nothing was written.

    Raises
    ------
    InputError
        A grade that is none of the task's; a pair that this judge has judged; a record that holds no more.
    UnknownIdError
        No such pair.
    """
    _check_name(record.key, "key")
    judge = lock_judge(connection, record.judge)
    query = _lock_pair(connection, record.pair)
    before = connection.execute(log_query().where(schema.judgements.c.key == record.key)).one_or_none()
    if before is not None:
        return _same(as_judgement(before), record), None
    if record.verdict is not None and record.verdict.grade is not None and record.verdict.grade not in grades:
        allowed = ", ".join(f"{grade:g}" for grade in grades)
        raise InputError(f"grade is {record.verdict.grade:g}; the task has {allowed}")
    replaces = _replaced(connection, record, judge)
    number = _insert(connection, record, judge, replaces)
    _keep_in_step(connection, record, judge, number)
    written = connection.execute(log_query().where(schema.judgements.c.id == number)).one()
    return as_judgement(written), query


def _lock_pair(connection: sa.Connection, pair: int) -> int:
    """Lock the pair's query and then the pair, in this order wherever both are locked; gives the query's row."""
    query = connection.execute(sa.select(schema.pairs.c.query_id).where(schema.pairs.c.id == pair)).scalar()
    if query is None:
        raise UnknownIdError(f"pair {pair} is not in this store; take numbers that it has given out")
    for table, number in ((schema.queries, query), (schema.pairs, pair)):
        connection.execute(sa.select(table.c.id).where(table.c.id == number).with_for_update(key_share=True))
    return int(query)


def _same(found: Judgement, record: NewRecord) -> Judgement:
    asked = (record.pair, record.judge, record.role, record.verdict)
    if (found.pair, found.judge, found.role, found.verdict) != asked:
        raise InputError(
            f"key: {record.key!r} has written another record (number {found.number}); each request needs its own key, "
            "and only the same request may come again with it"
        )
    return found


def _replaced(connection: sa.Connection, record: NewRecord, judge: int) -> int | None:
    """Number of the record that a new one has to replace, checked against the one that it says it does."""
    table = schema.judgements.c
    mine = sa.and_(table.pair_id == record.pair, table.judge_id == judge, table.role == record.role)
    last = connection.execute(
        sa.select(table.id, table.undo).where(mine).order_by(table.id.desc()).limit(1)
    ).one_or_none()
    stands = None if last is None or last.undo else int(last.id)
    if record.replaces is None and stands is not None:
        raise InputError(
            f"pair {record.pair} is judged by {record.judge!r} already (record {stands}); to think again, replace "
            "that record or undo it"
        )
    if record.replaces is not None and record.replaces != stands:
        holds = "none does" if stands is None else f"record {stands} does"
        raise InputError(f"record {record.replaces} does not stand for {record.judge!r} and this pair; {holds}")
    return None if last is None else int(last.id)


def _insert(connection: sa.Connection, record: NewRecord, judge: int, replaces: int | None) -> int:
    verdict = record.verdict
    row: dict[str, Any] = {
        "key": record.key,
        "pair_id": record.pair,
        "judge_id": judge,
        "role": record.role,
        "time": datetime.now(UTC).isoformat(timespec="microseconds"),
        "undo": verdict is None,
        "grade": None if verdict is None else verdict.grade,
        "reason": "" if verdict is None else verdict.reason,
        "note": "" if verdict is None else verdict.note,
        "seconds": None if verdict is None else verdict.seconds,
        "replaces": replaces,
    }
    made = connection.execute(schema.judgements.insert().returning(schema.judgements.c.id), row)
    return int(made.scalar_one())


def _keep_in_step(connection: sa.Connection, record: NewRecord, judge: int, number: int) -> None:
    held = schema.standing
    mine = sa.and_(held.c.pair_id == record.pair, held.c.judge_id == judge, held.c.role == record.role)
    connection.execute(held.delete().where(mine))
    if record.verdict is not None:
        row = {"pair_id": record.pair, "judge_id": judge, "role": record.role, "judgement_id": number}
        connection.execute(held.insert(), row)
    for table in (schema.leases, schema.later):
        connection.execute(table.delete().where(table.c.pair_id == record.pair, table.c.judge_id == judge))
    count_free(connection, record.pair)


def count_free(connection: sa.Connection, pair: int) -> None:
    """Count anew how many judges more can be given a pair, whose row the caller holds."""
    held, lease, table = schema.standing.c, schema.leases.c, schema.pairs.c
    done = sa.select(sa.func.count()).where(held.pair_id == pair, held.role == "judge").scalar_subquery()
    out = sa.select(sa.func.count()).where(lease.pair_id == pair).scalar_subquery()
    left = table.wanted - done - out
    free = sa.case((left > 0, left), else_=0)
    connection.execute(schema.pairs.update().where(table.id == pair).values(free=free))


def log_query() -> Any:
    """The log's records with names instead of rows; to be narrowed and ordered."""
    said, pair = schema.judgements.c, schema.pairs.c
    return (
        sa.select(
            schema.judgements,
            schema.queries.c.name.label("query"),
            schema.items.c.name.label("item"),
            schema.judges.c.name.label("judge"),
        )
        .join(schema.pairs, pair.id == said.pair_id)
        .join(schema.queries, schema.queries.c.id == pair.query_id)
        .join(schema.items, schema.items.c.id == pair.item_id)
        .join(schema.judges, schema.judges.c.id == said.judge_id)
    )


def as_judgement(row: Any) -> Judgement:
    """A row of `log_query` as a record."""
    verdict = None if row.undo else Verdict(row.grade, row.reason, row.note, row.seconds)
    return Judgement(
        number=row.id,
        key=row.key,
        pair=row.pair_id,
        query=id_value(row.query),
        item=id_value(row.item),
        judge=row.judge,
        role=row.role,
        time=datetime.fromisoformat(row.time),
        verdict=verdict,
        replaces=row.replaces,
    )
