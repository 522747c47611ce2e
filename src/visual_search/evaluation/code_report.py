"""What a set of binary codes looks like before any search: dead bits, codes that are all alike, storage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import first_few
from visual_search.formats.binary_codes import BinaryCodes

__all__ = ["CodeReport", "report_codes"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

# Rows whose bits are unpacked at a time.
_ROWS = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class CodeReport:
    """Facts on a set of codes.

    Attributes
    ----------
    count, bits : int
    balance : float64 array of shape (bits,)
        Share of ones of each bit; one half carries most, 0 or 1 nothing.
    constant_bits : tuple of int
        Bits that are the same in all codes, from 0.
    distinct : int
        Different codes.
    shared : float
        Share of the codes whose code another item has too; such items cannot be told apart.
    largest : int
        Items of the most frequent code.
    code_bytes, float_bytes : int
        Storage of the codes at eight bits a byte, and of float32 vectors with a number for each bit; 32 times as much
        where the bits fill whole bytes.
    """

    count: int
    bits: int
    balance: FloatArray
    constant_bits: tuple[int, ...]
    distinct: int
    shared: float
    largest: int
    code_bytes: int
    float_bytes: int

    @property
    def collapsed(self) -> bool:
        """Whether all of several codes are one."""
        return self.count > 1 and self.distinct == 1

    def sentences(self) -> list[str]:
        """What a reader of a score of these codes should know."""
        less = self.float_bytes / max(self.code_bytes, 1)
        size = (
            f"{counted(self.count, 'code', 'codes')} of {counted(self.bits, 'bit', 'bits')}, "
            f"{counted(self.distinct, 'distinct one', 'distinct ones')}; {self.code_bytes} bytes, "
            f"{less:.4g} times less than float32 vectors of as many numbers"
        )
        told = [size]
        if self.collapsed:
            told.append(
                "all codes are identical: nothing can be told apart, and every expected value is exactly that of "
                "random retrieval, whatever the order of the gallery; what a tool that sorts prints is that order"
            )
        elif self.shared > 0:
            told.append(
                f"{self.shared:.1%} of the items share their code with another, {self.largest} the most frequent one"
            )
        if self.constant_bits and not self.collapsed:
            told.append(
                f"{counted(len(self.constant_bits), 'bit is', 'bits are')} the same in all codes and tell nothing: "
                f"{first_few(self.constant_bits)}"
            )
        return told

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "count": self.count,
            "bits": self.bits,
            "balance": self.balance.tolist(),
            "constant_bits": list(self.constant_bits),
            "distinct": self.distinct,
            "shared": self.shared,
            "largest": self.largest,
            "code_bytes": self.code_bytes,
            "float_bytes": self.float_bytes,
            "words": self.sentences(),
        }


def report_codes(codes: Any | BinaryCodes) -> CodeReport:
    """Look at a set of codes.

    Parameters
    ----------
    codes : BinaryCodes, or array-like of shape (n, bits)
        As for `BinaryCodes.of`.

    Examples
    --------
    >>> report = report_codes(BinaryCodes.of([[1, -1, 1], [1, 1, 1], [1, -1, 1]]))
    >>> report.constant_bits, report.distinct, round(report.shared, 3)
    ((0, 2), 2, 0.667)
    >>> report_codes(BinaryCodes.of([[1, -1], [1, -1]])).sentences()[1][:28]
    'all codes are identical: not'
    """
    codes = BinaryCodes.of(codes)
    ones = np.zeros(codes.bits, dtype=np.int64)
    for first in range(0, len(codes), _ROWS):
        ones += BinaryCodes(codes.words[first : first + _ROWS], codes.bits).unpacked().sum(axis=0)
    count = len(codes)
    _, repeats = np.unique(codes.words, axis=0, return_counts=True)
    constant = np.flatnonzero((ones == 0) | (ones == count)) if count else np.zeros(0, dtype=np.int64)
    return CodeReport(
        count,
        codes.bits,
        ones / max(count, 1),
        tuple(constant.tolist()),
        len(repeats),
        float(repeats[repeats > 1].sum() / max(count, 1)),
        int(repeats.max(initial=0)),
        codes.nbytes,
        4 * codes.bits * count,
    )
