"""FirstRank and INP: the rank of the first and of the last relevant item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.measures.draws import classes_of, last_relevant_chances, weighted_inverse_ranks
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.parameters import choice, threshold
from visual_search.evaluation.positions import Positions
from visual_search.evaluation.tie_groups import TieGroups

__all__ = ["INP", "FirstRank", "last_groups"]


@dataclass(frozen=True, kw_only=True)
class FirstRank(Measure):
    """Rank of the first relevant item; lower is better.

    ::

        FirstRank = rank of the first relevant item
        expected over the first group with relevant items: s + (n + 1) / (r + 1)

    Parameters
    ----------
    average : {"median", "macro"}
        The median over queries, or their mean.
    rel : float
        An item is relevant when its grade is at least this.

    Convention
    ----------
    Undefined where no relevant item is in the list: there is no rank to give, and 0 would be the best of all. Read
    it beside the number of undefined queries.

    How to read it
    --------------
    1 is best. The median rank (MedR) of image-text retrieval.

    References
    ----------
    Kiros, Salakhutdinov and Zemel, "Unifying Visual-Semantic Embeddings", 2014, for its use as Med r.

    Examples
    --------
    >>> str(FirstRank()), str(FirstRank(average="macro"))
    ('FirstRank(average=median)', 'FirstRank(average=macro)')
    """

    bounds: ClassVar[tuple[float, float]] = (1.0, float("inf"))
    higher_is_better: ClassVar[bool] = False

    average: str = choice("median", "median", "macro", about="how the queries become one number", named=True)
    rel: float = threshold()

    @property
    def words(self) -> str:
        """What the number is."""
        return "rank of the first relevant item"

    def expectation(self, positions: Positions) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Expected rank in the first group that has a relevant item."""
        groups = positions.relevant_groups(self.rel)
        groups = groups.where(groups.before == 0)
        rank, found = np.zeros(len(positions)), np.zeros(len(positions))
        rank[groups.query] = groups.above + (groups.size + 1) / (groups.relevant + 1)
        found[groups.query] = 1
        return rank, found


@dataclass(frozen=True, kw_only=True)
class INP(Measure):
    """Inverse negative penalty: how little one has to search for the hardest relevant item.

    ::

        INP = R / rank of the last relevant item
        expected over the last group with relevant items:
            R * sum over p = r..n of C(p - 1, r - 1) / C(n, r) / (s + p)

    Parameters
    ----------
    rel : float
        An item is relevant when its grade is at least this.

    Convention
    ----------
    Undefined for a query without relevant items; 0 when one of them is not in the list, whose rank is then beyond
    any number. Meant for full rankings. Its mean over queries is mINP.

    How to read it
    --------------
    1 when the R relevant items come first; one straggler is enough to bring it near 0.

    References
    ----------
    Ye et al., "Deep Learning for Person Re-identification: A Survey and Outlook", IEEE TPAMI 44(6), 2022.

    Examples
    --------
    >>> str(INP())
    'INP'
    """

    rel: float = threshold()

    @property
    def words(self) -> str:
        """What the number is."""
        return "R divided by the rank of the last relevant item, 0 when one is not in the list"

    def expectation(self, positions: Positions) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Expected reciprocal of the last place in the last group that has a relevant item."""
        total = positions.relevant_counts(self.rel)
        groups = last_groups(positions, self.rel)
        reciprocal = 1 / (groups.above + groups.size)
        mixed = np.flatnonzero(groups.size > groups.relevant)
        for (n, r), chosen in classes_of(groups.size[mixed], groups.relevant[mixed]):
            these = mixed[chosen]
            chances = last_relevant_chances(n, r, n)
            reciprocal[these] = weighted_inverse_ranks(chances, groups.above[these], groups.size[these])
        values = np.zeros(len(positions))
        values[groups.query] = total[groups.query] * reciprocal
        return values, total > 0


def last_groups(positions: Positions, rel: float) -> TieGroups:
    """The group that holds the last relevant item, for each query that has all of them in its list."""
    groups = positions.relevant_groups(rel)
    total = positions.relevant_counts(rel)
    return groups.where(groups.before + groups.relevant == total[groups.query])
