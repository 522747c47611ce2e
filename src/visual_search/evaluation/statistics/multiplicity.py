"""Many comparisons at once: p-values raised so that one small p among thirty is no finding.

.. S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["holm"]

FloatArray = npt.NDArray[np.float64]


def holm(p_values: FloatArray) -> FloatArray:
    """Holm's adjusted p-values: below the level where the whole family's chance of any false finding is.

    Parameters
    ----------
    p_values : float64 array of shape (m,)
        NaN where nothing was tested; it stays NaN and does not count.

    Returns
    -------
    float64 array of shape (m,)
        The smallest times m, the next times m - 1, ...; never falling, at most 1.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    adjusted = np.full(len(p_values), np.nan)
    known = np.flatnonzero(~np.isnan(p_values))
    order = known[np.argsort(p_values[known], kind="stable")]
    raised = p_values[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return adjusted
