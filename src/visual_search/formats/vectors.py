"""Files of vectors of every layout the field uses, read and written through one pair of functions."""

from __future__ import annotations

import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from visual_search.errors import FileFormatError, InputError
from visual_search.formats.vector_file import VectorFile, writable_matrix
from visual_search.formats.vectors_bin import BIN_TYPES, read_bin, write_bin
from visual_search.formats.vectors_hdf5 import read_hdf5, write_hdf5
from visual_search.formats.vectors_npy import read_npy, write_npy
from visual_search.formats.vectors_parquet import read_parquet, write_parquet
from visual_search.formats.vectors_vecs import VECS_TYPES, read_vecs, write_vecs
from visual_search.ids import Ids

__all__ = ["VECTOR_FORMATS", "VectorFile", "format_of", "read_vectors", "write_vectors"]

#: Formats and the suffixes that mean them.
VECTOR_FORMATS: dict[str, tuple[str, ...]] = {
    "npy": (".npy",),
    **{name: (f".{name}",) for name in (*VECS_TYPES, *BIN_TYPES)},
    "f16bin": (".f16bin", ".fp16bin", ".f16"),
    "hdf5": (".hdf5", ".h5"),
    "parquet": (".parquet", ".pq"),
}


def format_of(path: Path, asked: str | None) -> str:
    """The format asked for, or the one a file's suffix means."""
    if asked is not None:
        if asked in VECTOR_FORMATS:
            return asked
        close = get_close_matches(str(asked), VECTOR_FORMATS, n=1)
        meant = f"did you mean {close[0]!r}? " if close else ""
        raise InputError(f"format: got {asked!r}; {meant}must be one of {', '.join(VECTOR_FORMATS)}")
    suffix = path.suffix.lower()
    for name, suffixes in VECTOR_FORMATS.items():
        if suffix in suffixes:
            return name
    raise FileFormatError(
        f"{path}: the suffix {suffix!r} is of no known format; say which one with format=, one of "
        f"{', '.join(VECTOR_FORMATS)}"
    )


def read_vectors(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word for it
    mmap: bool = True,
    dataset: str | None = None,
    vector_column: str | None = None,
    id_column: str | None = None,
) -> VectorFile:
    """Read a file of vectors, mapped and not loaded where its layout allows.

    Parameters
    ----------
    path : path
    format : str, optional
        ``npy``; ``fvecs``, ``bvecs``, ``ivecs``; ``fbin``, ``ibin``, ``u8bin``, ``i8bin``, ``f16bin``; ``hdf5``;
        ``parquet``. Default: what the suffix means.
    mmap : bool
        Map the file, read-only, instead of loading it. Parquet, packed HDF5 and files in the other byte order are
        loaded all the same, and ``notes`` says so. A map of the ``vecs`` family is strided: the rows are where they
        are, and the dimensions between them are left out.
    dataset : str, optional
        Of HDF5: the data set, ``"train"`` (the gallery) where none is named.
    vector_column, id_column : str, optional
        Of Parquet: the column of lists, by default the only one; the column of ids, by default ``"id"`` if there.

    Returns
    -------
    VectorFile
        ``vectors`` of shape (n, d), ``ids``, ``metric``, ``notes``.

    Raises
    ------
    FileFormatError
        No such file; empty; truncated; a header that does not fit the size; a dimension below 1 or above
        1,048,576; rows of different dimension, the first five named; objects instead of numbers.
    InputError
        An unknown format, or an option the format does not have.
    MissingDependencyError
        HDF5 without h5py.

    Convention
    ----------
    Sizes and every row's dimension are checked; values are not looked at (a map of a billion rows would be read
    whole), so NaN and infinity are found where vectors are used. Nothing is unpickled.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> folder = Path(tempfile.mkdtemp())
    >>> write_vectors(folder / "a.fvecs", np.eye(3, 4, dtype=np.float32))
    >>> read_vectors(folder / "a.fvecs").shape
    (3, 4)
    >>> (folder / "a.fvecs").unlink(), folder.rmdir()
    (None, None)
    """
    source = Path(path)
    chosen = format_of(source, format)
    _check_options(
        chosen, {"hdf5": {"dataset": dataset}, "parquet": {"vector_column": vector_column, "id_column": id_column}}
    )
    if chosen == "npy":
        return read_npy(source, mmap=mmap)
    if chosen in VECS_TYPES:
        return read_vecs(source, chosen, mmap=mmap)
    if chosen in BIN_TYPES:
        return read_bin(source, chosen, mmap=mmap)
    if chosen == "hdf5":
        return read_hdf5(source, dataset=dataset or "train", mmap=mmap)
    return read_parquet(source, vector_column=vector_column, id_column=id_column)


def _check_options(chosen: str, options: dict[str, dict[str, str | None]]) -> None:
    wrong = [
        f"{name} belongs to {format_name}, and this is {chosen}"
        for format_name, given in options.items()
        for name, value in given.items()
        if value is not None and format_name != chosen
    ]
    if wrong:
        raise InputError("; ".join(wrong))


def write_vectors(
    path: str | os.PathLike[str],
    array: Any,
    ids: Iterable[Any] | None = None,
    *,
    format: str | None = None,  # noqa: A002 - as in read_vectors
    metric: str | None = None,
) -> None:
    """Write vectors in any of the layouts, in blocks of 16 MiB, whole or not at all.

    Parameters
    ----------
    path : path
    array : array or memmap of shape (n, d)
        Of the type the format holds (``fbin`` and ``fvecs``: float32, and so on; ``npy``, ``hdf5`` and ``parquet``:
        any). Types are not converted: rounding is the caller's to decide.
    ids : iterable, optional
        Distinct strings or integers, one a row; only Parquet keeps them.
    format : str, optional
        As for ``read_vectors``; default: what the suffix means.
    metric : "cosine", "ip", "l2", "hamming" or "jaccard", optional
        What the vectors are compared by; only HDF5 keeps it. The vectors become the data set ``train``; for queries
        and neighbours beside them see ``visual_search.formats.vectors_hdf5.write_hdf5``.

    Raises
    ------
    InputError
        A shape or type the format does not hold, ids or a metric that it would lose, ids not one a row.
    MissingDependencyError
        HDF5 without h5py.
    """
    target = Path(path)
    chosen = format_of(target, format)
    values = writable_matrix(array, dtype={**VECS_TYPES, **BIN_TYPES}.get(chosen), format_name=chosen)
    named = None if ids is None else Ids(ids, what="ids")
    if named is not None and chosen != "parquet":
        raise InputError(f"ids: {chosen} keeps none, so they would be lost; write Parquet, or leave them out")
    if named is not None and len(named) != len(values):
        raise InputError(f"ids: {len(named)} ids for {len(values)} vectors; give one to each")
    if metric is not None and chosen != "hdf5":
        raise InputError(f"metric: {chosen} keeps none, so it would be lost; write HDF5, or leave it out")
    if chosen == "npy":
        write_npy(target, values)
    elif chosen in VECS_TYPES:
        write_vecs(target, values, chosen)
    elif chosen in BIN_TYPES:
        write_bin(target, values, chosen)
    elif chosen == "hdf5":
        write_hdf5(target, train=values, metric=metric)
    else:
        write_parquet(target, values, named)
