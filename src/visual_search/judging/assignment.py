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

_pair, _held, _lease, _later = schema.pairs.c, schema.standing.c, schema.leases.c, schema.later.c
_JUDGE = sa.bindparam("judge", type_=sa.Integer)
_mine = sa.and_(_lease.judge_id == _JUDGE, _lease.held_by == sa.bindparam("window"))
_put_off = sa.and_(_later.pair_id == _pair.id, _later.judge_id == _JUDGE)

# What a judge may be given: pairs that want more judges than have judged or hold them, and him not among these.
_OPEN = sa.and_(
    _pair.free > 0,
    ~sa.exists().where(_held.pair_id == _pair.id, _held.judge_id == _JUDGE, _held.role == "judge"),
    ~sa.exists().where(_lease.pair_id == _pair.id, _lease.judge_id == _JUDGE),
)
# Locked until given out, so that nobody else takes them meanwhile; those that others hold so are passed over.
_LOCK: dict[str, Any] = {"of": schema.pairs, "skip_locked": True, "key_share": True}
_FRESH = (
    sa.select(_pair.id, _pair.priority, sa.literal(0).label("turn"))
    .where(_OPEN, ~sa.exists().where(_put_off))
    .order_by(_pair.priority, _pair.id)
    .limit(sa.bindparam("count"))
    .with_for_update(**_LOCK)
)
_DEFERRED = (
    sa.select(_pair.id, _pair.priority, _later.turn)
    .join(schema.later, _put_off)
    .where(_OPEN)
    .order_by(_later.turn)
    .limit(sa.bindparam("count"))
    .with_for_update(**_LOCK)
)
_HELD = (
    sa.select(_pair.id, _pair.priority, sa.func.coalesce(_later.turn, 0).label("turn"), _lease.expires)
    .join(schema.leases, _lease.pair_id == _pair.id)
    .outerjoin(schema.later, _put_off)
    .where(_mine)
)
_RENEW = schema.leases.update().where(_mine).values(expires=sa.bindparam("until"))
_TAKE = schema.leases.insert()
_TAKEN = schema.pairs.update().where(_pair.id == sa.bindparam("pair")).values(free=_pair.free - 1)
_OVER = sa.select(_lease.pair_id, _lease.judge_id).where(_lease.expires < sa.bindparam("now"))


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
        self._look_again = 0.0

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
            who = {"judge": number, "window": window}
            held = self._held(connection, who)
            for more in (_FRESH, _DEFERRED):
                if len(held) < count:
                    held += self._taken(connection, more, {**who, "count": count - len(held)})
            held.sort(key=lambda row: (row.turn, row.priority, row.id))
            numbers = [row.id for row in held[:count]]
            found = self._store.memory.look_up(connection, numbers)
        return [found[pair][0] for pair in numbers]

    def later(self, judge: str, pair: int) -> None:
        """Put a pair at the end for a judge, behind all others and those put off before; others may have it now.

        Raises
        ------
        UnknownIdError
            No such pair.
        """
        self._store.pairs([pair])
        with self._store.database.writing(durable=False) as connection:
            number = lock_judge(connection, judge)
            mine = _later.judge_id == number
            last = connection.execute(sa.select(sa.func.max(_later.turn)).where(mine)).scalar()
            connection.execute(schema.later.delete().where(mine, _later.pair_id == pair))
            row = {"judge_id": number, "pair_id": pair, "turn": (last or 0) + 1}
            connection.execute(schema.later.insert(), row)
            _give_back(connection, [(pair, number)])

    def release(self, judge: str, *, window: str = "") -> None:
        """Give back all that a judge's window holds, as when it is closed."""
        with self._store.database.writing(durable=False) as connection:
            number = lock_judge(connection, judge)
            held = connection.execute(sa.select(_lease.pair_id).where(_mine), {"judge": number, "window": window})
            _give_back(connection, [(row.pair_id, number) for row in held])

    def _held(self, connection: sa.Connection, who: dict[str, Any]) -> list[Any]:
        """Pairs that the window holds; what runs out within half the time is renewed."""
        rows = list(connection.execute(_HELD, who))
        now = self._clock()
        if any(row.expires < now + self._seconds / 2 for row in rows):
            connection.execute(_RENEW, {**who, "until": now + self._seconds})
        return rows

    def _taken(self, connection: sa.Connection, chosen: Any, who: dict[str, Any]) -> list[Any]:
        rows = list(connection.execute(chosen, who))
        if rows:
            until = self._clock() + self._seconds
            lease = {"judge_id": who["judge"], "held_by": who["window"], "expires": until}
            connection.execute(_TAKE, [{"pair_id": row.id, **lease} for row in rows])
            connection.execute(_TAKEN, [{"pair": row.id} for row in rows])
        return rows

    def _release_expired(self) -> None:
        now = self._clock()
        if now < self._look_again:
            return
        self._look_again = now + min(1.0, self._seconds / 10)
        with self._store.database.reading() as connection:
            if connection.execute(_OVER, {"now": now}).first() is None:
                return
        with self._store.database.writing(durable=False) as connection:
            ids = sa.select(_lease.pair_id).where(_lease.expires < now)
            chosen = sa.select(_pair.id).where(_pair.id.in_(ids)).with_for_update(skip_locked=True, key_share=True)
            ours = {row.id for row in connection.execute(chosen)}
            over = connection.execute(_OVER, {"now": now}).all()
            _give_back(connection, [(row.pair_id, row.judge_id) for row in over if row.pair_id in ours])


def _give_back(connection: sa.Connection, held: list[tuple[int, int]]) -> None:
    for pair, judge in sorted(held):
        row = sa.select(_pair.id).where(_pair.id == pair)
        connection.execute(row.with_for_update(key_share=True))
        connection.execute(schema.leases.delete().where(_lease.pair_id == pair, _lease.judge_id == judge))
        count_free(connection, pair)
