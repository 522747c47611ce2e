"""The one table every measure reads: where the judged items of each query stand.

A measure never sees an id, a score or a file. For each query and each judged item in its list the table has the
grade, how many candidates score strictly higher, and how many tie; for each query the list length, the grades of
all judged items, and what was ignored. Nothing else about a ranking can change a measure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError
from visual_search.evaluation.tie_groups import GainGroups, TieGroups
from visual_search.evaluation.ties import TiePlaces, TieRule, checked_tie_rule
from visual_search.formats.ragged import offsets_of
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id, Ids

__all__ = ["Positions", "all_tied", "falling_grades"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """Where the judged items of each query stand in its list, ragged.

    Made by `visual_search.evaluation.joining.join` from a ranking and a relevance, and by `all_tied` for a gallery
    whose items cannot be told apart. "Hit" below means a judged item that is in its query's list.

    Attributes
    ----------
    queries : Ids
        The queries of the relevance, shape (n,).
    offsets : int64 array of shape (n + 1,)
        Query i owns the hits ``offsets[i]:offsets[i + 1]``, down its list.
    grades : float64 array of shape (hits,)
        Grade of each hit.
    above : int64 array of shape (hits,)
        How many candidates of the list score strictly higher.
    tied : int64 array of shape (hits,)
        How many candidates of the list have this score, the hit itself included.
    lengths : int64 array of shape (n,)
        List length of each query, ignored items taken out.
    judged_offsets : int64 array of shape (n + 1,)
        Query i owns the judged grades ``judged_offsets[i]:judged_offsets[i + 1]``.
    judged_grades : float64 array of shape (judged,)
        Grades of all judged items, in the list or not, falling within each query.
    ignored : int64 array of shape (n,)
        How many ignored items were taken out of each list.
    missing : bool array of shape (n,)
        Queries the ranking does not have; their list is empty.
    unjudged_queries : tuple of ids
        Queries of the ranking that the relevance does not have; they are not evaluated.
    cut_ties : bool array of shape (n,)
        Lists that are shorter than the gallery and end on two or more equal scores, so that a tie may go on unseen.
    gallery : int or callable
        How many items the lists could draw from, or what counts them when that is asked for.
    places : TiePlaces or None
        Order within the groups; None where every group is one item, or where there is no order to know.
    counts : int64 array of shape (hits,), optional
        How many items of one grade and one score a hit stands for; one each by default. With labels and Hamming
        distances a query has thousands of relevant items and a few dozen different distances.
    judged_counts : int64 array of shape (judged,), optional
        How many judged items each of the judged grades stands for; one each by default.
    """

    queries: Ids
    offsets: Int64Array
    grades: FloatArray
    above: Int64Array
    tied: Int64Array
    lengths: Int64Array
    judged_offsets: Int64Array
    judged_grades: FloatArray
    ignored: Int64Array
    missing: BoolArray
    unjudged_queries: tuple[Id, ...]
    cut_ties: BoolArray
    gallery: int | Callable[[], int]
    places: TiePlaces | None
    counts: Int64Array | None = None
    judged_counts: Int64Array | None = None
    _made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.queries)

    def _once(self, key: Any, make: Callable[[], Made]) -> Made:
        # Many measures ask for the same groups; they are made once per table.
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
        return made

    @property
    def query_of_hit(self) -> Int64Array:
        """Row of the query of each hit, int64 of shape (hits,)."""
        return self._once(
            "query_of_hit", lambda: np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.offsets))
        )

    @property
    def query_of_judged(self) -> Int64Array:
        """Row of the query of each judged grade, int64 of shape (judged,)."""
        return self._once(
            "query_of_judged",
            lambda: np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.judged_offsets)),
        )

    @property
    def gallery_size(self) -> int:
        """Items the lists could draw from."""
        gallery = self.gallery
        return gallery if isinstance(gallery, int) else self._once("gallery_size", gallery)

    @property
    def longest_list(self) -> int:
        """Items in the longest list, ignored ones counted; 0 where there is none."""
        return int((self.lengths + self.ignored)[~self.missing].max(initial=0))

    @property
    def any_tied(self) -> bool:
        """Whether any hit shares its score with another candidate."""
        return self._once("any_tied", lambda: bool((self.tied > 1).any()))

    def relevant_counts(self, rel: float = 1) -> Int64Array:
        """R: judged items of grade at least ``rel`` per query, in the list or not; int64 of shape (n,)."""
        return self._once(("R", rel), lambda: self.count_judged(self.judged_grades >= rel))

    def retrieved_counts(self, rel: float = 1) -> Int64Array:
        """Relevant items per query that are in its list, int64 of shape (n,)."""
        return self._once(
            ("retrieved", rel),
            lambda: _count_by_query(self.query_of_hit, self.grades >= rel, self.counts, len(self)),
        )

    def count_judged(self, chosen: BoolArray) -> Int64Array:
        """How many of the chosen judged grades each query has; ``chosen`` has one flag per judged grade."""
        return _count_by_query(self.query_of_judged, chosen, self.judged_counts, len(self))

    @property
    def group_starts(self) -> Int64Array:
        """First hit of each group of equal score, int64 of shape (groups,)."""

        def make() -> Int64Array:
            if not len(self.above):
                return np.zeros(0, dtype=np.int64)
            new = (self.above[1:] != self.above[:-1]) | (self.query_of_hit[1:] != self.query_of_hit[:-1])
            return np.concatenate(([0], np.flatnonzero(new) + 1)).astype(np.int64)

        return self._once("group_starts", make)

    def relevant_groups(self, rel: float = 1) -> TieGroups:
        """Groups of equal score with at least one item of grade ``rel`` or more."""
        return self._once(("groups", rel), lambda: self._make_relevant_groups(rel))

    def _make_relevant_groups(self, rel: float) -> TieGroups:
        starts = self.group_starts
        relevant = self.grades >= rel
        if self.counts is None and relevant.all():
            # As with labels, where no item is judged that is not relevant: every group counts, with all its hits.
            query = self.query_of_hit[starts]
            counts = np.diff(starts, append=len(relevant))
            return TieGroups(query, self.above[starts], self.tied[starts], counts, starts - self.offsets[query])
        counts = relevant.astype(np.int64) if self.counts is None else np.where(relevant, self.counts, 0)
        if len(starts) < len(counts):
            counts = np.add.reduceat(counts, starts)
        kept = counts > 0
        if not kept.all():
            starts, counts = starts[kept], counts[kept]
        query = self.query_of_hit[starts]
        running = np.cumsum(counts) - counts
        first_of_query = np.searchsorted(query, np.arange(len(self)))
        before = running - running[first_of_query[query]] if len(query) else running
        return TieGroups(query, self.above[starts], self.tied[starts], counts, before)

    def gain_groups(self, gains: FloatArray) -> GainGroups:
        """Groups of equal score with the sum of ``gains`` (one per hit, for each item it stands for) over each."""
        starts = self.group_starts
        if self.counts is not None:
            gains = gains * self.counts
        total = np.add.reduceat(gains, starts) if len(starts) < len(gains) else gains
        return GainGroups(self.query_of_hit[starts], self.above[starts], self.tied[starts], total)

    def group_products(self, factors: FloatArray) -> FloatArray:
        """Product of ``factors`` (one per hit, as in `gain_groups`) over each group, float64 of shape (groups,)."""
        starts = self.group_starts
        if self.counts is not None:
            factors = factors**self.counts
        return np.multiply.reduceat(factors, starts) if len(starts) else np.zeros(0)

    def sum_by_query(self, query: Int64Array, terms: npt.NDArray[Any]) -> FloatArray:
        """Sum terms per query in their order, float64 of shape (n,)."""
        return np.bincount(query, weights=terms, minlength=len(self)).astype(np.float64, copy=False)

    def ordered(self, ties: TieRule) -> Positions:
        """The same table with every group put in the order of a tie rule, so that no hit is tied any more.

        Under ``expected`` the table itself. Under ``best`` each group is sorted by falling grade with judged items
        before unjudged ones; under ``worst`` by rising grade with unjudged items first.

        Raises
        ------
        InputError
            A rule that reads the order of the list, where there is none (`all_tied`).
        """
        checked_tie_rule(ties)
        if ties == "expected" or not self.any_tied:
            return self
        return self._once(("ordered", ties), lambda: self._make_ordered(ties))

    def one_by_one(self) -> Positions:
        """The same table with one hit for each item and one grade for each judged item."""
        if self.counts is None and self.judged_counts is None:
            return self
        return self._once("one by one", self._make_one_by_one)

    def _make_one_by_one(self) -> Positions:
        hits = np.ones(len(self.grades), dtype=np.int64) if self.counts is None else self.counts
        judged = (
            np.ones(len(self.judged_grades), dtype=np.int64) if self.judged_counts is None else self.judged_counts
        )
        return replace(
            self,
            offsets=offsets_of(hits)[self.offsets],
            grades=np.repeat(self.grades, hits),
            above=np.repeat(self.above, hits),
            tied=np.repeat(self.tied, hits),
            judged_offsets=offsets_of(judged)[self.judged_offsets],
            judged_grades=np.repeat(self.judged_grades, judged),
            counts=None,
            judged_counts=None,
        )

    def _make_ordered(self, ties: TieRule) -> Positions:
        if self.counts is not None:
            return self._make_parted(ties)
        place = self._places_by_grade(ties) if ties in ("best", "worst") else self._places_by_order(ties)
        above = self.above + place
        order = np.lexsort((above, self.query_of_hit))
        return replace(
            self,
            grades=self.grades[order],
            above=above[order],
            tied=np.ones_like(self.tied),
            places=None,
        )

    def _places_by_order(self, ties: TieRule) -> Int64Array:
        if self.places is None:
            raise InputError(f"ties={ties!r}: there is no order within these ties; use expected, best or worst")
        if ties == "listed":
            return self.places.listed()
        falling = self.places.descending_id()
        return falling if ties == "id_desc" else self.tied - 1 - falling

    def _places_by_grade(self, ties: TieRule) -> Int64Array:
        starts = self.group_starts
        judged = np.diff(np.append(starts, len(self.above)))
        group = np.repeat(np.arange(len(starts)), judged)
        order = np.lexsort((-self.grades if ties == "best" else self.grades, group))
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order)) - starts[group]
        # Unjudged items come last in the best order and first in the worst.
        return place if ties == "best" else place + self.tied - judged[group]

    def _make_parted(self, ties: TieRule) -> Positions:
        """Put groups in order by grade where hits stand for several items: items of one grade stay a group.

        Their order among themselves changes nothing, so that each such group is as good as an order of it.
        """
        if ties not in ("best", "worst"):
            raise InputError(f"ties={ties!r}: there is no order within these ties; use expected, best or worst")
        assert self.counts is not None
        starts = self.group_starts
        group = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(self.above)))
        order = np.lexsort((-self.grades if ties == "best" else self.grades, group))
        counts = self.counts[order]
        running = np.cumsum(counts) - counts
        place = running - running[starts][group]
        if ties == "worst":
            place += self.tied - np.add.reduceat(counts, starts)[group]
        return replace(
            self, grades=self.grades[order], above=self.above + place, tied=counts, places=None, counts=counts
        )

    def __repr__(self) -> str:
        queries = counted(len(self), "query", "queries")
        found, judged = (
            len(grades) if counts is None else int(counts.sum())
            for grades, counts in ((self.grades, self.counts), (self.judged_grades, self.judged_counts))
        )
        tied = self.tied > 1 if self.counts is None else self.counts[self.tied > 1]
        return f"Positions({queries}, {found} of {judged} judged items in their lists, {int(tied.sum())} tied)"


def _count_by_query(query: Int64Array, chosen: BoolArray, counts: Int64Array | None, n: int) -> Int64Array:
    """How many of the chosen entries each query has, each as often as its count."""
    if counts is None:
        return np.bincount(query[chosen], minlength=n).astype(np.int64)
    # Whole numbers far below 2^53, which the sum holds exactly.
    return np.bincount(query[chosen], weights=counts[chosen], minlength=n).astype(np.int64)


def all_tied(relevance: Relevance, gallery: Ids | int) -> Positions:
    """Positions in a gallery whose items all have one score.

    The expectation of a measure over them is its exact value under random retrieval; ``ties="best"`` gives the
    highest value any ranking of that gallery can reach.

    Parameters
    ----------
    relevance : Relevance
        The right answers; ignored pairs are taken out of the gallery.
    gallery : Ids or int
        The gallery's ids (judged items that are not among them stay in R but cannot be found), or its size where
        every judged item is known to be in it.

    Returns
    -------
    Positions
        One group per query.

    Raises
    ------
    InputError
        A gallery smaller than what is judged in it.

    Examples
    --------
    One relevant item of four, in random order:

    >>> from visual_search.evaluation.measures.average_precision import AP
    >>> positions = all_tied(Relevance.from_dict({"q": {"d": 1}}), 4)
    >>> AP().values(positions).value.round(6).tolist()
    [0.520833]
    """
    size = gallery if isinstance(gallery, int) else len(gallery)
    present = np.ones(len(relevance.rows), dtype=np.bool_)
    if isinstance(gallery, Ids) and gallery is not relevance.items:
        present = (gallery.rows(relevance.items) >= 0)[relevance.rows]
    n = len(relevance)
    query = np.repeat(np.arange(n), np.diff(relevance.offsets))
    ignored = np.bincount(query[present & relevance.ignored], minlength=n).astype(np.int64)
    hit = present & ~relevance.ignored
    hits = np.bincount(query[hit], minlength=n).astype(np.int64)
    lengths = size - ignored
    if (hits > lengths).any():
        worst = int(np.argmax(hits - lengths))
        raise InputError(
            f"gallery of {counted(size, 'item', 'items')}: query {relevance.queries[worst]!r} has "
            f"{hits[worst]} judged and "
            f"{counted(ignored[worst], 'ignored item', 'ignored items')} in it; give the gallery the "
            "relevance was made for"
        )
    judged_offsets, judged_grades = falling_grades(relevance)
    return Positions(
        queries=relevance.queries,
        offsets=np.concatenate(([0], np.cumsum(hits))),
        grades=relevance.grades[hit],
        above=np.zeros(int(hits.sum()), dtype=np.int64),
        tied=lengths[query[hit]],
        lengths=lengths,
        judged_offsets=judged_offsets,
        judged_grades=judged_grades,
        ignored=ignored,
        missing=np.zeros(n, dtype=np.bool_),
        unjudged_queries=(),
        cut_ties=np.zeros(n, dtype=np.bool_),
        gallery=size,
        places=None,
    )


def falling_grades(relevance: Relevance) -> tuple[Int64Array, FloatArray]:
    """Offsets and grades of all judged (not ignored) pairs, grades falling within each query."""
    judged = ~relevance.ignored
    query = np.repeat(np.arange(len(relevance)), np.diff(relevance.offsets))[judged]
    grades = relevance.grades[judged]
    order = np.lexsort((-grades, query))
    counts = np.bincount(query, minlength=len(relevance))
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64), grades[order]
