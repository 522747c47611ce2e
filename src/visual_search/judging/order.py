"""In which order the pairs of one query are judged, given the judgements so far.

Each system's list is an arm. The pair that comes next is the first unjudged one of the arm that looks best:

- ``move_to_front``, used where nothing is said: the arm with the fewest judged items that were not relevant. An arm
  stays in front while it finds relevant ones and falls behind by one that is not.
- ``max_mean``: the arm with the highest posterior mean of finding a relevant item, under a uniform prior; older
  judgements of its list fade by ``MEMORY`` with each newer one, since the deeper end of a list is worse than its top.
- ``fixed``: by the best rank in any list, as a pool of fixed depth is judged. Nothing is learnt.
- ``shuffled``: at random. It tells a judge nothing at all, and early judgements count no more than late ones.

Ties go to the better rank and then to a hash of seed and ids. Random and near-duplicate candidates are an arm each.

The order is a function of the set of judged pairs alone, not of when or by whom they were judged: a judgement is
evidence on every arm that lists the item, at its rank there. So an undo, an import, or judges at work at once lead
to one order, whatever came first; the published forms, which credit only the arm that was drawn, are those of one
judge and no undo.

References
----------
G. V. Cormack, C. R. Palmer, C. L. A. Clarke, "Efficient construction of large test collections", SIGIR 1998
(move-to-front pooling). D. E. Losada, J. Parapar, A. Barreiro, "Multi-armed bandits for adjudicating documents in
pooling-based evaluation of information retrieval systems", Information Processing and Management 53(5), 2017, who
describe the non-stationary MaxMean (MM-NS), from which ``max_mean`` is taken. How well each order serves is known here
from simulation alone: ``benchmarks/pooling.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from visual_search.errors import InputError
from visual_search.judging.pool import Source
from visual_search.judging.task import ORDERS, Order

__all__ = ["MEMORY", "QueryOrder"]

# What a judgement on a list still weighs when the next judged item of that list is reached.
MEMORY = 0.8


class QueryOrder:
    """The order of one query's pairs.

    Parameters
    ----------
    sources : sequence of sequences of Source
        For each pair of the query why it is in the pool.
    ties : sequence of float
        For each pair a number that decides ties; lower comes first.
    method : {"move_to_front", "max_mean", "fixed", "shuffled"}

    Raises
    ------
    InputError
        Another method, or not one tie each pair.

    Examples
    --------
    >>> one, two = [Source("ranked", "one", rank) for rank in (1, 2)], [Source("ranked", "two", 1)]
    >>> order = QueryOrder([[one[0]], [one[1]], two], ties=[0.1, 0.2, 0.3], method="max_mean")
    >>> order.remaining({})
    [0, 2, 1]
    >>> order.remaining({0: True})  # the first system found one: its next item
    [1, 2]
    >>> order.remaining({0: False})
    [2, 1]
    """

    def __init__(
        self, sources: Sequence[Sequence[Source]], ties: Sequence[float], method: Order = "move_to_front"
    ) -> None:
        if method not in ORDERS:
            raise InputError(f"method={method!r}; one of {', '.join(ORDERS)}")
        if len(ties) != len(sources):
            raise InputError(f"ties: {len(ties)} for {len(sources)} pairs; one each is needed")
        self._method = method
        self._ties = list(ties)
        listed: dict[str, list[tuple[int, float, int]]] = {}
        for place, reasons in enumerate(sources):
            for source in reasons:
                arm = source.system if source.kind == "ranked" else None
                name = f"ranked {arm}" if arm is not None else source.kind
                listed.setdefault(name, []).append((source.rank or 1, self._ties[place], place))
        self._arms = [sorted(pairs) for pairs in listed.values()]

    def __len__(self) -> int:
        return len(self._ties)

    def remaining(self, judged: Mapping[int, bool | None]) -> list[int]:
        """Places of the pairs that are not judged, the one that matters most first.

        Parameters
        ----------
        judged : mapping of int to bool or None
            Places of judged pairs, and whether each is relevant; None where nobody could tell, which is no evidence.
        """
        left = [place for place in range(len(self)) if place not in judged]
        if self._method == "shuffled":
            return sorted(left, key=self._ties.__getitem__)
        best: dict[int, tuple[float, int]] = {}
        for arm in self._arms:
            merit = self._merit(arm, judged)
            for rank, _, place in arm:
                key = (-merit, rank)
                if place not in judged and key < best.get(place, (float("inf"), 0)):
                    best[place] = key
        return sorted(left, key=lambda place: (*best[place], self._ties[place]))

    def _merit(self, arm: Sequence[tuple[int, float, int]], judged: Mapping[int, bool | None]) -> float:
        if self._method == "fixed":
            return 0.0
        found = [relevant for _, _, place in arm if (relevant := judged.get(place)) is not None]
        if self._method == "move_to_front":
            return -float(len(found) - sum(found))
        hits = misses = 0.0
        for relevant in found:
            hits = hits * MEMORY + relevant
            misses = misses * MEMORY + (not relevant)
        return (1 + hits) / (2 + hits + misses)
