"""Unit length for vectors, with a direction for those that have none."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["unit_rows"]


def unit_rows(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Divide each row by its Euclidean length; a zero row becomes the uniform direction.

    ``row / ||row||``, and ``(1, ..., 1) / sqrt(d)`` where ``||row|| = 0``.

    Parameters
    ----------
    vectors : float32 array of shape (n, d)
        Finite values. Not changed.

    Returns
    -------
    float32 array of shape (n, d)
        Rows of length 1 within float32 rounding.

    Convention
    ----------
    A zero vector has no direction, so its cosine with anything is undefined. The vectors here hold non-negative
    quantities (brightness, activations), for which a uniform row of any strength has the uniform direction; zero is
    the limit of such rows as the strength falls, and takes the direction they all have.

    Examples
    --------
    >>> unit_rows(np.array([[3, 4, 0, 0], [0, 0, 0, 0]], dtype=np.float32))
    array([[0.6, 0.8, 0. , 0. ],
           [0.5, 0.5, 0.5, 0.5]], dtype=float32)
    """
    # Lengths in float64: squares of large float32 values overflow float32 and those of tiny ones vanish in it.
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    zero = lengths == 0
    lengths[zero] = 1
    unit: npt.NDArray[np.float32] = (vectors / lengths[:, None]).astype(np.float32)
    unit[zero] = 1 / np.sqrt(vectors.shape[1])
    return unit
