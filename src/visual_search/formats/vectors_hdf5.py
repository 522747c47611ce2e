"""The layout of ann-benchmarks: one HDF5 file with ``train``, ``test``, ``neighbors``, ``distances``.

The attribute ``distance`` names the metric. A data set that is neither chunked nor packed is mapped from the file.

References
----------
M. Aumüller, E. Bernhardsson, A. Faithfull, "ANN-Benchmarks: A benchmarking tool for approximate nearest neighbor
algorithms", Information Systems 87, 2020.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy.typing as npt

from visual_search.errors import FileFormatError, InputError, MissingDependencyError
from visual_search.formats.atomic import atomic_path
from visual_search.formats.vector_file import (
    VectorFile,
    blocks,
    check_dimension,
    check_type,
    file_size,
    mapped,
    native,
    writable_matrix,
)

__all__ = ["METRIC_WORDS", "matrix", "metric_of", "opened", "read_hdf5", "write_hdf5"]

AnyArray = npt.NDArray[Any]

#: The words that such files use for a metric, and the metric each means.
METRIC_WORDS = {
    "angular": "cosine",
    "cosine": "cosine",
    "dot": "ip",
    "euclidean": "l2",
    "hamming": "hamming",
    "inner_product": "ip",
    "ip": "ip",
    "jaccard": "jaccard",
    "l2": "l2",
}
_SIGNATURE, _FIRST_BLOCK = b"\x89HDF\r\n\x1a\n", 64
_WORD_OF = {"cosine": "angular", "ip": "dot", "l2": "euclidean", "hamming": "hamming", "jaccard": "jaccard"}


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open an HDF5 file for reading."""
    try:
        import h5py
    except ImportError as error:
        raise MissingDependencyError(
            f"{path}: reading HDF5 needs h5py, which cannot be imported ({error}); "
            "run: pip install 'visual-search[formats]'"
        ) from error
    file_size(path)
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise FileFormatError(f"{path}: not a whole HDF5 file ({error})") from error
    with file:
        _check_end(path)
        yield file


def _check_end(path: Path) -> None:
    """Refuse bytes behind the end that the file tells of itself; the library looks only whether there are fewer.

    The first block of version 0 or 1 has its addresses at byte 24 or 28, a later one at byte 12; the third is the end.
    """
    size, begin = path.stat().st_size, 0
    with path.open("rb") as stream:
        while (head := stream.read(_FIRST_BLOCK))[:8] != _SIGNATURE:
            begin = 2 * begin or 512  # where it lies behind a block of the user's
            if begin >= size:
                return
            stream.seek(begin)
    version = head[8]
    width, at = (head[13], 24 + 4 * version) if version < 2 else (head[9], 12)
    end = int.from_bytes(head[at + 2 * width : at + 3 * width], "little")
    if size > end:
        raise FileFormatError(
            f"{path}: the file says that it ends after {end:,} bytes, but it has {size:,} ({size - end:,} too many); "
            "something was put behind it: take it from a copy"
        )


def read_hdf5(path: Path, *, dataset: str, mmap: bool) -> VectorFile:
    """Read one data set as vectors; see ``read_vectors``."""
    with opened(path) as file:
        metric, notes = metric_of(file)
        vectors, told = matrix(path, file, dataset, mmap=mmap)
    check_dimension(path, vectors.shape[1])
    return VectorFile(path, "hdf5", vectors, metric=metric, notes=notes + told)


def metric_of(file: Any) -> tuple[str | None, tuple[str, ...]]:
    """The metric that the attribute ``distance`` names, and a note where the word is not known."""
    word = file.attrs.get("distance")
    if word is None:
        return None, ("the file has no attribute 'distance': it does not say by what its vectors are compared",)
    text = word.decode("utf-8", "replace") if isinstance(word, bytes) else str(word)
    metric = METRIC_WORDS.get(text.lower())
    if metric is None:
        return None, (f"the attribute 'distance' is {text!r}, which is none of {', '.join(METRIC_WORDS)}",)
    return metric, ()


