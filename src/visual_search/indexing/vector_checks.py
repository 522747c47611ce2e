"""Vectors as users give them, made into what engines take: float32, finite, of unit length under cosine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import (
    DimensionError,
    InputError,
    NonFiniteError,
    Problems,
    VisualSearchError,
    ZeroVectorError,
    first_few,
)
from visual_search.indexing.engines.contract import Metric

__all__ = ["Findings", "as_float32", "check_values", "checked_depth"]

Vectors = npt.NDArray[np.float32]

_BLOCK_BYTES = 1 << 24
_EXACT_INTEGER = 1 << 24
_LARGEST_SQUARED_NORM = 1e37
# Rounding each component of a unit vector to float32 moves its length by less than this.
_UNIT_WITHIN = 2.0**-23


def checked_depth(k: Any) -> int:
    """A depth k: a whole number of at least 1, as int."""
    if isinstance(k, bool) or not hasattr(type(k), "__index__"):
        raise InputError(f"k: got {k!r} ({type(k).__name__}); must be a whole number of at least 1")
    if int(k) < 1:
        raise InputError(f"k: got {k}; must be at least 1")
    return int(k)


@dataclass
class Findings:
    """Everything wrong with one call's input, raised once.

    The error has the class of the problems if they are all of one, else it is an ``InputError``.
    """

    subject: str
    _problems: Problems = field(init=False)
    _classes: set[type[VisualSearchError]] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self._problems = Problems(self.subject)

    def add(self, error: type[VisualSearchError], problem: str) -> None:
        """Note one problem and the error it would be alone."""
        self._problems.add(problem)
        self._classes.add(error)

    def __bool__(self) -> bool:
        return len(self._problems) > 0

    def raise_if_any(self) -> None:
        """Raise one error that lists all."""
        self._problems.raise_if_any(self._classes.pop() if len(self._classes) == 1 else InputError)


def as_float32(vectors: Any, dimension: int | None, findings: Findings) -> Vectors | None:
    """Two-dimensional C-contiguous float32; None where that cannot be, with the reason in ``findings``.

    float64 and wider are rounded to the nearest float32; integers and booleans are taken where float32 holds them
    exactly (up to 2**24 in size).
    """
    try:
        array = np.asarray(vectors)
    except ValueError:
        findings.add(DimensionError, "vectors: rows of different lengths; give an array of shape (n, dimension)")
        return None
    if array.dtype.kind not in "fiub":
        findings.add(
            InputError, f"vectors: dtype {array.dtype}; give float32 (float16, float64 and integers are taken too)"
        )
        return None
    if array.ndim != 2 or array.shape[1] < 1:
        one = "; for a single vector write vector[None, :]" if array.ndim == 1 else ""
        findings.add(DimensionError, f"vectors: shape {array.shape}; must be (n, dimension){one}")
        return None
    if dimension is not None and array.shape[1] != dimension:
        findings.add(
            DimensionError,
            f"vectors: dimension {array.shape[1]} came, but this index has dimension {dimension}; vectors of "
            "another embedder belong in another index",
        )
        return None
    if array.dtype.kind in "iu" and array.dtype.itemsize > 2 and array.size:
        largest = max(int(array.max()), -int(array.min()))
        if largest > _EXACT_INTEGER:
            findings.add(
                InputError,
                f"vectors: integers up to {largest}, and float32 holds them exactly only up to {_EXACT_INTEGER}; "
                "scale them, or convert to float32 yourself if rounding is meant",
            )
            return None
    with np.errstate(over="ignore"):  # an overflow is infinity, which check_values reports with its id
        return np.ascontiguousarray(array, dtype=np.float32)


def check_values(vectors: Vectors, metric: Metric, name_of: Callable[[int], object], findings: Findings) -> Vectors:
    """Look for NaN, infinity, zero under cosine and overflow; give unit vectors under cosine.

    Convention
    ----------
    Lengths are float64 sums, each row on its own, so a vector's stored form does not depend on what it came with. A
    vector whose length is 1 within 2**-23 is kept bit for bit, so stored vectors can be added again unchanged.
    """
    ready = np.empty_like(vectors) if metric == "cosine" else vectors
    broken: list[int] = []
    zero: list[int] = []
    huge: list[int] = []
    for start, block in _wide_blocks(vectors):
        squared = np.square(block).sum(axis=1)  # float64 cannot overflow here: it is infinite only if the input is
        unusable = ~np.isfinite(squared)
        broken += (np.flatnonzero(unusable) + start).tolist()
        if metric == "cosine":
            zero += (np.flatnonzero(squared == 0) + start).tolist()
            length = np.sqrt(squared)
            length[unusable | (squared == 0) | (np.abs(length - 1) <= _UNIT_WITHIN)] = 1
            np.divide(block, length[:, None], out=ready[start : start + len(block)], casting="same_kind")
        else:
            huge += (np.flatnonzero((squared > _LARGEST_SQUARED_NORM) & ~unusable) + start).tolist()
    if broken:
        findings.add(NonFiniteError, _of(broken, name_of, "are NaN or infinite (as float32)", "leave them out"))
    if zero:
        findings.add(
            ZeroVectorError,
            _of(zero, name_of, "are zero, and zero has no cosine", "leave them out, or use metric='ip' or 'l2'"),
        )
    if huge:
        findings.add(InputError, _of(huge, name_of, "are too long for float32 products", "scale all vectors down"))
    return ready


def _wide_blocks(vectors: Vectors) -> Iterator[tuple[int, npt.NDArray[np.float64]]]:
    step = max(1, _BLOCK_BYTES // (8 * vectors.shape[1]))
    for start in range(0, len(vectors), step):
        yield start, vectors[start : start + step].astype(np.float64)


def _of(rows: list[int], name_of: Callable[[int], object], what: str, mend: str) -> str:
    named = first_few([name_of(row) for row in rows[:5]])
    more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
    return f"vectors: {len(rows)} {what}: {named}{more}; {mend}"
