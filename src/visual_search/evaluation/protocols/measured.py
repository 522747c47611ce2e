"""Measures a ranking, or vectors, under a split: intervals over its groups, its proof in the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeAlias

from visual_search.errors import InputError
from visual_search.evaluation.codes import evaluate_codes
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.products import Metric
from visual_search.evaluation.protocols.presets import Preset
from visual_search.evaluation.protocols.split import Split
from visual_search.evaluation.result import Result
from visual_search.evaluation.scoring import evaluate
from visual_search.evaluation.similarity import evaluate_similarity
from visual_search.evaluation.sources import RankingSource
from visual_search.evaluation.statistics.interval import Resampling
from visual_search.evaluation.statistics.measure_intervals import with_intervals
from visual_search.evaluation.ties import TieRule

__all__ = ["Measures", "evaluate_split", "evaluate_split_codes", "evaluate_split_vectors"]

Measures: TypeAlias = "Iterable[str | Measure] | None"


def evaluate_split(
    split: Split,
    ranking: RankingSource,
    measures: Measures = None,
    *,
    ties: TieRule | None = None,
    preset: str | Preset | None = "textbook",
    resampling: Resampling | None = None,
) -> Result:
    """Measure a ranking under a split.

    Parameters
    ----------
    split : Split
        Its proof must hold.
    ranking : Ranking, RunFile, IdLists, or mapping
        What a system returned for the split's queries from its gallery.
    measures, ties, preset
        As for `visual_search.evaluate`; a textbook's hit rates and average precision where left out.
    resampling : Resampling, optional
        Of the intervals, which are drawn over the split's groups.

    Returns
    -------
    Result
        ``result.protocol`` has the split's name, words and proof.

    Raises
    ------
    ProofError
        The split does not hold what it promises.

    Examples
    --------
    >>> from visual_search.evaluation.protocols.query_gallery import by_view
    >>> table = {"scene": ["a", "a", "b", "b"], "view": [0, 1, 0, 1]}
    >>> split = by_view(table, group="scene", view="view", query=0, gallery=1)
    >>> result = evaluate_split(split, {0: {1: 0.9, 3: 0.2}, 2: {1: 0.8, 3: 0.7}}, ["HitRate@1"])
    >>> result["HitRate@1"].mean, result["HitRate@1"].interval.groups, result.protocol["proof"]["holds"]
    (0.5, 2, True)
    """
    split.require()
    result = evaluate(ranking, split.relevance, measures, ties=ties, preset=preset)
    return _under(split, result, resampling)


def evaluate_split_vectors(
    split: Split,
    query_vectors: Any,
    gallery_vectors: Any,
    measures: Measures = None,
    *,
    metric: Metric = "cosine",
    ties: TieRule | None = None,
    preset: str | Preset | None = "textbook",
    resampling: Resampling | None = None,
) -> Result:
    """Measure the full ranking of a split's gallery by vectors.

    Parameters
    ----------
    query_vectors, gallery_vectors : array-like of shape (n, d) and (m, d)
        In the order of ``split.query_ids`` and ``split.gallery_ids``.
    split, measures, metric, ties, preset, resampling
        As for `evaluate_split` and `visual_search.evaluate_similarity`.
    """
    evaluated = partial(evaluate_similarity, measures=measures, metric=metric, ties=ties, preset=preset)
    return _under(split, _of_rows(split, query_vectors, gallery_vectors, "vectors", evaluated), resampling)


def evaluate_split_codes(
    split: Split,
    query_codes: Any,
    gallery_codes: Any,
    measures: Measures = None,
    *,
    packed: bool = False,
    ties: TieRule | None = None,
    preset: str | Preset | None = "textbook",
    resampling: Resampling | None = None,
) -> Result:
    """Measure the full ranking of a split's gallery by Hamming distance.

    Parameters
    ----------
    query_codes, gallery_codes : array-like or BinaryCodes
        In the order of ``split.query_ids`` and ``split.gallery_ids``.
    split, measures, packed, ties, preset, resampling
        As for `evaluate_split` and `visual_search.evaluate_codes`.
    """
    evaluated = partial(evaluate_codes, measures=measures, packed=packed, ties=ties, preset=preset)
    return _under(split, _of_rows(split, query_codes, gallery_codes, "codes", evaluated), resampling)


def _of_rows(split: Split, query: Any, gallery: Any, what: str, evaluated: Callable[..., Result]) -> Result:
    """The full ranking of a split's gallery by vectors or codes, as ``evaluated`` measures it."""
    split.require()
    _check_rows(split, query, gallery, what)
    return evaluated(query, gallery, split.relevance, query_ids=split.query_ids, gallery_ids=split.gallery_ids)


def _check_rows(split: Split, query: Any, gallery: Any, what: str) -> None:
    for rows, ids, side in ((query, split.query_ids, "query"), (gallery, split.gallery_ids, "gallery")):
        if len(rows) != len(ids):
            raise InputError(
                f"{side}_{what}: {len(rows)} rows; the split has {len(ids)} such items, and each needs its "
                f"{what.removesuffix('s')}, in order"
            )


def _under(split: Split, result: Result, resampling: Resampling | None) -> Result:
    measured = with_intervals(result, groups=split.groups, resampling=resampling)
    return measured.replaced(protocol=split.record())
