"""What comes into an index of binary codes: any form of bits, made into packed rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from visual_search.errors import DimensionError, InputError
from visual_search.formats.binary_codes import BinaryCodes
from visual_search.indexing.vector_checks import Findings

__all__ = ["as_codes"]


def as_codes(
    codes: Any, bits: int | None, findings: Findings, *, names: Sequence[Any] | None = None
) -> BinaryCodes | None:
    """Codes of ``bits`` bits; None where that cannot be, with the reason in ``findings``.

    Parameters
    ----------
    codes : BinaryCodes or array-like of shape (n, bits)
        -1 and 1, 0 and 1, or truth values, one a bit. Where ``bits`` is known, uint8 rows of ceil(bits / 8) bytes are
        packed codes, as ``VectorIndex.vectors`` gives them.
    bits : int, optional
        Bits of a code; None takes those that come.
    names : sequence, optional
        Of the rows, for messages.
    """
    if names is not None and (not hasattr(codes, "__len__") or len(codes) != len(names)):
        names = None
    try:
        return BinaryCodes.of(codes, packed=_is_packed(codes, bits), bits=bits, what="codes", ids=names)
    except DimensionError as error:
        findings.add(DimensionError, str(error))
    except InputError as error:
        findings.add(
            type(error),
            f"{error}; embeddings are made into codes by fit_hasher(...).codes(embeddings), and packed bytes are taken "
            "by an index whose dimension, in bits, is stated, or as BinaryCodes.of(octets, packed=True)",
        )
    return None


def _is_packed(codes: Any, bits: int | None) -> bool:
    if bits is None or not isinstance(codes, np.ndarray) or codes.dtype != np.uint8 or codes.ndim != 2:
        return False
    # A code of one bit has one column either way; a packed 1 is 128.
    return codes.shape[1] == -(-bits // 8) and (bits > 1 or int(codes.max(initial=0)) > 1)
