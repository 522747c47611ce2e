"""Recall of an index from the bare ids it returned, without making a ranking of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, Problems, first_few
from visual_search.evaluation.measures.neighbor_recall import NeighborRecall
from visual_search.evaluation.neighbor_joining import neighbor_positions
from visual_search.evaluation.neighbor_positions import NeighborPositions
from visual_search.evaluation.neighbor_recall_table import NeighborRecallTable, recall_table
from visual_search.evaluation.query_hardness import QueryHardness
from visual_search.evaluation.returned_lists import ReturnedLists
from visual_search.evaluation.ties import NeighborTies, checked_neighbor_ties
from visual_search.ground_truth.exact_neighbors import ExactNeighbors

__all__ = ["neighbor_recall", "neighbor_recall_table"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


def neighbor_recall(
    returned_ids: Any,
    truth: ExactNeighbors,
    k: int,
    *,
    ties: NeighborTies = "exact",
    query_ids: Iterable[Any] | None = None,
    gallery_fingerprint: str | None = None,
    queries_fingerprint: str | None = None,
    metric: str | None = None,
) -> FloatArray:
    """Share of the k exact nearest neighbours that an index returned, for each query.

    ::

        value = (strict + min(tied, quota)) / k

    strict: returned items nearer than the k-th exact neighbour; tied: returned items exactly as far; quota: k less the
    exact neighbours that are nearer.

    Parameters
    ----------
    returned_ids : array of shape (n, any), lists of any lengths, Ranking, IdLists, RunFile, or mapping
        What the index returned, nearest first, integers or strings. -1 (or None) marks a place that it could not fill.
    truth : ExactNeighbors
        The exact answers.
    k : int
        From 1 to the truth's k. Results beyond it are not looked at.
    ties : {"exact", "strict", "ids"}
        See `NeighborRecall`.
    query_ids : iterable, optional
        Ids of the lists; without them, and for bare arrays, list i is that of the truth's query i.
    gallery_fingerprint, queries_fingerprint : str, optional
        Of what the index holds and what it was asked; compared with the truth's where given.
    metric : str, optional
        What the index searches by; compared with the truth's where given.

    Returns
    -------
    float64 array of shape (n,)
        One value per query of the truth, in its order, from 0 to 1; NaN where nothing is asked for (a filter that
        leaves no item).

    Raises
    ------
    DepthError
        k beyond the truth or the gallery.
    UnknownIdError
        Ids that the truth's gallery does not have.
    FingerprintError
        The truth of other vectors, or of another metric.
    InputError
        Lists of other queries than the truth's, or too many or too few of them.

    Warns
    -----
    UserWarning
        Where more items tie with the k-th than the truth kept, and returned ones may be among them; the value is then
        a lower bound.

    Convention
    ----------
    Empty places and repeated ids are misses; short lists miss what they lack. Distances are compared exactly.

    How to read it
    --------------
    1 means that the index returned what a full scan would. See `neighbor_recall_table` for what was missed.

    References
    ----------
    Aumueller, Bernhardsson and Faithfull, "ANN-Benchmarks", Information Systems 2020.

    Examples
    --------
    >>> from visual_search.testing.exact_answers import exact_by_brute_force
    >>> truth = exact_by_brute_force([[0.0], [1.0], [1.0], [5.0]], [[0.0]], 2)
    >>> [neighbor_recall([found], truth, 2).item() for found in ([0, 1], [0, 2], [0, 0], [3, -1])]
    [1.0, 1.0, 0.5, 0.0]
    """
    table = _joined(returned_ids, truth, query_ids, (gallery_fingerprint, queries_fingerprint, metric))
    measure = NeighborRecall(k=_whole(k), ties=checked_neighbor_ties(ties))
    values = measure.neighbor_values(table).value
    for remark in measure.remarks(table):
        warnings.warn(remark, stacklevel=2)
    return values


def neighbor_recall_table(
    returned_ids: Any,
    truth: ExactNeighbors,
    k: int,
    *,
    ties: NeighborTies = "exact",
    query_ids: Iterable[Any] | None = None,
    gallery_fingerprint: str | None = None,
    queries_fingerprint: str | None = None,
    metric: str | None = None,
    latency: Any = None,
    hardness: QueryHardness | None = None,
) -> NeighborRecallTable:
    """Recall of every query with what was missed; other parameters and errors as for `neighbor_recall`.

    Parameters
    ----------
    latency : float array of shape (n,), optional
        Seconds each query's search took, in the truth's order.
    hardness : QueryHardness, optional
        How hard each query is, by `query_hardness` with the vectors; without, the dimension alone is estimated.

    Returns
    -------
    NeighborRecallTable
        Values with the interval of their mean, counts, missing neighbours with their true ranks, hardness, and what a
        reader should know; lower bounds are among its notes.

    Examples
    --------
    >>> from visual_search.testing.exact_answers import exact_by_brute_force
    >>> truth = exact_by_brute_force([[0.0], [1.0], [2.0], [5.0]], [[0.0], [5.0]], 2)
    >>> table = neighbor_recall_table([[0, 3], [3, 2]], truth, 2)
    >>> table.mean, table.mean_missed, table.worst(1)[0].missing
    (0.75, 0.5, ((1, 2),))
    """
    table = _joined(returned_ids, truth, query_ids, (gallery_fingerprint, queries_fingerprint, metric))
    return recall_table(
        table,
        truth,
        NeighborRecall(k=_whole(k), ties=checked_neighbor_ties(ties)),
        latency=None if latency is None else np.asarray(latency, dtype=np.float64),
        hardness=hardness,
    )


def _joined(
    returned_ids: Any,
    truth: ExactNeighbors,
    query_ids: Iterable[Any] | None,
    made_for: tuple[str | None, str | None, str | None],
) -> NeighborPositions:
    if not isinstance(truth, ExactNeighbors):
        raise InputError(
            f"truth: {type(truth).__name__}; exact neighbours are needed. For people's relevance use evaluate with "
            "HitRate or Recall"
        )
    truth.verify(made_for[0], made_for[1], metric=made_for[2])
    table = neighbor_positions(ReturnedLists.of(returned_ids, query_ids=query_ids), truth)
    problems = Problems("returned_ids")
    missing = table.queries.take(np.flatnonzero(table.missing).tolist())
    if missing:
        problems.add(
            f"{len(missing)} queries of the truth have no list: {first_few(missing)}; give an empty one each"
        )
    if table.unknown_queries:
        problems.add(f"{len(table.unknown_queries)} lists of other queries: {first_few(table.unknown_queries)}")
    problems.raise_if_any(InputError)
    return table


def _whole(k: Any) -> int:
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
        raise InputError(f"k={k!r}: a whole number from 1 is needed")
    return int(k)
