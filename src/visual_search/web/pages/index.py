"""The indexes: what each is made of."""

from __future__ import annotations

from typing import Any

from visual_search.web.explorer import ExplorerOf
from visual_search.web.page import Page

__all__ = ["PAGES"]


def _index(explorer: ExplorerOf) -> dict[str, Any]:
    return {"indexes": [one.facts for one in explorer.indexes]}


PAGES = (Page("/index", "index.html.j2", _index, "Index", navigation="Index", order=40),)
