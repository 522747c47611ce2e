"""Where a page needs a result and none is named: those there are."""

from __future__ import annotations

from typing import Any

from visual_search.workflows.explored_results import ExploredResults

__all__ = ["result_choice"]

_SHOWN = 20


def result_choice(explored: ExploredResults) -> dict[str, Any]:
    """Results to choose from, as a JSON value: ``to_choose``, how many there are, and the pinned and latest ones."""
    explored.refreshed()
    entries = [entry for entry in explored.entries() if entry.problem is None]
    entries.sort(key=lambda entry: (-entry.pinned, -entry.time.timestamp(), entry.file))
    return {
        "to_choose": True,
        "total": len(entries),
        "results": [
            {
                "key": entry.key,
                "name": entry.name,
                "file": entry.file,
                "time": entry.time.strftime("%Y-%m-%d %H:%M"),
                "pinned": entry.pinned > 0,
            }
            for entry in entries[:_SHOWN]
        ],
    }
