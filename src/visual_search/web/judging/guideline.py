"""The guideline as a page shows it: Markdown, of which nothing is taken as HTML."""

from __future__ import annotations

from functools import lru_cache

from markdown_it import MarkdownIt
from markupsafe import Markup

__all__ = ["guideline_markup"]


@lru_cache(maxsize=4)
def guideline_markup(text: str) -> Markup:
    """Markup of a guideline; tags in it are shown as they are written, and addresses that run programs lead nowhere.

    Examples
    --------
    >>> guideline_markup("Same *person*, <b>any</b> pose").strip()
    Markup('<p>Same <em>person</em>, &lt;b&gt;any&lt;/b&gt; pose</p>')
    """
    # Pictures would be asked for elsewhere, which the content policy forbids.
    parser = MarkdownIt("commonmark", {"html": False}).disable("image")
    return Markup(parser.render(text))  # noqa: S704 - the parser escapes what it does not make itself
