"""Binary codes of one's own embeddings: by sign, by the median of each number, or by ITQ."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from operator import index
from typing import Any, Literal, SupportsIndex, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import DimensionError, InputError, NonFiniteError, NotTrainedError, first_few
from visual_search.formats.arrays import as_matrix
from visual_search.formats.binary_codes import BinaryCodes, Zeros

__all__ = ["HASHES", "HashName", "Hasher", "fit_hasher"]

HashName: TypeAlias = Literal["sign", "median", "itq"]
HASHES: tuple[HashName, ...] = get_args(HashName)
Float32Array: TypeAlias = npt.NDArray[np.float32]

_FLOAT32_MAX = float(np.finfo(np.float32).max)
# Below it, squares of float32 lose digits, or all of them.
_SMALL = 1e-15


@dataclass(frozen=True, slots=True, eq=False)
class Hasher:
    """Turns vectors into codes; made by `fit_hasher`. The code of a vector is a function of that vector alone.

    Attributes
    ----------
    name : {"sign", "median", "itq"}
    dimension, bits : int
    thresholds : float32 array of shape (bits,)
        A bit is 1 where its number is above.
    zeros : {"refuse", "one", "zero"}
        What a number is that is exactly at its threshold.
    remarks : tuple of str
        What was odd about the vectors learnt from.
    """

    name: HashName
    dimension: int
    bits: int
    thresholds: Float32Array
    zeros: Zeros
    remarks: tuple[str, ...]
    _transform: Any

    def codes(self, vectors: Any) -> BinaryCodes:
        """Codes of vectors of shape (n, dimension).

        Raises
        ------
        DimensionError, NonFiniteError
            Vectors of another length, NaN or infinity.
        InputError
            A number exactly at its threshold under ``zeros="refuse"``.
        """
        numbers = _projected(_checked(vectors, self.dimension), self._transform)
        at = numbers == self.thresholds
        wrong = np.flatnonzero(at.any(axis=1))
        if len(wrong) and self.zeros == "refuse":
            raise InputError(
                f"vectors: {counted(len(wrong), 'vector has', 'vectors have')} a number exactly at its threshold, "
                f"first {first_few(wrong[:5].tolist())}; learn the hash with zeros='zero' or 'one' to say which "
                "bit that is"
            )
        above = numbers > self.thresholds
        return BinaryCodes.of(above | at if self.zeros == "one" else above)

    def __repr__(self) -> str:
        return f"Hasher({self.name}, {self.dimension} numbers to {self.bits} bits)"


def fit_hasher(name: HashName, vectors: Any, *, bits: SupportsIndex | None = None, zeros: Zeros = "zero") -> Hasher:
    """Learn to turn vectors into codes.

    Parameters
    ----------
    name : {"sign", "median", "itq"}
        ``sign``: a bit is 1 where its number is above 0. ``median``: where it is above the median of that number over
        the vectors learnt from, so that every bit is balanced. ``itq``: iterative quantisation, a rotation that brings
        the numbers near to their signs.
    vectors : array-like of shape (n, dimension)
        What to learn from; never the queries that are measured afterwards.
    bits : int, optional
        Bits of a code, at most the dimension, which is the default. Where there are fewer, ``sign`` and ``median`` take
        that many principal components; ITQ does so by itself.
    zeros : {"zero", "one", "refuse"}
        What a number is that is exactly at its threshold: a bit of 0, a bit of 1, or an error when codes are made. The
        many zeros of a network's last ReLU are at the threshold of sign, and with an odd number of vectors one of them
        is at each median.

    Returns
    -------
    Hasher

    Raises
    ------
    InputError, DimensionError, NonFiniteError
        A name or number of bits that is not allowed, vectors that are no finite numbers, or so large or small that
        float32 cannot learn from them.
    NotTrainedError
        Fewer vectors than bits, where something is learnt.

    Warns
    -----
    UserWarning
        Bits that tell nothing: vectors that differ in fewer directions than there are bits, or a bit that is the same
        for all of them.

    References
    ----------
    Gong and Lazebnik, "Iterative quantization", CVPR 2011; computed by FAISS.

    Examples
    --------
    >>> vectors = np.random.default_rng(0).standard_normal((100, 16)).astype(np.float32)
    >>> fit_hasher("itq", vectors, bits=8).codes(vectors)
    BinaryCodes(100 x 8 bits)
    """
    if name not in HASHES:
        raise InputError(f"hash {name!r}: one of {', '.join(HASHES)}")
    if zeros not in get_args(Zeros):
        raise InputError(f"zeros={zeros!r}: one of {', '.join(get_args(Zeros))}")
    matrix = _checked(vectors, None)
    dimension = matrix.shape[1]
    wanted = dimension if bits is None else _whole(bits)
    if not 1 <= wanted <= dimension:
        raise InputError(f"bits={bits}: 1 to {dimension}, the length of a vector, are possible")
    learnt = name == "itq" or wanted < dimension
    if learnt and len(matrix) < wanted:
        raise NotTrainedError(
            f"{name}: {len(matrix)} vectors to learn {wanted} bits from; at least {wanted} are needed"
        )
    remarks = _poor_directions(name, matrix, wanted) if learnt else ()
    transform = _learnt(name, matrix, wanted) if learnt else None
    numbers = _projected(matrix, transform)
    thresholds = np.zeros(wanted, dtype=np.float32)
    if name == "median" and len(matrix):
        thresholds = _medians(numbers)
    hasher = Hasher(
        name, dimension, wanted, thresholds, zeros, remarks or _constant(name, numbers, thresholds), transform
    )
    for remark in hasher.remarks:
        warnings.warn(remark, stacklevel=2)
    return hasher


def _whole(bits: Any) -> int:
    if isinstance(bits, (bool, np.bool_)) or not hasattr(bits, "__index__"):
        raise InputError(f"bits={bits!r}: a whole number is needed")
    return index(bits)


def _medians(numbers: Float32Array) -> Float32Array:
    """Halves are added, so that no sum goes beyond float32."""
    ordered = np.sort(numbers, axis=0)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    middle: Float32Array = np.where(low == high, low, low / 2 + high / 2).astype(np.float32)
    return middle


def _poor_directions(name: HashName, matrix: Float32Array, bits: int) -> tuple[str, ...]:
    """Refuse what float32 cannot learn from, and tell where there are fewer directions than bits."""
    largest = float(np.abs(matrix).max(initial=0))
    if largest * largest * matrix.size > _FLOAT32_MAX:
        raise InputError(
            f"vectors: numbers up to {largest:.3g}, whose squares go beyond float32, in which {name} learns; divide "
            "all vectors by one number"
        )
    if 0 < largest < _SMALL:
        raise InputError(
            f"vectors: no number above {largest:.3g}, whose squares are nothing in float32, in which {name} learns; "
            "multiply all vectors by one number"
        )
    # A few rows mostly have all the directions that are needed.
    found = _rank(matrix[: 2 * bits + 1])
    if found < bits and len(matrix) > 2 * bits + 1:
        found = _rank(matrix)
    if found >= bits:
        return ()
    remark = (
        f"{name}: the {len(matrix)} vectors learnt from differ in {counted(found, 'direction', 'directions')}; "
        f"{bits - found} of {counted(bits, 'bit', 'bits')} tell nothing; learn from more or other vectors, or "
        "fewer bits"
    )
    return (remark,)


def _rank(matrix: Float32Array) -> int:
    """Directions in which rows differ, rounding of float32 left out."""
    if len(matrix) < 2:
        return 0
    # The span of all differences from one row: identical rows give exact zeros, which a mean would not.
    differences = matrix.astype(np.float64) - matrix[0]
    square = differences.T @ differences if len(matrix) > matrix.shape[1] else differences @ differences.T
    strengths = np.linalg.eigvalsh(square)
    return int((strengths > strengths.max(initial=0) * 1e-12).sum())


def _constant(name: HashName, numbers: Float32Array, thresholds: Float32Array) -> tuple[str, ...]:
    """Tell of bits that are the same for all of several vectors learnt from, whichever bit a threshold is."""
    if len(numbers) < 2:
        return ()
    high, low = numbers.max(axis=0), numbers.min(axis=0)
    same = np.flatnonzero((low > thresholds) | (high < thresholds) | (high == low))
    if not len(same):
        return ()
    remark = (
        f"{name}: {counted(len(same), 'bit is', 'bits are')} the same for all {len(numbers)} vectors learnt from and "
        f"{'tells' if len(same) == 1 else 'tell'} nothing: {first_few(same[:5].tolist())}"
    )
    return (remark,)


def _learnt(name: HashName, matrix: Float32Array, bits: int) -> Any:
    import faiss

    dimension = matrix.shape[1]
    transform = (
        faiss.ITQTransform(dimension, bits, bits < dimension) if name == "itq" else faiss.PCAMatrix(dimension, bits)
    )
    transform.train(matrix)
    return transform


def _projected(matrix: Float32Array, transform: Any) -> Float32Array:
    """Projections, each row by itself: the last digit of a product of matrices hangs on what stands beside a row."""
    if transform is None:
        return matrix
    made = np.zeros((len(matrix), transform.d_out), dtype=np.float32)
    for row in range(len(matrix)):
        made[row] = transform.apply(matrix[row : row + 1])
    wrong = np.flatnonzero(~np.isfinite(made).all(axis=1))
    if len(wrong):
        raise InputError(
            f"vectors: {counted(len(wrong), 'projection goes', 'projections go')} beyond float32, first row "
            f"{first_few(wrong[:5].tolist())}; divide the vectors, and those learnt from, by one number"
        )
    return made


def _checked(vectors: Any, dimension: int | None) -> Float32Array:
    matrix = as_matrix(vectors, what="vectors")
    if matrix.dtype.kind not in "iuf":
        raise InputError(f"vectors: dtype {matrix.dtype}; numbers are needed")
    if dimension is not None and matrix.shape[1] != dimension:
        raise DimensionError(f"vectors: {matrix.shape[1]} numbers each; the hash was learnt on {dimension}")
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(matrix, dtype=np.float32)
    wrong = np.flatnonzero(~np.isfinite(single).all(axis=1))
    if len(wrong) and np.isfinite(matrix[wrong]).all():
        raise InputError(
            f"vectors: numbers beyond float32 (3.4e38) in {counted(len(wrong), 'row', 'rows')}, first "
            f"{first_few(wrong[:5].tolist())}; divide all vectors by one number"
        )
    if len(wrong):
        raise NonFiniteError(
            f"vectors: NaN or infinity in {len(wrong)} rows, first {first_few(wrong[:5].tolist())}"
        )
    return single
