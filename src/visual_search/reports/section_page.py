"""A page of sections alone, where there are no result files to show."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from visual_search.formats.atomic import write_text
from visual_search.reports.page_section import Section
from visual_search.reports.pictures import Album
from visual_search.reports.rendering import render_page

__all__ = ["write_section_page"]


def write_section_page(sections: Sequence[Section], out: str | os.PathLike[str], *, title: str) -> Path:
    """Write one self-contained HTML page of sections.

    Parameters
    ----------
    sections : sequence of Section
        Each with an anchor of its own.
    out : path
        The HTML file; written whole or not at all.
    title : str
        Heading of the page.

    Returns
    -------
    Path
        ``out``.
    """
    target = Path(out)
    write_text(target, render_page("sections.html.j2", title=title, sections=list(sections), album=Album()))
    return target
