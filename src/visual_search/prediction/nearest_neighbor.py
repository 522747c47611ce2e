"""``NearestNeighborSearch``: the search service over an index."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.formats.binary_codes import BinaryCodes
from visual_search.formats.results import ImageLocation
from visual_search.ids import Id, Ids
from visual_search.images.decoding import DecodingRules
from visual_search.indexing.embedders.contract import Embedder, EmbedderDescription, TextEmbedder
from visual_search.indexing.incoming import listed
from visual_search.indexing.index_table import VectorIndex
from visual_search.indexing.item_images import ItemImages, images_of
from visual_search.indexing.nearest import Nearest, ragged_ranking
from visual_search.indexing.vector_checks import checked_depth
from visual_search.prediction.exclusion import Exclude, Exclusions
from visual_search.prediction.near_duplicates import checked_threshold, distinct
from visual_search.prediction.query_images import QueryImage, check_embedder, embed_images, embedder_of
from visual_search.prediction.response import SearchResponse, SearchResult
from visual_search.rankings.ranking import Ranking

__all__ = ["NearestNeighborSearch", "SearchResponse", "SearchResult"]

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]
_Space: TypeAlias = tuple[EmbedderDescription | None, int | None]
_Attached: TypeAlias = tuple[dict[str, bytes], dict[str, Any]]

# Places fetched for one block of queries: bounds the memory of a batch beyond its answer.
_BLOCK_PLACES = 1 << 23


class NearestNeighborSearch:
    """Search an index by vector, image, id or text.

    Parameters
    ----------
    index : VectorIndex
        What is searched.
    embedder : Embedder, optional
        What turns query images into vectors. Left out, the one that the index manifest names is made when it is
        first needed; given, it must be the same.
    rules : DecodingRules, optional
        How query images are decoded; as the index's images were, where left out.

    Convention
    ----------
    A search asks for k results and gets what there is: where the index holds fewer, where an approximate engine
    finds fewer, or where exclusions leave fewer, the list is shorter, and the response says so (``shortfall``).
    Any number of threads may search together.

    Examples
    --------
    >>> index = VectorIndex(dimension=2)
    >>> index.add(["east.jpg", "north.jpg"], [[1, 0], [0, 1]])
    >>> service = NearestNeighborSearch(index=index)
    >>> response = service.search([2, 0], "q001", k=100)
    >>> response.results[0].image_id, response.results[0].score, len(response)
    ('east.jpg', 1.0, 2)
    """

    def __init__(
        self, index: VectorIndex, embedder: Embedder | None = None, *, rules: DecodingRules | None = None
    ) -> None:
        if not isinstance(index, VectorIndex):
            raise InputError(
                f"index: got {type(index).__name__}; give a VectorIndex, such as VectorIndex.open('photos.index')"
            )
        if embedder is not None and not isinstance(embedder, Embedder):
            raise InputError(
                f"embedder: got {type(embedder).__name__}; give an embedder, such as create_embedder('histogram'), or "
                "leave it out: the one that the index names is made when it is needed"
            )
        self.index = index
        self._rules = rules
        self._given = embedder
        self._made: tuple[_Space, Embedder] | None = None
        self._seen_images: tuple[_Attached, ItemImages | None] | None = None
        self._making_embedder = threading.Lock()
        if embedder is not None:
            check_embedder(embedder, index.embedder, index.dimension)

    def __repr__(self) -> str:
        return f"NearestNeighborSearch({self.index!r})"

    @property
    def embedder(self) -> Embedder:
        """What embeds query images: the one given, or the one the index manifest names, made on first use.

        Asked again after ``index.load``, it is the new index's.

        Raises
        ------
        FingerprintError, DimensionError
            The embedder, given or made, is not the one the index names now.
        """
        space = (self.index.embedder, self.index.dimension)
        made = self._made
        if made is not None and made[0] == space:
            return made[1]
        with self._making_embedder:
            if self._made is None or self._made[0] != space:
                embedder = embedder_of(space[0]) if self._given is None else self._given
                check_embedder(embedder, *space)
                self._made = (space, embedder)
            return self._made[1]

    def search(
        self,
        query_vec: Any,
        query_id: Id,
        k: int = 10,
        *,
        exclude_self: bool = False,
        hide_near_duplicates: float | None = None,
    ) -> SearchResponse:
        """The k items nearest to a vector.

        Parameters
        ----------
        query_vec : array-like of shape (dimension,) or (1, dimension)
            The query; a code in any form that ``VectorIndex.add`` takes under ``hamming``.
        query_id : str or int
            Its name, kept in the response.
        k : int
            How many results, at least 1; more than the index holds gives all it holds.
        exclude_self : bool
            Leave out the item whose id is ``query_id``, where there is one; the list still has k where it can.
        hide_near_duplicates : float, optional
            Cosine similarity from which a result is hidden as a near-duplicate of one ranked above it and shown;
            what ranks below moves up.

        Returns
        -------
        SearchResponse

        Raises
        ------
        InputError
            k below 1 or no whole number, or a vector of another dimension, not finite, or zero under cosine.
        """
        depth = checked_depth(k)
        threshold = None if hide_near_duplicates is None else checked_threshold(hide_near_duplicates)
        query = Ids([query_id], what="query_id")
        vector = _one_vector(query_vec)
        fetch = depth + exclude_self
        with self.index.moment() as moment:
            ready = self.index.ready(vector, query)  # inside: a load must not come between check and search
            while True:
                found = moment.nearest(ready, fetch, with_vectors=threshold is not None)
                kept, excluded, hidden = _selected(found, query[0] if exclude_self else None, threshold, depth)
                if threshold is None or len(kept) == depth or fetch >= len(moment):
                    break
                fetch *= 2  # near-duplicates took places: look further down
        return self._response(query[0], found, kept, depth, excluded, hidden)

    def search_batch(
        self,
        vectors: Any,
        query_ids: Iterable[Id],
        k: int = 10,
        *,
        exclude: Exclude | None = None,
    ) -> Ranking:
        """The k items nearest to each of many vectors.

        Parameters
        ----------
        vectors : array-like of shape (n, dimension)
            The queries.
        query_ids : iterable of str or of int, length n
            Their names.
        k : int
            How many results per query; more than the index holds gives all it holds.
        exclude : "self" or sequence of n iterables of ids, optional
            ``"self"`` leaves out the item with the query's own id, where there is one; else the ids to leave out of
            each query's list. Lists still have k where they can.

        Returns
        -------
        Ranking
            Ragged lists; ``items`` is the index's vocabulary of ids, shared.

        Raises
        ------
        InputError
            As for ``search``; all problems at once.
        UnknownIdError
            An id to exclude that is not in the index.
        """
        depth = checked_depth(k)
        queries = Ids(listed(query_ids), what="queries")
        with self.index.moment() as moment:
            ready = self.index.ready(vectors, queries)
            exclusions = Exclusions(queries, moment.items, moment.in_use, exclude)
            step = max(1, _BLOCK_PLACES // (depth + exclusions.most))
            parts = []
            for start in range(0, len(ready), step):
                block = slice(start, min(start + step, len(ready)))
                found = moment.nearest(ready[block], depth + exclusions.most_in(block))
                parts.append((found, exclusions.kept(found, block, depth)))
            return ragged_ranking(queries, moment.items, parts)

    def search_image(
        self, image: QueryImage, k: int = 10, *, query_id: Id | None = None, **options: Any
    ) -> SearchResponse:
        """Search by an image file, its bytes, a PIL image or a uint8 array; ``options`` as for ``search``.

        ``query_id`` is the path where it is left out ("image" for bytes).

        Raises
        ------
        UndecodableImageError
            Not an image, or one that cannot be read.
        """
        checked_depth(k)
        name = query_id if query_id is not None else str(image) if isinstance(image, str | os.PathLike) else "image"
        return self.search(self.embed_images([image])[0], name, k, **options)

    def search_id(self, item: Id, k: int = 10, **options: Any) -> SearchResponse:
        """Search by the vector of an item of the index, which is itself left out; ``options`` as for ``search``.

        Raises
        ------
        UnknownIdError
            No such item.
        """
        return self.search(self.index.vector(item), item, k, exclude_self=True, **options)

    def search_text(self, text: str, k: int = 10, *, query_id: Id | None = None, **options: Any) -> SearchResponse:
        """Search by words, where the embedder's model takes text; ``options`` as for ``search``.

        Raises
        ------
        InputError
            The embedder takes images only.
        """
        checked_depth(k)
        embedder = self.embedder
        if not isinstance(embedder, TextEmbedder):
            raise InputError(
                f"search_text: embedder {embedder.name!r} takes images only; index with one whose model has a text "
                "tower: open_clip:..., sentence-transformers:clip-ViT-B-32, transformers:... (a CLIP or SigLIP)"
            )
        return self.search(embedder.embed_text([text])[0], text if query_id is None else query_id, k, **options)

    def embed_images(self, paths: Iterable[QueryImage]) -> Vectors:
        """Embed image files (or their bytes) as the index's images were, float32 of shape (n, dimension).

        Raises
        ------
        UndecodableImageError
            All files that are not images or cannot be read, listed.
        FingerprintError
            The embedder that can be made here is not the one the index names: other weights, for example.
        """
        rules = self._rules
        if rules is None and (images := self.item_images) is not None:
            rules = images.rules
        return embed_images(self.embedder, paths, rules)

    def item_places(self) -> dict[str, Any] | None:
        """Where the images are, as ``{"root": ..., "paths": {id: ...}}``; None where the index does not say."""
        images = self.item_images
        return None if images is None else images.places()

    def item_location(self, item: Id) -> ImageLocation | None:
        """Where one item's image is; None where the index does not say."""
        images = self.item_images
        return None if images is None else images.location(item)

    def item_hashes(self) -> dict[Id, str] | None:
        """SHA-256 of each item's file; None where the index does not say."""
        images = self.item_images
        return None if images is None else images.hashes()

    def ledger_counts(self) -> dict[str, Any] | None:
        """How many files were used, changed and left out when the index was made; None where it does not say."""
        images = self.item_images
        return None if images is None else images.counts()

    @property
    def item_images(self) -> ItemImages | None:
        """The images behind the items, with their ledger; None where the index does not say."""
        # Values that are the same objects are not compared byte by byte, so this costs a look at each.
        attached = (dict(self.index.attachments), dict(self.index.extra))
        seen = self._seen_images
        if seen is None or seen[0] != attached:
            seen = self._seen_images = (attached, images_of(self.index))
        return seen[1]

    def _response(
        self, query_id: Id, found: Nearest, kept: Sequence[int], k: int, excluded: tuple[Id, ...], hidden: int
    ) -> SearchResponse:
        names = found.items.take(found.places[0, kept].tolist())
        scores = found.scores[0, kept].tolist()
        results = tuple(
            map(SearchResult, names, scores, range(1, len(names) + 1), _distances(scores, self.index.metric))
        )
        return SearchResponse(query_id, results, k, excluded, hidden)


