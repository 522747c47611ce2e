"""Arrays of any library to numpy, without a copy where possible."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError

__all__ = ["as_matrix", "as_numpy"]

AnyArray: TypeAlias = npt.NDArray[Any]


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
    if isinstance(values, np.ndarray):
        array: AnyArray = values
    elif hasattr(values, "__dlpack__"):
        array = _from_dlpack(values, what)
    else:
        try:
            array = np.asarray(values)
        except (ValueError, TypeError) as error:
            raise InputError(f"{what}: not an array: {error}") from error
    if array.dtype.kind in "OT" or (array.dtype.kind == "U" and isinstance(values, (list, tuple))):
        array = _of_objects(values, what)
    if array.dtype.kind not in "biufUS":
        raise InputError(f"{what}: dtype {array.dtype}; numbers or strings are needed")
    return array


def _of_objects(values: Any, what: str) -> AnyArray:
    """Strings or integers that came as Python objects; numpy would turn a mixture into strings without a word."""
    objects: AnyArray = np.asarray(values, dtype=object)
    kinds = {type(value) for value in objects.ravel().tolist()}
    if all(issubclass(kind, str) for kind in kinds):
        return objects.astype(np.str_)
    if all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in kinds):
        return objects.astype(np.int64)
    found = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise InputError(f"{what}: values of type {found}; all must be strings, or all numbers")


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
        device = getattr(plain, "device", "another device")
        raise InputError(f"{what}: cannot be read from {device} ({error}); move it to the CPU first") from error
    return array


def as_matrix(values: Any, *, what: str) -> AnyArray:
    """As `as_numpy`, and of two dimensions."""
    array = as_numpy(values, what=what)
    if array.ndim != 2:
        raise InputError(f"{what}: shape {array.shape}; a matrix of shape (queries, items) is needed")
    return array
