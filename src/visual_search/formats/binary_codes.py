"""Binary codes as a value: -1 and 1, 0 and 1, truth values or packed bytes in; words inside."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import DimensionError, InputError, NonFiniteError, first_few
from visual_search.formats.arrays import as_matrix
from visual_search.formats.bit_rows import BitRows, octets_in_words, pack_rows

__all__ = ["BinaryCodes", "BitKind", "Zeros"]

Words: TypeAlias = npt.NDArray[np.uint64]
Int64Array: TypeAlias = npt.NDArray[np.int64]
BitKind: TypeAlias = Literal["bits", "signs"]
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
        kind: BitKind | None = None,
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
        kind : {"bits", "signs"}, optional
            Whether elements are 0 and 1, or -1 and 1. By default signs where there is any -1, else bits: an array of
            signs that happens to hold none, such as the sign of a few ReLU features, is to be named.
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

        Notes
        -----
        Packed bytes are copied, unless they are a file mapped for reading alone.

        Convention
        ----------
        Counted as half a bit, as the product of sign codes does, a 0 gives distances that are no whole numbers, ties
        that nobody meant, and a code that cannot be stored in bits. So it is decided here, by name, or refused.
        """
        if kind is not None and kind not in get_args(BitKind):
            raise InputError(f"kind={kind!r}: one of {', '.join(get_args(BitKind))}, or None")
        made, _ = _taken(codes, packed=packed, bits=bits, kind=kind, zeros=zeros, what=what, ids=ids)
        return made

    @classmethod
    def both(
        cls,
        query_codes: Any,
        gallery_codes: Any,
        *,
        packed: bool = False,
        zeros: Zeros = "refuse",
        ids: tuple[Sequence[Any] | None, Sequence[Any] | None] = (None, None),
        whats: tuple[str, str] = ("query_codes", "gallery_codes"),
    ) -> tuple[BinaryCodes, BinaryCodes]:
        """Take two sets of codes that are compared with each other, as `of` does; what is signs in one is in both.

        Parameters
        ----------
        query_codes, gallery_codes, packed, zeros
            As for `of`.
        ids : pair of sequence, optional
            Names of the rows of both, for error messages.
        whats : pair of str
            What they are, for error messages.

        Raises
        ------
        InputError
            Under ``zeros="refuse"``, -1 and 1 on one side and 0 and 1 on the other: a 0 there may be the bit, or the
            sign of 0.

        Examples
        --------
        >>> [codes.unpacked().tolist() for codes in BinaryCodes.both([[-1, 1]], [[0, 1]], zeros="one")]
        [[[False, True]], [[True, True]]]
        """
        given = (query_codes, gallery_codes)
        (queries, mine), (gallery, theirs) = (
            _taken(side, packed=packed, zeros=zeros, what=what, ids=names)
            for side, what, names in zip(given, whats, ids, strict=True)
        )
        if {mine, theirs} == {"bits", "signs"}:
            bare = whats[0] if mine == "bits" else whats[1]
            if zeros == "refuse":
                raise InputError(
                    f"{bare}: 0 and 1, where the other side has -1 and 1; a 0 may be the bit or the sign of 0: give "
                    "both in one form, or say which with BinaryCodes.of(..., kind='bits'), or kind='signs' and "
                    "zeros='one' or 'zero' (--zeros on the command line)"
                )
            if mine == "bits":
                queries = cls.of(query_codes, kind="signs", zeros=zeros, what=whats[0], ids=ids[0])
            else:
                gallery = cls.of(gallery_codes, kind="signs", zeros=zeros, what=whats[1], ids=ids[1])
        return queries, gallery

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

    def take(self, rows: npt.ArrayLike) -> BinaryCodes:
        """Codes of some rows, in their order."""
        return BinaryCodes(self.words[np.asarray(rows, dtype=np.int64)], self.bits)

    @property
    def nbytes(self) -> int:
        """Bytes of all codes at eight bits a byte."""
        return len(self) * -(-self.bits // 8)

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"BinaryCodes({len(self)} x {counted(self.bits, 'bit', 'bits')})"


def _taken(
    codes: Any,
    *,
    packed: bool,
    zeros: Zeros,
    what: str,
    ids: Sequence[Any] | None,
    bits: int | None = None,
    kind: BitKind | None = None,
) -> tuple[BinaryCodes, BitKind | None]:
    """Codes, and what their elements are; None where that is beyond doubt, or all are 1."""
    if zeros not in get_args(Zeros):
        raise InputError(f"zeros={zeros!r}: one of {', '.join(get_args(Zeros))}")
    if isinstance(codes, BinaryCodes):
        return _of_bits(codes, bits, what), None
    matrix = as_matrix(codes, what=what)
    if matrix.shape[1] == 0:
        raise InputError(f"{what}: shape {matrix.shape}; a code has at least one bit")
    if packed:
        return _of_octets(matrix, bits, what), None
    rows = _of_elements(matrix, kind, zeros, what, ids)
    seen: BitKind | None = "signs" if rows.signed else "bits" if rows.blank and matrix.dtype != np.bool_ else None
    return _of_bits(BinaryCodes(rows.words, matrix.shape[1]), bits, what), seen


def _of_bits(codes: BinaryCodes, bits: int | None, what: str) -> BinaryCodes:
    if bits is not None and bits != codes.bits:
        raise DimensionError(f"{what}: codes of {counted(codes.bits, 'bit', 'bits')}; {bits} are needed")
    return codes


def _of_octets(matrix: npt.NDArray[Any], bits: int | None, what: str) -> BinaryCodes:
    if matrix.dtype != np.uint8:
        raise InputError(f"{what}: dtype {matrix.dtype}; packed codes are uint8, eight bits a byte")
    held = 8 * matrix.shape[1]
    if bits is not None and (isinstance(bits, (bool, np.bool_)) or not hasattr(bits, "__index__")):
        raise InputError(f"{what}: bits={bits!r}; a whole number is needed")
    wanted = held if bits is None else index(bits)
    if not held - 8 < wanted <= held:
        raise DimensionError(f"{what}: {matrix.shape[1]} bytes a code hold {held} bits; {bits} are needed")
    spare = held - wanted
    over = np.flatnonzero(matrix[:, -1] & ((1 << spare) - 1))
    if len(over):
        raise InputError(
            f"{what}: {counted(len(over), 'code has', 'codes have')} bits set beyond the {wanted} of a code, first in "
            f"row {first_few(over[:5].tolist())}; codes of another length, or not packed by numpy.packbits"
        )
    if len(matrix) and matrix.shape[1] > 1 and matrix.max() == 1:
        warnings.warn(
            f"{what}: packed, but every byte is 0 or 1; if these are codes of one element a bit, leave packed out",
            stacklevel=4,
        )
    words = octets_in_words(matrix)
    kept = isinstance(matrix, np.memmap) and not matrix.flags.writeable
    return BinaryCodes(words if kept or not np.shares_memory(words, matrix) else words.copy(), wanted)


def _of_elements(
    matrix: npt.NDArray[Any], kind: BitKind | None, zeros: Zeros, what: str, ids: Sequence[Any] | None
) -> BitRows:
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"{what}: dtype {matrix.dtype}; 0 and 1, or -1 and 1, are needed")
    if kind == "signs" and matrix.dtype == np.bool_:
        raise InputError(f"{what}: truth values; kind='signs' is for -1 and 1")
    rows = pack_rows(matrix, zero_is_one=zeros == "one", signs=kind == "signs")
    signed = rows.signed or kind == "signs"
    if kind == "bits" and rows.signed:
        raise InputError(f"{what}: holds -1; kind='bits' is for 0 and 1")
    if len(rows.strange):
        raise _strange(matrix, rows.strange, what, _names(rows.strange, ids), low=-1 if signed else 0)
    if zeros == "refuse" and len(rows.zeros):
        raise InputError(
            f"{what}: {counted(len(rows.zeros), 'code holds', 'codes hold')} other values than -1 and 1, first "
            f"{_names(rows.zeros, ids)}; the sign of 0 is 0: decide which bit it is before evaluating (values > 0, or "
            "BinaryCodes.of with zeros='one' or 'zero')"
        )
    return rows


