"""What a sweep is made on: vectors as engines take them, right answers that belong to them, and measures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import DepthError, FingerprintError, InputError, Problems, first_few
from visual_search.evaluation.fingerprints import fingerprint_pairs
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.neighbor_measure import NeighborMeasure
from visual_search.evaluation.measures.parsing import parse_measures
from visual_search.evaluation.scoring import evaluate
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.ground_truth.gallery_ids import GalleryIds
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Ids
from visual_search.indexing.engines.contract import VECTOR_METRICS, Metric
from visual_search.indexing.incoming import checked_vectors
from visual_search.rankings.id_lists import IdLists
from visual_search.rankings.ranking import Ranking
from visual_search.undefined import none_if_nan

__all__ = ["SweepData"]

Vectors: TypeAlias = npt.NDArray[np.float32]
Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]

_METRICS = {"l2": "l2", "ip": "ip", "inner_product": "ip", "cosine": "cosine"}


@dataclass(frozen=True, eq=False)
class SweepData:
    """Gallery, queries and right answers of a sweep, checked against each other.

    Attributes
    ----------
    gallery, queries : float32 arrays of shape (n, d) and (m, d)
        As engines take them.
    gallery_ids : GalleryIds
    query_ids : Ids
    k : int
    metric : "cosine", "ip" or "l2"
    measures : tuple of Measure
    truth : ExactNeighbors or None
    relevance : Relevance or None
    gallery_fingerprint, queries_fingerprint : str
        Of the vectors as they came, with their ids.
    """

    gallery: Vectors
    queries: Vectors
    gallery_ids: GalleryIds
    query_ids: Ids
    k: int
    metric: Metric
    measures: tuple[Measure, ...]
    truth: ExactNeighbors | None
    relevance: Relevance | None
    gallery_fingerprint: str
    queries_fingerprint: str

    @classmethod
    def of(
        cls,
        gallery: Any,
        queries: Any,
        *,
        k: int = 10,
        metric: Metric | None = None,
        gallery_ids: Any = None,
        query_ids: Iterable[Any] | None = None,
        truth: ExactNeighbors | None = None,
        relevance: Relevance | None = None,
        measures: Sequence[str | Measure] | None = None,
    ) -> SweepData:
        """Check everything before hours of work.

        Parameters
        ----------
        gallery, queries : arrays of shape (n, d) and (m, d)
        k : int
            Neighbours a query.
        metric : "cosine", "ip" or "l2", optional
            The truth's by default.
        gallery_ids, query_ids : optional
            Row numbers by default.
        truth : ExactNeighbors, optional
            Used only where the fingerprints of gallery and queries are its own.
        relevance : Relevance, optional
            People's right answers, for measures such as ``"HitRate@10"``.
        measures : sequence of str, optional
            ``NeighborRecall@k`` of a truth and ``HitRate@k`` of a relevance by default.

        Raises
        ------
        FingerprintError
            A truth of other vectors, or by another metric.
        DepthError
            k beyond the gallery or the truth.
        InputError
            Vectors an engine cannot take; measures without what they are measured against, that read beyond k, or of
            another average than the mean; a filtered truth.
        """
        chosen = _metric(metric, truth)
        base, asked = np.asanyarray(gallery), np.asanyarray(queries)
        names = GalleryIds(len(base) if gallery_ids is None else gallery_ids)
        query_names = Ids(range(len(asked)) if query_ids is None else query_ids, what="query_ids")
        problems = Problems("sweep")
        for what, ids, rows in (("gallery_ids", names, base), ("query_ids", query_names, asked)):
            if len(ids) != len(rows):
                problems.add(f"{what}: {len(ids)} ids for {len(rows)} vectors; give one to each")
        problems.raise_if_any(InputError)
        if truth is not None:
            _check_truth(truth, chosen, base, asked, names=names, query_names=query_names)
        _check_depth(k, len(base), truth)
        wanted = _measures(measures, k, truth, relevance)
        _check_measures(wanted, k, len(base))
        if relevance is not None:
            _check_queries(relevance, query_names)
        ready = checked_vectors(base, None, chosen, subject="gallery").vectors
        return cls(
            gallery=ready,
            queries=checked_vectors(asked, ready.shape[1], chosen, subject="queries").vectors,
            gallery_ids=names,
            query_ids=query_names,
            k=int(k),
            metric=chosen,
            measures=wanted,
            truth=truth,
            relevance=relevance,
            gallery_fingerprint=names.fingerprint_with(base),
            queries_fingerprint=GalleryIds(query_names).fingerprint_with(asked),
        )

    def identity(self) -> dict[str, Any]:
        """What makes two sweeps sweeps of the same thing, as a JSON object."""
        judged = None if self.relevance is None else _relevance_fingerprint(self.relevance)
        return {
            "gallery": self.gallery_fingerprint,
            "queries": self.queries_fingerprint,
            "gallery_size": len(self.gallery),
            "query_count": len(self.queries),
            "dimension": int(self.gallery.shape[1]),
            "metric": self.metric,
            "k": self.k,
            "measures": [str(measure) for measure in self.measures],
            "truth": None if self.truth is None else self.truth.fingerprint,
            "truth_label": None if self.truth is None else self.truth.label(),
            "relevance": judged,
        }

    def values(self, rows: Int64Array, scores: Vectors) -> dict[str, list[float | None]]:
        """Every measure of every query, in the queries' order, from what an engine found; None where undefined."""
        found: Ranking | IdLists
        ids = self.gallery_ids.array(rows)
        if self.gallery_ids.kind is int:
            found = IdLists(ids, scores, query_ids=self.query_ids, pad=-1)
        else:
            lists = [line[known].tolist() for line, known in zip(ids, rows >= 0, strict=True)]
            kept = [line[known].tolist() for line, known in zip(scores, rows >= 0, strict=True)]
            found = Ranking.from_arrays(lists, kept, query_ids=self.query_ids)
        made: dict[str, list[float | None]] = {}
        for right, wanted in (
            (self.truth, [one for one in self.measures if isinstance(one, NeighborMeasure)]),
            (self.relevance, [one for one in self.measures if not isinstance(one, NeighborMeasure)]),
        ):
            if right is None or not wanted:
                continue
            result = evaluate(found, right, wanted)
            places = result.queries.rows(list(self.query_ids))
            for measure in wanted:
                values = result[str(measure)].values[places]
                made[str(measure)] = [none_if_nan(value) for value in values]
        return {str(measure): made[str(measure)] for measure in self.measures}


