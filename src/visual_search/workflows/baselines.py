"""A simpler embedder on the very images of an index: the baseline that every model should be held against."""

from __future__ import annotations

import numpy as np

from visual_search.counted import counted
from visual_search.errors import InputError, first_few
from visual_search.images.ledger import Ledger, LedgerEntry
from visual_search.images.ledger_sources import sources_of
from visual_search.indexing.embedders.contract import describe
from visual_search.indexing.embedders.registry import create_embedder
from visual_search.indexing.embedding import embed_sources
from visual_search.indexing.index_table import VectorIndex
from visual_search.indexing.item_images import attach_images, images_of
from visual_search.indexing.progress import Progress
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch

__all__ = ["baseline_service"]


def baseline_service(
    index: VectorIndex, embedder: str = "histogram", *, progress: Progress | None = None
) -> NearestNeighborSearch:
    """Embed the images of an index again with another embedder, and search them exhaustively.

    Parameters
    ----------
    index : VectorIndex
        One made from images, whose files are still where they were.
    embedder : str
        Text form, such as ``"histogram"`` or ``"pixels"``.
    progress : Progress, optional

    Returns
    -------
    NearestNeighborSearch
        Over the same items under the same ids; kept in memory only.

    Raises
    ------
    InputError
        The index does not say where its images are, or some have gone or changed since.
    """
    images = images_of(index)
    if images is None:
        raise InputError(
            "baseline: this index was not made from images, so they cannot be embedded again; give a results JSON, "
            "or a search service of your own to compare_baselines"
        )
    ledger = images.ledger.of([str(item) for item in index.ids])
    made = create_embedder(embedder)
    entries: list[LedgerEntry] = []
    parts = [np.empty((0, made.dimension), dtype=np.float32)]
    for batch in embed_sources(sources_of(ledger), made, rules=images.rules, progress=progress):
        entries += batch.entries
        parts.append(batch.vectors)
    changed = [entry.id for entry in entries if entry.sha256 != ledger[entry.id].sha256]
    if changed:
        raise InputError(
            f"baseline: {counted(len(changed), 'image has', 'images have')} gone or changed since "
            "they were indexed, first: "
            f"{first_few(changed)}; index the images again"
        )
    baseline = VectorIndex(metric="cosine", engine="flat", embedder=describe(made))
    baseline.add([entry.id for entry in entries], np.concatenate(parts))
    attach_images(baseline, Ledger(entries), images.rules)
    return NearestNeighborSearch(index=baseline, embedder=made)
