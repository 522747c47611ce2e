"""What a store holds to be judged: pairs as judges see them, and the whole pool with its reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from visual_search.errors import UnknownIdError
from visual_search.formats.results import ImageLocation
from visual_search.ids import Id
from visual_search.judging import schema
from visual_search.judging.judging_rows import as_judgement, log_query
from visual_search.judging.pool import Pair, Pool, PooledSystem, PoolQuery, Source
from visual_search.judging.pool_rows import as_query, as_source, image_of
from visual_search.judging.records import Judgement
from visual_search.judging.schema import id_text, id_value, sa
from visual_search.judging.task import JudgingTask

__all__ = ["PairContent", "PairMemory", "QueryPair", "pair_rows", "query_pairs", "stored_pool"]


@dataclass(frozen=True, slots=True)
class PairContent:
    """A pair as a judge sees it.

    Attributes
    ----------
    pair : int
        Its number, by which it is judged. Numbers are drawn without regard to systems and ranks.
    query : PoolQuery
    item : str or int
    image : ImageLocation or None
        Of the item.
    """

    pair: int
    query: PoolQuery
    item: Id
    image: ImageLocation | None


@dataclass(frozen=True, slots=True)
class QueryPair:
    """One pair in a judge's grid.

    Attributes
    ----------
    pair : int
    item : str or int
    image : ImageLocation or None
    judgement : Judgement or None
        This judge's own that holds, and no other's.
    """

    pair: int
    item: Id
    image: ImageLocation | None
    judgement: Judgement | None


_pair, _query, _item = schema.pairs.c, schema.queries.c, schema.items.c
_CONTENTS = (
    sa.select(
        _pair.id,
        _pair.query_id,
        _query.name,
        _query.text,
        _query.image,
        _item.name.label("item"),
        _item.image.label("item_image"),
    )
    .join(schema.queries, _query.id == _pair.query_id)
    .join(schema.items, _item.id == _pair.item_id)
    .where(_pair.id.in_(sa.bindparam("numbers", expanding=True)))
)


class PairMemory:
    """Pairs that were looked up before: what a pair is never changes, but where an image is may become known.

    Parameters
    ----------
    most : int
        Pairs that are kept, at some 200 bytes each.
    """

    def __init__(self, most: int = 50_000) -> None:
        self._most = most
        self._known: dict[int, tuple[PairContent, int]] = {}

    def look_up(self, connection: sa.Connection, numbers: Sequence[int]) -> dict[int, tuple[PairContent, int]]:
        """Pairs by number, each with its query's row; numbers that are no pair's are left out."""
        known = self.known(numbers)
        missing = [number for number in numbers if number not in known]
        if missing:
            for row in connection.execute(_CONTENTS, {"numbers": missing}):
                content = PairContent(row.id, as_query(row), id_value(row.item), image_of(row.item_image))
                known[row.id] = (content, row.query_id)
            if len(self._known) + len(missing) > self._most:
                self._known.clear()
            self._known.update(known)
        return known

    def known(self, numbers: Sequence[int]) -> dict[int, tuple[PairContent, int]]:
        """Those of the pairs that are in memory."""
        found = ((number, self._known.get(number)) for number in numbers)
        return {number: one for number, one in found if one is not None}

    def forget(self) -> None:
        """Look everything up again, since a pool came."""
        self._known.clear()


def pair_rows(connection: sa.Connection) -> dict[Pair, tuple[int, int]]:
    """All pairs by their ids, each with its number and its query's row."""
    rows = connection.execute(
        sa.select(_pair.id, _pair.query_id, _query.name.label("query"), _item.name.label("item"))
        .join(schema.queries, _query.id == _pair.query_id)
        .join(schema.items, _item.id == _pair.item_id)
    )
    return {(id_value(row.query), id_value(row.item)): (row.id, row.query_id) for row in rows}


def query_pairs(connection: sa.Connection, query: Id, judge: str, *, depth: int | None) -> list[QueryPair]:
    """A judge's grid of one query; see `JudgementStore.query_pairs`."""
    pair, item = schema.pairs.c, schema.items.c
    number = connection.execute(
        sa.select(schema.queries.c.id).where(schema.queries.c.name == id_text(query))
    ).scalar()
    if number is None:
        raise UnknownIdError(f"query {query!r} is not in this store")
    chosen = (
        sa.select(pair.id, item.name, item.image)
        .join(schema.items, item.id == pair.item_id)
        .where(pair.query_id == number)
        .order_by(pair.id)
    )
    rows = connection.execute(chosen if depth is None else chosen.where(pair.best_rank <= depth)).all()
    held = schema.standing.c.judgement_id == schema.judgements.c.id
    own = log_query().join(schema.standing, held).where(pair.query_id == number, schema.judges.c.name == judge)
    mine = {row.pair_id: as_judgement(row) for row in connection.execute(own) if row.role == "judge"}
    return [QueryPair(row.id, id_value(row.name), image_of(row.image), mine.get(row.id)) for row in rows]


def stored_pool(connection: sa.Connection, task: JudgingTask) -> Pool:
    """All that pools have brought."""
    query_rows = connection.execute(sa.select(schema.queries).order_by(schema.queries.c.id)).all()
    item_rows = connection.execute(sa.select(schema.items)).all()
    queries = {row.id: as_query(row) for row in query_rows}
    items = {row.id: id_value(row.name) for row in item_rows}
    pairs: dict[int, Pair] = {
        row.id: (queries[row.query_id].query_id, items[row.item_id])
        for row in connection.execute(sa.select(schema.pairs))
    }
    reasons: dict[Pair, list[Source]] = {pair: [] for pair in pairs.values()}
    for row in connection.execute(sa.select(schema.sources).order_by(schema.sources.c.id)):
        reasons[pairs[row.pair_id]].append(as_source(row))
    return Pool(
        {query.query_id: query for query in queries.values()},
        {pair: tuple(found) for pair, found in reasons.items()},
        {items[row.id]: image_of(row.image) for row in item_rows},
        _systems(reasons),
        task,
    )


def _systems(reasons: dict[Pair, list[Source]]) -> dict[str, PooledSystem]:
    depths: dict[str, int] = {}
    for found in reasons.values():
        for source in found:
            if source.kind == "ranked" and source.system is not None:
                depths[source.system] = max(depths.get(source.system, 1), source.rank or 1)
    return {name: PooledSystem(depth) for name, depth in sorted(depths.items())}
