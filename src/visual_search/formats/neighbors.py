"""Files of nearest neighbours: ``ivecs``, the billion-scale ``ibin``, ann-benchmarks HDF5, and ``npy``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import DepthError, FileFormatError, InputError, Problems, UnknownIdError, first_few
from visual_search.formats.atomic import atomic_write
from visual_search.formats.vectors import format_of, read_vectors, write_vectors
from visual_search.formats.vectors_bin import HEADER_BYTES, bin_header
from visual_search.formats.vectors_hdf5 import matrix, metric_of, opened
from visual_search.ids import Ids

__all__ = ["NeighborFile", "read_neighbors", "write_neighbors"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]

_FORMATS = ("ivecs", "ibin", "hdf5", "npy")


@dataclass(frozen=True, slots=True, eq=False)
class NeighborFile:
    """Nearest gallery rows of every query, as a file has them.

    Parameters
    ----------
    path : Path
    format : str
    positions : int64 array of shape (q, k)
        Gallery rows, nearest first; -1 fills the end of a list that is short.
    distances : float array of shape (q, k) or None
        As the file has them. What they mean (squared or plain, distance or similarity) no layout says:
        ``visual_search.ground_truth.distance_meaning`` finds out.
    metric : str or None
        What the file says they are nearest by.
    notes : tuple of str
    """

    path: Path
    format: str
    positions: Int64Array
    distances: FloatArray | None = None
    metric: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def depth(self) -> int:
        """Neighbours of each query, k."""
        return int(self.positions.shape[1])

    def __len__(self) -> int:
        return len(self.positions)


def read_neighbors(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - as in read_vectors
    k: int | None = None,
    gallery: int | Ids | None = None,
) -> NeighborFile:
    """Read ground truth: the nearest gallery rows of every query.

    Parameters
    ----------
    path : path
    format : str, optional
        ``ivecs``; ``ibin``, with distances behind the ids or without; ``hdf5`` (``neighbors`` and ``distances``);
        ``npy``. Default: what the suffix means.
    k : int, optional
        Depth wanted; the first k columns are kept. A file that is less deep is refused: recall@100 against the 10
        nearest could not exceed .1.
    gallery : int or Ids, optional
        The number of gallery rows: an id at or beyond it is refused. Or the gallery's ids, where the file has ids
        and not row numbers: they are looked up, and one that is not there is refused.

    Returns
    -------
    NeighborFile

    Raises
    ------
    FileFormatError
        Truncated or contradictory; a range-search truth; an id twice in one list; a negative id other than -1 at the
        end; distances that are not finite or neither rise nor fall along a list.
    DepthError
        k beyond the file's depth.
    InputError
        Ids beyond the gallery's rows.
    UnknownIdError
        Ids that the gallery does not have.
    """
    source = Path(path)
    chosen = format_of(source, format)
    if chosen not in _FORMATS:
        raise InputError(f"format: {chosen} holds no neighbours; must be one of {', '.join(_FORMATS)}")
    held, distances, metric, notes = _parts(source, chosen)
    if held.dtype.kind not in "iu":
        raise FileFormatError(f"{source}: neighbours of type {held.dtype}; they are whole numbers, gallery rows")
    positions = np.array(held, dtype=np.int64)
    _check_lists(source, positions, distances)
    notes += _order_note(source, positions, distances)
    positions, distances = _cut(source, positions, distances, k)
    positions = _in_gallery(source, positions, gallery)
    short = int((positions[:, -1] < 0).sum())
    if short:
        notes += (f"{short} of {len(positions)} queries have fewer than {positions.shape[1]} neighbours",)
    return NeighborFile(source, chosen, positions, distances, metric, notes)


def _parts(path: Path, chosen: str) -> tuple[npt.NDArray[Any], FloatArray | None, str | None, tuple[str, ...]]:
    if chosen == "hdf5":
        with opened(path) as file:
            metric, notes = metric_of(file)
            held, _ = matrix(path, file, "neighbors", mmap=False)
            distances = matrix(path, file, "distances", mmap=False)[0] if "distances" in file else None
        return held, distances, metric, notes
    if chosen == "ibin":
        return (*_ibin(path), None, ())
    return read_vectors(path, format=chosen, mmap=False).vectors, None, None, ()


def _ibin(path: Path) -> tuple[npt.NDArray[Any], FloatArray | None]:
    rows, depth, size = bin_header(path)
    cells = rows * depth
    if size == HEADER_BYTES + 8 * cells:
        ids = np.fromfile(path, dtype="<i4", count=cells, offset=HEADER_BYTES).reshape(rows, depth)
        distances = np.fromfile(path, dtype="<f4", count=cells, offset=HEADER_BYTES + 4 * cells)
        return ids, distances.astype(np.float32, copy=False).reshape(rows, depth)
    # Range search: queries and all results in the header, a count for each query, ids, distances.
    if size == HEADER_BYTES + 4 * rows + 8 * depth:
        raise FileFormatError(
            f"{path}: the truth of a range search ({rows:,} queries, {depth:,} results in all), whose lists have no "
            "common depth; a truth of k nearest neighbours is read here"
        )
    if size != HEADER_BYTES + 4 * cells:
        raise FileFormatError(
            f"{path}: the header says {rows:,} queries x {depth} neighbours, which is {HEADER_BYTES + 4 * cells:,} "
            f"bytes without distances or {HEADER_BYTES + 8 * cells:,} with them, but the file has {size:,}; it was not "
            "written whole, or is of another layout"
        )
    return np.fromfile(path, dtype="<i4", offset=HEADER_BYTES).reshape(rows, depth), None


def _check_lists(path: Path, positions: Int64Array, distances: FloatArray | None) -> None:
    problems = Problems(str(path))
    padded = positions < 0
    wrong = (positions < -1).any(axis=1) | (padded[:, :-1] & ~padded[:, 1:]).any(axis=1)
    if wrong.any():
        problems.add(f"negative ids in {_rows(wrong)}; only -1 is allowed, at the end of a list that is short")
    ordered = np.sort(positions, axis=1)
    twice = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
    if twice.any():
        problems.add(f"the same id twice in {_rows(twice)}; a neighbour counts once")
    if distances is not None:
        if distances.shape != positions.shape or distances.dtype.kind not in "fiu":
            problems.add(
                f"distances of shape {distances.shape}, {distances.dtype}, for neighbours of shape {positions.shape}"
            )
        else:
            broken = (~np.isfinite(distances) & ~padded).any(axis=1)
            if broken.any():
                problems.add(f"distances that are not finite in {_rows(broken)}")
            else:
                _check_order(problems, np.where(padded, np.nan, distances))
    problems.raise_if_any(FileFormatError)


def _check_order(problems: Problems, distances: FloatArray) -> None:
    steps = np.diff(distances, axis=1)
    rise, fall = (steps > 0).any(axis=1), (steps < 0).any(axis=1)
    both = rise & fall
    if both.any():
        problems.add(f"distances that rise and fall within {_rows(both)}; a list goes from the nearest on")
    elif rise.any() and fall.any():
        fewer = rise if rise.sum() < fall.sum() else fall
        problems.add(f"distances rise in some lists and fall in others, such as {_rows(fewer)}")


def _order_note(path: Path, positions: Int64Array, distances: FloatArray | None) -> tuple[str, ...]:
    if distances is None:
        return ()
    steps = np.diff(np.where(positions < 0, np.nan, distances), axis=1)
    if (steps < 0).any():
        return (f"{path.name}: the distances fall along a list: they are similarities, larger is nearer",)
    return ()


def _rows(flags: Any) -> str:
    listed = np.flatnonzero(flags).tolist()
    return f"{len(listed)} lists, first: {first_few(listed)}"


def _cut(
    path: Path, positions: Int64Array, distances: FloatArray | None, k: int | None
) -> tuple[Int64Array, FloatArray | None]:
    depth = positions.shape[1]
    if k is None:
        return positions, distances
    if isinstance(k, bool) or not hasattr(type(k), "__index__") or k < 1:
        raise InputError(f"k: got {k!r}; must be a whole number of at least 1")
    if k > depth:
        raise DepthError(
            f"k: got {k}, but {path} has the {depth} nearest of each query; recall@{k} against them could not exceed "
            f"{depth / k:.3g}; ask for k up to {depth}, or compute a deeper truth"
        )
    return positions[:, :k], None if distances is None else distances[:, :k]


def _in_gallery(path: Path, positions: Int64Array, gallery: int | Ids | None) -> Int64Array:
    if isinstance(gallery, Ids):
        found = positions >= 0
        translated = positions.copy()
        translated[found] = gallery.rows(positions[found].tolist())
        foreign = np.unique(positions[found & (translated < 0)])
        if foreign.size:
            raise UnknownIdError(
                f"{path}: {len(foreign)} ids of neighbours that the gallery does not have: "
                f"{first_few(foreign.tolist())}; the truth is of another gallery, or has row numbers and not ids"
            )
        return translated
    if gallery is not None and len(positions) and int(positions.max()) >= gallery:
        beyond = np.unique(positions[positions >= gallery])
        raise InputError(
            f"{path}: {len(beyond)} ids are no rows of a gallery of {gallery:,}: {first_few(beyond.tolist())}; the "
            "truth is of another or larger gallery, or has ids and not row numbers: give gallery=Ids(...) to look "
            "them up"
        )
    return positions


def write_neighbors(
    path: str | os.PathLike[str],
    positions: Any,
    distances: Any = None,
    *,
    format: str | None = None,  # noqa: A002 - as in read_vectors
) -> None:
    """Write ground truth as ``ivecs``, ``ibin`` or ``npy``, whole or not at all.

    Parameters
    ----------
    path : path
    positions : integer array of shape (q, k)
        Gallery rows, nearest first; below 2**31.
    distances : float array of shape (q, k), optional
        Only ``ibin`` keeps them, as float32. For HDF5 see ``visual_search.formats.vectors_hdf5.write_hdf5``.

    Raises
    ------
    InputError
        Shapes that do not fit, rows beyond int32, distances a format would lose.
    """
    target = Path(path)
    chosen = format_of(target, format)
    if chosen not in {"ivecs", "ibin", "npy"}:
        raise InputError(f"format: {chosen}; neighbours are written as ivecs, ibin or npy")
    rows = np.asarray(positions)
    if rows.ndim != 2 or rows.dtype.kind not in "iu":
        raise InputError(f"positions: shape {rows.shape}, {rows.dtype}; whole numbers of shape (q, k) are needed")
    if rows.size and int(rows.max()) > np.iinfo(np.int32).max:
        raise InputError(f"positions: {int(rows.max())} is beyond int32, which {chosen} holds")
    narrow = rows.astype(np.int32)
    if distances is None:
        write_vectors(target, narrow, format=chosen)
        return
    if chosen != "ibin":
        raise InputError(f"distances: {chosen} keeps none, so they would be lost; write ibin, or leave them out")
    values = np.asarray(distances)
    if values.shape != rows.shape or values.dtype.kind != "f":
        raise InputError(
            f"distances: shape {values.shape}, {values.dtype}; floats of shape {rows.shape} are needed"
        )
    with atomic_write(target) as stream:
        stream.write(np.array(rows.shape, dtype="<u4").tobytes())
        stream.write(narrow.astype("<i4").tobytes())
        stream.write(values.astype("<f4").tobytes())
