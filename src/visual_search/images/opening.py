"""Opens a file of one known format with the one plugin for it, and reads what the header says of its samples."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any

from PIL import (
    AvifImagePlugin,
    BmpImagePlugin,
    GifImagePlugin,
    Image,
    JpegImagePlugin,
    PngImagePlugin,
    PpmImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

from visual_search.errors import UndecodableImageError
from visual_search.images.sample_depth import Samples
from visual_search.images.signatures import ImageFormat

__all__ = ["open_image", "samples_of"]

_SUBFILE_TYPE, _BITS, _PHOTOMETRIC, _SUB_IFDS, _SAMPLE_FORMAT = 254, 258, 262, 330, 339


def open_image(data: bytes, kind: ImageFormat) -> Image.Image:
    """Open without loading pixels.

    The plugin is called directly, not through ``Image.open``: no other plugin is ever tried (EPS would start
    Ghostscript), what the plugin says of a damaged header is kept as the reason, and the limit on pixels is ours.

    Raises
    ------
    UndecodableImageError
        No plugin is installed for the format, or the file is a camera's raw file of which Pillow sees the preview.
    Exception
        Whatever the plugin raises.
    """
    if kind == "HEIF":
        return _open_heif(data)
    if kind == "AVIF" and not AvifImagePlugin.SUPPORTED:
        raise UndecodableImageError("an AVIF image, which this build of Pillow does not read")
    if kind == "WEBP" and not WebPImagePlugin.SUPPORTED:
        raise UndecodableImageError("a WebP image, which this build of Pillow does not read")
    image = _PLUGINS[kind](io.BytesIO(data), "")
    if isinstance(image, TiffImagePlugin.TiffImageFile):
        preview = image.tag_v2.get(_SUBFILE_TYPE, 0) & 1 and _SUB_IFDS in image.tag_v2
        if preview or data[8:10] == b"CR":
            raise UndecodableImageError("a camera's raw file, whose first page is only a preview; develop it first")
    return image


_PLUGINS: Mapping[ImageFormat, Callable[[io.BytesIO, str], Image.Image]] = {
    "JPEG": JpegImagePlugin.jpeg_factory,
    "PNG": PngImagePlugin.PngImageFile,
    "WEBP": WebPImagePlugin.WebPImageFile,
    "GIF": GifImagePlugin.GifImageFile,
    "TIFF": TiffImagePlugin.TiffImageFile,
    "BMP": BmpImagePlugin.BmpImageFile,
    "PPM": PpmImagePlugin.PpmImageFile,
    "AVIF": AvifImagePlugin.AvifImageFile,
}


def _open_heif(data: bytes) -> Image.Image:
    try:
        from pillow_heif import HeifImageFile
    except ImportError:
        raise UndecodableImageError("a HEIF image; to read it: pip install 'visual-search[heif]'") from None
    image: Image.Image = HeifImageFile(io.BytesIO(data), "")
    return image


def samples_of(image: Image.Image, data: bytes, kind: ImageFormat) -> Samples:
    """Depth, sign and polarity of an opened file's samples; to be asked before its pixels are loaded."""
    if kind == "PNG":
        return Samples(bits=data[24])
    if isinstance(image, TiffImagePlugin.TiffImageFile):
        tags = image.tag_v2
        return Samples(
            bits=int(max(tags.get(_BITS, (1,)))),
            signed=tags.get(_SAMPLE_FORMAT, (1,))[0] == 2,
            white_is_zero=tags.get(_PHOTOMETRIC) == 0,
        )
    if isinstance(image, PpmImagePlugin.PpmImageFile):
        return Samples(bits=16 if image.mode == "I" or _netpbm_maximum(image) > 255 else 8)
    if kind == "HEIF":
        return Samples(bits=int(image.info.get("bit_depth", 8)))
    return Samples()


def _netpbm_maximum(image: PpmImagePlugin.PpmImageFile) -> int:
    arguments: Any = image.tile[0].args
    return arguments[-1] if isinstance(arguments, tuple) and isinstance(arguments[-1], int) else 255
