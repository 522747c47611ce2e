"""Evaluates a search service: queries are searched, and what comes back is held against the right answers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.evaluation.absent_items import find_absent_items
from visual_search.evaluation.audit import audit_dataset
from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.evaluation.evaluation_result import EvaluationResult
from visual_search.evaluation.guide_measures import GuideMeasures
from visual_search.evaluation.joining import join
from visual_search.evaluation.k_values import checked_k_values
from visual_search.evaluation.left_out import without_queries
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.notes import beyond_gallery
from visual_search.evaluation.own_items import own_items
from visual_search.evaluation.protocols.presets import preset_named
from visual_search.evaluation.protocols.split import Split
from visual_search.evaluation.protocols.split_dataset import protocol_record
from visual_search.evaluation.provenance import utc_now
from visual_search.evaluation.pseudo import pseudo_warnings
from visual_search.evaluation.query_vectors import checked_embeddings, embed_queries
from visual_search.evaluation.reference_values import ceilings, random_baseline
from visual_search.evaluation.result import Result
from visual_search.evaluation.scoring import evaluate_positions
from visual_search.evaluation.search_service import Gallery, SearchService, gallery_of
from visual_search.evaluation.searching import search_all
from visual_search.evaluation.statistics.interval import Resampling
from visual_search.evaluation.statistics.measure_intervals import with_intervals
from visual_search.evaluation.tie_spread import tie_warnings
from visual_search.evaluation.ties import TieRule, checked_tie_rule
from visual_search.evaluation.trivial_queries import trivial_queries
from visual_search.ground_truth.relevance import Relevance
from visual_search.rankings.ranking import Ranking

__all__ = ["DEFAULT_K_VALUES", "ModelEvaluator", "evaluate_model"]

DEFAULT_K_VALUES = (1, 5, 10, 20)


class ModelEvaluator:
    """Evaluates one search service.

    Parameters
    ----------
    search_service : SearchService
        Anything with ``search(query_vec, query_id, k)`` whose answer has ``.results``, each with ``.image_id`` and
        ``.score``. Where it also offers ``search_batch`` and ``embed_images`` they are used, and what its ``index``
        tells goes into the record; see :mod:`visual_search.evaluation.search_service`.
    model_name : str, optional
        Stands in the record; the index's embedder where left out.
    application_k : int, optional
        How many results the application shows; a warning if the measures are not taken there.
    measures : iterable of str or Measure
        Wanted beside the guide's, each with a cut-off: ``["AP(denominator=min)@10"]``.
    resampling : Resampling, optional
        Confidence, resamples and seed of the intervals.
    ties : {"listed", "expected", "best", "worst", "id_desc", "id_asc"}
        What is done with items of equal score. The evaluation guide takes them as listed, so that among equals the
        order of the files decides; a warning says how far. ``"expected"`` is the exact mean over their orders.

    Convention
    ----------
    The evaluation guide's: Recall@K and AP divide by all relevant items, Precision@K by K; AP and reciprocal rank
    look down to the largest K; equal scores stand in the order returned unless ``ties`` says otherwise; queries
    without relevant items are left out of every mean, and counted.
    """

    def __init__(
        self,
        search_service: SearchService,
        *,
        model_name: str | None = None,
        application_k: int | None = None,
        measures: Iterable[str | Measure] = (),
        resampling: Resampling | None = None,
        ties: TieRule = "listed",
    ) -> None:
        if not callable(getattr(search_service, "search", None)):
            raise InputError(
                f"search_service: {type(search_service).__name__} has no search(query_vec, query_id, k); give one "
                "that has, such as NearestNeighborSearch(index=index)"
            )
        self.search_service = search_service
        self.model_name = model_name
        self.application_k = None if application_k is None else checked_k_values([application_k])[0]
        self.measures = tuple(measures)
        self.resampling = resampling or Resampling()
        self.ties = checked_tie_rule(ties)

    def evaluate(
        self,
        dataset: EvaluationDataset | Mapping[str, Any] | str | os.PathLike[str],
        k_values: Iterable[int] | str = DEFAULT_K_VALUES,
        precomputed_embeddings: Mapping[Any, Any] | None = None,
        output_path: str | os.PathLike[str] | None = None,
        *,
        exclude_self: bool = False,
        protocol: Mapping[str, Any] | Split | None = None,
    ) -> EvaluationResult:
        """Search every query and measure what comes back.

        Parameters
        ----------
        dataset : EvaluationDataset, or its JSON value, or the path of its file
        k_values : iterable of int, or "user" or "analysis"
            Depths; "user" is 10 and 20, "analysis" 1, 5, 10, 50 and 100.
        precomputed_embeddings : mapping of query id to array of shape (d,), optional
            Query vectors. Without them the query images are embedded by the service.
        output_path : path, optional
            Where to write the results JSON; its companions go beside it.
        exclude_self : bool
            Leave-one-out: the item with the query's own id counts neither way.
        protocol : Split, or mapping with ``name`` and ``words``, optional
            How queries and gallery were chosen, for the record. Of a split its proof stands there too.

        Returns
        -------
        EvaluationResult

        Raises
        ------
        DatasetError
            Problems of the dataset, or not one ground-truth id is in the index.
        InputError
            Depths, vectors or images that cannot be used; all problems of a kind at once.
        ProofError, FingerprintError
            A split whose proof does not hold, or whose right answers or gallery are not those measured on.
        """
        dataset = _dataset(dataset)
        guide = GuideMeasures.of(checked_k_values(k_values), self.measures)
        _check_output(output_path)
        gallery = gallery_of(self.search_service)
        ids = [query.query_id for query in dataset.queries]
        relevance = dataset.relevance(ignore_self=exclude_self)
        owners = [query.group for query in dataset.queries]
        stated = protocol_record(protocol, relevance, gallery.ids, owners)
        absent = None if gallery.ids is None else find_absent_items(relevance, gallery.ids)
        vectors = self._query_vectors(dataset, precomputed_embeddings, gallery)
        depth = search_depth(guide.depth, relevance, gallery)
        ranking = search_all(self.search_service, vectors, ids, depth, gallery.ids)
        measured, left_out, said = self._measured(dataset, ranking, relevance, guide, gallery)
        audit = audit_dataset(
            dataset,
            k_values=guide.k_values,
            application_k=self.application_k,
            trivial=trivial_queries(dataset, gallery, ranking, relevance, vectors),
        )
        own = own_items(ids, ranking.items if gallery.ids is None else gallery.ids) if exclude_self else None
        pseudo = () if dataset.pseudo is None else pseudo_warnings(dataset.pseudo, ids, gallery)
        random, best = (
            None if gallery.ids is None else without_queries(beside(relevance, gallery.ids, guide.all), left_out)
            for beside in (random_baseline, ceilings)
        )
        result = EvaluationResult(
            dataset=dataset,
            guide=guide,
            measures=measured,
            ranking=ranking,
            relevance=relevance,
            gallery=gallery,
            audit=audit,
            absent=absent,
            random_baseline=random,
            ceilings=best,
            model_name=self.model_name or gallery.model_name or "unknown",
            timestamp=utc_now(),
            exclude_self=exclude_self,
            protocol=own.protocol() if stated is None and own is not None else stated,
            resampling=self.resampling,
            warnings=(
                *dataset.warnings,
                *pseudo,
                *(absent.warnings() if absent else ()),
                *(own.warnings() if own else ()),
                *(protocol.warnings if isinstance(protocol, Split) else ()),
                *said,
                *audit.warnings,
            ),
            notes=(*(note for note in measured.notes if note not in said), *gallery.notes()),
        )
        if output_path is not None:
            result.to_json(output_path)
        return result

    def _query_vectors(
        self, dataset: EvaluationDataset, given: Mapping[Any, Any] | None, gallery: Gallery
    ) -> npt.NDArray[np.float32]:
        if given is None:
            return embed_queries(self.search_service, dataset)
        return checked_embeddings(given, [query.query_id for query in dataset.queries], gallery.dimension)

    def _measured(
        self,
        dataset: EvaluationDataset,
        ranking: Ranking,
        relevance: Relevance,
        guide: GuideMeasures,
        gallery: Gallery,
    ) -> tuple[Result, npt.NDArray[np.bool_], list[str]]:
        """Measure under the guide's rules; which queries these leave out of every mean; and what to warn of."""
        rules = preset_named("guide")
        # An index's vocabulary may hold ids no longer in it, and one gathered from answers is no gallery at all.
        size = max(len(ranking.items), guide.depth) if gallery.size is None else gallery.size
        positions = replace(join(ranking, relevance), gallery=size)
        left_out = rules.left_out(positions)
        measured = without_queries(evaluate_positions(positions, guide.all, ties=self.ties), left_out)
        groups = [query.group for query in dataset.queries]
        measured = with_intervals(measured, groups=groups, resampling=self.resampling)
        said = tie_warnings(positions, guide, left_out, self.ties)
        if gallery.size is not None:
            said = [*beyond_gallery(positions, guide.k_values), *said]
        return measured.replaced(preset=rules.name), left_out, said


