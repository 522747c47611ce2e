r"""What a pair's distance is under every metric and in every form that makers of ground truth have written.

Each value comes with the error that float32 arithmetic of its maker may have left in it: about :math:`10^{-6}` of what
was summed, carried through the root or the arc cosine. So a file of squared distances computed by
:math:`|q|^2 + |x|^2 - 2 q \cdot x` near a duplicate is still recognised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["METRICS", "PairReadings", "farness", "pair_readings"]

AnyArray: TypeAlias = npt.NDArray[Any]
FloatArray: TypeAlias = npt.NDArray[np.float64]

METRICS = ("l2", "cosine", "ip", "hamming", "jaccard")
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class PairReadings:
    """Plain quantities of pairs, float64, all of one shape."""

    squared: FloatArray
    product: FloatArray
    cosine: FloatArray
    differing: FloatArray
    places: int
    jaccard: FloatArray
    left_length: FloatArray
    right_length: FloatArray

    def all(self) -> dict[tuple[str, str], tuple[FloatArray, FloatArray]]:
        """Metric and form -> values and their makers' rounding."""
        plain, unit = np.sqrt(self.squared), np.sqrt(2 - 2 * self.cosine)
        summed = _ROUNDING * (np.square(self.left_length) + np.square(self.right_length))
        product = _ROUNDING * self.left_length * self.right_length
        one = np.full_like(self.cosine, _ROUNDING)
        angle = np.arccos(self.cosine)
        return {
            ("l2", "plain distance"): (plain, _of_root(plain, summed)),
            ("l2", "squared distance"): (self.squared, summed),
            ("cosine", "1 - cosine"): (1 - self.cosine, one),
            ("cosine", "cosine similarity"): (self.cosine, one),
            ("cosine", "minus the cosine"): (-self.cosine, one),
            ("cosine", "angle in radians"): (angle, _of_root(np.sin(angle), 2 * one)),
            ("cosine", "angle / pi"): (angle / np.pi, _of_root(np.sin(angle), 2 * one) / np.pi),
            ("cosine", "plain distance of unit vectors"): (unit, _of_root(unit, 2 * one)),
            ("cosine", "squared distance of unit vectors"): (2 - 2 * self.cosine, 2 * one),
            ("ip", "inner product"): (self.product, product),
            ("ip", "minus the inner product"): (-self.product, product),
            ("ip", "1 - inner product"): (1 - self.product, product + one),
            ("hamming", "number of differing bits"): (self.differing, one),
            ("hamming", "share of differing bits"): (self.differing / self.places, one),
            ("jaccard", "1 - shared / all"): (self.jaccard, one),
        }


def _of_root(root: FloatArray, error: FloatArray) -> FloatArray:
    """Error of a root (or of an arc cosine, whose slope is alike) from the error of what stands under it."""
    with np.errstate(divide="ignore"):
        return np.minimum(error / root, np.sqrt(error))


def pair_readings(left: AnyArray, right: AnyArray) -> PairReadings:
    """Measure pairs of vectors, from arrays that broadcast to (..., d).

    Under ``hamming``, uint8 arrays with a value above 1 are packed bits; all else is compared component by component.
    """
    packed = left.dtype == right.dtype == np.uint8 and max(left.max(initial=0), right.max(initial=0)) > 1
    first, second = left.astype(np.float64), right.astype(np.float64)
    lengths = np.linalg.norm(first, axis=-1), np.linalg.norm(second, axis=-1)
    product = (first * second).sum(axis=-1)
    on, other = first != 0, second != 0
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = np.clip(product / (lengths[0] * lengths[1]), -1, 1)
        jaccard = 1 - (on & other).sum(axis=-1) / (on | other).sum(axis=-1)
    differing = np.bitwise_count(left ^ right).sum(axis=-1) if packed else (first != second).sum(axis=-1)
    return PairReadings(
        squared=np.square(first - second).sum(axis=-1),
        product=product,
        cosine=cosine,
        differing=differing.astype(np.float64),
        places=left.shape[-1] * (8 if packed else 1),
        jaccard=jaccard,
        left_length=lengths[0],
        right_length=lengths[1],
    )


def farness(metric: str, pairs: PairReadings) -> FloatArray:
    """How far, smaller is nearer, under one metric."""
    return {
        "l2": pairs.squared,
        "cosine": -pairs.cosine,
        "ip": -pairs.product,
        "hamming": pairs.differing,
        "jaccard": pairs.jaccard,
    }[metric]
