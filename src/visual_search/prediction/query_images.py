"""Query images to vectors, by the embedder that made the index."""

from __future__ import annotations

import os
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from PIL.Image import Image, fromarray

from visual_search.errors import DimensionError, FingerprintError, InputError, Problems, UndecodableImageError
from visual_search.images.decoding import DecodingRules
from visual_search.images.id_texts import id_text
from visual_search.images.image_source import ImageBytes, ImageSource
from visual_search.indexing.embedders.contract import Embedder, EmbedderDescription, describe
from visual_search.indexing.embedding import embed_sources

__all__ = ["QueryImage", "check_embedder", "embed_images", "embedder_of"]

Vectors = npt.NDArray[np.float32]
QueryImage: TypeAlias = str | os.PathLike[str] | bytes | Image | npt.NDArray[np.uint8]


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


def embed_images(embedder: Embedder, images: Iterable[QueryImage], rules: DecodingRules | None = None) -> Vectors:
    """Embed image files or bytes, in order, exactly as indexing embeds them.

    Parameters
    ----------
    embedder : Embedder
        Threads decode and prepare while it embeds.
    images : iterable of path, bytes, PIL image or uint8 array
        What to embed.
    rules : DecodingRules, optional
        Those the index was made by.

    Returns
    -------
    float32 array of shape (n, embedder.dimension)

    Raises
    ------
    UndecodableImageError
        Files that cannot be read or are not images, all of them listed; nothing is returned for the others.
    """
    problems = Problems("images")
    parts = [np.empty((0, embedder.dimension), dtype=np.float32)]
    sources = [_source(number, image) for number, image in enumerate(images, 1)]
    for batch in embed_sources(sources, embedder, rules=rules):
        parts.append(batch.vectors)
        for entry in batch.entries:
            if entry.reason is not None:
                problems.add(f"{entry.id}: {entry.reason}")
    problems.raise_if_any(UndecodableImageError)
    return np.concatenate(parts)


def _source(number: int, image: QueryImage) -> ImageSource:
    if isinstance(image, bytes):
        return ImageBytes(f"image {number} ({len(image):,} bytes given)", Path(), data=image)
    if isinstance(image, np.ndarray):
        image = _picture(image)
    if isinstance(image, Image):
        return ImageBytes(f"image {number} (a picture in memory)", Path(), data=_encoded(image))
    if not isinstance(image, str | os.PathLike):
        raise InputError(
            f"image {number}: got {type(image).__name__}; give a path, the file's bytes, a PIL image, or a uint8 array "
            "of shape (height, width), (height, width, 3) or (height, width, 4)"
        )
    return ImageSource(id_text(os.fspath(image)), Path(image))


def _picture(pixels: npt.NDArray[np.uint8]) -> Image:
    if pixels.dtype != np.uint8 or not (pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in (3, 4))):
        raise InputError(
            f"image: got {pixels.dtype} {pixels.shape}; an array is uint8 of shape (height, width), (height, width, 3) "
            "or (height, width, 4), RGB or RGBA"
        )
    return fromarray(pixels)


def _encoded(picture: Image) -> bytes:
    """Without loss, so that a picture in memory goes the way of every file: same rules, same limits."""
    stream = BytesIO()
    lossless_png = picture.mode in {"1", "L", "LA", "P", "RGB", "RGBA", "I;16"}
    picture.save(stream, "PNG" if lossless_png else "TIFF", **({"compress_level": 0} if lossless_png else {}))
    return stream.getvalue()
