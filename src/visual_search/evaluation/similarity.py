"""Evaluates full rankings of a gallery without ever making them: products in blocks, ranks by counting."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from visual_search.errors import InputError
from visual_search.evaluation.full_rankings import Asked, RightAnswers, evaluate_gallery
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.products import Metric, Products
from visual_search.evaluation.protocols.presets import Preset
from visual_search.evaluation.result import IntervalMaker, Result
from visual_search.evaluation.slices import Attribute
from visual_search.evaluation.ties import TieRule
from visual_search.formats.arrays import as_matrix
from visual_search.ground_truth.shared_labels import SharedLabels
from visual_search.rankings.parts import row_ids

__all__ = ["evaluate_similarity"]


def evaluate_similarity(
    query_vectors: Any,
    gallery_vectors: Any,
    relevance: RightAnswers,
    measures: Iterable[str | Measure] | None = None,
    *,
    metric: Metric = "cosine",
    ties: TieRule | None = None,
    preset: str | Preset | None = None,
    query_ids: Iterable[Any] | None = None,
    gallery_ids: Iterable[Any] | None = None,
    block: int = 256,
    groups: Attribute | None = None,
    interval: IntervalMaker | None = None,
) -> Result:
    """Measure the ranking of a whole gallery by similarity, for each query.

    Nothing is sorted and no matrix of all similarities is made: of each query's similarities only those that the
    judged items stand above and level with are counted.

    Parameters
    ----------
    query_vectors : array-like of shape (n, d)
        Vectors of the queries; tensors of other libraries are taken without a copy where possible.
    gallery_vectors : array-like of shape (m, d)
        Vectors of the gallery.
    relevance : Relevance, or mapping
        What the right answers are, or ``{query: {item: grade}}``. Ignored pairs are taken out of the ranking; judged
        items that are not in the gallery stay in R and cannot be found. A query of it without a vector has an empty
        list.
    measures : iterable of str or Measure, optional
        As for `visual_search.evaluate`; they may be left out with a preset.
    metric : {"cosine", "ip", "l2"}
        Higher cosine, higher inner product, or smaller Euclidean distance is more similar.
    ties : {"expected", "best", "worst"}, optional
        What is done with items of equal similarity. The default is the preset's, or ``"expected"``. Rules that read
        the order of a list have none to read here; make a `Ranking.from_similarity` for them.
    preset : str or Preset, optional
        A field's rules.
    query_ids, gallery_ids : iterable, optional
        Ids of the vectors, as the relevance names them; 0, 1, 2, ... by default.
    block : int
        Queries whose similarities are in memory at a time for each thread, at most; fewer where the gallery is large.
    groups, interval
        As for `visual_search.evaluate`.

    Returns
    -------
    Result

    Raises
    ------
    InputError, DimensionError, NonFiniteError, ZeroVectorError
        Vectors, ids or options that are not allowed; nothing in common between vectors and relevance.

    Convention
    ----------
    Two items tie when their float32 similarities are equal. Each similarity is computed in a product of one fixed
    shape, so that results are the same for any ``block`` and any number of threads. On another machine or with another
    NumPy the last bit of a similarity may differ, and with it which items are told apart.

    How to read it
    --------------
    As any result; every list is the whole gallery, so that R items are always found somewhere.

    Examples
    --------
    >>> from visual_search import Relevance
    >>> relevance = Relevance.from_labels(["cat", "dog"], ["dog", "cat", "cat"])
    >>> gallery = [[0.0, 1.0], [1.0, 0.1], [1.0, -1.0]]
    >>> evaluate_similarity([[1.0, 0.0], [0.1, 1.0]], gallery, relevance, ["AP", "RR"])["AP"].values.tolist()
    [1.0, 1.0]
    """
    given: object = relevance
    if isinstance(given, SharedLabels):
        raise InputError(
            "relevance: SharedLabels, which evaluate_codes reads as they are; for vectors give labels.relevance(), or "
            "Relevance.from_labels"
        )
    query_vectors = as_matrix(query_vectors, what="query_vectors")
    gallery_vectors = as_matrix(gallery_vectors, what="gallery_vectors")
    queries = row_ids(query_ids, len(query_vectors), what="query_ids")
    gallery = row_ids(gallery_ids, len(gallery_vectors), what="gallery_ids")
    products = Products(query_vectors, gallery_vectors, metric, query_ids=queries, gallery_ids=gallery)
    asked = Asked(measures, ties, preset, groups, interval)
    return evaluate_gallery(products, queries, gallery, relevance, asked, block=block, metric=metric)[0]
