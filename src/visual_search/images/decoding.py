"""Bytes to RGB pixels, with everything that was changed on the way, or the reason why not."""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import asdict, dataclass
from typing import Any

from PIL import Image

from visual_search.errors import InputError, Problems, UndecodableImageError
from visual_search.images.netpbm import stretched
from visual_search.images.opening import open_image, samples_of
from visual_search.images.orientation import bare, orientation_of
from visual_search.images.pillow_warnings import quiet_pillow
from visual_search.images.pixel_modes import to_rgb
from visual_search.images.signatures import ImageFormat, image_format, what_it_is
from visual_search.images.structure import check_structure, declared_size, frame_count, png_lacks_rows

__all__ = ["DecodedImage", "DecodingRules", "decode"]

_ATTEMPTS = 5
_LONGEST_COMPLAINT = 120  # characters of a plugin's own words in a reason

# What Pillow and its plugins raise on damaged or hostile files, as found by its own code and by mutating files.
# DecompressionBombError is no OSError; PyCMSError no ValueError; the plugins add their own.
_PILLOW_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    EOFError,
    MemoryError,
    RuntimeError,
    BufferError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
)

_RULES_VERSION = 1  # raised whenever the same file would decode to other pixels


@dataclass(frozen=True, slots=True)
class DecodingRules:
    """How images are decoded, and what is refused.

    Parameters
    ----------
    background : tuple of 3 int
        sRGB colour, 0 to 255 each, on which transparent pictures are laid. White unless said.
    max_pixels : int
        Width times height above which a picture is refused, before memory for its pixels is taken. The default,
        120 million, admits the 108 megapixels of telephone cameras. Decoding takes 4 bytes a pixel, 8 where the
        picture is turned or its colours converted, up to 16 where transparency is laid on a colour. For TIFF and
        WebP Pillow's own limit, twice ``PIL.Image.MAX_IMAGE_PIXELS`` (179 million unless changed), holds besides.
    max_bytes : int
        Length of a file in bytes above which it is refused.

    Examples
    --------
    >>> DecodingRules(background=(0, 0, 0)).as_json()
    {'background': [0, 0, 0], 'max_bytes': 268435456, 'max_pixels': 120000000, 'version': 1}
    """

    background: tuple[int, int, int] = (255, 255, 255)
    max_pixels: int = 120_000_000
    max_bytes: int = 256 << 20

    def __post_init__(self) -> None:
        problems = Problems("decoding rules")
        channels = list(self.background)
        if len(channels) != 3 or any(type(c) is not int or not 0 <= c <= 255 for c in channels):
            problems.add(
                f"background={self.background!r}: give three integers from 0 to 255, such as (255, 255, 255)"
            )
        for name in ("max_pixels", "max_bytes"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                problems.add(f"{name}={value!r}: give a positive integer")
        problems.raise_if_any(InputError)

    def as_json(self) -> dict[str, Any]:
        """As a JSON object with sorted keys; equal objects mean equal pixels for equal files."""
        return dict(
            sorted({**asdict(self), "background": list(self.background), "version": _RULES_VERSION}.items())
        )


@dataclass(frozen=True, slots=True, eq=False)
class DecodedImage:
    """One decoded picture.

    Attributes
    ----------
    pixels : PIL.Image.Image
        Mode RGB, sRGB, upright; carries no metadata of the file.
    changes : tuple of str
        What was done beyond reading the file, in stable words; what follows a colon is detail.
    format : str
        Format by content: one of ``IMAGE_FORMATS``.
    mode : str
        Pillow's mode of the file's pixels before they became RGB.
    width, height : int
        Size in pixels of the upright picture. ``pixels`` is smaller only where ``target_size`` allowed it.
    frames : int
        Frames or pages in the file; the first was taken.
    """

    pixels: Image.Image
    changes: tuple[str, ...]
    format: ImageFormat
    mode: str
    width: int
    height: int
    frames: int = 1


def decode(
    data: bytes, rules: DecodingRules | None = None, *, target_size: tuple[int, int] | None = None
) -> DecodedImage:
    r"""Decode an image file held in memory.

    Parameters
    ----------
    data : bytes
        The whole file.
    rules : DecodingRules, optional
        Limits and background.
    target_size : tuple of int, optional
        Width and height that the caller will shrink the picture to. A JPEG may then be decoded at 1/2, 1/4 or 1/8
        of its size, never below twice the target on either side, which is several times faster; the pixels then
        differ a little from a full decoding, so use one and the same hint wherever results are compared. Other
        formats ignore it.

    Returns
    -------
    DecodedImage

    Raises
    ------
    UndecodableImageError
        Whatever is wrong with the bytes: not an image, truncated, damaged, beyond a limit. The message is a short
        reason fit for the ledger. Nothing else is raised for any bytes.
    InputError
        ``target_size`` is not two positive integers.

    Convention
    ----------
    The content decides, not a name. EXIF orientation is applied; colours are converted to sRGB where a usable
    profile is embedded; more than 8 bits are scaled over their full range; transparency is laid on
    ``rules.background``; the first frame of several is taken. docs/explanation/images.md has every rule. Safe to
    call from several threads; Pillow releases the interpreter lock while it decodes, and neither its settings nor
    the process's warning filters change for anyone else.

    Examples
    --------
    >>> decoded = decode(b"P5 2 1 255\n" + bytes([0, 255]))
    >>> decoded.format, decoded.mode, decoded.width, decoded.height, decoded.changes
    ('PPM', 'L', 2, 1, ())
    >>> decode(b"not an image")
    Traceback (most recent call last):
    ...
    visual_search.errors.UndecodableImageError: not an image: text
    """
    rules = rules or DecodingRules()
    if target_size is not None and not all(type(side) is int and side > 0 for side in target_size):
        raise InputError(f"target_size={target_size!r}: give width and height as positive integers, or None")
    if not data:
        raise UndecodableImageError("an empty file: 0 bytes")
    if len(data) > rules.max_bytes:
        raise UndecodableImageError(f"too many bytes: {len(data)}, more than max_bytes={rules.max_bytes}")
    kind = image_format(data)
    if kind is None:
        raise UndecodableImageError(f"not an image: {what_it_is(data)}")
    for _ in range(_ATTEMPTS):
        try:
            with quiet_pillow():
                check_structure(data, kind)
                return _decoded(data, kind, rules, target_size)
        except UndecodableImageError:
            raise
        except _PILLOW_ERRORS as error:
            raise UndecodableImageError(_reason(kind, error)) from error
        except Warning:  # another thread turned warnings into errors in the middle of it: no fault of the file
            continue
    raise UndecodableImageError("other threads keep turning warnings into errors while it is decoded")


def _decoded(
    data: bytes, kind: ImageFormat, rules: DecodingRules, target_size: tuple[int, int] | None
) -> DecodedImage:
    _check_size(declared_size(data, kind), rules)
    image = open_image(data, kind)
    _check_size(image.size, rules)
    width, height = image.size
    frames = frame_count(image, data, kind)
    changes: tuple[str, ...] = (f"first frame: of {frames}",) if frames > 1 else ()
    samples = samples_of(image, data, kind)
    # Pillow turns a TIFF while it loads and forgets how it lay, and a JPEG's draft needs to know before, too; the
    # others are asked once loaded, since a PNG may tell after its pixels.
    orientation = orientation_of(image) if kind in ("TIFF", "JPEG") else None
    if orientation is not None and target_size is not None and kind == "JPEG":
        changes += _draft(image, target_size, turned=orientation.value > 4)
    loaded = stretched(image, data)
    loaded.load()
    _check_size(loaded.size, rules)  # libheif may find another size than the header's
    if kind == "PNG" and png_lacks_rows(data, loaded):
        raise UndecodableImageError("truncated or damaged PNG: rows are missing")
    mode = image.mode
    orientation = orientation or orientation_of(loaded)
    if kind != "JPEG":  # whose size may be that of its draft
        width, height = loaded.size
    image = loaded = bare(loaded, loaded.info)  # what the plugin holds (file, decoder) is as large as the pixels
    pixels, said = to_rgb(loaded, samples, rules.background)
    del image, loaded
    pixels = bare(orientation.applied_to(pixels))
    width, height = (height, width) if orientation.value > 4 else (width, height)
    return DecodedImage(pixels, changes + said + orientation.said, kind, mode, width, height, frames)


def _check_size(size: tuple[int, int] | None, rules: DecodingRules) -> None:
    if size is not None and size[0] * size[1] > rules.max_pixels:
        raise UndecodableImageError(
            f"too many pixels: {size[0]} x {size[1]}, more than max_pixels={rules.max_pixels}"
        )


def _draft(image: Image.Image, target_size: tuple[int, int], *, turned: bool) -> tuple[str, ...]:
    """Ask libjpeg for the smallest of its scales that leaves twice the target on both sides."""
    width, height = target_size[::-1] if turned else target_size
    full = image.width
    image.draft(None, (2 * width, 2 * height))
    factor = round(full / image.width)
    return (f"decoded smaller: 1/{factor}",) if factor > 1 else ()


def _reason(kind: ImageFormat, error: BaseException) -> str:
    """Turn a plugin's complaint into one short line that is the same in every run."""
    if isinstance(error, MemoryError):
        return f"a {kind} for which there is not enough memory"
    if isinstance(error, Image.DecompressionBombError):
        return "too many pixels: more than Pillow allows; raise PIL.Image.MAX_IMAGE_PIXELS as well to read it"
    complaint = " ".join(str(error).split())
    complaint = re.sub(r"<[^>]*> ?|0x[0-9a-f]+", "", complaint)[:_LONGEST_COMPLAINT]
    return f"truncated or damaged {kind}: {complaint or type(error).__name__}"
