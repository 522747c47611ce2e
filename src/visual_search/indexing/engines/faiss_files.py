"""FAISS files: a structure and the row at each of its positions, in one file that FAISS itself can read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import FileFormatError

__all__ = ["read_faiss", "rows_of", "unwrapped", "write_faiss", "write_with_rows"]

Int64Array = npt.NDArray[np.int64]


def write_with_rows(structure: Any, rows: Int64Array, path: Path) -> None:
    """Write a structure wrapped in FAISS's ``IndexIDMap``, whose ids are the rows."""
    import faiss

    # IndexIDMap takes only an empty index, so it is made around an empty one and then given the full one.
    wrapper = faiss.IndexIDMap(faiss.IndexFlat(structure.d, structure.metric_type))
    # Assigning takes the ownership from the Python object assigned, here from a second one that has none to lose:
    # else nobody would free the structure.
    wrapper.index = faiss.downcast_index(structure)
    wrapper.ntotal = structure.ntotal
    faiss.copy_array_to_vector(np.ascontiguousarray(rows), wrapper.id_map)
    write_faiss(wrapper, path)


def write_faiss(structure: Any, path: Path) -> None:
    """Write a FAISS file.

    The file is Python's: FAISS's own does not tell when the last block finds no room.

    Raises
    ------
    OSError
        The system's reason, such as a full disk, with the path.
    """
    import faiss

    failed: list[OSError] = []
    try:
        with path.open("wb") as stream:

            def write(block: bytes) -> None:
                try:
                    stream.write(block)
                except OSError as error:
                    failed.append(error)
                    raise

            faiss.write_index(structure, faiss.PyCallbackIOWriter(write))
    except (RuntimeError, OSError) as error:
        reason = failed[0] if failed else error
        if not isinstance(reason, OSError):
            raise
        raise OSError(reason.errno, reason.strerror, str(path)) from error


def read_faiss(path: Path) -> Any:
    """Read any FAISS file.

    Raises
    ------
    FileFormatError
        Not there, empty, truncated, or not a FAISS file.
    """
    import faiss

    if not path.is_file():
        raise FileFormatError(f"{path}: no such file; give the path of a FAISS index file")
    try:
        return faiss.read_index(str(path))
    except (RuntimeError, MemoryError) as error:
        # FAISS's message is a C++ place and an expression; its last part says what failed.
        reason = str(error).rsplit("Error: ", 1)[-1].splitlines()[0] if str(error) else "out of memory"
        raise FileFormatError(
            f"{path}: not a whole FAISS index file ({path.stat().st_size:,} bytes; FAISS says: {reason}); "
            "it was cut short, damaged or written by another program"
        ) from error


def unwrapped(index: Any) -> tuple[Any, Int64Array | None]:
    """The structure inside an ``IndexIDMap`` and the id at each position; or the index itself and None."""
    import faiss

    if not isinstance(index, faiss.IndexIDMap):  # IndexIDMap2 is one too
        return index, None
    rows = faiss.vector_to_array(index.id_map).astype(np.int64)
    structure = faiss.downcast_index(index.index)
    # The wrapper frees the structure when it goes, so it must stay. (Moving ownership to the structure instead
    # corrupts SWIG's table of types after a few hundred files, seen with FAISS 1.15.)
    structure.referenced_objects = [index]
    return structure, rows


def rows_of(structure: Any, rows: Int64Array | None, path: Path) -> Int64Array:
    """The row at each position of a structure, int64 of shape (vectors,): those of its id map, or 0, 1, 2... for None.

    Raises
    ------
    FileFormatError
        The id map is not as long as the structure.
    """
    if rows is None:
        return np.arange(structure.ntotal)
    if len(rows) != structure.ntotal:
        raise FileFormatError(
            f"{path}: {counted(structure.ntotal, 'vector', 'vectors')} but "
            f"{counted(len(rows), 'id', 'ids')} in its id map"
        )
    return rows
