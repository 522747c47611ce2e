"""Recalls of many queries under a ladder of settings whose true means are known, for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError

__all__ = ["RecallKind", "simulated_recalls"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
RecallKind: TypeAlias = Literal["even", "skewed", "heavy", "all or nothing"]


def simulated_recalls(
    queries: int, means: Sequence[float], *, kind: RecallKind = "skewed", k: int = 10, seed: int = 0
) -> FloatArray:
    """Recall@k of every query under every setting.

    A query that is hard under one setting is hard under all: it misses the share min(1, c e) of its neighbours, with
    the query's hardness e and the setting's c, which is sought so that the mean comes out.

    Parameters
    ----------
    queries : int
    means : sequence of float
        True mean under each setting.
    kind : {"even", "skewed", "heavy", "all or nothing"}
        Hardness is uniform, exponential, log-normal (sigma 1.5), or such that all k are found or none.
    k : int
        Recalls are multiples of 1/k.
    seed : int

    Returns
    -------
    float64 array of shape (settings, queries)
        Its row means are within 1/(2 queries) of ``means``.

    Examples
    --------
    >>> simulated_recalls(10_000, [0.9, 0.95], seed=1).mean(axis=1).round(3).tolist()
    [0.9, 0.95]
    """
    if kind not in get_args(RecallKind):
        raise InputError(f"kind: got {kind!r}; must be one of {', '.join(get_args(RecallKind))}")
    rng = np.random.default_rng(seed)
    luck = rng.random(queries)
    if kind == "all or nothing":
        order = np.argsort(np.argsort(luck))
        return np.stack([(order >= round((1 - mean) * queries)).astype(np.float64) for mean in means])
    hardness = {
        "even": lambda: rng.random(queries),
        "skewed": lambda: rng.exponential(size=queries),
        "heavy": lambda: rng.lognormal(sigma=1.5, size=queries),
    }[kind]()
    return np.stack([_with_mean(mean, hardness, luck, k) for mean in means])


def _with_mean(mean: float, hardness: FloatArray, luck: FloatArray, k: int) -> FloatArray:
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        missed = np.floor(k * np.minimum(1.0, middle * hardness) + luck)
        if np.minimum(missed, k).mean() / k < 1 - mean:
            low = middle
        else:
            high = middle
    recalls: FloatArray = 1 - np.minimum(np.floor(k * np.minimum(1.0, high * hardness) + luck), k) / k
    return recalls
