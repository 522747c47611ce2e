"""Labels that a truth suggests, shown to a judge only after his own, and never counted as judgements.

They stand in a table of their own, which no export and no aggregation reads.
"""

from __future__ import annotations

from dataclasses import dataclass

from visual_search.errors import InputError
from visual_search.ground_truth.relevance import Relevance
from visual_search.judging import schema
from visual_search.judging.schema import id_value, sa
from visual_search.judging.store import JudgementStore

__all__ = ["Suggestion", "suggest", "suggestion_after"]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a truth says of a pair that a judge has judged.

    Attributes
    ----------
    grade : float
    maker : str
        Which truth, in words.
    own : float or None
        The judge's own grade, which was given first; None where he could not tell.
    """

    grade: float
    maker: str
    own: float | None


def suggest(store: JudgementStore, truth: Relevance, maker: str) -> int:
    """Keep a truth's grades of the pairs in a store, in place of earlier suggestions.

    Parameters
    ----------
    store : JudgementStore
    truth : Relevance
        Exact neighbours, pseudo truth, earlier judgements; ignored pairs suggest nothing.
    maker : str
        Which truth it is, in words that a judge reads.

    Returns
    -------
    int
        How many pairs have a suggestion.

    Raises
    ------
    InputError
        No pair of the store is in the truth, or no words.
    """
    if not maker.strip():
        raise InputError("maker: empty; say which truth suggests")
    pair = schema.pairs.c
    with store.database.writing() as connection:
        rows = connection.execute(
            sa.select(pair.id, schema.queries.c.name.label("query"), schema.items.c.name.label("item"))
            .join(schema.queries, schema.queries.c.id == pair.query_id)
            .join(schema.items, schema.items.c.id == pair.item_id)
        ).all()
        by_query = {
            query: truth.judged(query) for query in {id_value(row.query) for row in rows} if query in truth.queries
        }
        found = [
            {"pair_id": row.id, "grade": graded[item], "maker": maker}
            for row in rows
            if (item := id_value(row.item)) in (graded := by_query.get(id_value(row.query), {}))
        ]
        if not found:
            raise InputError("truth: has none of the store's pairs; its queries and items must be named alike")
        connection.execute(schema.suggestions.delete())
        connection.execute(schema.suggestions.insert(), found)
    return len(found)


def suggestion_after(store: JudgementStore, judge: str, pair: int) -> Suggestion | None:
    """What the truth says of a pair, for a judge who has judged it; None before that, or where it says nothing."""
    held, said, hint = schema.standing.c, schema.judgements.c, schema.suggestions.c
    with store.database.reading() as connection:
        row = connection.execute(
            sa.select(hint.grade, hint.maker, said.grade.label("own"))
            .join(schema.standing, held.pair_id == hint.pair_id)
            .join(schema.judges, schema.judges.c.id == held.judge_id)
            .join(schema.judgements, said.id == held.judgement_id)
            .where(hint.pair_id == pair, schema.judges.c.name == judge, held.role == "judge")
        ).one_or_none()
    return None if row is None else Suggestion(row.grade, row.maker, row.own)
