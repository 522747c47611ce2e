"""What an exact search knows after a block, on disk, so that a killed one goes on from there."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.formats.atomic import atomic_write
from visual_search.formats.fingerprint import fingerprint_array, fingerprint_json
from visual_search.ground_truth.gallery_blocks import rows_at
from visual_search.ground_truth.nearest_so_far import NearestSoFar

__all__ = ["Checkpoint", "search_key"]

AnyArray: TypeAlias = npt.NDArray[Any]

_SAMPLE = 1024
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
    """

    def __init__(self, path: str | os.PathLike[str], key: str) -> None:
        self._path = Path(path)
        self._key = key

    def load(self, nearest: NearestSoFar) -> int:
        """Fill in what was known and give the number of rows seen; 0 where there is nothing to go on from."""
        try:
            with self._path.open("rb") as stream, np.load(stream, allow_pickle=False) as kept:
                head = json.loads(bytes(kept["head"]))
                arrays = {name: kept[name] for name in _ARRAYS}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return 0
        fits = all(arrays[name].shape == getattr(nearest, name).shape for name in _ARRAYS)
        if not isinstance(head, dict) or head.get("key") != self._key or not fits:
            return 0
        for name in _ARRAYS:
            getattr(nearest, name)[:] = arrays[name]
        return int(head["rows_seen"])

    def save(self, nearest: NearestSoFar, rows_seen: int) -> None:
        """Put what is known in the place of what was."""
        head = json.dumps({"key": self._key, "rows_seen": rows_seen}).encode()
        arrays = {name: getattr(nearest, name) for name in _ARRAYS}
        with atomic_write(self._path) as stream:
            np.savez(stream, allow_pickle=False, head=np.frombuffer(head, dtype=np.uint8), **arrays)

    def discard(self) -> None:
        """Remove the file; the search has ended."""
        self._path.unlink(missing_ok=True)