def _distances(scores: list[float], metric: str) -> Sequence[float | None]:
    if metric == "hamming":
        return [int(-score) for score in scores]
    return [0.0 - score for score in scores] if metric == "l2" else [None] * len(scores)


def _one_vector(query_vec: Any) -> Any:
    """A single query with the axis of many; what is no array at all is left to the index to refuse."""
    if isinstance(query_vec, BinaryCodes):
        if len(query_vec) != 1:
            raise InputError(f"query_vec: {query_vec}; must be one code; search_batch takes several")
        return query_vec
    try:
        vector = np.asarray(query_vec)
    except ValueError:  # rows of different lengths
        return query_vec
    if vector.ndim == 2 and len(vector) != 1:
        raise InputError(
            f"query_vec: shape {vector.shape}; must be (dimension,) or (1, dimension); search_batch takes several"
        )
    return vector[None, :] if vector.ndim == 1 else vector


def _selected(
    found: Nearest, own: Id | None, threshold: float | None, k: int
) -> tuple[list[int], tuple[Id, ...], int]:
    """Which of one query's results stay, the id that was excluded, and how many were hidden."""
    places = found.places[0]
    live = np.flatnonzero(places >= 0)
    excluded: tuple[Id, ...] = ()
    if own is not None and own in found.items:
        others = live[places[live] != found.items.row(own)]
        excluded = (own,) if len(others) < len(live) else ()
        live = others
    if threshold is None or found.vectors is None:
        return live[:k].tolist(), excluded, 0
    kept = distinct(found.vectors[0, live], threshold, k)
    walked = len(live) if len(kept) < k else kept[-1] + 1
    return live[kept].tolist(), excluded, walked - len(kept)
