"""One page for one search: the query and what was found, with scores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from visual_search.errors import InputError
from visual_search.formats.atomic import write_text
from visual_search.formats.results import ImageLocation
from visual_search.ids import Id
from visual_search.reports.cases import Hit
from visual_search.reports.page_words import changed_note
from visual_search.reports.pictures import Album
from visual_search.reports.rendering import render_page
from visual_search.reports.wording import counted, plural, short_id

__all__ = ["ScoredItem", "write_contact_sheet"]


class ScoredItem(Protocol):
    """What one search result must offer."""

    @property
    def image_id(self) -> Id:
        """Its id."""
        ...

    @property
    def score(self) -> float:
        """Higher is better."""
        ...


def write_contact_sheet(
    query: ImageLocation | str,
    results: Iterable[ScoredItem],
    out: str | os.PathLike[str],
    *,
    locate: Callable[[Id], ImageLocation | None],
    title: str | None = None,
    notes: Iterable[str] = (),
) -> Path:
    """Write one self-contained HTML page with a query and its results.

    Parameters
    ----------
    query : ImageLocation or str
        The query's image, or the words of a text query.
    results : iterable of objects with ``image_id`` and ``score``
        Best first; ``distance``, where one has it, is shown instead of the score.
    out : path
        The HTML file; written whole or not at all.
    locate : callable
        From an item's id to where its image is, with the hash of what was indexed where that is kept; None where the
        place is not known.
    title : str, optional
        Heading; names the query when left out.
    notes : iterable of str
        Lines below the heading: engine, metric, what was left out.

    Returns
    -------
    Path
        ``out``.

    Raises
    ------
    InputError
        An empty text query.
    """
    album = Album(longest=256, max_bytes=24_000_000)
    if query == "":
        raise InputError("query: the text is empty; give words, or the place of an image")
    picture = None if isinstance(query, str) else album.picture(query, since="indexed")
    name = query if isinstance(query, str) else query.member or query.path.name
    hits = [
        Hit(rank, one.image_id, one.score, getattr(one, "distance", None), "plain", None, shown)
        for rank, one in enumerate(results, start=1)
        for shown in [album.picture(locate(one.image_id), since="indexed")]
    ]
    missing = "; ".join(f"{reason}: {counted(number)}" for reason, number in album.missing.items())
    target = Path(out)
    html = render_page(
        "contact_sheet.html.j2",
        title=title or f"Results for {short_id(name, 60)}",
        lead=f"{plural(len(hits), 'result')}, best first.",
        notes=[*notes, *changed_note(album, "indexed"), *([f"Empty frames: {missing}."] if missing else [])],
        query=query if isinstance(query, str) else None,
        query_name=name,
        picture=picture,
        hits=hits,
        album=album,
    )
    write_text(target, html)
    return target