def evaluate_model(
    search_service: SearchService,
    dataset_path: str | os.PathLike[str],
    k_values: Iterable[int] | str = DEFAULT_K_VALUES,
    output_path: str | os.PathLike[str] | None = None,
    *,
    precomputed_embeddings: Mapping[Any, Any] | None = None,
    application_k: int | None = None,
    exclude_self: bool = False,
    ties: TieRule = "listed",
) -> EvaluationResult:
    """Read a dataset file and evaluate a search service on it.

    Parameters
    ----------
    search_service : SearchService
    dataset_path : path
        The evaluation dataset's JSON.
    k_values, output_path, precomputed_embeddings, exclude_self
        As for :meth:`ModelEvaluator.evaluate`.
    application_k, ties
        As for :class:`ModelEvaluator`.

    Returns
    -------
    EvaluationResult
    """
    return ModelEvaluator(search_service, application_k=application_k, ties=ties).evaluate(
        dataset_path,
        k_values=k_values,
        precomputed_embeddings=precomputed_embeddings,
        output_path=output_path,
        exclude_self=exclude_self,
    )


def search_depth(depth: int, relevance: Relevance, gallery: Gallery) -> int:
    """How many items to ask for, so that ``depth`` are left when ignored ones are taken out."""
    ignored = relevance.ignored
    if gallery.ids is not None and ignored.any():
        ignored = ignored & (gallery.ids.rows(relevance.items) >= 0)[relevance.rows]
    owners = np.repeat(np.arange(len(relevance)), np.diff(relevance.offsets))[ignored]
    most = int(np.bincount(owners).max()) if len(owners) else 0
    return depth + most if gallery.size is None else max(1, min(depth + most, gallery.size))


def _dataset(given: EvaluationDataset | Mapping[str, Any] | str | os.PathLike[str]) -> EvaluationDataset:
    if isinstance(given, EvaluationDataset):
        return given
    if isinstance(given, str | os.PathLike):
        return EvaluationDataset.from_json(given)
    return EvaluationDataset.from_dict(given)


def _check_output(output_path: str | os.PathLike[str] | None) -> None:
    """Refuse early what would only fail after the search."""
    if output_path is not None and Path(output_path).is_dir():
        raise InputError(f"output_path: {os.fspath(output_path)!r} is a folder; give a file, such as results.json")
