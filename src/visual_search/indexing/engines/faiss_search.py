"""A FAISS search under parameters of its own, whatever else was imported beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["search_with"]


def search_with(
    structure: Any, queries: npt.NDArray[np.float32], k: int, params: Any
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Distances and positions of the k nearest, as ``structure.search(queries, k, params=params)`` gives them.

    ``faiss.contrib.torch_utils``, which pytorch-metric-learning imports, puts another ``search`` into every FAISS class
    of the process, one that knows no parameters, and keeps the first as ``search_numpy``.
    """
    search = getattr(structure, "search_numpy", None) or structure.search
    found: tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]] = search(queries, k, params=params)
    return found
