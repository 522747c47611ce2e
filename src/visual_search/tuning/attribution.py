"""Whose fault a wrong answer is: the vectors', or the index's that did not find what is nearest.

An exact search by the same vectors is right as often as the vectors allow: what it misses is the representation's
loss. What an index misses beyond that is the index's, and stands in a column of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from visual_search.counted import counted
from visual_search.errors import InputError, first_few
from visual_search.evaluation.neighbor_recall import neighbor_recall
from visual_search.evaluation.scoring import evaluate
from visual_search.formats.ragged import offsets_of
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Ids
from visual_search.indexing.index_table import VectorIndex
from visual_search.rankings.ranking import Ranking
from visual_search.tuning.attributed_loss import IndexAttribution, LossAtK
from visual_search.tuning.index_of_truth import check_index
from visual_search.tuning.search_stages import search_stages

__all__ = ["attribute_index", "attribute_loss"]


def attribute_loss(
    returned: Any,
    truth: ExactNeighbors,
    relevance: Relevance,
    *,
    k: int | Sequence[int] = (1, 10),
    index: str,
    metric: str | None = None,
) -> IndexAttribution:
    """Split what an index gets wrong into what its vectors and what its approximation get wrong.

    ::

        1 = R@k index + index misses + vectors miss
        vectors miss = 1 - R@k exact;  index misses = R@k exact - R@k index

    Parameters
    ----------
    returned : Ranking, IdLists, RunFile, or mapping
        What the index returned for the truth's queries, by id.
    truth : ExactNeighbors
        The exact answers, at least as deep as the largest k.
    relevance : Relevance
        What people, labels or pairs say is right.
    k : int or sequence of int
    index : str
        What was searched with, settings included; it stands in the statement of validity.
    metric : str, optional
        What the index searches by; compared with the truth's.

    Returns
    -------
    IndexAttribution

    Raises
    ------
    InputError
        No depth, or no query with both an exact answer and right items.
    DepthError
        k beyond the truth.
    UnknownIdError, FingerprintError
        An index of other items or of another metric than the truth's.

    Convention
    ----------
    R@k is HitRate@k, the query-level recall. Equal distances count by the exact expectation over their orders, in both
    columns. Queries that have no right item count as misses, in both.

    How to read it
    --------------
    A large second column with a small third says: the vectors are good and the index is too coarse; the other way
    round, that no setting of the index will help. Overlap@k says how alike the lists are, which R@k may hide.

    Examples
    --------
    >>> from visual_search.ground_truth.truth_building import exact_neighbors
    >>> truth = exact_neighbors([[0.0], [1.0], [5.0]], [[0.1], [4.0]], 2)
    >>> right = Relevance.from_dict({0: {0: 1}, 1: {0: 1}})
    >>> found = attribute_loss({0: {1: 1.0}, 1: {2: 1.0}}, truth, right, k=[1], index="a broken one")
    >>> found[1].representation_loss, found[1].index_loss, found[1].lost, found[1].overlap.tolist()
    (0.5, 0.5, (0,), [0.0, 1.0])
    """
    depths = _depths(k)
    truth.verify(metric=metric)
    measures = [f"HitRate@{depth}" for depth in depths]
    exact = evaluate(_exact_ranking(truth), relevance, measures)
    approximate = evaluate(returned, relevance, measures)
    places = truth.queries.rows(exact.queries)
    common = np.flatnonzero(places >= 0)
    if not common.size:
        raise InputError(
            f"relevance and truth have no query in common: {first_few(exact.queries, 3)} against "
            f"{first_few(truth.queries, 3)}"
        )
    named = Ids(exact.queries.take(common.tolist()))
    rows = tuple(
        LossAtK(
            depth,
            named,
            exact[text].values[common],
            approximate[text].values[common],
            neighbor_recall(returned, truth, depth)[places[common]],
        )
        for depth, text in zip(depths, measures, strict=True)
    )
    return IndexAttribution(
        rows, index, _validity(index, truth, len(named)), notes=_notes(truth, relevance, len(named))
    )


def attribute_index(
    index: VectorIndex,
    queries: Any,
    truth: ExactNeighbors,
    relevance: Relevance,
    *,
    k: int | Sequence[int] = (1, 10),
    stages: bool | None = None,
) -> IndexAttribution:
    """Search and attribute; other parameters and errors as for `attribute_loss`.

    Parameters
    ----------
    index : VectorIndex
        It must hold the truth's gallery, all of it and nothing else, and search by its metric.
    queries : array-like of shape (n, dimension)
        The truth's queries, in its order. They and the vectors of the index are held against the truth's distances.
    stages : bool, optional
        Whether to tell which step of the search lost the neighbours at the largest k (`search_stages`). By default
        where the engine is ``faiss`` over lists or codes.
    """
    check_index(index, queries, truth)
    depths = _depths(k)
    returned = index.search(queries, depths[-1], query_ids=truth.queries)
    if stages is None:
        stages = index.engine == "faiss" and not index.settings["ef_search"]
    found = attribute_loss(returned, truth, relevance, k=depths, index=_words(index))
    return replace(found, stages=search_stages(index, queries, truth, depths[-1]) if stages else None)


def _depths(k: Any) -> list[int]:
    """The depths asked for, each once, the smallest first."""
    try:
        given = [k] if isinstance(k, int) else list(k)
    except TypeError:
        given = [k]
    wrong = [one for one in given if isinstance(one, bool | np.bool_) or not isinstance(one, int | np.integer)]
    if not given or wrong or min(given) < 1:
        raise InputError(f"k: got {k!r}; must be one or more whole numbers of at least 1, as in k=(1, 10)")
    return sorted({int(one) for one in given})


def _exact_ranking(truth: ExactNeighbors) -> Ranking:
    """The exact answers and what ties with their last, as a ranking whose scores are minus the distances."""
    ties = np.diff(truth.answers.tie_offsets)
    lengths = truth.lengths
    there = truth.positions >= 0
    query = np.concatenate((np.nonzero(there)[0], np.repeat(np.arange(len(truth)), ties)))
    rows = np.concatenate((truth.positions[there], truth.answers.tie_positions))
    distances = np.concatenate((truth.distances[there], np.repeat(truth.distances[:, -1], ties)))
    order = np.lexsort((rows, distances, query))
    used, place = np.unique(rows[order], return_inverse=True)
    return Ranking(
        truth.queries,
        Ids(truth.gallery.take(used.tolist())),
        offsets_of(lengths + ties),
        place.astype(np.int64),
        0.0 - distances[order],
        cut_ties=truth.ties_capped,
    )


def _words(index: VectorIndex) -> str:
    inside = ", ".join(f"{name}={value}" for name, value in index.settings.items() if value != "")
    return f"{index.engine}({inside}), {index.metric}"


def _validity(index: str, truth: ExactNeighbors, queries: int) -> str:
    return (
        f"Valid for this index ({index}), for {truth.scope.label(truth.gallery_size)} (vectors "
        f"{truth.gallery_fingerprint[:19]}) and for these {counted(queries, 'query', 'queries')}. What an approximate "
        "search misses changes with the setting, the size of the gallery and the data: measure it again for any other."
    )


def _notes(truth: ExactNeighbors, relevance: Relevance, common: int) -> tuple[str, ...]:
    notes = []
    if len(relevance) > common:
        more = counted(len(relevance) - common, "query", "queries")
        notes.append(f"{more} of the relevance have no exact answer and are not evaluated.")
    if len(truth) > common:
        notes.append(f"{counted(len(truth) - common, 'query', 'queries')} of the truth have no relevance.")
    if not truth.certified.all():
        notes.append(f"The exact answers of {int((~truth.certified).sum()):,} queries are not certified.")
    return tuple(notes)
