"""Small pictures for reports: encoded anew, never larger than their source."""

from __future__ import annotations

import base64
import io
import os
from pathlib import Path
from typing import Literal, TypeAlias

from PIL import Image

from visual_search.errors import InputError
from visual_search.images.decoding import DecodingRules, decode
from visual_search.images.image_source import ImageSource
from visual_search.images.reading import read_file
from visual_search.images.signatures import MEDIA_TYPES, image_format, what_it_is

__all__ = ["ThumbnailFormat", "data_uri", "thumbnail"]

ThumbnailFormat: TypeAlias = Literal["webp", "jpeg"]


def thumbnail(
    image: bytes | str | os.PathLike[str] | ImageSource | Image.Image,
    side: int,
    *,
    file_format: ThumbnailFormat = "webp",
    quality: int = 80,
    rules: DecodingRules | None = None,
) -> bytes:
    """Encode a small copy of a picture.

    Parameters
    ----------
    image : bytes, path, ImageSource or PIL.Image.Image
        A file's bytes, where they are, or a decoded RGB picture.
    side : int
        Longest side in pixels; a picture that is smaller keeps its size.
    file_format : {"webp", "jpeg"}
        What to encode.
    quality : int
        1 to 100.
    rules : DecodingRules, optional
        For what is not decoded yet.

    Returns
    -------
    bytes
        The encoded file, without metadata.

    Raises
    ------
    UndecodableImageError
        It cannot be read or decoded.
    InputError
        ``side``, ``quality`` or ``file_format`` is not allowed.

    Examples
    --------
    >>> from visual_search.images.decoding import decode
    >>> small = thumbnail(Image.new("RGB", (300, 200)), 100)
    >>> decode(small).width, decode(small).height
    (100, 67)
    """
    if type(side) is not int or side < 1:
        raise InputError(f"side={side!r}: give a positive integer of pixels")
    if file_format not in ("webp", "jpeg"):
        raise InputError(f"file_format={file_format!r}: give 'webp' or 'jpeg'")
    if type(quality) is not int or not 1 <= quality <= 100:
        raise InputError(f"quality={quality!r}: give an integer from 1 to 100")
    pixels = _pixels(image, side, rules or DecodingRules())
    # Pillow writes no empty side: a line of 1 x 5000 pixels becomes 1 x side.
    scale = min(1.0, side / max(pixels.size))
    size = (max(1, round(pixels.width * scale)), max(1, round(pixels.height * scale)))
    small = pixels if size == pixels.size else pixels.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)
    encoded = io.BytesIO()
    if file_format == "webp":
        small.save(encoded, "WEBP", quality=quality, method=4)
    else:
        small.save(encoded, "JPEG", quality=quality, optimize=True)
    return encoded.getvalue()


def _pixels(
    image: bytes | str | os.PathLike[str] | ImageSource | Image.Image, side: int, rules: DecodingRules
) -> Image.Image:
    if isinstance(image, Image.Image):
        if image.mode != "RGB":
            raise InputError(f"image: a picture of mode {image.mode}; give one that decode returned, in mode RGB")
        return image
    if isinstance(image, ImageSource):
        data = image.read(rules.max_bytes)
    else:
        data = image if isinstance(image, bytes) else read_file(Path(image), rules.max_bytes)
    return decode(data, rules, target_size=(side, side)).pixels


def data_uri(encoded: bytes) -> str:
    """Write an encoded image as a ``data:`` address that a page holds inside itself.

    Raises
    ------
    InputError
        The bytes are no image.

    Examples
    --------
    >>> data_uri(b"GIF89a")
    'data:image/gif;base64,R0lGODlh'
    """
    kind = image_format(encoded)
    if kind is None:
        raise InputError(f"encoded: not an image: {what_it_is(encoded)}")
    return f"data:{MEDIA_TYPES[kind]};base64,{base64.b64encode(encoded).decode('ascii')}"
