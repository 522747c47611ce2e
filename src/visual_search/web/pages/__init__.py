"""One page a file: each module has ``PAGES``, what it shows under which address; see docs/design/pages.md."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from visual_search.web.page import Page

__all__ = ["all_pages"]


def all_pages() -> tuple[Page, ...]:
    """Pages of every module here, in the order of the navigation."""
    pages: list[Page] = []
    for module in iter_modules(__path__):
        pages += import_module(f"{__name__}.{module.name}").PAGES
    return tuple(sorted(pages, key=lambda page: (page.order, page.path)))
