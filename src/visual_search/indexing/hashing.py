"""Binary codes of one's own embeddings: by sign, by the median of each number, or by ITQ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from visual_search.errors import DimensionError, InputError, NonFiniteError, NotTrainedError, first_few
from visual_search.formats.arrays import as_matrix
from visual_search.formats.binary_codes import BinaryCodes, Zeros

__all__ = ["HASHES", "HashName", "Hasher", "fit_hasher"]

HashName: TypeAlias = Literal["sign", "median", "itq"]
HASHES: tuple[HashName, ...] = get_args(HashName)
Float32Array: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Hasher:
    """Turns vectors into codes; made by `fit_hasher`.

    Attributes
    ----------
    name : {"sign", "median", "itq"}
    dimension, bits : int
    thresholds : float32 array of shape (bits,)
        A bit is 1 where its number is above.
    zeros : {"refuse", "one", "zero"}
        What a number is that is exactly at its threshold.
    """

    name: HashName
    dimension: int
    bits: int
    thresholds: Float32Array
    zeros: Zeros
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
        return BinaryCodes.of(np.sign(numbers - self.thresholds), zeros=self.zeros, bits=self.bits)

    def __repr__(self) -> str:
        return f"Hasher({self.name}, {self.dimension} numbers to {self.bits} bits)"


def fit_hasher(name: HashName, vectors: Any, *, bits: int | None = None, zeros: Zeros = "zero") -> Hasher:
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
        What a number is that is exactly at its threshold, as the many zeros of a network's last ReLU are at sign.

    Returns
    -------
    Hasher

    Raises
    ------
    InputError, DimensionError, NonFiniteError
        A name or number of bits that is not allowed, vectors that are no finite numbers.
    NotTrainedError
        Fewer vectors than bits, where something is learnt.

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
    matrix = _checked(vectors, None)
    dimension = matrix.shape[1]
    wanted = dimension if bits is None else bits
    if not 1 <= wanted <= dimension:
        raise InputError(f"bits={bits}: 1 to {dimension}, the length of a vector, are possible")
    learnt = name == "itq" or wanted < dimension
    if learnt and len(matrix) < wanted:
        raise NotTrainedError(
            f"{name}: {len(matrix)} vectors to learn {wanted} bits from; at least {wanted} are needed"
        )
    transform = _learnt(name, matrix, wanted) if learnt else None
    numbers = _projected(matrix, transform)
    thresholds = np.median(numbers, axis=0) if name == "median" and len(matrix) else np.zeros(wanted)
    return Hasher(name, dimension, wanted, thresholds.astype(np.float32), zeros, transform)


def _learnt(name: HashName, matrix: Float32Array, bits: int) -> Any:
    import faiss

    dimension = matrix.shape[1]
    transform = (
        faiss.ITQTransform(dimension, bits, bits < dimension) if name == "itq" else faiss.PCAMatrix(dimension, bits)
    )
    transform.train(matrix)
    return transform


def _projected(matrix: Float32Array, transform: Any) -> Float32Array:
    if transform is None or not len(matrix):
        return matrix if transform is None else np.zeros((0, transform.d_out), dtype=np.float32)
    numbers: Float32Array = transform.apply(matrix)
    return numbers


def _checked(vectors: Any, dimension: int | None) -> Float32Array:
    matrix = as_matrix(vectors, what="vectors")
    if matrix.dtype.kind not in "iuf":
        raise InputError(f"vectors: dtype {matrix.dtype}; numbers are needed")
    if dimension is not None and matrix.shape[1] != dimension:
        raise DimensionError(f"vectors: {matrix.shape[1]} numbers each; the hash was learnt on {dimension}")
    single = np.ascontiguousarray(matrix, dtype=np.float32)
    wrong = np.flatnonzero(~np.isfinite(single).all(axis=1))
    if len(wrong):
        raise NonFiniteError(
            f"vectors: NaN or infinity in {len(wrong)} rows, first {first_few(wrong[:5].tolist())}"
        )
    return single
