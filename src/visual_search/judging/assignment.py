"""Who is given which pair: the one that matters most of those that a judge has not judged, and never one twice.

A pair that is given out is leased: nobody else beyond the number of judgements that it wants is given it until it is
judged, put off, or the lease runs out. What a judge has judged, holds in this or another window, or has put off is
not given again, also when his requests come at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from visual_search.errors import InputError
from visual_search.judging import schema
from visual_search.judging.judging_rows import count_free, lock_judge
from visual_search.judging.schema import sa
from visual_search.judging.store import JudgementStore
from visual_search.judging.store_contents import PairContent

__all__ = ["Assignment"]

MOST_AT_ONCE = 50


class Assignment:
    """Gives out the pairs of a store.

    Parameters
    ----------
    store : JudgementStore
    lease_seconds : float
        How long a pair stays a judge's own without a word of his, s; above 0. Every request of a judge's window
        renews what it holds.
    clock : callable, optional
        Seconds since 1970; another one is for tests.

    Raises
    ------
    InputError
        Seconds that are not above 0.

    Examples
    --------
    >>> from visual_search.judging.pool import Pool, PoolQuery, Source
    >>> from visual_search.judging.records import Verdict
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = JudgementStore(f"{folder.name}/judgements.db")
    >>> pairs = {("q", item): (Source("ranked", "one", rank),) for rank, item in enumerate("abc", start=1)}
    >>> _ = store.add_pool(Pool({"q": PoolQuery("q")}, pairs))
    >>> work = Assignment(store)
    >>> [given.item for given in work.next("ann", count=2)], [given.item for given in work.next("bo", count=2)]
    (['a', 'b'], ['c'])
    >>> _ = store.judge("ann", store.pair_number("q", "a"), Verdict(1))
    >>> [given.item for given in work.next("ann")]
    ['b']
    >>> store.close(); folder.cleanup()
    """

    def __init__(
        self, store: JudgementStore, *, lease_seconds: float = 600.0, clock: Callable[[], float] = time.time
    ) -> None:
        if not lease_seconds > 0:
            raise InputError(f"lease_seconds is {lease_seconds!r}; it must be above 0")
        self._store = store
        self._seconds = lease_seconds
        self._clock = clock

    def next(self, judge: str, *, window: str = "", count: int = 1) -> list[PairContent]:
        """Pairs for a judge, the one that matters most first: those his window holds, and as many more as it takes.

        Asked again without a judgement in between, it gives the same pairs: a reload or a retry costs nothing.

        Parameters
        ----------
        judge : str
        window : str
            Tells a judge's windows apart; each holds pairs of its own.
        count : int
            How many pairs to hold, 1 to 50; several so that the next ones can be loaded ahead.

        Returns
        -------
        list of PairContent
            Fewer than ``count``, or none, where nothing is left for this judge now. Others may still put pairs back.
        """
        if not 1 <= count <= MOST_AT_ONCE or len(window) > 200:
            raise InputError(f"count is {count}, from 1 to {MOST_AT_ONCE}; window has at most 200 characters")
        self._release_expired()
        with self._store.database.writing(durable=False) as connection:
            number = lock_judge(connection, judge)
            held = self._held(connection, number, window)
            if len(held) < count:
                self._lease(connection, number, window, _fresh(connection, number, count - len(held)))
                held = self._held(connection, number, window)
            if len(held) < count:
                self._lease(connection, number, window, _put_off(connection, number, count - len(held)))
                held = self._held(connection, number, window)
        return self._store.pairs(held[:count]) if held else []

    def later(self, judge: str, pair: int) -> None:
        """Put a pair at the end for a judge, behind all others and those put off before; others may have it now."""
        with self._store.database.writing(durable=False) as connection:
            number = lock_judge(connection, judge)
            later = schema.later
            mine = later.c.judge_id == number
            last = connection.execute(sa.select(sa.func.max(later.c.turn)).where(mine)).scalar()
            connection.execute(later.delete().where(mine, later.c.pair_id == pair))
            row = {"judge_id": number, "pair_id": pair, "turn": (last or 0) + 1}
            connection.execute(later.insert(), row)
            _give_back(connection, [(pair, number)])

    def release(self, judge: str, *, window: str = "") -> None:
        """Give back all that a judge's window holds, as when it is closed."""
        with self._store.database.writing(durable=False) as connection:
            number = lock_judge(connection, judge)
            lease = schema.leases.c
            held = sa.select(lease.pair_id).where(lease.judge_id == number, lease.held_by == window)
            _give_back(connection, [(pair, number) for pair in connection.execute(held).scalars()])

    def _held(self, connection: sa.Connection, judge: int, window: str) -> list[int]:
        """Pairs that the window holds, in order; what runs out within half the time is renewed."""
        lease, pair, later = schema.leases.c, schema.pairs.c, schema.later.c
        mine = sa.and_(lease.judge_id == judge, lease.held_by == window)
        put_off = sa.and_(later.pair_id == pair.id, later.judge_id == judge)
        rows = connection.execute(
            sa.select(pair.id, lease.expires)
            .join(schema.leases, lease.pair_id == pair.id)
            .outerjoin(schema.later, put_off)
            .where(mine)
            .order_by(sa.func.coalesce(later.turn, 0), pair.priority, pair.id)
        ).all()
        now = self._clock()
        if any(row.expires < now + self._seconds / 2 for row in rows):
            connection.execute(schema.leases.update().where(mine).values(expires=now + self._seconds))
        return [row.id for row in rows]

    def _lease(self, connection: sa.Connection, judge: int, window: str, pairs: list[int]) -> None:
        if not pairs:
            return
        expires = self._clock() + self._seconds
        rows = [{"pair_id": pair, "judge_id": judge, "held_by": window, "expires": expires} for pair in pairs]
        connection.execute(schema.leases.insert(), rows)
        taken = schema.pairs.update().where(schema.pairs.c.id.in_(pairs))
        connection.execute(taken.values(free=schema.pairs.c.free - 1))

    def _release_expired(self) -> None:
        lease, now = schema.leases.c, self._clock()
        over = sa.select(lease.pair_id, lease.judge_id).where(lease.expires < now)
        with self._store.database.reading() as connection:
            if connection.execute(over.limit(1)).first() is None:
                return
        with self._store.database.writing(durable=False) as connection:
            held = sa.select(schema.pairs.c.id).where(schema.pairs.c.id.in_(over.with_only_columns(lease.pair_id)))
            free = set(connection.execute(held.with_for_update(skip_locked=True, key_share=True)).scalars())
            _give_back(
                connection, [(row.pair_id, row.judge_id) for row in connection.execute(over) if row.pair_id in free]
            )


