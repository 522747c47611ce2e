"""Fingerprints: SHA-256 over content with its dtype, shape, order and ids.

Two things with one fingerprint are the same; a result, an index and an exact answer each carry the fingerprints
of what they were made from, and are compared whenever they meet.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.formats.mapped_pages import release_pages
from visual_search.ids import Ids

__all__ = ["fingerprint_array", "fingerprint_bytes", "fingerprint_file", "fingerprint_json", "fingerprint_vectors"]

_BLOCK = 1 << 22


def fingerprint_bytes(data: bytes | memoryview) -> str:
    """SHA-256 of bytes, as ``sha256:...``."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def fingerprint_file(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's bytes, read in blocks of 4 MiB."""
    digest = hashlib.sha256()
    with Path(path).open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return f"sha256:{digest.hexdigest()}"


def fingerprint_array(array: npt.NDArray[Any]) -> str:
    """SHA-256 over dtype (little endian), shape and the values in C order; read in blocks, maps and all."""
    little = array.dtype.newbyteorder("<")
    digest = hashlib.sha256(f"{little.str}{array.shape}\n".encode())
    rows = array.reshape(1) if array.ndim == 0 else array
    step = max(1, _BLOCK // max(1, rows[:1].nbytes))
    for first in range(0, len(rows), step):
        block = np.ascontiguousarray(rows[first : first + step]).astype(little, copy=False)
        digest.update(block.reshape(-1).view(np.uint8).data)
        release_pages(rows)
    return f"sha256:{digest.hexdigest()}"


def fingerprint_vectors(ids: Ids, vectors: npt.NDArray[Any]) -> str:
    """Fingerprint of vectors with their ids, in order."""
    return fingerprint_bytes(f"{ids.fingerprint()}\n{fingerprint_array(vectors)}".encode())


def fingerprint_json(value: Any) -> str:
    """Fingerprint of a JSON value whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return fingerprint_bytes(text.encode("utf-8", "surrogatepass"))
