"""How widely a FAISS structure is searched: which settings it has, what they are where left out, and setting them."""

from __future__ import annotations

from typing import Any

from visual_search.errors import InputError
from visual_search.indexing.engines.faiss_structures import links_of, lists_of, without_detours

__all__ = ["fitting_widths", "set_widths", "widths_without_use"]

_PROBES, _WIDTH = 16, 64


def fitting_widths(structure: Any, factory: str, nprobe: int, ef_search: int) -> dict[str, int]:
    """Search-time settings that fit the structure: defaults in place of 0 where it has what they set.

    Raises
    ------
    InputError
        More lists to look into than there are, or the width of a walk through a graph that is not there.
    """
    lists, graph = lists_of(structure), links_of(structure)
    wrong = []
    if nprobe > lists:
        wrong.append(f"nprobe={nprobe}: {factory!r} has {lists} lists; it may be 0..{lists}")
    if ef_search and graph is None:
        wrong.append(f"ef_search={ef_search}: {factory!r} has no graph; leave it at 0")
    if wrong:
        raise InputError("; ".join(wrong))
    return {"nprobe": nprobe or min(_PROBES, lists), "ef_search": ef_search or (0 if graph is None else _WIDTH)}


def widths_without_use(structure: Any, factory: str) -> dict[str, str]:
    """Search-time settings that this structure has nothing for, each with the reason."""
    reasons = {}
    if not lists_of(structure):
        reasons["nprobe"] = f"{factory!r} has no lists"
    if links_of(structure) is None:
        reasons["ef_search"] = f"{factory!r} has no graph"
    return reasons


def set_widths(structure: Any, nprobe: int, ef_search: int) -> None:
    """Set them on the structure and on what it wraps."""
    for part in without_detours(structure):
        if hasattr(part, "nprobe"):
            part.nprobe = max(1, nprobe)
        if hasattr(part, "hnsw"):
            part.hnsw.efSearch = max(1, ef_search)
