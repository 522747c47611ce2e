"""Arrays of any library to numpy, without a copy where possible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, first_few

__all__ = ["as_float64", "as_matrix", "as_numpy", "check_no_flags", "comparable", "rounded_to_float32"]

AnyArray: TypeAlias = npt.NDArray[Any]

# Floats of tensors, and of numpy by another package, that numpy cannot read.
_NARROW = ("bfloat16", "float8", "float6", "float4")


def as_numpy(values: Any, *, what: str) -> AnyArray:
    """Take anything that is an array, speaks DLPack or the array protocol, or is a sequence of numbers.

    Parameters
    ----------
    values : array-like
        A numpy array; a tensor of torch, JAX, CuPy and others on the CPU; nested sequences.
    what : str
        What the values are, for error messages.

    Returns
    -------
    array
        Shares memory with ``values`` where it can.

    Raises
    ------
    InputError
        Memory that is not on the CPU, ragged sequences, or things that are not numbers or strings.

    Examples
    --------
    >>> as_numpy([[1, 2], [3, 4]], what="ranks").shape
    (2, 2)
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"{what}: a masked array, whose masked values would be read; fill them or leave them out")
    if hasattr(values, "tocsr") and hasattr(values, "toarray"):
        raise InputError(f"{what}: a sparse matrix of shape {values.shape}; give its dense form (.toarray())")
    if values is None:
        raise InputError(f"{what}: None; an array is needed")
    if isinstance(values, np.ndarray):
        # Not for all: a mapped file must stay one.
        array: AnyArray = np.asarray(values) if isinstance(values, np.ma.MaskedArray) else values
    elif hasattr(values, "__dlpack__"):
        array = _from_dlpack(values, what)
    else:
        try:
            array = np.asarray(values)
        except (ValueError, TypeError, OverflowError) as error:
            raise InputError(f"{what}: not an array: {error}") from error
    _check_list(values, array, what)
    if array.dtype.kind in "OT" or (array.dtype.kind == "U" and isinstance(values, (list, tuple))):
        array = _of_objects(values, what)
    if array.dtype.kind not in "biufUS":
        if array.dtype.name.startswith(_NARROW):
            raise InputError(
                f"{what}: dtype {array.dtype}, which numpy itself does not have; give .astype('float32')"
            )
        raise InputError(f"{what}: dtype {array.dtype}; numbers or strings are needed")
    return array


def _refuse_tensor(values: Any, what: str) -> None:
    """Refuse tensors of torch that numpy has no form for, saying what to call."""
    dtype = str(getattr(values, "dtype", "")).removeprefix("torch.")
    if "sparse" in str(getattr(values, "layout", "")):
        raise InputError(f"{what}: a sparse tensor; give its dense form (.to_dense())")
    if dtype.startswith(_NARROW):
        raise InputError(f"{what}: dtype {dtype}, which numpy does not have; give .float()")


def _of_objects(values: Any, what: str) -> AnyArray:
    """Strings or integers that came as Python objects; numpy would turn a mixture into strings without a word."""
    objects: AnyArray = np.asarray(values, dtype=object)
    kinds = {type(value) for value in objects.ravel().tolist()}
    if all(issubclass(kind, str) for kind in kinds):
        cut = [text for text in objects.ravel().tolist() if text.endswith("\0")]
        if cut:
            raise InputError(
                f"{what}: texts that end in NUL, first: {first_few(cut)}; arrays of text would cut it off, so that "
                "two texts could become one: name them without it"
            )
        return objects.astype(np.str_)
    if all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in kinds):
        return _of_integers(objects, what)
    found = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise InputError(f"{what}: values of type {found}; all must be strings, or all numbers")


def _check_list(values: Any, array: AnyArray, what: str) -> None:
    """Refuse what numpy changes in a plain list without a word: True beside integers, and NUL at the end of bytes."""
    if not isinstance(values, (list, tuple)):
        return
    if array.ndim == 1 and array.dtype.kind in "iu":
        check_no_flags(values, what=what)
    if array.dtype == np.float64 and array.size and float(np.nanmax(np.abs(array), initial=0)) >= 2.0**53:
        _check_whole(values, what=what)
    if array.dtype.kind == "S" and any(text.endswith(b"\0") for text in np.asarray(values, dtype=object).ravel()):
        raise InputError(f"{what}: bytes that end in NUL, which arrays of bytes cut off; name them without it")


def _check_whole(values: Any, *, what: str) -> None:
    """Refuse whole numbers in nested lists that float64 rounds; numpy makes floats of those beyond 64 bits."""
    flat = np.asarray(values, dtype=object).ravel().tolist()
    rounded = [value for value in flat if isinstance(value, int) and int(float(value)) != value]
    if rounded:
        raise InputError(
            f"{what}: whole numbers that float64 does not hold (they are up to 2^53), first: {first_few(rounded, 3)}; "
            "different ones would become one"
        )


def check_no_flags(values: Iterable[Any], *, what: str) -> None:
    """Refuse true and false among integers, where they would become 1 and 0.

    Raises
    ------
    InputError
        A bool.
    """
    if not {bool, np.bool_}.isdisjoint(map(type, values)):
        raise InputError(f"{what}: true or false among integers; all must be strings, or all integers")


