"""Where a search over packed inverted lists loses neighbours: not probed, codes misordered, re-rank.

Such a search narrows down three times: it looks into some lists only, takes from them the items whose codes are
nearest, and orders those by whole vectors. An exact neighbour that is not in the answer was lost in one of these, and
the first that lost it is where it is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import DepthError, InputError
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.indexing.engines.faiss_factory import FaissFactoryEngine
from visual_search.indexing.index_table import VectorIndex
from visual_search.tuning.index_of_truth import check_index

__all__ = ["SearchStages", "search_stages"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SearchStages:
    """Share of the k exact neighbours still there after each step, one value a query.

    Attributes
    ----------
    k : int
    probed : float64 array of shape (n,)
        In a list that was looked into.
    candidates : float64 array of shape (n,)
        Of these, among the items whose codes were nearest: ``refine`` times k, or k.
    codes_alone : float64 array of shape (n,)
        Among the k items whose codes were nearest: the recall without whole vectors.
    returned : float64 array of shape (n,)
        In the answer.
    settings : mapping
        The engine's, as they were.
    """

    k: int
    probed: FloatArray
    candidates: FloatArray
    codes_alone: FloatArray
    returned: FloatArray
    settings: Mapping[str, Any]

    @property
    def not_probed(self) -> float:
        """Mean share of the neighbours in lists that were not looked into; more ``nprobe`` mends it."""
        return float((1 - self.probed).mean())

    @property
    def misordered(self) -> float:
        """Mean share that was looked at and lost by the order of codes; ``refine`` or more bytes mend it."""
        return float((self.probed - self.candidates).mean())

    @property
    def reranked_away(self) -> float:
        """Mean share that was among the candidates and not in the answer: float32 rounding of near-ties alone."""
        return float((self.candidates - self.returned).mean())

    @property
    def regained(self) -> float:
        """Mean share that whole vectors brought back which codes alone would have lost; nothing where refine is 0."""
        return float((self.returned - self.codes_alone).mean())

    @property
    def recall(self) -> float:
        """Mean NeighborRecall@k; 1 less the three losses."""
        return float(self.returned.mean())

    def words(self) -> str:
        """The same in a sentence."""
        return (
            f"Of the {self.k} exact neighbours {self.recall:.4f} are found; {self.not_probed:.4f} lie in lists that "
            f"were not probed, {self.misordered:.4f} were probed and lost by the order of their codes, "
            f"{self.reranked_away:.4f} by the order of whole vectors. Whole vectors brought back {self.regained:.4f}."
        )

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "k": self.k,
            "num_queries": len(self.returned),
            "recall": self.recall,
            "lost": {
                "not_probed": self.not_probed,
                "codes_misordered": self.misordered,
                "rerank": self.reranked_away,
            },
            "regained_by_rerank": self.regained,
            "settings": dict(self.settings),
            "words": self.words(),
        }


def search_stages(index: VectorIndex, queries: Any, truth: ExactNeighbors, k: Any) -> SearchStages:
    """Split what an index of packed inverted lists misses by the step that lost it.

    Parameters
    ----------
    index : VectorIndex
        Of engine ``faiss`` with lists or codes or both (``IVF64,PQ8np``, ``OPQ16,IVF256,PQ16``, ``PQ16``), without a
        graph.
    queries : array-like of shape (n, dimension)
        The truth's, in its order.
    truth : ExactNeighbors
        Of what the index holds, by its metric.
    k : int
        1 to the truth's k.

    Returns
    -------
    SearchStages

    Raises
    ------
    InputError
        An engine whose search has no such steps; a filtered truth; a k that is no whole number.
    DepthError
        k beyond the truth.
    FingerprintError
        A truth of other items or vectors, of other queries, or of another metric.

    Convention
    ----------
    Counted as NeighborRecall counts: any item exactly as far as the k-th neighbour may stand for it.

    Examples
    --------
    >>> from visual_search.ground_truth.truth_building import exact_neighbors
    >>> vectors = np.random.default_rng(1).normal(size=(1000, 8)).astype(np.float32)
    >>> index = VectorIndex(engine="faiss", metric="l2", factory="IVF8,PQ4x4np", nprobe=8, refine=0)
    >>> index.add(range(1000), vectors)
    >>> stages = search_stages(index, vectors[:50], exact_neighbors(vectors, vectors[:50], 10), 10)
    >>> stages.not_probed, stages.misordered > 0, stages.reranked_away
    (0.0, True, 0.0)
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        raise InputError(f"k: got {k!r}; must be a whole number in 1..{truth.k}")
    k = int(k)
    if not 1 <= k <= truth.k:
        raise DepthError(f"k is {k}, and the truth is {truth.k} deep")
    ready = check_index(index, queries, truth)
    positions = _padded(truth)
    needed, place = np.unique(positions, return_inverse=True)
    with index.moment() as moment:
        engine = moment.engine
        if not isinstance(engine, FaissFactoryEngine) or engine.settings["ef_search"]:
            raise InputError(
                f"index: engine {engine.name!r} with {dict(engine.settings)}; only a search of engine 'faiss' over "
                "lists or codes has these steps, not a graph"
            )
        row_of = np.where(needed >= 0, moment.rows(truth.gallery.take(np.maximum(needed, 0).tolist())), -1)
        rows = row_of[place].reshape(positions.shape)
        probed = engine.in_probed_lists(ready, rows)
        near = engine.candidates(ready, k)
        answer, _ = engine.search(ready, k)
        settings = dict(engine.settings)
    share = _Shares(truth, k)
    return SearchStages(
        k=k,
        probed=share.of(probed),
        candidates=share.of(_among(rows, near)),
        codes_alone=share.of(_among(rows, near[:, :k])),
        returned=share.of(_among(rows, answer)),
        settings=settings,
    )


def _padded(truth: ExactNeighbors) -> Int64Array:
    """Positions of each query's neighbours and then of what ties with the last, -1 after the end."""
    counts = np.diff(truth.answers.tie_offsets)
    ties = np.full((len(truth), int(counts.max(initial=0))), -1, dtype=np.int64)
    ties[np.arange(ties.shape[1]) < counts[:, None]] = truth.answers.tie_positions
    return np.concatenate((truth.positions, ties), axis=1)


def _among(rows: Int64Array, found: Int64Array) -> BoolArray:
    """Which rows of each line are among those found for it."""
    width = int(max(rows.max(initial=0), found.max(initial=0))) + 1
    line = np.arange(len(rows), dtype=np.int64)[:, None] * width
    there: BoolArray = np.isin(np.where(rows >= 0, rows + line, -1), np.where(found >= 0, found + line, -2))
    return there


class _Shares:
    """Counts neighbours as NeighborRecall does."""

    def __init__(self, truth: ExactNeighbors, k: int) -> None:
        last = truth.distances[:, k - 1]
        wide = np.full(_padded(truth).shape, np.inf)
        wide[:, : truth.k] = truth.distances
        wide[:, truth.k :] = truth.distances[:, [-1]]
        there = _padded(truth) >= 0
        self._nearer = there & (wide < last[:, None])
        self._level = there & (wide == last[:, None])
        self._wanted = np.minimum(truth.lengths, k)

    def of(self, kept: BoolArray) -> FloatArray:
        """Share of each query's neighbours among the items kept."""
        quota = self._wanted - self._nearer.sum(axis=1)
        found = (kept & self._nearer).sum(axis=1) + np.minimum((kept & self._level).sum(axis=1), quota)
        share: FloatArray = found / np.maximum(self._wanted, 1)
        return share
