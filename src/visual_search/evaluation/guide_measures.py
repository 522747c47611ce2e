"""The measures of the evaluation guide, as measure values.

Recall@K divides by all relevant items, Precision@K by K, AP by all relevant items; AP and reciprocal rank are cut
at the largest K; ties stand as listed. HitRate@K stands beside, since Recall@K cannot reach 1 where K is smaller
than the number of relevant items.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.evaluation.measures.average_precision import AP
from visual_search.evaluation.measures.gain import nDCG
from visual_search.evaluation.measures.hit_rate import HitRate
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.parsing import parse_measures
from visual_search.evaluation.measures.precision import Precision
from visual_search.evaluation.measures.recall import Recall
from visual_search.evaluation.measures.reciprocal_rank import RR

__all__ = ["GuideMeasures"]


@dataclass(frozen=True, slots=True)
class GuideMeasures:
    """Which measure stands behind which key of the guide's results.

    Parameters
    ----------
    k_values : tuple of int
        Distinct depths in rising order.
    more : tuple of Measure
        Measures wanted beside the guide's; each with a cut-off, since a search has a depth.

    Examples
    --------
    >>> guide = GuideMeasures((1, 5))
    >>> str(guide.at("recall", 5)), str(guide.average_precision)
    ('Recall(denominator=all)@5', 'AP(denominator=all)@5')
    """

    k_values: tuple[int, ...]
    more: tuple[Measure, ...] = ()

    @classmethod
    def of(cls, k_values: Sequence[int], more: Iterable[str | Measure] = ()) -> GuideMeasures:
        """Take depths and further measures, as values or as text.

        Raises
        ------
        InputError
            A further measure that has no cut-off.
        """
        further = parse_measures(more)
        whole = [str(measure) for measure in further if not isinstance(measure.depth, int)]
        if whole:
            raise InputError(
                f"measures: {', '.join(whole)} read the whole ranking, but evaluation searches to a depth; give a "
                "cut-off, as in AP@100"
            )
        return cls(tuple(k_values), tuple(further))

    def at(self, key: str, k: int) -> Measure:
        """Give the measure behind ``recall``, ``precision``, ``ndcg`` or ``hit_rate`` at k."""
        families: dict[str, Measure] = {
            "recall": Recall(),
            "precision": Precision(k=k),
            "ndcg": nDCG(),
            "hit_rate": HitRate(k=k),
        }
        return families[key] @ k

    @property
    def average_precision(self) -> Measure:
        """AP over all relevant items, cut at the largest k."""
        return AP(k=max(self.k_values))

    @property
    def reciprocal_rank(self) -> Measure:
        """Reciprocal rank within the largest k."""
        return RR(k=max(self.k_values))

    @property
    def all(self) -> list[Measure]:
        """All measures, in the order of the result's keys."""
        recall, precision, ndcg, hit_rate = (
            [self.at(key, k) for k in self.k_values] for key in ("recall", "precision", "ndcg", "hit_rate")
        )
        listed = [*recall, *precision, self.average_precision, self.reciprocal_rank, *ndcg, *hit_rate, *self.more]
        return list(dict.fromkeys(listed))

    def columns(self, entries: Sequence[Mapping[str, Any]]) -> dict[str, npt.NDArray[np.float64]]:
        """Take values per query out of a record's ``per_query_results``, by canonical text; NaN where undefined.

        Families that the entries lack are left out.
        """
        listed = {str(self.average_precision): [entry["average_precision"] for entry in entries]}
        listed[str(self.reciprocal_rank)] = [entry["reciprocal_rank"] for entry in entries]
        for key in ("recall", "precision", "ndcg", "hit_rate"):
            if all(f"{key}_at_k" in entry for entry in entries):
                for k in self.k_values:
                    listed[str(self.at(key, k))] = [entry[f"{key}_at_k"][str(k)] for entry in entries]
        return {text: np.array(column, dtype=np.float64) for text, column in listed.items()}

    @property
    def depth(self) -> int:
        """How deep a list must be for all of them."""
        return max((*self.k_values, *(m.depth for m in self.more if isinstance(m.depth, int))))

    def title(self, measure: Measure) -> str:
        """Give the guide's name of a measure, or its text form."""
        if measure == self.average_precision:
            return f"mAP@{max(self.k_values)}"
        if measure == self.reciprocal_rank:
            return f"MRR@{max(self.k_values)}"
        names = {"recall": "Recall", "precision": "Precision", "ndcg": "NDCG", "hit_rate": "HitRate"}
        for key, name in names.items():
            for k in self.k_values:
                if measure == self.at(key, k):
                    return f"{name}@{k}"
        return str(measure)
