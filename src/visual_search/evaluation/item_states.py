"""What became of each returned item: relevant, not relevant, unjudged or ignored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.ground_truth.relevance import Relevance
from visual_search.rankings.ranking import Ranking

__all__ = ["STATES", "ItemStates", "item_states", "ranking_columns", "relevant_counts"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

STATES = ("unjudged", "not_relevant", "relevant", "ignored")


@dataclass(frozen=True, slots=True)
class ItemStates:
    """One entry a returned item, in the ranking's order.

    Attributes
    ----------
    grades : float64 array of shape (total,)
        NaN where the pair is unjudged or ignored.
    ignored : bool array of shape (total,)
    """

    grades: FloatArray
    ignored: BoolArray

    def named(self, rel: float = 1.0, *, complete: bool = False) -> npt.NDArray[np.str_]:
        """State of each item in words, strings of shape (total,); where truths are complete none is unjudged."""
        unlisted = 1 if complete else 0
        judged = np.where(self.grades >= rel, 2, 1)
        codes = np.where(self.ignored, 3, np.where(np.isnan(self.grades), unlisted, judged))
        return np.array(STATES)[codes]


def item_states(ranking: Ranking, relevance: Relevance) -> ItemStates:
    """Look every returned item up among the judged and ignored pairs of its query.

    Examples
    --------
    >>> states = item_states(
    ...     Ranking.from_dict({"q": {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.6}}),
    ...     Relevance.from_dict({"q": {"a": 1, "c": 0}}, ignored={"q": ["d"]}),
    ... )
    >>> states.named().tolist()
    ['relevant', 'unjudged', 'not_relevant', 'ignored']
    """
    total = len(ranking.rows)
    grades, ignored = np.full(total, np.nan), np.zeros(total, dtype=np.bool_)
    width = max(len(ranking.items), 1)
    query = ranking.queries.rows(relevance.queries)
    item = ranking.items.rows(relevance.items)[relevance.rows]
    pair_query = np.repeat(query, np.diff(relevance.offsets))
    there = np.flatnonzero((pair_query >= 0) & (item >= 0))
    keys = pair_query[there] * width + item[there]
    order = np.argsort(keys)
    keys, there = keys[order], there[order]
    if not total or not len(keys):
        return ItemStates(grades, ignored)
    listed = ranking.query_of_position() * width + ranking.rows
    place = np.searchsorted(keys, listed)
    place[place == len(keys)] = 0
    known = np.flatnonzero(keys[place] == listed)
    pair = there[place[known]]
    ignored[known] = relevance.ignored[pair]
    grades[known] = np.where(relevance.ignored[pair], np.nan, relevance.grades[pair])
    return ItemStates(grades, ignored)


def relevant_counts(relevance: Relevance, rel: float = 1.0) -> npt.NDArray[np.int64]:
    """R of each query, int64 of shape (n,): relevant items in the gallery or not, ignored ones left out."""
    counted = (relevance.grades >= rel) & ~relevance.ignored
    running = np.concatenate(([0], np.cumsum(counted)))
    return np.asarray(running[relevance.offsets[1:]] - running[relevance.offsets[:-1]], dtype=np.int64)


def ranking_columns(
    ranking: Ranking, relevance: Relevance, metric: str | None, *, complete: bool
) -> dict[str, Any]:
    """Columns of the ranking file: query, position, rank, item, score, distance, state, grade; one row an item."""
    states = item_states(ranking, relevance)
    query = ranking.query_of_position()
    scores = ranking.scores.astype(np.float64)
    counting = np.concatenate(([0], np.cumsum(~states.ignored)))
    rank = counting[1:] - counting[ranking.offsets[query]]
    return {
        "query": ranking.queries.take(query.tolist()),
        "position": (np.arange(len(query)) - ranking.offsets[query] + 1).astype(np.int32),
        "rank": [None if out else place for place, out in zip(rank.tolist(), states.ignored.tolist(), strict=True)],
        "item": ranking.items.take(ranking.rows.tolist()),
        "score": scores,
        # There the score is minus the distance; 0 stays 0, not -0.
        "distance": np.abs(scores) if metric in ("l2", "hamming") else np.full(len(scores), np.nan),
        "state": states.named(complete=complete),
        "grade": states.grades,
    }
