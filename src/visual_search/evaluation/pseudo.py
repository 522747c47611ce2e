"""Pseudo ground truth: what a model itself finds near enough is taken to be right.

It saves judging, and it flatters the model that made it: that model finds its own answers again. Hence the file and
every result made from it say that the truth is pseudo, and which model made it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from visual_search.counted import counted
from visual_search.errors import InputError, Problems, first_few
from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.evaluation.query_vectors import checked_embeddings, embed_files
from visual_search.evaluation.search_service import Gallery, SearchService, gallery_of
from visual_search.evaluation.searching import search_all
from visual_search.ids import Id, Ids

__all__ = ["create_pseudo_ground_truth", "pseudo_warnings"]


# What a score can be, by metric; others have no bounds.
_SCORES = {"cosine": (-1.0, 1.0), "l2": (-np.inf, 0.0), "hamming": (-np.inf, 0.0)}


def create_pseudo_ground_truth(
    search_service: SearchService,
    query_images: Mapping[Any, Any] | EvaluationDataset,
    threshold: float = 0.8,
    k: int = 100,
    *,
    image_paths: Mapping[Any, str | os.PathLike[str]] | None = None,
    groups: Mapping[Any, str | None] | None = None,
    categories: Mapping[Any, str | None] | None = None,
    leave_out_self: bool = True,
) -> dict[str, Any]:
    """Take as relevant every item whose score reaches a threshold.

    Parameters
    ----------
    search_service : SearchService
        The model that judges.
    query_images : mapping of id to vector, or to image path; or EvaluationDataset
        A vector of shape (d,), or a path, which the service embeds and the dataset keeps. Of a dataset its queries'
        images, groups and categories are taken, and none of its right answers.
    threshold : float
        Lowest score that counts as relevant, in the service's own unit: -1 to 1 for cosine; minus the distance, so
        at most 0, for L2.
    k : int
        How deep to look.
    image_paths : mapping of id to path, optional
        Paths to keep where ``query_images`` holds vectors.
    groups, categories : mapping of id to str, optional
        To keep per query: without groups, queries that hang together are taken for independent and every interval
        made from the dataset is too narrow. They go before those of a dataset.
    leave_out_self : bool
        Whether the item with the query's own id is left out.

    Returns
    -------
    dict
        The dataset's JSON value, ``{"pseudo": {...}, "queries": [...]}``; ``EvaluationDataset.from_dict`` takes it.
        ``pseudo`` has the model, threshold, k, ``cut_at_k`` (queries whose k-th item still reaches the threshold:
        relevant items were cut off), ``empty`` (queries for which nothing does) and ``warnings``.

    Raises
    ------
    InputError
        A threshold or k that cannot be, ids that are no query's, vectors or paths that cannot be used; all problems
        at once.

    How to read it
    --------------
    Good for a first look, for comparing settings of one model's index, and for finding what people should judge.
    Not for comparing this model with another.
    """
    gallery = gallery_of(search_service)
    if isinstance(query_images, EvaluationDataset):
        groups = {query.query_id: query.group for query in query_images} | dict(groups or {})
        categories = {query.query_id: query.category for query in query_images} | dict(categories or {})
        query_images = _images_of(query_images)
    kept_beside = {"image_paths": image_paths or {}, "groups": groups or {}, "categories": categories or {}}
    _check(threshold, k, query_images, kept_beside, gallery.metric)
    ids, vectors, paths = _vectors(search_service, query_images, gallery)
    paths |= {query: os.fspath(path) for query, path in (image_paths or {}).items()}
    own = {query for query in ids if leave_out_self and (gallery.ids is None or query in gallery.ids)}
    depth = k + 1 if own else k
    ranking = search_all(search_service, vectors, ids, depth if gallery.size is None else min(depth, gallery.size))
    queries: list[dict[str, Any]] = []
    cut: list[Id] = []
    for query in ids:
        found = ranking.listed(query) if query in ranking.queries else []
        listed = [(item, score) for item, score in found if not (query in own and item == query)][:k]
        relevant = [item for item, score in listed if score >= threshold]
        # A list that holds the whole gallery ends because there is no more, not because it was cut.
        whole = gallery.size is not None and len(listed) >= gallery.size - (query in own)
        if len(relevant) == k and not whole:
            cut.append(query)
        kept = {"image_path": paths[query]} if query in paths else {}
        named = {"group": (groups or {}).get(query), "category": (categories or {}).get(query)}
        beside = {key: text for key, text in named.items() if text is not None}
        queries.append({"query_id": query, **kept, "ground_truth": relevant, **beside})
    empty = [query["query_id"] for query in queries if not query["ground_truth"]]
    best = float(ranking.scores.max()) if len(ranking.scores) else None
    return {
        "pseudo": {
            "made_by": "threshold on retrieval scores",
            "model_name": gallery.model_name,
            "weights_hash": (gallery.embedder or {}).get("weights_hash"),
            "metric": gallery.metric,
            "threshold": float(threshold),
            "k": k,
            "self_left_out": leave_out_self,
            "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "cut_at_k": cut,
            "empty": empty,
            "warnings": _warnings(len(queries), cut, empty, float(threshold), best),
        },
        "queries": queries,
    }


def pseudo_warnings(pseudo: Mapping[str, Any], query_ids: Iterable[Id], gallery: Gallery) -> list[str]:
    """Say what a reader of a result over pseudo truth must know."""
    maker = pseudo.get("model_name")
    made = f"made by {maker or 'a model that is not named'} at threshold {pseudo.get('threshold')}"
    said = [f"the ground truth is pseudo: {made}, not judged by people"]
    weights = pseudo.get("weights_hash")
    same_weights = weights is not None and weights == (gallery.embedder or {}).get("weights_hash")
    if same_weights or (maker is not None and maker == gallery.model_name):
        said.append(
            f"the model scored ({gallery.model_name}) is the one that made this ground truth: it finds its own "
            "answers again, and its scores say nothing of its quality"
        )
    there = set(query_ids)
    cut = [query for query in pseudo.get("cut_at_k", ()) if query in there]
    if cut:
        whose = "1 query's" if len(cut) == 1 else f"{len(cut):,} queries'"
        said.append(
            f"{whose} pseudo truth was cut at k = {pseudo.get('k')} while scores still reached the "
            "threshold: relevant items are missing from it"
        )
    return said


def _images_of(dataset: EvaluationDataset) -> dict[Id, Path]:
    images = {query.query_id: dataset.image_of(query) for query in dataset}
    without = [query for query, image in images.items() if image is None]
    if without:
        who = counted(len(without), "query has", "queries have")
        raise InputError(
            f"query_images: {who} no image_path, first {first_few(without)}; give {{query_id: vector}}, and groups "
            "and categories beside"
        )
    return {query: image for query, image in images.items() if image is not None}


def _check(
    threshold: Any,
    k: Any,
    query_images: Any,
    beside: Mapping[str, Mapping[Any, Any]],
    metric: str | None,
) -> None:
    problems = Problems("create_pseudo_ground_truth")
    _check_threshold(threshold, metric, problems)
    if not isinstance(k, int) or k < 1:
        problems.add(f"k is {k!r}; it must be an integer of at least 1")
    if not isinstance(query_images, Mapping):
        problems.add(f"query_images is {type(query_images).__name__}; give {{query_id: vector}}")
        query_images = {}
    elif not query_images:
        problems.add("query_images is empty; give {query_id: vector}")
    for what, given in beside.items():
        foreign = [query for query in given if query not in query_images]
        if foreign:
            ids = counted(len(foreign), "id", "ids")
            problems.add(f"{what} has {ids} that query_images has not, first {foreign[0]!r}")
        if what != "image_paths":
            wrong = [query for query, text in given.items() if text is not None and not isinstance(text, str)]
            if wrong:
                problems.add(f"{what} must be strings; {first_few([given[query] for query in wrong], 3)} is not")
    problems.raise_if_any(InputError)


def _check_threshold(threshold: Any, metric: str | None, problems: Problems) -> None:
    low, high = _SCORES.get(metric or "", (-np.inf, np.inf))
    if isinstance(threshold, bool) or not isinstance(threshold, int | float | np.number):
        problems.add(f"threshold is {threshold!r}; it must be a number")
    elif not np.isfinite(threshold):
        problems.add(f"threshold is {threshold}; it must be a finite score")
    elif not low <= threshold <= high:
        scores = "minus distances, at most 0" if np.isinf(low) else f"from {low:g} to {high:g}"
        problems.add(f"threshold is {threshold}, which no score reaches or all do: {metric} scores are {scores}")


def _vectors(
    service: SearchService, query_images: Mapping[Any, Any], gallery: Gallery
) -> tuple[Sequence[Id], Any, dict[Id, str]]:
    ids = Ids(query_images, what="query_images")
    paths = {query: value for query, value in query_images.items() if isinstance(value, str | os.PathLike)}
    given = {query: value for query, value in query_images.items() if query not in paths}
    rows = (
        dict(zip(paths, embed_files(service, {q: Path(p) for q, p in paths.items()}), strict=True)) if paths else {}
    )
    vectors = checked_embeddings(given | rows, list(ids), gallery.dimension, what="query_images")
    return ids, vectors, {query: os.fspath(path) for query, path in paths.items()}


def _warnings(
    count: int, cut: Sequence[Id], empty: Sequence[Id], threshold: float, best: float | None
) -> list[str]:
    said = []
    if cut:
        lists = f"{counted(count, 'list', 'lists')} {'was' if len(cut) == 1 else 'were'}"
        said.append(
            f"{len(cut)} of {lists} cut at k while scores still reached the threshold; raise k or the threshold"
        )
    if empty:
        has, they = ("has", "it measures") if len(empty) == 1 else ("have", "they measure")
        of_all = counted(count, "query", "queries")
        said.append(f"{len(empty)} of {of_all} {has} no item that reaches the threshold; {they} nothing")
    if best is not None and len(empty) == count:
        said.append(
            f"no score reaches {threshold}: the highest is {best:.4g}; scores of L2 search are minus distances"
        )
    return said
