"""Embedded ICC profiles: colours to sRGB, where the profile can be used."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PIL import Image, ImageCms

__all__ = ["to_srgb"]

# ICC's names of colour spaces and the Pillow mode whose pixels a profile of that space describes.
_MODES = {"RGB": "RGB", "GRAY": "L", "CMYK": "CMYK"}
# Profiles that call themselves sRGB differ from the built-in one by rounding; 2 of 255 is not seen.
_UNSEEN = 2


@dataclass(frozen=True, slots=True)
class _Conversion:
    """What one profile does to pixels of its mode: a transform, or a reason why there is none."""

    mode: str
    name: str
    transform: ImageCms.ImageCmsTransform | None = None
    reason: str = ""


def to_srgb(image: Image.Image, profile: bytes) -> tuple[Image.Image, tuple[str, ...]]:
    """Convert a picture by its embedded profile to sRGB.

    Parameters
    ----------
    image : PIL.Image.Image
        Mode L, RGB or CMYK, without alpha.
    profile : bytes
        The ICC profile as embedded.

    Returns
    -------
    PIL.Image.Image
        Mode RGB where the profile was applied, else the picture that came.
    tuple of str
        ``"ICC applied: NAME"``, ``"ICC ignored: REASON"``, or nothing where the profile is sRGB itself (no value of
        a grid of colours moves by more than 2 of 255).

    Convention
    ----------
    Perceptual rendering intent, as browsers do; Little CMS 2 through Pillow.
    """
    conversion = _conversion(profile)
    if conversion.reason:
        return image, (f"ICC ignored: {conversion.reason}",)
    if image.mode == "L" and conversion.mode == "RGB":
        image = image.convert("RGB")
    if image.mode != conversion.mode:
        space = {"L": "grey"}.get(conversion.mode, conversion.mode)
        return image, (f"ICC ignored: a {space} profile on {image.mode} pixels",)
    if conversion.transform is None:
        return image, ()
    return _applied(image, conversion.transform), (f"ICC applied: {conversion.name}",)


def _applied(image: Image.Image, transform: ImageCms.ImageCmsTransform) -> Image.Image:
    converted = transform.apply(image)
    converted.info.clear()  # the pixels are sRGB now; the old profile must not travel with them
    return converted


@lru_cache(maxsize=32)
def _conversion(profile: bytes) -> _Conversion:
    """Build the transform of a profile once; a folder's pictures mostly share a few profiles."""
    try:
        opened = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        space = opened.profile.xcolor_space.strip()
        name = " ".join((opened.profile.profile_description or "unnamed").split())[:60]
        mode = _MODES.get(space)
        if mode is None:
            return _Conversion("", name, reason=f"its colour space {space} is not read")
        transform = ImageCms.buildTransform(
            opened, ImageCms.createProfile("sRGB"), mode, "RGB", ImageCms.Intent.PERCEPTUAL
        )
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError, AttributeError):
        return _Conversion("", "", reason="it is damaged or of a kind that is not read")
    return _Conversion(mode, name, None if mode != "CMYK" and _is_srgb(transform, mode) else transform)


def _is_srgb(transform: ImageCms.ImageCmsTransform, mode: str) -> bool:
    levels = np.linspace(0, 255, 17).round().astype(np.uint8)
    if mode == "L":
        before = levels[None, :]
        after = np.asarray(transform.apply(Image.fromarray(before)), dtype=np.int16)
        moved = np.abs(after - before[..., None].astype(np.int16))
    else:
        grid = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), axis=-1).reshape(17, -1, 3)
        after = np.asarray(transform.apply(Image.fromarray(grid)), dtype=np.int16)
        moved = np.abs(after - grid.astype(np.int16))
    return int(moved.max()) <= _UNSEEN