def _fresh(connection: sa.Connection, judge: int, count: int) -> list[int]:
    """The pairs that matter most of those this judge may have; locked, so that nobody else takes them meanwhile."""
    pair, later = schema.pairs.c, schema.later.c
    put_off = sa.exists().where(later.pair_id == pair.id, later.judge_id == judge)
    chosen = _open_to(judge).where(~put_off).order_by(pair.priority, pair.id).limit(count)
    return _locked(connection, chosen)


def _put_off(connection: sa.Connection, judge: int, count: int) -> list[int]:
    """Those that this judge put off, the first one first."""
    pair, later = schema.pairs.c, schema.later.c
    mine = sa.and_(later.pair_id == pair.id, later.judge_id == judge)
    chosen = _open_to(judge).join(schema.later, mine).order_by(later.turn).limit(count)
    return _locked(connection, chosen)


def _locked(connection: sa.Connection, chosen: sa.Select[Any]) -> list[int]:
    """The chosen pairs but for those that another request holds at this moment."""
    lock = chosen.with_for_update(of=schema.pairs, skip_locked=True, key_share=True)
    return [int(number) for number in connection.execute(lock).scalars()]


def _open_to(judge: int) -> sa.Select[Any]:
    pair, held, lease = schema.pairs.c, schema.standing.c, schema.leases.c
    judged = sa.exists().where(held.pair_id == pair.id, held.judge_id == judge, held.role == "judge")
    leased = sa.exists().where(lease.pair_id == pair.id, lease.judge_id == judge)
    return sa.select(pair.id).where(pair.free > 0, ~judged, ~leased)


def _give_back(connection: sa.Connection, held: list[tuple[int, int]]) -> None:
    lease = schema.leases
    for pair, judge in sorted(held):
        row = sa.select(schema.pairs.c.id).where(schema.pairs.c.id == pair)
        connection.execute(row.with_for_update(key_share=True))
        connection.execute(lease.delete().where(lease.c.pair_id == pair, lease.c.judge_id == judge))
        count_free(connection, pair)
