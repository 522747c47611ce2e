"""What is kept of a picture to tell whether another is the same: a digest, hashes and a small copy."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image

from visual_search.images.hashes import perceptual_hash, pixels_digest

__all__ = ["SIDE", "SIGNATURE", "SIGNATURE_VERSION", "Signatures", "signature_of", "signatures_of"]

SIDE = 24
SIGNATURE_VERSION = 1  # raised whenever the same pixels would get another signature

SIGNATURE = np.dtype(
    [
        ("digest", np.uint8, (32,)),
        ("hash64", np.uint8, (8,)),
        ("hash256", np.uint8, (32,)),
        ("mirrored64", np.uint8, (8,)),
        ("mirrored256", np.uint8, (32,)),
        ("small", np.uint8, (SIDE, SIDE, 3)),
    ]
)

Signatures: TypeAlias = npt.NDArray[Any]


def signature_of(image: Image.Image) -> Signatures:
    """Take the signature of one decoded RGB picture.

    Parameters
    ----------
    image : PIL.Image.Image
        Mode RGB, as ``decode`` gives it, in full size: a picture decoded smaller has other pixels.

    Returns
    -------
    array of shape () and dtype ``SIGNATURE``
        1,840 bytes: SHA-256 of mode, shape and pixels; the 64-bit and 256-bit DCT hash of the picture and of its mirror
        image; the picture itself at 24 x 24 pixels (Lanczos).

    Examples
    --------
    >>> black = Image.new("RGB", (10, 20))
    >>> turned = black.transpose(Image.Transpose.ROTATE_90)
    >>> one, other = signature_of(black), signature_of(turned)
    >>> bool((one["hash64"] == other["hash64"]).all()), bool((one["digest"] == other["digest"]).all())
    (True, False)
    """
    signature = np.zeros((), dtype=SIGNATURE)
    signature["digest"] = np.frombuffer(bytes.fromhex(pixels_digest(image).removeprefix("sha256:")), dtype=np.uint8)
    grey = image.convert("L")
    # A grey picture of the hash's own input size is hashed as it is, so the mirror image costs no second scaling.
    for bits, side in ((64, 32), (256, 64)):
        scaled = grey.resize((side, side), Image.Resampling.LANCZOS)
        mirrored = scaled.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        signature[f"hash{bits}"] = perceptual_hash(scaled, 64 if bits == 64 else 256)
        signature[f"mirrored{bits}"] = perceptual_hash(mirrored, 64 if bits == 64 else 256)
    small = image.resize((SIDE, SIDE), Image.Resampling.LANCZOS, reducing_gap=4.0)
    signature["small"] = np.asarray(small, dtype=np.uint8)
    return signature


def signatures_of(images: list[Image.Image]) -> Signatures:
    """Signatures of decoded RGB pictures: array of shape (n,) and dtype ``SIGNATURE``."""
    made = np.zeros(len(images), dtype=SIGNATURE)
    for row, image in enumerate(images):
        made[row] = signature_of(image)
    return made
