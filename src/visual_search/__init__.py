"""Visual Search: index images, search them, and measure the search so that its numbers can be trusted.

The names below are loaded on first use, so that importing the package stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from visual_search.evaluation.codes import evaluate_codes
    from visual_search.evaluation.comparison import compare
    from visual_search.evaluation.measures.parsing import parse_measure
    from visual_search.evaluation.neighbor_recall import neighbor_recall, neighbor_recall_table
    from visual_search.evaluation.rank_matrix import recall_at_k
    from visual_search.evaluation.scoring import evaluate
    from visual_search.evaluation.similarity import evaluate_similarity
    from visual_search.ground_truth.exact_neighbors import ExactNeighbors
    from visual_search.ground_truth.foreign_truth import adopt_neighbors
    from visual_search.ground_truth.relevance import Relevance
    from visual_search.ground_truth.shared_labels import SharedLabels
    from visual_search.ground_truth.truth_building import exact_neighbors
    from visual_search.ground_truth.truth_merging import merge_neighbors
    from visual_search.rankings.id_lists import IdLists
    from visual_search.rankings.ranking import Ranking
    from visual_search.rankings.run_file import RunFile

__all__ = [
    "ExactNeighbors",
    "IdLists",
    "Ranking",
    "Relevance",
    "RunFile",
    "SharedLabels",
    "__version__",
    "adopt_neighbors",
    "compare",
    "evaluate",
    "evaluate_codes",
    "evaluate_similarity",
    "exact_neighbors",
    "merge_neighbors",
    "neighbor_recall",
    "neighbor_recall_table",
    "parse_measure",
    "recall_at_k",
]

__version__ = "0.1.0"

_HOMES = {
    "ExactNeighbors": "visual_search.ground_truth.exact_neighbors",
    "IdLists": "visual_search.rankings.id_lists",
    "adopt_neighbors": "visual_search.ground_truth.foreign_truth",
    "exact_neighbors": "visual_search.ground_truth.truth_building",
    "merge_neighbors": "visual_search.ground_truth.truth_merging",
    "compare": "visual_search.evaluation.comparison",
    "evaluate": "visual_search.evaluation.scoring",
    "evaluate_codes": "visual_search.evaluation.codes",
    "evaluate_similarity": "visual_search.evaluation.similarity",
    "neighbor_recall": "visual_search.evaluation.neighbor_recall",
    "neighbor_recall_table": "visual_search.evaluation.neighbor_recall",
    "parse_measure": "visual_search.evaluation.measures.parsing",
    "recall_at_k": "visual_search.evaluation.rank_matrix",
    "Ranking": "visual_search.rankings.ranking",
    "Relevance": "visual_search.ground_truth.relevance",
    "SharedLabels": "visual_search.ground_truth.shared_labels",
    "RunFile": "visual_search.rankings.run_file",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'visual_search' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
