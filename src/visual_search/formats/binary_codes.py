"""Binary codes as a value: -1 and 1, 0 and 1, truth values or packed bytes in; words inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import DimensionError, InputError, first_few
from visual_search.formats.arrays import as_matrix
from visual_search.formats.bit_rows import octets_in_words, pack_rows

__all__ = ["BinaryCodes", "Zeros"]

Words: TypeAlias = npt.NDArray[np.uint64]
Int64Array: TypeAlias = npt.NDArray[np.int64]
Zeros: TypeAlias = Literal["refuse", "one", "zero"]


@dataclass(frozen=True, slots=True, eq=False)
class BinaryCodes:
    """Binary codes, one row an item, eight bits a byte.

    Attributes
    ----------
    words : uint64 array of shape (n, words)
        The bits, the first in the highest place of the first byte; places beyond ``bits`` are 0.
    bits : int
        Bits of a code.

    Examples
    --------
    >>> codes = BinaryCodes.of([[1, -1, 1, 1], [-1, -1, 1, 1]])
    >>> codes.bits, codes.packed().tolist(), codes.signs()[1].tolist()
    (4, [[176], [48]], [-1, -1, 1, 1])
    """

    words: Words
    bits: int

    @classmethod
    def of(
        cls,
        codes: Any,
        *,
        packed: bool = False,
        bits: int | None = None,
        zeros: Zeros = "refuse",
        what: str = "codes",
        ids: Sequence[Any] | None = None,
    ) -> BinaryCodes:
        """Take codes in any usual form.

        Parameters
        ----------
        codes : array-like of shape (n, bits), or BinaryCodes
            Of 0 and 1, of -1 and 1, or of truth values, one element a bit; with ``packed`` uint8 of shape (n, bytes).
        packed : bool
            Whether there are eight bits a byte.
        bits : int, optional
            How many bits a code must have; packed codes may have fewer than eight a byte in their last byte.
        zeros : {"refuse", "one", "zero"}
            What a 0 among -1 and 1 is, which the sign of an embedding's exact 0 is: an error, a 1, or a -1.
        what : str
            What the codes are, for error messages.
        ids : sequence, optional
            Names of the rows, for error messages.

        Raises
        ------
        InputError
            Elements that are no bits, a 0 among -1 and 1 under ``zeros="refuse"``, bits set beyond ``bits``.
        DimensionError
            Another number of bits than asked for.

        Convention
        ----------
        Counted as half a bit, as the product of sign codes does, a 0 gives distances that are no whole numbers, ties
        that nobody meant, and a code that cannot be stored in bits. So it is decided here, by name, or refused.
        """
        if zeros not in get_args(Zeros):
            raise InputError(f"zeros={zeros!r}: one of {', '.join(get_args(Zeros))}")
        if isinstance(codes, BinaryCodes):
            return _of_bits(codes, bits, what)
        matrix = as_matrix(codes, what=what)
        if matrix.shape[1] == 0:
            raise InputError(f"{what}: shape {matrix.shape}; a code has at least one bit")
        if packed:
            return _of_octets(matrix, bits, what)
        return _of_bits(cls(_of_elements(matrix, zeros, what, ids), matrix.shape[1]), bits, what)

    def packed(self) -> npt.NDArray[np.uint8]:
        """Eight bits a byte, uint8 of shape (n, bytes); what ``np.packbits`` gives, and FAISS's binary indexes take."""
        octets = np.ascontiguousarray(self.words).view(np.uint8)
        return np.ascontiguousarray(octets[:, : -(-self.bits // 8)])

    def unpacked(self) -> npt.NDArray[np.bool_]:
        """One truth value a bit, bool of shape (n, bits)."""
        return np.unpackbits(self.packed(), axis=1, count=self.bits).view(np.bool_)

    def signs(self) -> npt.NDArray[np.int8]:
        """-1 and 1, int8 of shape (n, bits)."""
        return self.unpacked().view(np.int8) * np.int8(2) - np.int8(1)

    @property
    def nbytes(self) -> int:
        """Bytes of all codes at eight bits a byte."""
        return len(self) * -(-self.bits // 8)

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"BinaryCodes({len(self)} x {counted(self.bits, 'bit', 'bits')})"


def _of_bits(codes: BinaryCodes, bits: int | None, what: str) -> BinaryCodes:
    if bits is not None and bits != codes.bits:
        raise DimensionError(f"{what}: codes of {counted(codes.bits, 'bit', 'bits')}; {bits} are needed")
    return codes


def _of_octets(matrix: npt.NDArray[Any], bits: int | None, what: str) -> BinaryCodes:
    if matrix.dtype != np.uint8:
        raise InputError(f"{what}: dtype {matrix.dtype}; packed codes are uint8, eight bits a byte")
    held = 8 * matrix.shape[1]
    wanted = held if bits is None else bits
    if not held - 8 < wanted <= held:
        raise DimensionError(f"{what}: {matrix.shape[1]} bytes a code hold {held} bits; {bits} are needed")
    spare = held - wanted
    over = np.flatnonzero(matrix[:, -1] & ((1 << spare) - 1))
    if len(over):
        raise InputError(
            f"{what}: {counted(len(over), 'code has', 'codes have')} bits set beyond the {wanted} of a code, first in "
            f"row {first_few(over[:5].tolist())}; codes of another length, or not packed by numpy.packbits"
        )
    return BinaryCodes(octets_in_words(matrix), wanted)


def _of_elements(matrix: npt.NDArray[Any], zeros: Zeros, what: str, ids: Sequence[Any] | None) -> Words:
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"{what}: dtype {matrix.dtype}; 0 and 1, or -1 and 1, are needed")
    rows = pack_rows(matrix, zero_is_one=zeros == "one")
    low = -1 if rows.signed else 0
    wrong = rows.strange if zeros != "refuse" else np.union1d(rows.strange, rows.zeros)
    if len(wrong):
        named = first_few(wrong[:5].tolist() if ids is None else [ids[row] for row in wrong[:5].tolist()])
        raise InputError(
            f"{what}: {counted(len(wrong), 'code holds', 'codes hold')} other values than {low} and 1, first {named}; "
            "the sign of 0 is 0: decide which bit it is before evaluating (values > 0, or zeros='one' or 'zero', for "
            "example)"
        )
    return rows.words
