"""Rigorous bounds on what rounding does to a screened distance.

The exact distance is the float64 one of `visual_search.kernels.plain_pairs`. A screen computes something cheaper; each
function here gives a number that the two cannot be further apart by, norms being upper bounds. Products of sums follow
the standard model: a sum of d products in any order, fused or not, errs by at most g(d) times the product of the norms,
g(d) = d u / (1 - d u) (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["DOUBLE", "SINGLE", "Precision", "exact_limit", "l2_limit", "product_limit"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class Precision:
    """Unit roundoff u and smallest normal number of a floating type.

    Parameters
    ----------
    dtype : dtype

    Examples
    --------
    >>> Precision(np.float32).unit == 2.0**-24
    True
    >>> round(Precision(np.float32).sum_error(128) * 1e6, 2)
    7.63
    """

    def __init__(self, dtype: Any) -> None:
        facts = np.finfo(dtype)
        self.dtype = np.dtype(dtype)
        self.unit = float(facts.eps) / 2
        self.tiny = float(facts.tiny)

    def sum_error(self, terms: int) -> float:
        """g(terms); infinite where the model says nothing."""
        share = terms * self.unit
        return share / (1 - share) if share < 1 else np.inf


SINGLE = Precision(np.float32)
DOUBLE = Precision(np.float64)

# Bounds are themselves computed in float64, in a handful of steps.
_SLACK = 1 + 2.0**-40


def l2_limit(kth: FloatArray, query_norms: FloatArray, row_norm: float, d: int, precision: Precision) -> FloatArray:
    """Screened squared distance above which a row is surely further than ``kth``.

    The screen computes |q|^2 + |x|^2 - 2 <q, x>, or the sum of squared differences, from q - m and x - m rounded to the
    precision. Its error is at most 2 g |q||x| + (g + 3 u)(|q|^2 + |x|^2) for the sums and 3 u (|q| + |x|)^2 for the
    rounding of the centred vectors.

    Parameters
    ----------
    kth : float64 array of shape (queries,)
        Distances, not squared; infinity gives infinity.
    query_norms : float64 array of shape (queries,)
        Upper bounds of the norms of the centred queries.
    row_norm : float
        An upper bound of the norms of the centred rows.
    d : int
        Dimension.
    precision : Precision
        Of the screen.

    Examples
    --------
    >>> limit = l2_limit(np.array([3.0]), np.array([1.0]), 4.0, 128, SINGLE)
    >>> bool(9.0 < limit[0] < 9.001)
    True
    """
    u, g = precision.unit, precision.sum_error(d + 2)
    q, x = query_norms, row_norm
    error = 2 * g * q * x + (g + 3 * u) * (q * q + x * x) + 3 * u * (q + x) ** 2 + 8 * d * precision.tiny
    exact = kth * kth * (1 + 4 * DOUBLE.sum_error(d + 8))
    limit: FloatArray = (exact + error) * _SLACK
    return limit


def product_limit(
    kth: FloatArray, query_norms: FloatArray, row_norm: float, d: int, precision: Precision, *, whole_norm: float
) -> FloatArray:
    """Minus the screened product <q, x - m>, plus <q, m>, above which a row is surely further than ``kth``.

    The error is at most (g + 3 u) |q||x - m| for the screen, and that of the float64 sums on both sides.

    Parameters
    ----------
    kth, query_norms, row_norm, d, precision
        As for `l2_limit`; the queries are not centred.
    whole_norm : float
        An upper bound of the norms of m and of the rows before centring.

    Examples
    --------
    >>> limit = product_limit(np.array([-0.5]), np.array([1.0]), 1.0, 128, SINGLE, whole_norm=1.0)
    >>> bool(-0.5 < limit[0] < -0.4999)
    True
    """
    u, g = precision.unit, precision.sum_error(d + 2)
    screen = (g + 3 * u) * query_norms * row_norm + 8 * d * precision.tiny
    exact = 4 * DOUBLE.sum_error(d + 8) * query_norms * whole_norm
    limit: FloatArray = kth + (screen + exact) * _SLACK
    return limit


def exact_limit(
    kth: FloatArray, query_norms: FloatArray, whole_norm: float, d: int, *, euclidean: bool
) -> FloatArray:
    """True squared distance, or minus the true product, above which a row is surely further than ``kth``.

    Only the rounding of the float64 distance counts here, and of float64 vectors where they are centred.

    Parameters
    ----------
    kth, query_norms, d, whole_norm
        As for `l2_limit` and `product_limit`.
    euclidean : bool

    Examples
    --------
    >>> bool(9.0 < exact_limit(np.array([3.0]), np.array([1.0]), 4.0, 128, euclidean=True)[0] < 9.0 + 1e-10)
    True
    """
    error = 4 * DOUBLE.sum_error(d + 8)
    limit: FloatArray
    if euclidean:
        limit = kth * kth * (1 + error) + error * (query_norms + whole_norm) ** 2 + 8 * d * DOUBLE.tiny
    else:
        limit = kth + error * query_norms * whole_norm
    return limit + np.abs(limit) * 2.0**-40
