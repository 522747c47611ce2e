"""Hypothesis strategies for small rankings and relevances, with everything that makes measures go wrong.

Needs hypothesis (the ``test`` extra).
"""

from __future__ import annotations

from dataclasses import dataclass

from visual_search.errors import MissingDependencyError

try:
    from hypothesis import strategies as st
except ImportError as missing:
    raise MissingDependencyError(
        "the contracts of visual_search.testing draw their cases with hypothesis: pip install 'visual-search[test]'"
    ) from missing

from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Ids
from visual_search.rankings.ranking import Ranking

__all__ = ["Case", "cases"]

_SCORES = (0.75, 0.5, 0.25, 0.0, -0.5)


@dataclass(frozen=True, slots=True)
class Case:
    """A small ranking and relevance, as plain dictionaries and as arrays.

    Attributes
    ----------
    run : dict
        ``{query: {item: score}}``, each list in the order as returned.
    grades : dict
        ``{query: {item: grade}}``.
    ignored : dict
        ``{query: [items]}``.
    """

    run: dict[str, dict[str, float]]
    grades: dict[str, dict[str, float]]
    ignored: dict[str, list[str]]

    @property
    def ranking(self) -> Ranking:
        """The run."""
        return Ranking.from_dict(self.run)

    @property
    def relevance(self) -> Relevance:
        """The grades and what is ignored."""
        return Relevance.from_dict(self.grades, ignored=self.ignored)

    @property
    def gallery(self) -> Ids:
        """All items of the run."""
        return self.ranking.items


@st.composite
def cases(
    draw: st.DrawFn,
    *,
    max_items: int = 6,
    max_queries: int = 2,
    grades: tuple[float, ...] = (-1, 0, 1, 2, 3),
    allow_ignored: bool = True,
    allow_missing: bool = True,
) -> Case:
    """Small cases with ties, graded and negative judgements, unjudged and ignored items, missing and empty queries.

    Parameters
    ----------
    max_items : int
        Most items of the gallery; brute force over tied orders grows as its factorial.
    max_queries : int
        Most queries.
    grades : tuple of float
        Grades to draw from.
    allow_ignored, allow_missing : bool
        Whether pairs may be ignored, and queries missing from the run.
    """
    size = draw(st.integers(1, max_items))
    items = [f"d{number}" for number in range(size)]
    outside = ["x1", "x2"]
    run: dict[str, dict[str, float]] = {}
    judged: dict[str, dict[str, float]] = {}
    ignored: dict[str, list[str]] = {}
    for number in range(draw(st.integers(1, max_queries))):
        query = f"q{number}"
        listed = draw(st.lists(st.sampled_from(items), unique=True, max_size=size))
        levels = draw(st.lists(st.sampled_from(_SCORES), min_size=len(listed), max_size=len(listed)))
        levels.sort(reverse=True)
        if number == 0 or not allow_missing or draw(st.integers(0, 5)):
            run[query] = dict(zip(listed, levels, strict=True))
        states = st.sampled_from(
            ["unjudged", *(["ignored"] if allow_ignored else []), "judged", "judged", "judged"]
        )
        state = {item: draw(states) for item in [*items, *outside]}
        judged[query] = {item: draw(st.sampled_from(grades)) for item in state if state[item] == "judged"}
        ignored[query] = [item for item in state if state[item] == "ignored"]
    return Case(run, judged, ignored)
