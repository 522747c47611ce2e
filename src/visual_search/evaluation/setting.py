"""What a result was measured on: the right answers, the gallery, and how likeness was measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from visual_search.evaluation.fingerprints import fingerprint_ids, fingerprint_pairs
from visual_search.formats.fingerprint import fingerprint_array, fingerprint_bytes
from visual_search.ground_truth.relevance import Relevance
from visual_search.ground_truth.shared_labels import SharedLabels
from visual_search.ids import Ids

__all__ = ["Setting"]


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What two results must share to be compared; fingerprints are made when they are asked for.

    Parameters
    ----------
    relevance : Relevance or SharedLabels
        Label sets are compared as they are, and only with label sets.
    gallery : Ids, optional
        None where lists were given, which do not tell what they were drawn from.
    metric : str, optional
    longest_list : int, optional
        Items in the longest list, ignored ones counted; None where the whole gallery was ranked.
    """

    relevance: Relevance | SharedLabels
    gallery: Ids | None = None
    metric: str | None = None
    longest_list: int | None = None

    def fingerprints(self) -> dict[str, str | None]:
        """Of gallery, relevance and exclusions, each of its content whatever the order."""
        gallery = None if self.gallery is None else fingerprint_ids(self.gallery)
        if isinstance(self.relevance, SharedLabels):
            labels = self.relevance
            parts = [labels.rule, labels.queries.fingerprint(), labels.items.fingerprint()]
            parts += [fingerprint_array(words) for words in (labels.query_words, labels.item_words)]
            right = fingerprint_bytes("\n".join(parts).encode())
            return {"gallery": gallery, "relevance": right, "exclusions": fingerprint_array(labels.own)}
        judged = ~np.asarray(self.relevance.ignored)
        return {
            "gallery": gallery,
            "relevance": fingerprint_pairs(self.relevance, judged),
            "exclusions": fingerprint_pairs(self.relevance, ~judged),
        }
