"""What a result was measured on: the right answers, the gallery, and how likeness was measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from visual_search.evaluation.fingerprints import fingerprint_ids, fingerprint_pairs
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Ids

__all__ = ["Setting"]


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What two results must share to be compared; fingerprints are made when they are asked for.

    Parameters
    ----------
    relevance : Relevance
    gallery : Ids, optional
        None where lists were given, which do not tell what they were drawn from.
    metric : str, optional
    """

    relevance: Relevance
    gallery: Ids | None = None
    metric: str | None = None

    def fingerprints(self) -> dict[str, str | None]:
        """Of gallery, relevance and exclusions, each of its content whatever the order."""
        judged = ~np.asarray(self.relevance.ignored)
        return {
            "gallery": None if self.gallery is None else fingerprint_ids(self.gallery),
            "relevance": fingerprint_pairs(self.relevance, judged),
            "exclusions": fingerprint_pairs(self.relevance, ~judged),
        }
