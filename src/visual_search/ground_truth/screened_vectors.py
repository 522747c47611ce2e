"""Vectors as a screen sees them: centred, under cosine normalised, in the precision of its products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.ground_truth.certificate import Precision, l2_limit, product_limit
from visual_search.ground_truth.gallery_blocks import rows_at
from visual_search.kernels.plain_pairs import VectorMetric

__all__ = ["ScreenSpace", "Screened", "norms_above"]

AnyArray: TypeAlias = npt.NDArray[Any]
FloatArray: TypeAlias = npt.NDArray[np.float64]

_SAMPLE = 256
_SMALLEST_SQUARE = 1e-280


@dataclass(frozen=True, slots=True)
class Screened:
    """Vectors for a screen.

    Parameters
    ----------
    vectors : float array of shape (n, d)
    norms : float64 array of shape (n,)
        Upper bounds of their norms.
    """

    vectors: AnyArray
    norms: FloatArray


class ScreenSpace:
    """Where screening takes place: a gallery's metric and the point its vectors are centred on.

    Any point serves: distances do not change, and products change by a constant a query. The mean of a sample of rows
    makes vectors short, and rounding errors with them.

    Parameters
    ----------
    gallery : array of shape (n, d)
    metric : {"l2", "inner_product", "cosine"}
    """

    def __init__(self, gallery: AnyArray, metric: VectorMetric) -> None:
        self.metric = metric
        self.dimension = gallery.shape[1]
        chosen = np.unique(np.linspace(0, len(gallery) - 1, min(_SAMPLE, len(gallery))).astype(np.int64))
        with np.errstate(over="ignore", invalid="ignore"):
            sample = rows_at(gallery, chosen).astype(np.float64)
            if metric == "cosine":
                sample = _directions(sample)
            centre = sample.mean(axis=0).astype(np.float32)
        # Rows that are not finite are refused when their block comes.
        self.centre = np.where(np.isfinite(centre), centre, np.float32(0))
        self._whole = float(np.linalg.norm(self.centre.astype(np.float64)))

    def rows(self, block: AnyArray, precision: Precision, out: AnyArray | None = None) -> Screened:
        """Rows of the gallery, less the centre."""
        return self._less_centre(block, precision, out)

    def queries(self, queries: AnyArray, precision: Precision) -> Screened:
        """Queries, less the centre where distance is Euclidean."""
        if self.metric == "l2":
            return self._less_centre(queries, precision, None)
        vectors = _directions(queries) if self.metric == "cosine" else queries
        return _screened(vectors.astype(precision.dtype))

    def shifts(self, queries: AnyArray) -> FloatArray:
        """<q, centre> of each query, which is 0 under Euclidean distance."""
        return self.shifts_of(_directions(queries) if self.metric == "cosine" else queries.astype(np.float64))

    def shifts_of(self, vectors: FloatArray) -> FloatArray:
        """The same of queries as the screen sees them, in float64."""
        if self.metric == "l2":
            return np.zeros(len(vectors))
        # Not by BLAS, whose threads go on waiting for more, on processors that the search needs.
        products: FloatArray = np.einsum("ij,j->i", vectors, self.centre.astype(np.float64))
        return products

    def limits(
        self, kth: FloatArray, queries: Screened, row_norm: float, precision: Precision, shifts: FloatArray
    ) -> FloatArray:
        """Screened value above which a row is surely further than ``kth``: squared distance, or minus the product."""
        if self.metric == "l2":
            return l2_limit(kth, queries.norms, row_norm, self.dimension, precision)
        whole = self.whole_norm(row_norm)
        limit = product_limit(kth, queries.norms, row_norm, self.dimension, precision, whole_norm=whole)
        return limit + shifts

    def whole_norm(self, row_norm: float) -> float:
        """An upper bound of the norms of the centre and of rows before centring, given that of centred ones."""
        return 2 * self._whole + row_norm

    def _less_centre(self, vectors: AnyArray, precision: Precision, out: AnyArray | None) -> Screened:
        if self.metric == "cosine":
            vectors = _directions(vectors)
        with np.errstate(over="ignore"):
            if vectors.dtype == np.float64:
                less = (vectors - self.centre.astype(np.float64)).astype(precision.dtype, copy=False)
            else:
                centre = self.centre.astype(precision.dtype)
                less = np.subtract(
                    vectors, centre, out=None if out is None else out[: len(vectors)], dtype=centre.dtype
                )
        return _screened(less)


def _directions(vectors: AnyArray) -> FloatArray:
    wide = vectors.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        squares = np.einsum("ij,ij->i", wide, wide)
        # Squares that have lost digits give no direction, so that the row is looked at and refused.
        wide /= np.where(squares < _SMALLEST_SQUARE, 0.0, np.sqrt(squares))[:, None]
    return wide


def _screened(vectors: AnyArray) -> Screened:
    return Screened(vectors, norms_above(vectors))


def norms_above(vectors: AnyArray) -> FloatArray:
    """Upper bounds of norms; infinite where they leave the range of the vectors' own dtype."""
    precision = Precision(vectors.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->i", vectors, vectors).astype(np.float64)
    room = 1 + 4 * precision.sum_error(vectors.shape[1] + 4)
    norms: FloatArray = np.sqrt(squares * room + 8 * vectors.shape[1] * precision.tiny)
    return norms