def _metric(metric: str | None, truth: ExactNeighbors | None) -> Metric:
    of_truth = None if truth is None else _METRICS.get(truth.metric)
    if truth is not None and of_truth is None:
        raise InputError(f"truth: its metric is {truth.metric!r}; a sweep searches by {', '.join(VECTOR_METRICS)}")
    if metric is None and of_truth is None:
        raise InputError(f"metric: none given; choose one of {', '.join(VECTOR_METRICS)}")
    chosen = metric or of_truth
    if chosen not in VECTOR_METRICS:
        raise InputError(f"metric: got {metric!r}; must be one of {', '.join(VECTOR_METRICS)}")
    if of_truth is not None and chosen != of_truth:
        raise FingerprintError(
            f"truth: its neighbours are nearest by {truth.metric if truth else ''}, and the engines would search by "
            f"{chosen}; leave metric out, or compute the truth by {chosen}"
        )
    return chosen


def _check_truth(
    truth: ExactNeighbors, metric: Metric, gallery: Any, queries: Any, *, names: GalleryIds, query_names: Ids
) -> None:
    if truth.kind == "filtered":
        raise InputError(
            "truth: it is of a subset for each query, and the engines search the whole gallery; give the truth of all "
            f"of it by {metric}"
        )
    truth.verify(gallery, queries, gallery_ids=names, query_ids=query_names)


def _check_depth(k: int, gallery: int, truth: ExactNeighbors | None) -> None:
    if isinstance(k, bool) or not hasattr(type(k), "__index__") or k < 1:
        raise InputError(f"k: got {k!r}; must be a whole number of at least 1")
    if k > gallery:
        raise DepthError(f"k: got {k}, but the gallery has {gallery} items; k may be 1..{gallery}")
    if truth is not None and k > truth.k:
        raise DepthError(f"k: got {k}, but the truth has the {truth.k} nearest; k may be 1..{truth.k}")


def _measures(
    asked: Sequence[str | Measure] | None, k: int, truth: ExactNeighbors | None, relevance: Relevance | None
) -> tuple[Measure, ...]:
    if truth is None and relevance is None:
        raise InputError(
            "truth, relevance: none given; a setting is measured against exact neighbours or right answers"
        )
    usual = ([f"NeighborRecall@{k}"] if truth is not None else []) + (
        [f"HitRate@{k}"] if relevance is not None else []
    )
    chosen = parse_measures(usual if asked is None else asked)
    problems = Problems("measures")
    if not chosen:
        problems.add(f"none given; give some, as in ['NeighborRecall@{k}']")
    for measure in chosen:
        reads_truth = isinstance(measure, NeighborMeasure)
        if (truth if reads_truth else relevance) is None:
            problems.add(
                f"{measure}: needs {'exact neighbours (truth)' if reads_truth else 'right answers (relevance)'}"
            )
    problems.raise_if_any(InputError)
    return chosen


def _check_measures(measures: Sequence[Measure], k: int, gallery: int) -> None:
    """Refuse measures that would not be what their name says: of lists that end sooner, or of another average."""
    problems = Problems("measures")
    for measure in measures:
        reads = getattr(measure, "k", None)
        if isinstance(reads, int):
            if reads > k:
                problems.add(f"{measure}: reads {reads} places, and the sweep finds k={k}; give k={reads} or more")
        elif k < gallery:
            problems.add(
                f"{measure}: reads the whole ranking, and the sweep's lists end at k={k}; give it a cut-off up to "
                f"that, as in HitRate@{k}"
            )
        if measure.average != "macro":
            problems.add(
                f"{measure}: a sweep keeps the value of every query and shows their mean; leave average= out"
            )
    problems.raise_if_any(InputError)


def _check_queries(relevance: Relevance, queries: Ids) -> None:
    known = relevance.queries
    if known and queries and known.kind is not queries.kind:
        raise InputError(
            f"relevance: its query ids are {known.kind.__name__} and those of the sweep {queries.kind.__name__}"
        )
    missing = queries.take(np.flatnonzero(known.rows(list(queries)) < 0).tolist())
    if missing:
        raise InputError(
            f"relevance: lacks {len(missing)} of {len(queries)} queries, first: {first_few(missing)}; sweep over the "
            "judged queries only"
        )


def _relevance_fingerprint(relevance: Relevance) -> list[str]:
    judged = ~relevance.ignored
    return [fingerprint_pairs(relevance, judged), fingerprint_pairs(relevance, ~judged)]
