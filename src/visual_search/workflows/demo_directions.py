"""The demonstration's view split, searched from either side, and its systems compared over both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.comparison import compare
from visual_search.evaluation.protocols.directions import Directions, evaluate_directions_vectors
from visual_search.evaluation.protocols.split import Split
from visual_search.indexing.index_table import VectorIndex
from visual_search.workflows.demo_protocols import HALVES
from visual_search.workflows.page_comparisons import PageComparison, drawn_words

__all__ = ["DIRECTION_MEASURES", "MeasuredDirections", "measure_directions"]

DIRECTION_MEASURES = ("HitRate@1", "HitRate@5", "AP(denominator=all)")
_COMPARED = ("HitRate@1", "AP(denominator=all)")


@dataclass(frozen=True, slots=True)
class MeasuredDirections:
    """What the two directions of a split gave.

    Attributes
    ----------
    split : Split
    systems : mapping of name to Directions
    random : Directions
        Exact expectation of a ranking by chance.
    comparisons : tuple of PageComparison
        Each other system against the baseline, over the queries of both directions.
    """

    split: Split
    systems: Mapping[str, Directions]
    random: Directions
    comparisons: tuple[PageComparison, ...]

    def as_json(self) -> dict[str, Any]:
        """The whole as a JSON object."""
        return {
            "split": self.split.record(),
            "systems": {name: found.as_json() for name, found in self.systems.items()},
            "random": self.random.as_json(),
            "comparisons": [one.as_json() for one in self.comparisons],
            "names": [f"{half} ask" for half in HALVES],
        }


def measure_directions(
    split: Split, indexes: Mapping[str, VectorIndex], *, baseline: str, name: str
) -> MeasuredDirections:
    """Rank either side of a split by each index's vectors, over the whole of the other side.

    Parameters
    ----------
    split : Split
        Of items that every index has.
    indexes : mapping of system's name to VectorIndex
        With metric cosine.
    baseline : str
        The system that the others are held against.
    name : str
        The protocol's name, for the comparisons.
    """
    systems = {
        system: evaluate_directions_vectors(
            split, _vectors(index, split.query_ids), _vectors(index, split.gallery_ids), DIRECTION_MEASURES
        )
        for system, index in indexes.items()
    }
    # All alike: every order is as likely, and the expectation over ties is exact.
    asked, searched = (np.ones((len(side), 1), dtype=np.float32) for side in (split.queries, split.gallery))
    random = evaluate_directions_vectors(split, asked, searched, DIRECTION_MEASURES)
    order = [baseline, *(system for system in systems if system != baseline)]
    found = compare({system: systems[system].pooled for system in order}, list(_COMPARED))
    made = (PageComparison(name, one, f"Both directions. {drawn_words(found)}") for one in found)
    return MeasuredDirections(split, systems, random, tuple(made))


def _vectors(index: VectorIndex, ids: Sequence[Any]) -> npt.NDArray[np.float32]:
    return index.vectors(list(ids))
