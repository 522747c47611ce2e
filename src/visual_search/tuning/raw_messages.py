"""Messages between two processes of this package: a line of JSON, and after it arrays as they lie in memory."""

from __future__ import annotations

import json
from typing import IO, Any

import numpy as np
import numpy.typing as npt

__all__ = ["receive", "send"]

Array = npt.NDArray[Any]


def send(stream: IO[bytes], words: Any, *arrays: Array) -> None:
    """Write one message; the arrays are not copied."""
    shapes = [[array.dtype.str, list(array.shape)] for array in arrays]
    stream.write(json.dumps([words, shapes]).encode() + b"\n")
    for array in arrays:
        if array.size:
            stream.write(np.ascontiguousarray(array).data.cast("B"))
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[Any, list[Array]]:
    """Read one message.

    Raises
    ------
    EOFError
        The other side is gone.

    Examples
    --------
    >>> import io
    >>> stream = io.BytesIO()
    >>> send(stream, {"k": 2}, np.array([[1, 2]]), np.zeros((0, 3)))
    >>> _ = stream.seek(0)
    >>> receive(stream)
    ({'k': 2}, [array([[1, 2]]), array([], shape=(0, 3), dtype=float64)])
    """
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    words, shapes = json.loads(line)
    return words, [_array(stream, dtype, shape) for dtype, shape in shapes]


def _array(stream: IO[bytes], dtype: str, shape: list[int]) -> Array:
    made: Array = np.empty(shape, dtype=dtype)
    if made.size:
        left = made.data.cast("B")
        while left:
            count = stream.readinto(left)  # type: ignore[attr-defined] # binary streams have it
            if not count:
                raise EOFError
            left = left[count:]
    return made