def _names(rows: Int64Array, ids: Sequence[Any] | None) -> str:
    return first_few(rows[:5].tolist() if ids is None else [ids[row] for row in rows[:5].tolist()])


def _strange(matrix: npt.NDArray[Any], rows: Int64Array, what: str, named: str, *, low: int) -> InputError:
    """What to say of elements that are neither -1, 0 nor 1: by what they most likely are."""
    elements = matrix[rows[:5]]
    codes = counted(len(rows), "code holds", "codes hold")
    if not np.isfinite(elements).all():
        return NonFiniteError(f"{what}: {codes} NaN or infinity, first {named}; 0 and 1, or -1 and 1, are needed")
    others = elements[(elements != 0) & (elements != 1) & (elements != -1)]
    values = first_few(np.unique(others)[:3].tolist())
    said = f"{what}: {codes} other values than {low} and 1, first {named} ({values}); "
    if (others != np.trunc(others)).any():
        return InputError(
            f"{said}these look like embeddings: make codes of them first (values > 0, or fit_hasher; --hash on the "
            "command line)"
        )
    if matrix.dtype == np.uint8:
        return InputError(
            f"{said}if they are eight bits a byte say so (packed=True; --packed on the command line), else give "
            "values > 0"
        )
    return InputError(f"{said}one element a bit is needed")
