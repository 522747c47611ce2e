"""Queries whose true mean is known and which succeed and fail together in groups, to try statistics on."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError

__all__ = ["TRUE_MEAN", "SimulatedKind", "simulated_groups", "simulated_values"]

FloatArray = npt.NDArray[np.float64]
Int64Array = npt.NDArray[np.int64]
SimulatedKind: TypeAlias = Literal["hit rate", "average precision"]

TRUE_MEAN = 0.8
_LARGEST_GROUP = 9
# Beta parameters of the groups' means: the correlation within a group is 1 / (sum + 1), a third.
_ABOVE, _BELOW = 1.6, 0.4
# Spread of the values of a group around its mean: that of a beta distribution with parameters of this sum.
_WITHIN = 4.0


def simulated_groups(groups: int) -> Int64Array:
    """Group of each query: 1, 2, ..., 9, 1, 2, ... queries in turn, about five on average.

    >>> simulated_groups(3).tolist()
    [0, 1, 1, 2, 2, 2]
    """
    return np.repeat(np.arange(groups), 1 + np.arange(groups) % _LARGEST_GROUP)


def simulated_values(
    groups: int, simulations: int, *, kind: SimulatedKind = "average precision", seed: int = 0
) -> FloatArray:
    r"""Values of queries in many independent data sets.

    .. math:: q_g \sim \mathrm{Beta}(1.6, 0.4), \quad
        v_i \sim \mathrm{Bernoulli}(q_{g(i)}) \ \text{or}\ \mathrm{Beta}(4 q_{g(i)}, 4 (1 - q_{g(i)}))

    Parameters
    ----------
    groups, simulations : int
    kind : {"hit rate", "average precision"}
        0 or 1, or anything between.
    seed : int

    Returns
    -------
    float64 array of shape (queries, simulations)
        Each column a data set; its true mean is :data:`TRUE_MEAN`.

    Examples
    --------
    >>> simulated_values(3, 2).shape
    (6, 2)
    """
    if kind not in ("hit rate", "average precision"):
        raise InputError(f"kind is {kind!r}; allowed are 'hit rate' and 'average precision'")
    random = np.random.default_rng(seed)
    means = random.beta(_ABOVE, _BELOW, size=(groups, simulations))[simulated_groups(groups)]
    if kind == "hit rate":
        return (random.random(means.shape) < means).astype(np.float64)
    # A beta distribution with a parameter of 0 is a point; means this near 0 or 1 round to it.
    means = np.clip(means, 1e-9, 1 - 1e-9)
    return random.beta(_WITHIN * means, _WITHIN * (1 - means))
