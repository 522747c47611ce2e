"""What vectors must be to be searched exactly: one kind, one dimension, finite, with a direction where asked."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import (
    DepthError,
    DimensionError,
    InputError,
    NonFiniteError,
    Problems,
    VisualSearchError,
    ZeroVectorError,
    first_few,
)

__all__ = ["METRICS", "ExactMetric", "check_block", "check_search", "check_unit"]

AnyArray: TypeAlias = npt.NDArray[Any]
ExactMetric = Literal["l2", "inner_product", "cosine", "hamming", "jaccard"]

METRICS: tuple[ExactMetric, ...] = ("l2", "inner_product", "cosine", "hamming", "jaccard")
_VECTORS = ("float16", "float32", "float64", "int8", "uint8")
_LARGEST = 1e75  # beyond it squares of products leave the range of float64
_SMALLEST = 1e-140  # below it squares lose digits
_ROWS = 1 << 14


def check_search(gallery: AnyArray, queries: AnyArray, k: int, metric: ExactMetric) -> None:
    """Refuse a search whose parts do not fit, with everything that is wrong.

    Raises
    ------
    InputError, DimensionError, DepthError
        The narrowest one that all problems share.
    """
    found: list[tuple[type[VisualSearchError], str]] = []
    if metric not in METRICS:
        found.append((InputError, f"metric {metric!r}: one of {', '.join(METRICS)}"))
    for name, array in (("gallery", gallery), ("queries", queries)):
        if array.ndim != 2 or 0 in array.shape:
            found.append(
                (InputError, f"{name}: shape {array.shape}; (rows, dimension), neither of them 0, is needed")
            )
        allowed = ("uint8",) if metric in ("hamming", "jaccard") else _VECTORS
        if array.dtype.newbyteorder("=").name not in allowed:
            hint = "; pack bits with numpy.packbits(codes, axis=1)" if allowed == ("uint8",) else ""
            found.append((InputError, f"{name}: dtype {array.dtype}; {metric} takes {', '.join(allowed)}{hint}"))
    if gallery.dtype.newbyteorder("=") != queries.dtype.newbyteorder("="):
        found.append(
            (InputError, f"gallery is {gallery.dtype} and queries are {queries.dtype}; convert one with astype()")
        )
    if gallery.ndim == queries.ndim == 2 and gallery.shape[1] != queries.shape[1]:
        found.append(
            (DimensionError, f"gallery has dimension {gallery.shape[1]} and queries have {queries.shape[1]}")
        )
    if k < 1:
        found.append((DepthError, f"k is {k}; 1 or more are needed"))
    elif gallery.ndim == 2 and k > len(gallery):
        found.append((DepthError, f"k is {k} and the gallery has {len(gallery)} rows; ask for at most so many"))
    problems = Problems("exact search")
    for _, text in found:
        problems.add(text)
    kinds = {kind for kind, _ in found}
    problems.raise_if_any(kinds.pop() if len(kinds) == 1 else InputError)


def check_block(block: AnyArray, metric: ExactMetric, *, what: str, first: int = 0) -> None:
    """Refuse rows that are not finite, too large to be squared, or without direction under cosine.

    Parameters
    ----------
    block : array of shape (rows, d)
    metric : str
    what : str
        Whose rows, for the message.
    first : int
        Number of the first row.

    Raises
    ------
    NonFiniteError, ZeroVectorError, InputError
        With the numbers of the first offending rows of the block.
    """
    if block.dtype.kind == "f":
        _refuse(~np.isfinite(block).all(axis=1), what, first, NonFiniteError, "NaN or infinity; leave them out")
    if block.dtype == np.float64:
        out = np.abs(block).max(axis=1) > _LARGEST
        _refuse(out, what, first, InputError, f"values beyond {_LARGEST:g}; scale all vectors down")
    if metric == "cosine":
        _refuse(
            ~block.any(axis=1), what, first, ZeroVectorError, "only zeros, which have no direction; leave them out"
        )
        if block.dtype == np.float64:
            out = np.abs(block).max(axis=1) < _SMALLEST
            _refuse(out, what, first, InputError, f"no value above {_SMALLEST:g}; scale all vectors up")


def _refuse(wrong: Any, what: str, first: int, error: type[InputError], words: str) -> None:
    if wrong.any():
        raise error(f"{what}: rows {first_few((first + np.flatnonzero(wrong)).tolist())} have {words}")


def check_unit(vectors: AnyArray, *, what: str = "vectors", tolerance: float = 1e-3) -> None:
    """Refuse vectors that are not of unit length, before an inner product is called a cosine.

    Parameters
    ----------
    vectors : array of shape (n, d)
    what : str
        What they are, for the message.
    tolerance : float
        How far from 1 a length may be; the default lets float16 pass.

    Raises
    ------
    InputError
        With the first rows and the range of lengths.

    Examples
    --------
    >>> check_unit(np.array([[0.6, 0.8], [3.0, 4.0]]))
    Traceback (most recent call last):
    ...
    visual_search.errors.InputError: vectors: rows 1 are not of unit length (1 to 5); their inner
    product is no cosine: search with metric="cosine", or divide by the lengths
    """
    lengths = np.empty(len(vectors))
    for begin in range(0, len(vectors), _ROWS):
        rows = np.asarray(vectors[begin : begin + _ROWS], dtype=np.float64)
        lengths[begin : begin + _ROWS] = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    wrong = ~(np.abs(lengths - 1) <= tolerance)
    if wrong.any():
        raise InputError(
            f"{what}: rows {first_few(np.flatnonzero(wrong).tolist())} are not of unit length "
            f"({lengths.min():.6g} to {lengths.max():.6g}); their inner product is no cosine: "
            'search with metric="cosine", or divide by the lengths'
        )