def matrix(path: Path, file: Any, name: str, *, mmap: bool) -> tuple[AnyArray, tuple[str, ...]]:
    """A data set of two dimensions; a map of the file where its bytes lie there as they are."""
    import h5py

    there = sorted(key for key, value in file.items() if isinstance(value, h5py.Dataset))
    held = file.get(name)
    if not isinstance(held, h5py.Dataset):
        raise FileFormatError(f"{path}: no data set {name!r}; there are {', '.join(there) or 'none'}")
    if held.external or held.is_virtual or held.file.filename != file.filename:
        raise FileFormatError(f"{path}: data set {name!r} lies in other files; give one file that holds its values")
    check_type(path, held.dtype)
    if held.ndim != 2:
        sparse = "; a flat one with size_train beside it holds sets, not vectors" if held.ndim == 1 else ""
        raise FileFormatError(f"{path}: data set {name!r} has shape {held.shape}; (n, d) is needed{sparse}")
    shape = (int(held.shape[0]), int(held.shape[1]))
    offset = None if held.chunks else held.id.get_offset()
    if mmap and offset is not None and held.id.get_storage_size() == held.dtype.itemsize * shape[0] * shape[1]:
        return native(mapped(path, held.dtype, shape, offset=offset, mmap=True))
    try:
        values: AnyArray = held[()]
    except OSError as error:
        raise FileFormatError(f"{path}: data set {name!r} cannot be read ({error}); the file is damaged") from error
    note = (f"data set {name!r} is chunked or packed, so it was read into memory and not mapped",) if mmap else ()
    vectors, told = native(values)
    return vectors, note + told


def write_hdf5(
    path: Path,
    *,
    train: Any,
    test: Any = None,
    neighbors: Any = None,
    distances: Any = None,
    metric: str | None = None,
) -> None:
    """Write the layout, whole or not at all; data sets lie unpacked, so that they can be mapped.

    Parameters
    ----------
    path : Path
    train : array of shape (n, d)
        The gallery.
    test : array of shape (q, d), optional
        The queries.
    neighbors : integer array of shape (q, k), optional
        Gallery rows, nearest first.
    distances : float array of shape (q, k), optional
    metric : "cosine", "ip", "l2", "hamming" or "jaccard", optional
        Written in the layout's words, as "angular".

    Raises
    ------
    InputError
        Shapes that do not belong together, or a metric that has no word.
    """
    try:
        import h5py
    except ImportError as error:
        raise MissingDependencyError(
            f"writing HDF5 needs h5py, which cannot be imported ({error}); run: pip install 'visual-search[formats]'"
        ) from error
    if metric is not None and metric not in _WORD_OF:
        raise InputError(f"metric: got {metric!r}; must be one of {', '.join(_WORD_OF)}")
    given = {"train": train, "test": test, "neighbors": neighbors, "distances": distances}
    arrays = {
        name: writable_matrix(value, dtype=None, format_name="hdf5")
        for name, value in given.items()
        if value is not None
    }
    _check_together(arrays)
    with atomic_path(path) as temporary, h5py.File(temporary, "w") as file:
        if metric is not None:
            file.attrs["distance"] = _WORD_OF[metric]
        for name, values in arrays.items():
            held = file.create_dataset(name, shape=values.shape, dtype=values.dtype)
            start = 0
            for block in blocks(values):
                held[start : start + len(block)] = block
                start += len(block)


def _check_together(arrays: dict[str, AnyArray]) -> None:
    wrong = []
    train, test = arrays["train"], arrays.get("test")
    if test is not None and test.shape[1] != train.shape[1]:
        wrong.append(f"test has dimension {test.shape[1]}, train {train.shape[1]}")
    lists = [arrays[name] for name in ("neighbors", "distances") if name in arrays]
    if lists and (test is None or len(lists[0]) != len(test)):
        wrong.append(f"neighbors or distances of {len(lists[0])} queries, test {0 if test is None else len(test)}")
    if len(lists) == 2 and lists[0].shape != lists[1].shape:
        wrong.append(f"neighbors of shape {lists[0].shape}, distances {lists[1].shape}")
    if wrong:
        raise InputError("data sets do not belong together: " + "; ".join(wrong))
