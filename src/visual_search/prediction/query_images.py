"""Query images to vectors, by the embedder that made the index."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL.Image import Image

from visual_search.errors import DimensionError, FingerprintError, InputError, Problems, UndecodableImageError
from visual_search.indexing.embedders.contract import Embedder, EmbedderDescription, describe

__all__ = ["Decode", "ImageSource", "check_embedder", "embed_images", "embedder_of"]

Vectors = npt.NDArray[np.float32]
ImageSource: TypeAlias = str | os.PathLike[str] | bytes
Decode: TypeAlias = Callable[[bytes], Image]

_DECODING_THREADS = min(4, os.cpu_count() or 1)


def embedder_of(described: EmbedderDescription | None) -> Embedder:
    """Make the embedder that an index names; its weights are checked against the manifest's hash."""
    from visual_search.indexing.embedders.registry import load_embedder

    if described is None:
        raise InputError(
            "embedder: this index does not say what made its vectors; give the embedder to NearestNeighborSearch, "
            "or search by vector"
        )
    return load_embedder(described)


def check_embedder(embedder: Embedder, described: EmbedderDescription | None, dimension: int | None) -> None:
    """Refuse an embedder whose vectors do not live in the index's space.

    Raises
    ------
    DimensionError
        Its vectors are of another length.
    FingerprintError
        It is not the one the index names; every part that differs is listed.
    """
    if dimension is not None and embedder.dimension != dimension:
        raise DimensionError(
            f"embedder: {embedder.name!r} makes vectors of {embedder.dimension}, but the index has {dimension}"
        )
    if described is None:
        return
    given = describe(embedder)
    problems = Problems("embedder: not the one that made this index")
    parts = ["preprocessing", "weights_hash"]
    if described.weights_hash is None:  # else the weights say more than the path they were read from
        parts.insert(0, "name")
    for part in parts:
        if getattr(given, part) != getattr(described, part):
            problems.add(f"{part}: {getattr(given, part)!r} given, {getattr(described, part)!r} in the index")
    problems.raise_if_any(FingerprintError)


def embed_images(embedder: Embedder, sources: Iterable[ImageSource], decode: Decode | None = None) -> Vectors:
    """Embed image files or bytes, in order, in batches of the embedder's own size.

    Parameters
    ----------
    embedder : Embedder
        Its ``prepare`` runs in a few threads, its ``embed`` in this one.
    sources : iterable of path or bytes
        What to embed.
    decode : callable, optional
        From a file's bytes to an RGB image; the package's decoder with its usual rules where left out.

    Returns
    -------
    float32 array of shape (n, embedder.dimension)

    Raises
    ------
    UndecodableImageError
        Files that cannot be read or are not images, all of them listed; nothing is returned for the others.
    """
    decode = decode or _decoded
    problems = Problems("images")
    vectors: list[Vectors] = []
    with ThreadPoolExecutor(_DECODING_THREADS) as pool:
        for batch in _batches(sources, embedder.batch_size):
            prepared = list(pool.map(lambda source: _prepared(embedder, source, decode), batch))
            for source, array in zip(batch, prepared, strict=True):
                if isinstance(array, str):
                    problems.add(f"{_named(source)}: {array}")
            if not len(problems):
                vectors.append(embedder.embed(np.stack(prepared)))
    problems.raise_if_any(UndecodableImageError)
    return np.concatenate(vectors) if vectors else np.empty((0, embedder.dimension), dtype=np.float32)


def _prepared(embedder: Embedder, source: ImageSource, decode: Decode) -> npt.NDArray[Any] | str:
    """The prepared image, or in words why there is none."""
    try:
        data = source if isinstance(source, bytes) else Path(source).read_bytes()
        image = decode(data)
    except OSError as error:
        return f"cannot be read ({error.strerror or error}); look at the path"
    except UndecodableImageError as error:
        return str(error)
    return embedder.prepare(image)


def _decoded(data: bytes) -> Image:
    from visual_search.images.decoding import decode

    return decode(data).pixels


def _batches(sources: Iterable[ImageSource], size: int) -> Iterator[list[ImageSource]]:
    rest = iter(sources)
    while batch := list(islice(rest, max(1, size))):
        yield batch


def _named(source: ImageSource) -> str:
    return f"{len(source):,} bytes given" if isinstance(source, bytes) else os.fspath(source)
