"""Queries that cannot miss: their own file, or an exact copy of it, is in the gallery."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.evaluation.item_states import item_states
from visual_search.evaluation.search_service import Gallery
from visual_search.formats.fingerprint import fingerprint_file
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id
from visual_search.rankings.ranking import Ranking

__all__ = ["trivial_queries"]

# Products of unit float32 vectors of a few hundred dimensions round by about 1e-6.
_EQUAL_COSINE = 4e-6
# The same rounding of a squared distance, as a share of the vector's length.
_EQUAL_LENGTH = 5e-4


def trivial_queries(
    dataset: EvaluationDataset,
    gallery: Gallery,
    ranking: Ranking,
    relevance: Relevance,
    vectors: npt.NDArray[np.float32],
) -> dict[Id, str]:
    """Find queries whose answer is given away.

    Four signs, the first that holds is told: an item has the query's id; an item is the query's own file; an item's
    file has the same bytes; the first item found has the same vector. Ignored items (the query itself under
    leave-one-out) give nothing away.

    Parameters
    ----------
    dataset : EvaluationDataset
    gallery : Gallery
        What the service tells of its items; signs it tells nothing of are not looked for.
    ranking : Ranking
    relevance : Relevance
        With the pairs that are ignored.
    vectors : float32 array of shape (n, d)
        The queries' vectors, in the dataset's order.

    Returns
    -------
    dict of id to str
        How each was seen, in the dataset's order.
    """
    ignored = _ignored(relevance)
    paths = _item_of_path(gallery)
    hashes: dict[str, list[Id]] = {}
    for item, digest in (gallery.hashes or {}).items():
        hashes.setdefault(digest.removeprefix("sha256:"), []).append(item)
    same_vector = _same_vector(dataset, gallery, ranking, relevance, vectors)
    found: dict[Id, str] = {}
    for query in dataset.queries:
        own, left_out = query.query_id, ignored.get(query.query_id, set())
        image = dataset.image_of(query)
        there = image is not None and image.is_file() and bool(paths or hashes)
        if gallery.ids is not None and own in gallery.ids and own not in left_out:
            found[own] = "by id"
        elif image is not None and there and paths.get(image.resolve(), own) not in left_out | {own}:
            found[own] = "by file"
        elif image is not None and there and _copies(image, hashes) - left_out:
            found[own] = "by equal bytes"
        elif own in same_vector:
            found[own] = "by equal vector"
    return found


def _ignored(relevance: Relevance) -> dict[Id, set[Id]]:
    rows = np.flatnonzero(relevance.ignored)
    owners = np.searchsorted(relevance.offsets, rows, side="right") - 1
    found: dict[Id, set[Id]] = {}
    for owner, item in zip(owners.tolist(), relevance.items.take(relevance.rows[rows].tolist()), strict=True):
        found.setdefault(relevance.queries[owner], set()).add(item)
    return found


def _item_of_path(gallery: Gallery) -> dict[Path, Id]:
    if gallery.places is None:
        return {}
    root = Path(gallery.places["root"]).resolve()
    return {root / place: item for item, place in gallery.places["paths"].items() if isinstance(place, str)}


def _copies(image: Path, hashes: dict[str, list[Id]]) -> set[Id]:
    return set(hashes.get(fingerprint_file(image).removeprefix("sha256:"), ())) if hashes else set()


def _same_vector(
    dataset: EvaluationDataset,
    gallery: Gallery,
    ranking: Ranking,
    relevance: Relevance,
    vectors: npt.NDArray[np.float32],
) -> set[Id]:
    """Queries whose first item that is not ignored has their own vector, as far as rounding lets one tell."""
    if gallery.metric not in ("cosine", "l2"):
        return set()
    kept = np.flatnonzero(~item_states(ranking, relevance).ignored) if relevance.ignored.any() else None
    places = np.arange(len(ranking.rows)) if kept is None else kept
    starts = np.searchsorted(places, ranking.offsets[:-1])
    has_item = np.flatnonzero((starts < len(places)) & (ranking.lengths > 0))
    first = places[starts[has_item]]
    own = first < ranking.offsets[has_item + 1]
    queries, best = has_item[own], ranking.scores[first[own]].astype(np.float64)
    if gallery.metric == "cosine":
        equal = best >= 1 - _EQUAL_COSINE
    else:
        lengths = dict(
            zip((query.query_id for query in dataset.queries), np.linalg.norm(vectors, axis=1), strict=True)
        )
        equal = -best <= _EQUAL_LENGTH * np.array([lengths[ranking.queries[row]] for row in queries.tolist()])
    return set(ranking.queries.take(queries[equal].tolist()))
