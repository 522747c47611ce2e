"""Whether two small copies show one picture: their detail correlates, and no place differs in shade or colour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.leaks.signatures import SIDE, Signatures

__all__ = ["PLAIN_BELOW", "Likeness", "compare_small", "detail_of", "is_plain"]

FloatArray: TypeAlias = npt.NDArray[np.float32]
Int64Array: TypeAlias = npt.NDArray[np.int64]

# Grey levels of 255. Rounding to whole levels alone makes .29, so that true copies of pictures with less detail than
# this would correlate below the default threshold: .975 = 1 / (1 + .29^2 / s^2) at s = 1.8.
PLAIN_BELOW = 2.0

_WINDOW = 5
_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)
_BLUE = np.array([-0.168736, -0.331264, 0.5], dtype=np.float32)
_RED = np.array([0.5, -0.418688, -0.081312], dtype=np.float32)
_ROWS = 4096
_PATCH = 2


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """How alike pairs of pictures are.

    Attributes
    ----------
    detail : float32 array of shape (n,)
        Correlation of what is left of the grey small copies when a 5 x 5 mean is taken away; -1 to 1.
    color : float32 array of shape (n,)
        Root mean square difference of chroma (Cb, Cr) over an 8 x 8 grid, in levels of 255.
    local : float32 array of shape (n,)
        Largest difference of a 2 x 2 mean of the grey small copies once their mean and contrast are made the same, in
        levels of 255: one other letter on a number plate.
    shade : float32 array of shape (n,)
        The same as the pictures are, brightness and contrast and all: a light and a dark thing of one form.
    """

    detail: FloatArray
    color: FloatArray
    local: FloatArray
    shade: FloatArray


def detail_of(signatures: Signatures) -> FloatArray:
    """Detail of the grey small copies: float32 of shape (n, 24, 24), in grey levels.

    Each pixel less the mean of the 5 x 5 around it, edges repeated. Photographs of one face or one street share
    their large shapes; it is in the detail that two photographs differ and two copies of one do not.
    """
    grey = _grey(signatures)
    margin = _WINDOW // 2
    padded = np.pad(grey, ((0, 0), (margin, margin), (margin, margin)), mode="reflect", reflect_type="odd")
    rows = np.zeros((len(grey), SIDE, SIDE + 2 * margin), dtype=np.float32)
    total = np.zeros(grey.shape, dtype=np.float32)
    for shift in range(_WINDOW):
        rows += padded[:, shift : shift + SIDE, :]
    for shift in range(_WINDOW):
        total += rows[:, :, shift : shift + SIDE]
    detail: FloatArray = grey - (total / _WINDOW**2).astype(np.float32)
    return detail


def is_plain(signatures: Signatures) -> npt.NDArray[np.bool_]:
    """Whether each picture has next to no detail: a root mean square of less than 2 grey levels of 255.

    Uniform pictures, smooth gradients. Their hashes are those of thousands of others, and there is nothing that would
    tell a copy from another picture; only their pixels can be compared.
    """
    plain = np.zeros(len(signatures), dtype=np.bool_)
    for start in range(0, len(signatures), _ROWS):
        detail = detail_of(signatures[start : start + _ROWS])
        plain[start : start + _ROWS] = np.sqrt((detail**2).mean(axis=(1, 2))) < PLAIN_BELOW
    return plain


def compare_small(
    signatures: Signatures, first: Int64Array, second: Int64Array, *, mirrored: bool = False
) -> Likeness:
    """Compare pairs of pictures by their small copies.

    Parameters
    ----------
    signatures : array of dtype ``SIGNATURE``
    first, second : int64 array of shape (n,)
        Rows of ``signatures``.
    mirrored : bool
        Whether the first of each pair is mirrored left to right before it is compared.

    Returns
    -------
    Likeness
        Detail is 0 where one of the pictures has none at all.

    Convention
    ----------
    Brightness and contrast count in ``shade`` alone; a copy in grey of a coloured picture differs in colour. Memory:
    some 100 MB at a time, however many pairs.
    """
    detail = np.empty(len(first), dtype=np.float32)
    color = np.empty(len(first), dtype=np.float32)
    local = np.empty(len(first), dtype=np.float32)
    shade = np.empty(len(first), dtype=np.float32)
    for start in range(0, len(first), _ROWS):
        part = slice(start, start + _ROWS)
        left, right = signatures[first[part]], signatures[second[part]]
        ours, theirs = _normalized(left), _normalized(right)
        shades, others = _chroma(left), _chroma(right)
        grey, other = _grey(left), _grey(right)
        if mirrored:
            ours, shades, grey = ours[:, :, ::-1], shades[:, :, ::-1], grey[:, :, ::-1]
        detail[part] = (ours * theirs).sum(axis=(1, 2))
        color[part] = np.sqrt(((shades - others) ** 2).mean(axis=(1, 2, 3)))
        local[part] = _largest_patch(*_of_one_contrast(grey, other))
        shade[part] = _largest_patch(grey, other)
    return Likeness(detail, color, local, shade)


def _grey(signatures: Signatures) -> FloatArray:
    grey: FloatArray = signatures["small"].astype(np.float32) @ _LUMA
    return grey


def _of_one_contrast(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both less their means, and with the geometric mean of their contrasts, so that neither goes before the other."""
    ours, theirs = (one - one.mean(axis=(1, 2), keepdims=True) for one in (first, second))
    spread, other = (np.sqrt((one**2).mean(axis=(1, 2), keepdims=True)) for one in (ours, theirs))
    gain = np.sqrt(np.divide(other, spread, out=np.ones_like(spread), where=(spread > 0) & (other > 0)))
    return ours * gain, theirs / gain


def _largest_patch(first: FloatArray, second: FloatArray) -> FloatArray:
    """Largest difference of a 2 x 2 mean, float32 of shape (n,)."""
    apart = first - second
    last = SIDE - _PATCH + 1
    total = sum(
        apart[:, down : down + last, right : right + last] for down in range(_PATCH) for right in range(_PATCH)
    )
    largest: FloatArray = np.abs(total).max(axis=(1, 2)) / _PATCH**2
    return largest


def _normalized(signatures: Signatures) -> FloatArray:
    detail = detail_of(signatures)
    length = np.sqrt((detail**2).sum(axis=(1, 2), keepdims=True))
    scaled: FloatArray = np.divide(detail, length, out=np.zeros_like(detail), where=length > 0)
    return scaled


def _chroma(signatures: Signatures) -> FloatArray:
    """Cb and Cr over an 8 x 8 grid: float32 of shape (n, 8, 8, 2)."""
    small = signatures["small"].astype(np.float32)
    cells = small.reshape(-1, SIDE // 3, 3, SIDE // 3, 3, 3).mean(axis=(2, 4))
    return np.stack([cells @ _BLUE, cells @ _RED], axis=-1)
