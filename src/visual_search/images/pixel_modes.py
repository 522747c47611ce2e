"""Any mode Pillow may give to RGB, with every loss on the way named."""

from __future__ import annotations

from typing import Any, TypeAlias

from PIL import Image

from visual_search.errors import UndecodableImageError
from visual_search.images.color_profiles import to_srgb
from visual_search.images.sample_depth import DEEP_MODES, Samples, transparent_where, with_8_bits

__all__ = ["to_rgb"]

_Split: TypeAlias = tuple[Image.Image, Image.Image | None, tuple[str, ...]]

_OTHER_SPACES = frozenset({"YCbCr", "LAB", "HSV"})
_WITH_ALPHA = {"LA": "LA", "La": "LA", "RGBA": "RGBA", "RGBa": "RGBA", "PA": "RGBA"}


def to_rgb(
    image: Image.Image, samples: Samples, background: tuple[int, int, int]
) -> tuple[Image.Image, tuple[str, ...]]:
    """Bring a loaded picture to RGB of 8 bits: depth, transparency, colour space, profile, background in turn.

    Parameters
    ----------
    image : PIL.Image.Image
        Loaded, of any mode.
    samples : Samples
        What the file says of its samples.
    background : tuple of int
        sRGB colour, 0 to 255 each, that shows through where the picture is transparent.

    Returns
    -------
    PIL.Image.Image
        Mode RGB.
    tuple of str
        What was changed; a grey, palette or 1-bit picture spread over three channels loses nothing: not named.

    Raises
    ------
    UndecodableImageError
        A mode that has no rule here.
    """
    colour, alpha, changes = _split(image, samples)
    profile = image.info.get("icc_profile")
    if isinstance(profile, bytes) and profile:
        colour, said = to_srgb(colour, profile)
        changes += said
    if colour.mode == "CMYK":
        changes += ("CMYK converted: without a profile",)
    if colour.mode != "RGB":
        colour = colour.convert("RGB")
    if alpha is None or _least(alpha) == 255:
        return colour, changes
    canvas = Image.new("RGB", colour.size, background)
    canvas.paste(colour, mask=alpha)
    return canvas, (*changes, f"alpha composited: on {background}")


def _split(image: Image.Image, samples: Samples) -> _Split:
    """Colours in a mode that profiles know (L, RGB, CMYK), and alpha apart."""
    mode = image.mode
    if mode in DEEP_MODES:
        return _split_deep(image, samples)
    said: tuple[str, ...] = (f"{samples.bits} bit scaled",) if samples.bits > 8 else ()
    if mode == "1":
        image, mode = _with_info(image.convert("L"), image.info), "L"
    if mode in ("L", "RGB", "P") and "transparency" in image.info:
        return (*_split_key(image, samples), said)
    if mode in _WITH_ALPHA:
        image = image.convert(_WITH_ALPHA[mode])  # a premultiplied picture is divided by its alpha
        return image.convert(image.mode.removesuffix("A")), image.getchannel("A"), said
    if mode in ("P", "RGBX"):
        image = image.convert("RGB")
    elif mode in _OTHER_SPACES:
        image = image.convert("RGB")
        said += (f"colour space converted: {mode}",)
    elif mode not in ("L", "RGB", "CMYK"):
        raise UndecodableImageError(f"pixels of Pillow's mode {mode}, for which there is no rule")
    return image, None, said


def _split_deep(image: Image.Image, samples: Samples) -> _Split:
    key = image.info.get("transparency")
    alpha = transparent_where(image, key) if isinstance(key, int) and image.mode != "F" else None
    grey, said = with_8_bits(image, samples)
    return grey, alpha, said


def _split_key(image: Image.Image, samples: Samples) -> tuple[Image.Image, Image.Image]:
    """One colour, or the palette, says where a picture is transparent."""
    key = image.info["transparency"]
    if image.mode == "L":
        # The file counts in its own 1, 2, 4 bits; Pillow has spread the samples over 0..255 and left the key.
        level = key * 255 // ((1 << samples.bits) - 1) if samples.bits < 8 and samples.bits > 1 else key
        return image, image.point([0 if value == level else 255 for value in range(256)])
    if image.mode == "RGB" and samples.bits == 16:
        # Pillow keeps the high byte of each sample and the whole of the key.
        image = _with_info(image, {"transparency": tuple(channel >> 8 for channel in key)})
    opaque = image.convert("RGBA")
    return opaque.convert("RGB"), opaque.getchannel("A")


def _with_info(image: Image.Image, info: dict[str | tuple[int, int], Any]) -> Image.Image:
    image.info = dict(info)
    return image


def _least(alpha: Image.Image) -> float:
    low, _ = alpha.getextrema()
    return float(low) if isinstance(low, int | float) else 0.0
