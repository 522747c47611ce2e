"""The store of judgements: pools go in, judgements are added and never changed, and tables come out.

``evaluation`` never sees this room: `JudgementStore.table` gives a table, which ``Relevance.from_judgements`` takes.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, Self

from visual_search.errors import InputError, UnknownIdError, first_few
from visual_search.ids import Id
from visual_search.judging import schema
from visual_search.judging.database import Database
from visual_search.judging.judging_rows import (
    FIND_RECORD,
    NewRecord,
    as_judgement,
    log_query,
    write_record,
)
from visual_search.judging.pool import Pool, PoolQuery
from visual_search.judging.pool_rows import PoolAdded, as_query
from visual_search.judging.priorities import Priorities
from visual_search.judging.records import Judgement, Role, Verdict, judgement_columns
from visual_search.judging.schema import id_text, sa
from visual_search.judging.store_contents import PairContent, PairMemory, QueryPair, query_pairs, stored_pool
from visual_search.judging.store_pools import add_pool_within, stored_task
from visual_search.judging.store_progress import Progress, store_progress
from visual_search.judging.task import JudgingTask

__all__ = ["JudgementStore"]


class JudgementStore:
    """Judgements of one task, in a SQLite file or a PostgreSQL database.

    Parameters
    ----------
    place : path or str
        A file, made where it is not there; or ``postgresql://user@host/database``.
    create : bool
        Whether to make a store where none is.

    Raises
    ------
    InputError
        A place that cannot be opened.
    FileFormatError
        A file that is no store, or one of a later version.
    MissingDependencyError
        Without the extra ``judging``; with PostgreSQL without psycopg.

    How to read it
    --------------
    One object serves any number of threads, and any number of processes may open one place. A record that `judge` or
    `undo` has returned is on the disk.

    Examples
    --------
    >>> from visual_search.judging.pool import PoolQuery, Source
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = JudgementStore(f"{folder.name}/judgements.db")
    >>> store.add_pool(Pool({"q": PoolQuery("q")}, {("q", "a"): (Source("ranked", "one", 1),)})).pairs
    1
    >>> first = store.judge("ann", store.pair_number("q", "a"), Verdict(1), key="request 1")
    >>> store.judge("ann", first.pair, Verdict(1), key="request 1").number == first.number  # a retry
    True
    >>> store.table()["grade"]
    [1.0]
    >>> _ = store.undo("ann", first.number)
    >>> store.table()["grade"], len(store.log())
    ([], 2)
    >>> store.close(); folder.cleanup()
    """

    def __init__(self, place: str | os.PathLike[str], *, create: bool = True) -> None:
        self.database = Database(place, create=create)
        self.memory = PairMemory()
        self._priorities: Priorities | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self.database.close()

    def __repr__(self) -> str:
        return f"JudgementStore({self.database.shown})"

    # What is judged.

    @property
    def task(self) -> JudgingTask:
        """What judges are asked; the default one before any pool was added."""
        with self.database.reading() as connection:
            return stored_task(connection) or JudgingTask()

    @property
    def priorities(self) -> Priorities:
        """Orders pairs anew as judgements come in."""
        if self._priorities is None:
            with self.database.reading() as connection:
                task = stored_task(connection)
            if task is None:  # not to be remembered: another process may bring the first pool
                return Priorities(JudgingTask())
            self._priorities = Priorities(task)
        return self._priorities

    def add_pool(self, pool: Pool) -> PoolAdded:
        """Add a pool's queries, pairs and reasons; what was there, judgements above all, stays.

        The first pool brings the task. Later ones must have the same, or the default, which says nothing.

        Raises
        ------
        InputError
            Another task; a query's text that is another; ids of another kind.
        """
        with self.database.writing() as connection:
            self.database.without_judges(connection)
            added = add_pool_within(connection, pool)
        self.memory.forget()
        return added

    def pool(self) -> Pool:
        """All that pools have brought, with the reasons that no judge may see."""
        with self.database.reading() as connection:
            return stored_pool(connection, stored_task(connection) or JudgingTask())

    def queries(self) -> list[PoolQuery]:
        """All queries, in the order in which they were added."""
        with self.database.reading() as connection:
            rows = connection.execute(sa.select(schema.queries).order_by(schema.queries.c.id))
            return [as_query(row) for row in rows]

    def pair_number(self, query: Id, item: Id) -> int:
        """The number by which a pair is judged.

        Raises
        ------
        UnknownIdError
            The pair is in no pool.
        """
        pair = schema.pairs.c
        chosen = (
            sa.select(pair.id)
            .join(schema.queries, schema.queries.c.id == pair.query_id)
            .join(schema.items, schema.items.c.id == pair.item_id)
            .where(schema.queries.c.name == id_text(query), schema.items.c.name == id_text(item))
        )
        with self.database.reading() as connection:
            found = connection.execute(chosen).scalar()
        if found is None:
            raise UnknownIdError(f"pair ({query!r}, {item!r}) is in no pool of this store; add it with add_pool")
        return int(found)

    def pairs(self, numbers: Sequence[int]) -> list[PairContent]:
        """What judges see of pairs: query, item, and where their images are; nothing of systems and ranks.

        Raises
        ------
        UnknownIdError
            Numbers that are no pair's.
        """
        found = self._pairs(numbers)
        return [found[number][0] for number in numbers]

    def _pairs(self, numbers: Sequence[int]) -> dict[int, tuple[PairContent, int]]:
        found = self.memory.known(numbers)
        if len(found) < len(set(numbers)):
            with self.database.reading() as connection:
                found = self.memory.look_up(connection, [number for number in numbers if _fits(number)])
        missing = [number for number in numbers if number not in found]
        if missing:
            raise UnknownIdError(f"pairs {first_few(missing)} are not in this store; take numbers that it gave out")
        return found

    def query_pairs(self, query: Id, judge: str, *, depth: int | None = None) -> list[QueryPair]:
        """All pairs of a query for one judge's grid, in an order that tells nothing, with his own verdicts.

        Parameters
        ----------
        query : str or int
        judge : str
        depth : int, optional
            Only pairs that some system ranked so high, from 1; all where None.

        Raises
        ------
        UnknownIdError
            No such query.
        """
        with self.database.reading() as connection:
            return query_pairs(connection, query, judge, depth=depth)

    # Judgements.

    def judge(
        self,
        judge: str,
        pair: int,
        verdict: Verdict,
        *,
        key: str | None = None,
        role: Role = "judge",
        replaces: int | None = None,
    ) -> Judgement:
        """Add a judgement; when this returns, it is on the disk.

        Parameters
        ----------
        judge : str
            Who judges.
        pair : int
            As `pair_number` or an assignment gives it.
        verdict : Verdict
        key : str, optional
            The client's name for this request, at most 200 characters: the same request may come again with it and
            adds nothing. Without it each call is a request of its own.
        role : {"judge", "adjudicator"}
        replaces : int, optional
            Number of this judge's record of the pair that holds no more.

        Returns
        -------
        Judgement
            The record, or the one that the same key has written before.

        Raises
        ------
        InputError
            A grade that the task does not have; a pair that this judge has judged, without ``replaces``; a record to
            replace that does not stand; a key that wrote something else.
        UnknownIdError
            No such pair.
        """
        return self._write(NewRecord(key or secrets.token_hex(16), pair, judge, role, verdict, replaces))

    def undo(self, judge: str, number: int, *, key: str | None = None) -> Judgement:
        """Take a judgement back by a record that says so; the pair is this judge's to judge again.

        Raises
        ------
        InputError
            The record is another judge's, or does not stand.
        UnknownIdError
            No such record.
        """
        with self.database.reading() as connection:
            row = connection.execute(FIND_RECORD, {"number": number if _fits(number) else 0}).one_or_none()
        if row is None:
            raise UnknownIdError(f"record {number} is not in this store; take one of judge()'s or log()'s")
        taken = as_judgement(row)
        if taken.judge != judge:
            raise InputError(f"record {number} is of {taken.judge!r}; a judge takes back his own")
        name = key or secrets.token_hex(16)
        return self._write(NewRecord(name, taken.pair, judge, taken.role, None, number))

    def _write(self, record: NewRecord) -> Judgement:
        content, query = self._pairs([record.pair])[record.pair]
        grades = tuple(grade.value for grade in self.priorities.task.grades)
        pair = (content.query.query_id, content.item)
        try:
            with self.database.writing() as connection:
                written, is_new = write_record(connection, record, pair, grades)
        except sa.exc.IntegrityError as error:
            raise InputError(
                f"key: {record.key!r} was used by another judge at the same time; use one's own"
            ) from error
        if is_new and self.priorities.ask(query):
            # Apart, so that nobody who judges waits for another's disk; a crash between the two loses no judgement.
            try:
                with self.database.writing(durable=False) as connection:
                    self.priorities.refresh(connection, query)
            finally:
                self.priorities.answered(query)
        return written

    def log(self, *, judge: str | None = None, last: int | None = None) -> list[Judgement]:
        """All records by rising number, with those that hold no more; or a judge's, or only the last ones."""
        query = log_query().order_by(schema.judgements.c.id.desc())
        if judge is not None:
            query = query.where(schema.judges.c.name == judge)
        with self.database.reading() as connection:
            rows = connection.execute(query if last is None else query.limit(last)).all()
        return [as_judgement(row) for row in reversed(rows)]

    def standing(self) -> list[Judgement]:
        """The records that hold: of each judge and pair the last one, where it is no undo; by rising number."""
        held = schema.standing.c.judgement_id == schema.judgements.c.id
        query = log_query().join(schema.standing, held).order_by(schema.judgements.c.id)
        with self.database.reading() as connection:
            return [as_judgement(row) for row in connection.execute(query)]

    def table(
        self, *, roles: Iterable[Role] = ("judge", "adjudicator"), graded: bool = True
    ) -> dict[str, list[Any]]:
        """Columns of the judgements that hold, one row each; ``Relevance.from_judgements`` takes them.

        Parameters
        ----------
        roles : iterable of {"judge", "adjudicator"}
        graded : bool
            Whether to leave out those where the judge could not tell, which have no grade.

        Returns
        -------
        dict of list
            ``number, key, query, item, judge, adjudicated, time, grade, reason, seconds, note, replaces, undo``;
            `JudgementTable` takes them too.
        """
        wanted = set(roles)
        kept = [one for one in self.standing() if one.role in wanted and not (graded and one.grade is None)]
        return judgement_columns(kept)

    def judges(self) -> list[str]:
        """Names of all who have begun, sorted."""
        with self.database.reading() as connection:
            return sorted(connection.execute(sa.select(schema.judges.c.name)).scalars())

    def progress(self) -> Progress:
        """How much is done: in all, per judge, per query."""
        with self.database.reading() as connection:
            return store_progress(connection)


def _fits(number: int) -> bool:
    """Whether databases hold such a number; another is no row's."""
    return 0 < number < 1 << 31
