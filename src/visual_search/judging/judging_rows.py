"""Rows of the log of judgements: written once, with what follows from each kept in step.

Statements stand ready at the top, since making one takes longer than running it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from visual_search.errors import InputError
from visual_search.ids import Id
from visual_search.judging import schema
from visual_search.judging.records import Judgement, Role, Verdict
from visual_search.judging.schema import id_value, sa

__all__ = [
    "FIND_RECORD",
    "NewRecord",
    "as_judgement",
    "count_free",
    "lock_judge",
    "log_query",
    "write_record",
]

LONGEST_NAME = 200

_said, _pair, _held, _lease = schema.judgements.c, schema.pairs.c, schema.standing.c, schema.leases.c


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
    time : datetime or None
        When it was made elsewhere, of imported ones; now where None.
    """

    key: str
    pair: int
    judge: str
    role: Role
    verdict: Verdict | None
    replaces: int | None
    time: datetime | None = None


def log_query() -> Any:
    """The log's records with names instead of rows; to be narrowed and ordered."""
    return (
        sa.select(
            schema.judgements,
            schema.queries.c.name.label("query"),
            schema.items.c.name.label("item"),
            schema.judges.c.name.label("judge"),
        )
        .join(schema.pairs, _pair.id == _said.pair_id)
        .join(schema.queries, schema.queries.c.id == _pair.query_id)
        .join(schema.items, schema.items.c.id == _pair.item_id)
        .join(schema.judges, schema.judges.c.id == _said.judge_id)
    )


_LOCK_JUDGE = (
    sa.select(schema.judges.c.id)
    .where(schema.judges.c.name == sa.bindparam("name"))
    .with_for_update(key_share=True)
)
_last = (
    sa.select(sa.func.max(_said.id))
    .where(
        _said.pair_id == sa.bindparam("pair"),
        _said.judge_id == sa.bindparam("judge"),
        _said.role == sa.bindparam("said_as"),
    )
    .scalar_subquery()
)
_before = sa.select(_said.id).where(_said.key == sa.bindparam("key")).scalar_subquery()
_LOCK_PAIR = (
    sa.select(_pair.id, _last.label("last"), _before.label("before"))
    .where(_pair.id == sa.bindparam("pair"))
    .with_for_update(key_share=True)
)
FIND_RECORD = log_query().where(_said.id == sa.bindparam("number"))
_IS_UNDO = sa.select(_said.undo).where(_said.id == sa.bindparam("number"))
_ADD = schema.judgements.insert().returning(_said.id)
_ADD_STANDING = schema.standing.insert()
_DROP_STANDING = schema.standing.delete().where(
    _held.pair_id == sa.bindparam("pair"),
    _held.judge_id == sa.bindparam("judge"),
    _held.role == sa.bindparam("said_as"),
)
_DROP_LEASE, _DROP_LATER = (
    table.delete().where(table.c.pair_id == sa.bindparam("pair"), table.c.judge_id == sa.bindparam("judge"))
    for table in (schema.leases, schema.later)
)
_DONE = sa.select(sa.func.count()).where(_held.pair_id == _pair.id, _held.role == "judge").scalar_subquery()
_OUT = sa.select(sa.func.count()).where(_lease.pair_id == _pair.id).scalar_subquery()
_LEFT = _pair.wanted - _DONE - _OUT
_COUNT_FREE = (
    schema.pairs.update().where(_pair.id == sa.bindparam("pair")).values(free=sa.case((_LEFT > 0, _LEFT), else_=0))
)


def lock_judge(connection: sa.Connection, name: str) -> int:
    """The row of a judge, made where he is new; one request of a judge at a time goes beyond this line."""
    _check_name(name, "judge")
    found = connection.execute(_LOCK_JUDGE, {"name": name}).scalar()
    if found is None:
        if connection.dialect.name == "postgresql":
            from sqlalchemy.dialects.postgresql import insert

            connection.execute(insert(schema.judges).values(name=name).on_conflict_do_nothing())
        else:
            connection.execute(schema.judges.insert().values(name=name))
        found = connection.execute(_LOCK_JUDGE, {"name": name}).scalar_one()
    return int(found)


