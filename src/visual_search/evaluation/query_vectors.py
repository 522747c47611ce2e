"""Query vectors: given, or embedded from the query images by the search service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import DimensionError, InputError, Problems, UndecodableImageError, first_few
from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.evaluation.search_service import EmbedsImages, embeds_images
from visual_search.ids import Id

__all__ = ["checked_embeddings", "embed_files", "embed_queries"]

Vectors = npt.NDArray[np.float32]


def checked_embeddings(
    embeddings: Mapping[Any, Any],
    query_ids: Sequence[Id],
    dimension: int | None,
    *,
    what: str = "precomputed_embeddings",
) -> Vectors:
    """Stack one vector a query, in the order of the queries.

    Parameters
    ----------
    embeddings : mapping of id to array of shape (d,) or (1, d)
    query_ids : sequence of ids
        Queries that need one; others in the mapping are not used.
    dimension : int or None
        Length that the index takes, if known; else that of most of the vectors.
    what : str
        The argument's name, for messages.

    Returns
    -------
    float32 array of shape (n, d)

    Raises
    ------
    InputError
        Not a mapping, queries without a vector, vectors that are not one row of finite numbers of one length; all at
        once.
    """
    if not isinstance(embeddings, Mapping):
        # With whole numbers as ids an array would be taken by position, silently.
        raise InputError(
            f"{what} is {type(embeddings).__name__}; give a mapping of query id to vector, such as "
            "dict(zip(query_ids, vectors))"
        )
    problems = Problems(what)
    missing = [query for query in query_ids if query not in embeddings]
    if missing:
        of_all = counted(len(query_ids), "query has", "queries have")
        problems.add(
            f"{len(missing)} of {of_all} no vector, first {first_few(missing)}; the keys must "
            f"be the dataset's query ids (given: {first_few(embeddings, 3) if embeddings else 'none'})"
        )
    rows: dict[Id, Vectors] = {}
    for query in query_ids:
        if query in embeddings:
            row = _row(query, embeddings[query], problems)
            if row is not None:
                rows[query] = row
    _check_lengths(rows, dimension, problems)
    # NaN spreads through a sum, so one number a row tells whether the whole row is finite.
    broken = [query for query, row in rows.items() if not np.isfinite(row).all()]
    if broken:
        who = counted(len(broken), "vector holds", "vectors hold")
        problems.add(f"{who} NaN or infinity (as float32), first {first_few(broken)}")
    problems.raise_if_any(InputError)
    return np.stack([rows[query] for query in query_ids])


def embed_queries(service: object, dataset: EvaluationDataset) -> Vectors:
    """Embed the image of every query with the service's own embedder.

    Raises
    ------
    InputError
        Queries without an image path, files that are not there (all of them), or a service that cannot embed.
    """
    problems = Problems("query images")
    without = [query.query_id for query in dataset.queries if query.image_path is None]
    if without:
        of_all = counted(len(dataset), "query has", "queries have")
        problems.add(
            f"{len(without)} of {of_all} no image_path, first {first_few(without)}; give one or "
            "pass precomputed_embeddings"
        )
    paths = {query.query_id: path for query in dataset.queries if (path := dataset.image_of(query)) is not None}
    return embed_files(service, paths, problems, beside=dataset.folder)


def embed_files(
    service: object, paths: Mapping[Id, Path], problems: Problems | None = None, *, beside: Path | None = None
) -> Vectors:
    """Embed image files, after checking that all of them are there.

    Returns
    -------
    float32 array of shape (n, d), in the order of the mapping.

    Raises
    ------
    InputError
        The service embeds no images, files are missing or cannot be read (all are listed with their queries), or it
        gave vectors that cannot be used.
    """
    problems = problems or Problems("query images")
    if not embeds_images(service):
        problems.add(
            f"the search service ({type(service).__name__}) has no embed_images; pass precomputed_embeddings"
        )
    looked = "" if beside is None else f" (looked in {_folders(beside, Path.cwd())})"
    for query, path in paths.items():
        if not path.is_file():
            problems.add(f"{query!r}: no file {str(path)!r}{'' if path.is_absolute() else looked}")
    problems.raise_if_any(InputError)
    assert embeds_images(service)
    try:
        vectors = np.asarray(service.embed_images(list(paths.values())))
    except (UndecodableImageError, OSError) as error:
        _name_unreadable(service, paths, error)
        raise
    if vectors.ndim != 2 or len(vectors) != len(paths):
        raise DimensionError(
            f"embed_images gave an array of shape {vectors.shape} for {counted(len(paths), 'image', 'images')}"
        )
    return checked_embeddings(dict(zip(paths, vectors, strict=True)), list(paths), None, what="embed_images")


def _folders(beside: Path, current: Path) -> str:
    return str(beside) if beside.resolve() == current.resolve() else f"{beside} and in {current}"


def _name_unreadable(service: EmbedsImages, paths: Mapping[Id, Path], error: Exception) -> None:
    """Raise with the query of every image that cannot be read; an embedder knows only of files."""
    told = str(error)
    named = {query: path for query, path in paths.items() if str(path) in told}
    problems = Problems("query images")
    for query, path in (named or paths).items():
        try:
            service.embed_images([path])
        except (UndecodableImageError, OSError) as alone:
            reason = str(alone).rpartition("  - ")[2].removeprefix(f"{path}: ")
            problems.add(f"{query!r}: {str(path)!r} cannot be read: {reason}")
    if len(problems):
        try:
            problems.raise_if_any(UndecodableImageError)
        except UndecodableImageError as all_of_them:
            raise all_of_them from error


def _row(query: Id, value: Any, problems: Problems) -> Vectors | None:
    try:
        with np.errstate(over="ignore"):
            row = np.asarray(value, dtype=np.float32)
    except (TypeError, ValueError) as reason:
        problems.add(f"{query!r}: not a vector of numbers ({reason})")
        return None
    if row.ndim == 2 and len(row) == 1:
        row = row[0]
    if row.ndim != 1 or not row.size:
        problems.add(f"{query!r}: an array of shape {row.shape}; a vector has shape (d,)")
        return None
    return row


def _check_lengths(rows: Mapping[Id, Vectors], dimension: int | None, problems: Problems) -> None:
    lengths = np.array([len(row) for row in rows.values()], dtype=np.int64)
    if not lengths.size:
        return
    wanted = int(np.bincount(lengths).argmax()) if dimension is None else dimension
    names = list(rows)
    other = np.flatnonzero(lengths != wanted)
    if other.size:
        whose = "the index takes" if dimension is not None else "most have"
        problems.add(
            f"{counted(other.size, 'vector is', 'vectors are')} not of dimension {wanted}, which {whose}; first "
            + first_few([f"{names[row]}: {lengths[row]}" for row in other.tolist()])
        )
