"""What an exact answer was made for and by: whether vectors are those, and which part differs."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from visual_search.ground_truth.gallery_ids import GalleryIds

__all__ = ["difference", "installed_versions"]


def difference(given: Any, ids: Any, own: GalleryIds, made_for: str) -> str:
    """What differs, in words; empty where nothing does or nothing was given."""
    apart = "" if ids is None else _ids_apart(GalleryIds(ids), own)
    if apart or given is None or given is made_for:
        return apart
    if isinstance(given, str):
        apart = f"fingerprint {given} here and {made_for} in the truth: vectors, their type or order, or ids differ"
        return "" if given == made_for else apart
    vectors = np.asanyarray(given)
    if vectors.ndim != 2 or len(vectors) != len(own):
        return f"shape {vectors.shape} here, and the truth was made for {len(own):,} rows"
    if own.fingerprint_with(vectors) == made_for:
        return ""
    return f"{vectors.dtype} vectors of dimension {vectors.shape[1]} that are not those the truth was made for"


def _ids_apart(here: GalleryIds, own: GalleryIds) -> str:
    if len(here) != len(own):
        return f"{len(here):,} ids here and {len(own):,} in the truth"
    if here.fingerprint() == own.fingerprint():
        return ""
    pairs = zip(here.take(range(len(here))), own.take(range(len(own))), strict=True)
    row, (one, other) = next((row, pair) for row, pair in enumerate(pairs) if pair[0] != pair[1])
    return f"the ids differ, first in row {row}: {one!r} here and {other!r} in the truth"


@cache
def installed_versions() -> dict[str, str]:
    """Versions of what computes a truth here."""
    from importlib.metadata import version

    return {name: version(name) for name in ("visual-search", "numpy")}
