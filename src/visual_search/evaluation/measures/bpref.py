"""Bpref: preferences between judged items only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.parameters import choice, threshold
from visual_search.evaluation.positions import Positions

__all__ = ["Bpref"]


@dataclass(frozen=True, kw_only=True)
class Bpref(Measure):
    """How rarely a judged non-relevant item stands above a relevant one; unjudged items do not matter.

    ::

        Bpref = (1/R) * sum over relevant items in the list of 1 - min(non-relevant above it, R) / min(N, R)

    with N the judged non-relevant items of the query.

    Parameters
    ----------
    negative : {"judged", "unjudged"}
        Whether an item of negative grade is judged non-relevant, or is passed over, as trec_eval does.
    rel : float
        An item is relevant when its grade is at least this.

    Convention
    ----------
    Undefined for a query without relevant items; a relevant item counts 1 where no non-relevant item is judged.

    How to read it
    --------------
    1 when no judged non-relevant item precedes a relevant one. Meant for judgements with holes: it does not take an
    unjudged item for a bad one.

    References
    ----------
    Buckley and Voorhees, "Retrieval evaluation with incomplete information", SIGIR 2004, as corrected in trec_eval.

    Examples
    --------
    >>> str(Bpref())
    'Bpref'
    """

    negative: str = choice("judged", "judged", "unjudged", about="what an item of negative grade is")
    rel: float = threshold()

    @property
    def words(self) -> str:
        """What the number is."""
        passed_over = ", negative grades passed over" if self.negative == "unjudged" else ""
        return f"share of relevant items not preceded by judged non-relevant ones{passed_over}"

    def expectation(self, positions: Positions) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """For each relevant item, those strictly above plus a number uniform on 0..u of the u tied with it."""
        least = 0 if self.negative == "unjudged" else -np.inf
        total = positions.relevant_counts(self.rel)
        judged = positions.judged_grades
        bad = positions.count_judged((judged >= least) & (judged < self.rel))
        groups = positions.gain_groups((positions.grades >= self.rel).astype(np.float64))
        tied_bad = positions.gain_groups(
            ((positions.grades >= least) & (positions.grades < self.rel)).astype(np.float64)
        ).total
        query = groups.query
        running = np.cumsum(tied_bad) - tied_bad
        above = running - running[np.searchsorted(query, query)]
        cap = total[query]
        # Sum of min(above + x, R) over x = 0..u, of which the first ``below`` do not reach R.
        below = np.clip(cap - above, 0, tied_bad + 1)
        capped = below * above + below * (below - 1) / 2 + (tied_bad + 1 - below) * cap
        smaller = np.minimum(bad, total)[query]
        share = np.divide(capped / (tied_bad + 1), smaller, out=np.zeros(len(query)), where=smaller > 0)
        return positions.sum_by_query(query, groups.total * (1 - share)), total