def _of_integers(objects: AnyArray, what: str) -> AnyArray:
    low, high = (int(end(objects.ravel().tolist(), default=0)) for end in (min, max))
    if low >= -(2**63) and high < 2**63:
        return objects.astype(np.int64)
    if low >= 0 and high < 2**64:
        return objects.astype(np.uint64)
    raise InputError(
        f"{what}: integers from {low} to {high}; arrays hold 64 bits, signed or not: write such ids as strings"
    )


def _from_dlpack(values: Any, what: str) -> AnyArray:
    # A torch tensor that is part of a graph refuses to be exported; its values are what is wanted.
    plain = values.detach() if getattr(values, "requires_grad", False) else values
    try:
        array: AnyArray = np.from_dlpack(plain)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        if hasattr(plain, "__array__"):
            try:
                return np.asarray(plain)
            except (RuntimeError, TypeError, ValueError):
                pass
        _refuse_tensor(plain, what)
        device = getattr(plain, "device", "another device")
        raise InputError(f"{what}: cannot be read from {device} ({error}); move it to the CPU first") from error
    return array


def as_matrix(values: Any, *, what: str) -> AnyArray:
    """As `as_numpy`, and of two dimensions."""
    array = as_numpy(values, what=what)
    if array.ndim != 2:
        raise InputError(f"{what}: shape {array.shape}; a matrix of shape (queries, items) is needed")
    return array


def as_float64(values: AnyArray, *, what: str) -> npt.NDArray[np.float64]:
    """Numbers as float64, where it holds each of them exactly; two that differ would tie in silence otherwise.

    Raises
    ------
    InputError
        An integer beyond 2^53, or a wider float, that float64 would round.

    Examples
    --------
    >>> as_float64(np.array([1, 2]), what="scores").tolist()
    [1.0, 2.0]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        plain = values.astype(np.float64, copy=False)
        if values.dtype.itemsize < 8 or values.dtype == np.float64:
            return plain
        # 2^63 and 2^64 are what the largest integers round to; back among the integers they would wrap.
        beyond = plain >= 2.0 ** (63 if values.dtype.kind == "i" else 64) if values.dtype.kind in "iu" else False
        rounded = np.flatnonzero((plain.astype(values.dtype) != values) & ~np.isnan(plain) | beyond)
    if rounded.size:
        raise InputError(
            f"{what}: {rounded.size} of {values.size} numbers are not held by float64 (integers are up to 2^53), "
            f"first: {first_few(values.ravel()[rounded[:5]].tolist(), 3)}; different ones would tie: subtract a "
            "common base, or give ranks"
        )
    return plain


def rounded_to_float32(values: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.floating[Any]]:
    """Numbers as float32 has them; those beyond it, which are infinite there, as 2^128 and so above all others.

    Examples
    --------
    >>> rounded_to_float32(np.array([1e300, 1e299, 1.0])).tolist() == [2.0**128, 2.0**128, 1.0]
    True
    """
    with np.errstate(over="ignore"):
        rounded = values.astype(np.float32)
    beyond = np.isinf(rounded) & np.isfinite(values)
    if not beyond.any():
        return rounded
    wide = rounded.astype(np.float64)
    wide[beyond] = np.copysign(2.0**128, wide[beyond])
    return wide


def comparable(mine: AnyArray, theirs: AnyArray, *, what: str) -> tuple[AnyArray, AnyArray]:
    """Two arrays of ids or classes in one dtype in which equal means equal.

    numpy would compare uint64 with int64 as float64, in which integers beyond 2^53 collide.

    Raises
    ------
    InputError
        Texts on one side and integers on the other, or flags and integers: nothing would match, or True would be 1.

    Examples
    --------
    >>> mine, theirs = comparable(np.array([2**53 + 1], np.uint64), np.array([2**53]), what="labels")
    >>> mine == theirs
    array([False])
    """
    kinds = [_FAMILY.get(side.dtype.kind, side.dtype.kind) for side in (mine, theirs)]
    if kinds[0] != kinds[1] and len(mine) and len(theirs):
        raise InputError(
            f"{what}: {mine.dtype} ({first_few(mine.ravel()[:2].tolist())}) and {theirs.dtype} "
            f"({first_few(theirs.ravel()[:2].tolist())}) are of two kinds; nothing would match: convert one side"
        )
    if kinds[0] == "text":
        return _texts(mine, what), _texts(theirs, what)
    if kinds[0] == "integer" and np.uint64 in (mine.dtype, theirs.dtype) and mine.dtype != theirs.dtype:
        return _one_integer_type(mine, theirs)
    return mine, theirs


_FAMILY = {"U": "text", "S": "text", "i": "integer", "u": "integer"}


def _texts(side: AnyArray, what: str) -> AnyArray:
    if side.dtype.kind != "S":
        return side
    try:
        return np.char.decode(side, "utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{what}: bytes that are not UTF-8 ({error}); give texts") from None


def _one_integer_type(*sides: AnyArray) -> tuple[AnyArray, AnyArray]:
    if all(int(side.max(initial=0)) < 2**63 for side in sides):
        return sides[0].astype(np.int64), sides[1].astype(np.int64)
    if all(int(side.min(initial=0)) >= 0 for side in sides):
        return sides[0].astype(np.uint64), sides[1].astype(np.uint64)
    return sides[0].astype(object), sides[1].astype(object)  # exact, and slow; no fixed width holds both