def _check_name(text: str, what: str) -> None:
    if not text.strip() or len(text) > LONGEST_NAME or not text.isprintable():
        raise InputError(f"{what}: got {text!r}; from 1 to {LONGEST_NAME} printable characters are needed")


def write_record(
    connection: sa.Connection, record: NewRecord, pair: tuple[Id, Id], grades: tuple[float, ...]
) -> tuple[Judgement, bool]:
    """Write one record of a pair with these ids, or find the one that its key has written before.

    Returns
    -------
    judgement : Judgement
    is_new : bool
        False where its key had written it before.

    Raises
    ------
    InputError
        A grade that is none of the task's; a pair that this judge has judged; a record that holds no more.
    """
    _check_name(record.key, "key")
    judge = lock_judge(connection, record.judge)
    who = {"pair": record.pair, "judge": judge, "said_as": record.role, "key": record.key}
    locked = connection.execute(_LOCK_PAIR, who).one()
    if locked.before is not None:
        before = connection.execute(FIND_RECORD, {"number": locked.before}).one()
        return _same(as_judgement(before), record), False
    if record.verdict is not None and record.verdict.grade is not None and record.verdict.grade not in grades:
        allowed = ", ".join(f"{grade:g}" for grade in grades)
        raise InputError(f"grade is {record.verdict.grade:g}; the task has {allowed}")
    stands = _standing(connection, record, locked.last)
    made = Judgement(
        number=0,
        key=record.key,
        pair=record.pair,
        query=pair[0],
        item=pair[1],
        judge=record.judge,
        role=record.role,
        time=record.time or datetime.now(UTC),
        verdict=record.verdict,
        replaces=locked.last,
    )
    number = int(connection.execute(_ADD, _row(made, judge)).scalar_one())
    _keep_in_step(connection, record, judge, number, stands=stands)
    return replace(made, number=number), True


def _same(found: Judgement, record: NewRecord) -> Judgement:
    asked = (record.pair, record.judge, record.role, record.verdict)
    if (found.pair, found.judge, found.role, found.verdict) != asked:
        raise InputError(
            f"key: {record.key!r} has written another record (number {found.number}); each request needs its own key, "
            "and only the same request may come again with it"
        )
    return found


def _standing(connection: sa.Connection, record: NewRecord, last: int | None) -> bool:
    """Whether the judge's last record of the pair stands, checked against what the new one says of it."""
    undone = last is not None and connection.execute(_IS_UNDO, {"number": last}).scalar_one()
    stands = None if undone else last
    if record.replaces is None and stands is not None:
        raise InputError(
            f"pair {record.pair} is judged by {record.judge!r} already (record {stands}); to think again, replace "
            "that record or undo it"
        )
    if record.replaces is not None and record.replaces != stands:
        holds = "none does" if stands is None else f"record {stands} does"
        raise InputError(f"record {record.replaces} does not stand for {record.judge!r} and this pair; {holds}")
    return stands is not None


def _row(made: Judgement, judge: int) -> dict[str, Any]:
    verdict = made.verdict
    return {
        "key": made.key,
        "pair_id": made.pair,
        "judge_id": judge,
        "role": made.role,
        "time": made.time.isoformat(timespec="microseconds"),
        "undo": verdict is None,
        "grade": None if verdict is None else verdict.grade,
        "reason": "" if verdict is None else verdict.reason,
        "note": "" if verdict is None else verdict.note,
        "seconds": None if verdict is None else verdict.seconds,
        "replaces": made.replaces,
    }


def _keep_in_step(connection: sa.Connection, record: NewRecord, judge: int, number: int, *, stands: bool) -> None:
    who = {"pair": record.pair, "judge": judge}
    if stands:
        connection.execute(_DROP_STANDING, {**who, "said_as": record.role})
    if record.verdict is not None:
        row = {"pair_id": record.pair, "judge_id": judge, "role": record.role, "judgement_id": number}
        connection.execute(_ADD_STANDING, row)
    else:  # the pair comes back to the judge at once
        connection.execute(_DROP_LATER, who)
    connection.execute(_DROP_LEASE, who)
    count_free(connection, record.pair)


def count_free(connection: sa.Connection, pair: int) -> None:
    """Count anew how many judges more can be given a pair, whose row the caller holds."""
    connection.execute(_COUNT_FREE, {"pair": pair})


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
