"""One file with an engine's parts: a library's own index, rows, vectors.

A zip without compression, so that each part has a checksum and damage is seen before a library reads it; nothing is
pickled. The part ``engine.json`` says whose file it is.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError

__all__ = ["PartsFile", "opened_parts", "write_parts"]

_HEAD = "engine.json"
_BLOCK_ROWS = 1 << 14


def write_parts(
    path: Path,
    head: Mapping[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]],
    files: Mapping[str, Callable[[Path], object]] | None = None,
) -> None:
    """Write a head, arrays, and files that a library writes by name into one file.

    Parameters
    ----------
    path : Path
    head : mapping
        Engine, metric, dimension and what else the engine wants to know again.
    arrays : mapping of str to array
    files : mapping of str to callable
        Each is given a path in a temporary folder beside ``path`` and writes a file there.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        archive.writestr(_HEAD, json.dumps(dict(head), allow_nan=False))
        for name, values in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                _write_array(stream, values)
        for name, write in (files or {}).items():
            with _scratch(path) as temporary:
                write(temporary)
                with temporary.open("rb") as source, archive.open(name, "w", force_zip64=True) as stream:
                    shutil.copyfileobj(source, stream, 1 << 22)


def _write_array(stream: Any, values: npt.NDArray[Any]) -> None:
    header = {"descr": values.dtype.str, "fortran_order": False, "shape": values.shape}
    np.lib.format.write_array_header_1_0(stream, header)
    for start in range(0, len(values), _BLOCK_ROWS):
        stream.write(np.ascontiguousarray(values[start : start + _BLOCK_ROWS]).tobytes())


@contextmanager
def _scratch(path: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        yield Path(folder) / "part"


class PartsFile:
    """An engine's file, open and checked for whose it is."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, head: dict[str, Any]) -> None:
        self._path, self._archive, self.head = path, archive, head

    def array(self, name: str, dtype: str, *shape: int | None) -> npt.NDArray[Any]:
        """An array of the type and shape that it must have; None stands for any length."""
        with self._archive.open(f"{name}.npy") as stream:
            values: npt.NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
        fits = values.ndim == len(shape) and all(
            want in (None, have) for want, have in zip(shape, values.shape, strict=True)
        )
        if values.dtype != np.dtype(dtype) or not fits:
            raise FileFormatError(
                f"{self._path}: part {name!r} is {values.dtype} of shape {values.shape}; {dtype} of shape {shape} is "
                "needed"
            )
        return values

    @contextmanager
    def file(self, name: str) -> Iterator[Path]:
        """A library's own file, taken out into a temporary folder of the system."""
        with tempfile.TemporaryDirectory(prefix="visual-search-") as folder:
            target = Path(folder) / "part"
            with self._archive.open(name) as stream, target.open("wb") as out:
                shutil.copyfileobj(stream, out, 1 << 22)
            yield target


@contextmanager
def opened_parts(path: Path, *, engine: str, metric: str) -> Iterator[PartsFile]:
    """Open a file that ``write_parts`` wrote for an engine and metric.

    Raises
    ------
    FileFormatError
        Not there, truncated, damaged, foreign, or of another engine or metric.
    """
    if not path.is_file():
        raise FileFormatError(f"{path}: no such file; give the path of a file of engine {engine!r}")
    try:
        with zipfile.ZipFile(path) as archive:
            head = _head(path, archive, {"engine": engine, "metric": metric})
            yield PartsFile(path, archive, head)
    except FileFormatError:
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        KeyError,
        ValueError,
        EOFError,
        OSError,
        RuntimeError,
        AttributeError,
    ) as error:
        raise FileFormatError(
            f"{path}: not a whole file of engine {engine!r} ({error}); restore or rebuild it"
        ) from error


def _head(path: Path, archive: zipfile.ZipFile, asked: Mapping[str, str]) -> dict[str, Any]:
    head: dict[str, Any] = json.loads(archive.read(_HEAD))
    for key, wanted in asked.items():
        if head.get(key) != wanted:
            raise FileFormatError(f"{path}: {key} {head.get(key)!r} in the file, but {wanted!r} was asked for")
    return head
