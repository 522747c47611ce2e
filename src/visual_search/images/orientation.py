"""How a picture lay in the file, and upright."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PIL import ExifTags, Image

__all__ = ["Orientation", "bare", "orientation_of"]

# EXIF's eight orientations to what turns each upright (CIPA DC-008, tag 0x0112).
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}

# What Pillow's reader of EXIF raises on damaged blocks.
_EXIF_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    struct.error,
    OverflowError,
)


@dataclass(frozen=True, slots=True)
class Orientation:
    """EXIF orientation that is still to be applied, 1 (none) to 8, and what is said of it."""

    value: int = 1
    said: tuple[str, ...] = ()

    def applied_to(self, image: Image.Image) -> Image.Image:
        """The picture turned upright."""
        return image.transpose(_TURNS[self.value]) if self.value in _TURNS else image


def orientation_of(image: Image.Image) -> Orientation:
    """Orientation that EXIF or, failing that, XMP states; 1 where none is stated or the value is none of 1 to 8.

    A damaged EXIF block does not cost the picture: it is taken as it lies, and that is said.
    """
    try:
        stated = _stated(image)
    except _EXIF_ERRORS:
        return Orientation(1, ("EXIF unreadable",))
    # libheif turns the picture itself and leaves word of it here; Pillow turns a TIFF while it loads.
    done = image.info.get("original_orientation", stated if image.format == "TIFF" else None)
    if isinstance(done, int) and done in _TURNS:
        return Orientation(1, (f"rotated: orientation {done}",))
    if isinstance(stated, int) and stated in _TURNS:
        return Orientation(stated, (f"rotated: orientation {stated}",))
    return Orientation()


def _stated(image: Image.Image) -> object:
    block = image.info.get("exif")
    if isinstance(block, bytes):
        # The JPEG plugin has read the block before and hidden that it is damaged, so it is read anew.
        exif = Image.Exif()
        exif.load(block)
        if ExifTags.Base.Orientation in exif:
            return exif[ExifTags.Base.Orientation]
    return image.getexif().get(ExifTags.Base.Orientation, 1)


def bare(image: Image.Image, info: Mapping[Any, Any] | None = None) -> Image.Image:
    """The same pixels as a plain image that carries nothing of its file but the information given.

    A profile or an orientation left on it would be applied a second time by whoever saves or turns it. Pillow's
    ``copy`` would do, at half the cost of decoding a JPEG.
    """
    plain = image._new(image.im)  # noqa: SLF001 - shares the pixels, which no public method does
    plain.info = dict(info or {})
    return plain
