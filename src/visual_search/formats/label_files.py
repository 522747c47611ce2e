"""Labels of items from a file: NumPy, or a CSV table, a row an item."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError
from visual_search.formats.csv_columns import read_csv_columns
from visual_search.formats.npy_header import check_whole_npy

__all__ = ["read_array", "read_labels"]

AnyArray: TypeAlias = npt.NDArray[Any]


def read_array(path: str | os.PathLike[str]) -> AnyArray:
    """One array of a ``.npy`` file, mapped into memory; nothing is unpickled.

    Raises
    ------
    FileFormatError
        Not a NumPy file of one array of numbers, truth values or texts.
    """
    name = Path(path).name
    check_whole_npy(path)
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as problem:
        raise FileFormatError(f"{name}: not a NumPy file of numbers ({problem})") from problem
    if not isinstance(array, np.ndarray):
        raise FileFormatError(f"{name}: an archive of several arrays; one .npy file of one array is needed")
    if array.dtype.kind not in "biufU":
        raise FileFormatError(f"{name}: dtype {array.dtype}; numbers or texts are needed")
    return array


def read_labels(path: str | os.PathLike[str]) -> AnyArray:
    r"""Classes of shape (n,), or multi-hot rows of shape (n, labels).

    Parameters
    ----------
    path : path
        ``.npy``; else CSV or TSV with a header: one column of classes, or one column of 0 and 1 for each label.

    Raises
    ------
    FileFormatError
        Neither.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels.csv"
    ...     _ = path.write_text("sky,sea\n1,0\n1,1\n")
    ...     read_labels(path).tolist()
    [[1, 0], [1, 1]]
    """
    if Path(path).suffix == ".npy":
        return read_array(path)
    columns = read_csv_columns(path)
    if len(columns) == 1:
        return np.array(next(iter(columns.values())))
    wrong = [name for name, cells in columns.items() if not set(cells) <= {0, 1}]
    if wrong:
        raise FileFormatError(
            f"{Path(path).name}: column {wrong[0]!r} holds other values than 0 and 1; give one column of classes, or a "
            "column of 0 and 1 for each label"
        )
    return np.array(list(columns.values()), dtype=np.uint8).T
