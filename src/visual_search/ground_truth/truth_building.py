"""Exact neighbours of vectors in one call: searched, named, fingerprinted, and told what they are exact of."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from visual_search.errors import InputError, Problems
from visual_search.formats.arrays import as_numpy
from visual_search.ground_truth.exact_neighbors import ExactNeighbors, neighbors_of
from visual_search.ground_truth.exact_search import SearchProgress, search_exactly
from visual_search.ground_truth.filtered_search import search_filtered
from visual_search.ground_truth.gallery_sample import GallerySample
from visual_search.ground_truth.metric_names import MetricName, metric_name, searched_metric
from visual_search.ground_truth.query_filters import filtered_rows
from visual_search.ground_truth.truth_scope import TruthScope
from visual_search.ground_truth.truth_vectors import TruthVectors, truth_vectors
from visual_search.ground_truth.vector_checks import check_block, check_search

__all__ = ["exact_neighbors"]


def exact_neighbors(
    gallery: Any,
    queries: Any,
    k: int,
    metric: MetricName = "l2",
    *,
    gallery_ids: Any = None,
    query_ids: Iterable[Any] | None = None,
    allowed: Any = None,
    sample: int | GallerySample | None = None,
    memory_bytes: int = 1 << 30,
    tie_cap: int = 100,
    progress: SearchProgress | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> ExactNeighbors:
    """The k nearest gallery items of each query, certified: the ground truth of an index.

    Parameters
    ----------
    gallery : array-like of shape (n, d), memmap, path, VectorFile or PackedGallery
        float16, float32, float64, int8 or uint8; for ``hamming`` and ``jaccard`` uint8 with eight bits a byte. A path
        is of any format of `read_vectors` and is mapped where its layout allows, so that it may be larger than memory.
    queries : array-like of shape (m, d), memmap, path or VectorFile
        Of the same dtype.
    k : int
        1 to the size of the gallery, or of its sample.
    metric : {"l2", "ip", "cosine", "hamming", "jaccard"}
        ``inner_product`` is taken for ``ip``, which is its name everywhere. A file that says another metric is
        refused.
    gallery_ids, query_ids : optional
        One id a row; the file's own by default, else row numbers.
    allowed : bool array of shape (m, n), list of ids for each query, or callable, optional
        Which items a query may find, for a filtered truth. A callable takes the number of a query and gives bool of
        shape (n,) or a list of ids; its name stands in the label.
    sample : int or GallerySample, optional
        Look only among so many items, drawn at random. The truth is then of this sample: the engine must hold its
        items (``truth.gallery``) under their ids and nothing else, and a recall is labelled as of n items.
    memory_bytes : int
        For blocks and what is computed of them, at least 16 MiB; beside it stand the queries, the answers, and a
        sample.
    tie_cap : int
        Items to keep that tie with the k-th, for each query.
    progress : SearchProgress, optional
        Is told gallery rows; with ``allowed`` queries.
    checkpoint : path, optional
        A file by which a killed search goes on; see `search_exactly`. Not with ``allowed``.

    Returns
    -------
    ExactNeighbors
        ``.ids``, ``.distances`` (float64), ``.certified``, ``.ties``, ``.save(path)``; ``.verify`` says whether it
        belongs to some vectors.

    Raises
    ------
    InputError, DimensionError, DepthError, NonFiniteError, ZeroVectorError, DuplicateIdError, UnknownIdError
        What is not allowed, with the first offending rows or ids.
    FileFormatError
        A file that is not whole.

    Convention
    ----------
    Distances are plain, float64 and the same bits whatever the route; for ``ip`` and ``cosine`` they are minus the
    product. Equal distances are ordered by row. It says what is nearest, not what is right: what people find right is
    a `Relevance`, another type.

    How to read it
    --------------
    ``truth.label()`` says what a recall against it is a recall of.

    Examples
    --------
    >>> truth = exact_neighbors([[0.0], [1.0], [3.0]], [[0.9]], 2, gallery_ids=["a", "b", "c"])
    >>> truth.ids.tolist(), truth.certified.tolist()
    ([['b', 'a']], [True])
    >>> exact_neighbors([[0.0], [1.0], [3.0]], [[0.9]], 2, allowed=[[0, 2]]).ids.tolist()
    [[0, 2]]
    """
    name = metric_name(metric)
    items = truth_vectors(gallery, gallery_ids, what="gallery")
    asked = truth_vectors(queries, query_ids, what="queries")
    _check_parts(items, asked, name, allowed is not None, sample is not None, checkpoint is not None)
    scope = TruthScope()
    if sample is not None:
        drawn = GallerySample(sample) if isinstance(sample, int) else sample
        scope = TruthScope.sample(of=len(items), seed=drawn.seed)
        items = items.at(drawn.rows(len(items)))
    if allowed is None:
        answers = search_exactly(
            items.vectors if items.packed is None else items.packed,
            asked.vectors,
            k,
            metric=searched_metric(name),
            memory_bytes=memory_bytes,
            tie_cap=tie_cap,
            progress=progress,
            checkpoint=checkpoint,
        )
    else:
        chosen = filtered_rows(allowed, items.ids, len(asked), query_ids=asked.ids)
        scope = TruthScope.filtered(chosen.sizes, words=_filter_name(allowed))
        searched = searched_metric(name)
        check_search(items.vectors, asked.vectors, k, searched)
        check_block(as_numpy(asked.vectors, what="queries"), searched, what="queries")
        answers = search_filtered(
            items.vectors,
            asked.vectors,
            k,
            chosen,
            metric=searched,
            memory_bytes=memory_bytes,
            tie_cap=tie_cap,
            progress=progress,
        )
    return neighbors_of(
        answers,
        gallery_ids=items.ids,
        query_ids=asked.ids.take(range(len(asked))),
        metric=name,
        gallery_fingerprint=items.fingerprint,
        queries_fingerprint=asked.fingerprint,
        scope=scope,
    )


def _filter_name(allowed: Any) -> str:
    name = str(getattr(allowed, "__name__", ""))
    return "" if name == "<lambda>" else name


def _check_parts(items: TruthVectors, asked: TruthVectors, metric: str, *options: bool) -> None:
    filtered, sampled, kept = options
    problems = Problems("exact neighbours")
    for what, side in (("gallery", items), ("queries", asked)):
        if side.metric is not None and side.metric != metric:
            problems.add(
                f"metric: {metric!r}, but the file of the {what} says {side.metric!r}; use that, or give the vectors "
                "without their file"
            )
    if filtered and sampled:
        problems.add("sample and allowed exclude each other: filter within the sample, or leave one of them out")
    if filtered and kept:
        problems.add("checkpoint: a filtered search keeps none; leave it out")
    if items.packed is not None and (filtered or sampled):
        problems.add("gallery: packed, which serves whole galleries only; give the vectors themselves")
    problems.raise_if_any(InputError)
