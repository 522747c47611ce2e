"""How much of a store is judged: in all, per judge, per query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from visual_search.ids import Id
from visual_search.judging import schema
from visual_search.judging.schema import id_value, sa

__all__ = ["JudgeProgress", "Progress", "QueryProgress", "store_progress"]


@dataclass(frozen=True, slots=True)
class JudgeProgress:
    """What one judge has done.

    Attributes
    ----------
    judged : int
        Pairs with a judgement of his that holds, "can't tell" among them.
    cannot_tell : int
    undone : int
        Records of his that took another back.
    seconds : float or None
        Median time of a judgement that holds and says how long it took, s.
    """

    judged: int
    cannot_tell: int
    undone: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class QueryProgress:
    """How far one query is.

    Attributes
    ----------
    pairs : int
    judged : int
        Pairs with at least one judgement that holds.
    """

    pairs: int
    judged: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a store is.

    Attributes
    ----------
    pairs : int
    judged : int
        Pairs with at least one judgement that holds.
    wanted : int
        Judgements wanted, over all pairs.
    given : int
        Of those wanted, how many there are; a judgement beyond what a pair wants is not counted.
    judges : mapping of str to JudgeProgress
    queries : mapping of id to QueryProgress
    """

    pairs: int
    judged: int
    wanted: int
    given: int
    judges: Mapping[str, JudgeProgress]
    queries: Mapping[Id, QueryProgress]

    def as_json(self) -> dict[str, Any]:
        """As a JSON object; queries as a list, since their ids may be integers."""
        return {
            "pairs": self.pairs,
            "judged": self.judged,
            "wanted": self.wanted,
            "given": self.given,
            "judges": {name: asdict(one) for name, one in self.judges.items()},
            "queries": [{"query": query, **asdict(one)} for query, one in self.queries.items()],
        }


def store_progress(connection: sa.Connection) -> Progress:
    """Count what is done."""
    pair, held = schema.pairs.c, schema.standing.c
    done = (
        sa.select(held.pair_id, sa.func.count().label("count"))
        .where(held.role == "judge")
        .group_by(held.pair_id)
        .subquery()
    )
    count = sa.func.coalesce(done.c.count, 0)
    given = sa.case((count < pair.wanted, count), else_=pair.wanted)
    rows = connection.execute(
        sa.select(
            schema.queries.c.name,
            sa.func.count(pair.id).label("pairs"),
            sa.func.count(done.c.pair_id).label("judged"),
            sa.func.coalesce(sa.func.sum(pair.wanted), 0).label("wanted"),
            sa.func.coalesce(sa.func.sum(given), 0).label("given"),
        )
        .select_from(schema.queries)
        .outerjoin(schema.pairs, pair.query_id == schema.queries.c.id)
        .outerjoin(done, sa.and_(done.c.pair_id == pair.id, pair.id.is_not(None)))
        .group_by(schema.queries.c.id, schema.queries.c.name)
        .order_by(schema.queries.c.id)
    ).all()
    return Progress(
        pairs=sum(row.pairs for row in rows),
        judged=sum(row.judged for row in rows),
        wanted=sum(int(row.wanted) for row in rows),
        given=sum(int(row.given) for row in rows),
        judges=_judges(connection),
        queries={id_value(row.name): QueryProgress(row.pairs, row.judged) for row in rows},
    )


def _judges(connection: sa.Connection) -> dict[str, JudgeProgress]:
    judge, held, said = schema.judges.c, schema.standing.c, schema.judgements.c
    rows = connection.execute(
        sa.select(judge.name, said.grade, said.seconds)
        .join(schema.standing, held.judge_id == judge.id)
        .join(schema.judgements, said.id == held.judgement_id)
        .where(held.role == "judge")
    ).all()
    undone = connection.execute(
        sa.select(judge.name, sa.func.count(said.id))
        .outerjoin(schema.judgements, sa.and_(said.judge_id == judge.id, said.undo))
        .group_by(judge.name)
        .order_by(judge.name)
    )
    progress = {}
    for name, count in undone:
        mine = [row for row in rows if row.name == name]
        seconds = sorted(row.seconds for row in mine if row.seconds is not None)
        middle = (seconds[(len(seconds) - 1) // 2] + seconds[len(seconds) // 2]) / 2 if seconds else None
        progress[name] = JudgeProgress(len(mine), sum(row.grade is None for row in mine), count, middle)
    return progress
