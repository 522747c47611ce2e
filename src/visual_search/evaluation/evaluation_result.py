"""The result of evaluating a search service: the guide's numbers, and all that is needed to trust them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from visual_search.counted import counted
from visual_search.evaluation.absent_items import AbsentItems
from visual_search.evaluation.audit import Audit
from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.evaluation.fingerprints import picture_hashes
from visual_search.evaluation.fold_scores import FoldScores, fold_scores
from visual_search.evaluation.guide_measures import GuideMeasures
from visual_search.evaluation.guide_record import guide_record, items_manifest, per_query_results, query_columns
from visual_search.evaluation.item_states import ranking_columns
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.result import MeasureResult, Result
from visual_search.evaluation.search_service import Gallery
from visual_search.evaluation.statistics.interval import Resampling
from visual_search.evaluation.summary import summary_text
from visual_search.formats.results import StoredResult, write_result
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id
from visual_search.rankings.ranking import Ranking

__all__ = ["EvaluationResult"]

_AT_K = re.compile(r"(recall|precision|ndcg|hit_rate)_at_(\d+)")


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationResult:
    """What an evaluation gave.

    Attributes are named after the keys of the results JSON. Undefined numbers are NaN here and null there.

    Attributes
    ----------
    dataset : EvaluationDataset
        The queries.
    guide : GuideMeasures
        Which measure stands behind which number.
    measures : Result
        Every measure by its text form, with values per query and intervals.
    ranking : Ranking
        What the service returned.
    relevance : Relevance
        The right answers, with what was ignored.
    gallery : Gallery
        What the service told of itself.
    audit : Audit
        A look at the query set.
    absent : AbsentItems or None
        Right answers that the index lacks; None where the service does not tell its items.
    random_baseline, ceilings : Result or None
        Exact expectation under random retrieval, and the best that can be reached.
    model_name : str
    timestamp : str
        UTC.
    exclude_self : bool
        Whether the item with the query's own id counted neither way.
    protocol : dict or None
        How queries and gallery were chosen, in words.
    resampling : Resampling
    warnings, notes : tuple of str

    Examples
    --------
    >>> from visual_search.evaluation.evaluator import EvaluationDataset, ModelEvaluator
    >>> from visual_search.testing.plain_search import PlainSearch
    >>> service = PlainSearch({"a": [1, 0], "b": [0, 1], "c": [1, 1]})
    >>> dataset = EvaluationDataset.from_dict({"queries": [{"query_id": "q", "ground_truth": ["b", "c"]}]})
    >>> result = ModelEvaluator(service).evaluate(dataset, [1, 2], {"q": [0.5, 1]})
    >>> result.recall_at_k, result.mrr, result.recall_at_2
    ({1: 0.5, 2: 1.0}, 1.0, 1.0)
    >>> result["mAP"].mean == result["AP@2"].mean == result.map
    True
    """

    dataset: EvaluationDataset
    guide: GuideMeasures
    measures: Result
    ranking: Ranking
    relevance: Relevance
    gallery: Gallery
    audit: Audit
    absent: AbsentItems | None
    random_baseline: Result | None
    ceilings: Result | None
    model_name: str
    timestamp: str
    exclude_self: bool
    protocol: Mapping[str, Any] | None
    resampling: Resampling
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def num_queries(self) -> int:
        """Number of queries evaluated, those without relevant items included."""
        return len(self.dataset)

    @property
    def k_values(self) -> list[int]:
        """Depths, rising."""
        return list(self.guide.k_values)

    @property
    def recall_at_k(self) -> dict[int, float]:
        """Recall@K for each depth, over all relevant items."""
        return self._at_k("recall")

    @property
    def precision_at_k(self) -> dict[int, float]:
        """Precision@K for each depth."""
        return self._at_k("precision")

    @property
    def ndcg_at_k(self) -> dict[int, float]:
        """NDCG@K for each depth, linear gain."""
        return self._at_k("ndcg")

    @property
    def hit_rate_at_k(self) -> dict[int, float]:
        """Share of queries with at least one relevant item among the first K."""
        return self._at_k("hit_rate")

    @property
    def map(self) -> float:
        """Mean average precision, over all relevant items, cut at the largest depth."""
        return self.measures[self.guide.average_precision].mean

    @property
    def mrr(self) -> float:
        """Mean reciprocal rank within the largest depth."""
        return self.measures[self.guide.reciprocal_rank].mean

    @cached_property
    def per_query_results(self) -> list[dict[str, Any]]:
        """One dictionary a query, the guide's keys first; undefined values are None."""
        return per_query_results(self)

    @cached_property
    def record(self) -> dict[str, Any]:
        """The whole result as a JSON value, the guide's keys first and in order."""
        return guide_record(self)

    @cached_property
    def query_hashes(self) -> dict[Id, str]:
        """Fingerprint of each query's picture file, read once; of queries without one none."""
        return picture_hashes({query.query_id: self.dataset.image_of(query) for query in self.dataset.queries})

    def __getitem__(self, measure: str | Measure) -> MeasureResult:
        # The guide's own names, as attributes and the JSON's keys have them, mean its depth: the largest k.
        if isinstance(measure, str) and measure in ("mAP", "map"):
            measure = self.guide.average_precision
        elif isinstance(measure, str) and measure in ("MRR", "mrr"):
            measure = self.guide.reciprocal_rank
        return self.measures[measure]

    def __getattr__(self, name: str) -> float:
        # The JSON's keys recall_at_5 and their like are attributes too.
        named = _AT_K.fullmatch(name)
        if named is None or int(named[2]) not in self.guide.k_values:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return self.measures[self.guide.at(named[1], int(named[2]))].mean

    def _at_k(self, key: str) -> dict[int, float]:
        return {k: self.measures[self.guide.at(key, k)].mean for k in self.guide.k_values}

    def summary(self) -> str:
        """Write the numbers as a table with intervals, random retrieval and ceilings; then warnings and notes."""
        return summary_text(self)

    def over_folds(self, n_splits: int = 5, seed: int = 0) -> FoldScores:
        """Score each fold of the queries apart, groups kept whole; see :class:`FoldScores`."""
        return fold_scores(self.measures, self.dataset.folds(n_splits, seed), seed, self.guide.title)

    def to_json(self, path: str | os.PathLike[str]) -> StoredResult:
        """Write the results JSON, and beside it the ranking, the queries' values and the images' places.

        Files are written whole or not at all, the JSON last.
        """
        return write_result(
            path,
            self.record,
            ranking=ranking_columns(
                self.ranking, self.relevance, self.gallery.metric, complete=self.dataset.complete
            ),
            queries=query_columns(self),
            items=items_manifest(self),
        )

    def __repr__(self) -> str:
        numbers = f"mAP {self.map:.3f}, MRR {self.mrr:.3f}"
        queries = counted(self.num_queries, "query", "queries")
        return f"EvaluationResult({queries}, {self.model_name}: {numbers})"
