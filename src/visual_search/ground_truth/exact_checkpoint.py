"""What an exact search knows after a block, on disk, so that a killed one goes on from there."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from tokenize import TokenError
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.formats.atomic import atomic_write
from visual_search.formats.fingerprint import fingerprint_array, fingerprint_json
from visual_search.formats.outputs import written_file
from visual_search.ground_truth.gallery_blocks import rows_at
from visual_search.ground_truth.nearest_so_far import NearestSoFar

__all__ = ["Checkpoint", "search_key"]

AnyArray: TypeAlias = npt.NDArray[Any]

_SAMPLE = 1024
_UNREADABLE = (
    *(OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile, zlib.error),
    *(NotImplementedError, RuntimeError, TokenError),
)
_ARRAYS = ("distances", "rows", "dropped", "evaluations")


def search_key(gallery: AnyArray, queries: AnyArray, **settings: Any) -> str:
    """Fingerprint of what an exact search depends on.

    Queries are taken whole, and so is a gallery in memory. Of a memory-mapped file it is dtype, shape, 1,024 rows
    evenly spread, size and time of change: reading all of it again would cost as much as many a search.
    """
    file = getattr(gallery, "filename", None)
    chosen = np.unique(np.linspace(0, len(gallery) - 1, min(_SAMPLE, len(gallery))).astype(np.int64))
    facts = {
        "gallery": [
            str(gallery.dtype),
            list(gallery.shape),
            fingerprint_array(gallery if file is None else np.asarray(rows_at(gallery, chosen))),
        ],
        "queries": fingerprint_array(queries),
        **settings,
    }
    if file is not None:
        state = os.stat(file)  # noqa: PTH116 - numpy gives a string or a path
        facts["file"] = [state.st_size, state.st_mtime_ns]
    return fingerprint_json(facts)


class Checkpoint:
    """One file that is replaced whole after every block.

    Parameters
    ----------
    path : str or path-like
    key : str
        From `search_key`. A file with another key, or one that cannot be read, is begun anew.

    Raises
    ------
    InputError
        What no file can be written to: a folder, a device, a link that leads nowhere.
    """

    def __init__(self, path: str | os.PathLike[str], key: str) -> None:
        self._path = written_file(path, "checkpoint")
        self._key = key

    def load(self, nearest: NearestSoFar) -> int:
        """Fill in what was known and give the number of rows seen; 0 where there is nothing to go on from."""
        try:
            with self._path.open("rb") as stream, np.load(stream, allow_pickle=False) as kept:
                head = json.loads(bytes(kept["head"]))
                arrays = {name: kept[name] for name in _ARRAYS}
        except FileNotFoundError:
            return 0
        except _UNREADABLE:
            self._refuse_other_file()
            return 0
        fits = all(
            (arrays[name].shape, arrays[name].dtype) == (getattr(nearest, name).shape, getattr(nearest, name).dtype)
            for name in _ARRAYS
        )
        if not isinstance(head, dict) or head.get("key") != self._key or not fits:
            return 0
        if type(seen := head.get("rows_seen")) is not int or seen < 0:
            return 0
        for name in _ARRAYS:
            getattr(nearest, name)[:] = arrays[name]
        return seen

    def _refuse_other_file(self) -> None:
        """Refuse what is no search's progress: it would be written over, and removed in the end."""
        with self._path.open("rb") as stream:
            begin = stream.read(4)
        try:
            with zipfile.ZipFile(self._path) as archive:
                other = "head.npy" not in archive.namelist()
        except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError):
            other = not b"PK\x03\x04".startswith(begin)
        if other:
            raise InputError(
                f"checkpoint: {self._path} holds something else than the progress of a search, and would be written "
                "over; name another file, or remove it"
            )

    def save(self, nearest: NearestSoFar, rows_seen: int) -> None:
        """Put what is known in the place of what was."""
        head = json.dumps({"key": self._key, "rows_seen": rows_seen}).encode()
        arrays = {name: getattr(nearest, name) for name in _ARRAYS}
        with atomic_write(self._path) as stream:
            np.savez(stream, allow_pickle=False, head=np.frombuffer(head, dtype=np.uint8), **arrays)

    def discard(self) -> None:
        """Remove the file; the search has ended."""
        self._path.unlink(missing_ok=True)
