"""The report of a large measurement as a folder: an index page, pages of queries, and the pictures as files.

::

    index.html          the report, with a list of the pages of queries
    queries/1-0001.html queries of the first protocol, the lowest average precision first
    names/1-0001.html   the same queries by name, each with the page that shows it
    images/...webp      pictures, named by their content
    bundle.json         says that the folder is a bundle, and what is in it

Everything opens from disk; links are relative; no name of a file comes from an id.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from visual_search.errors import InputError
from visual_search.formats.atomic import fsync_folder, write_json, write_text
from visual_search.formats.outputs import check_folder_takes
from visual_search.indexing.progress import Progress
from visual_search.reports.long_names import LongNames
from visual_search.reports.page_content import ReportContent
from visual_search.reports.pictures import FileAlbum
from visual_search.reports.query_pages import QueryPages, query_pages
from visual_search.reports.rendering import render_page

__all__ = ["BUNDLE_FORMAT", "check_bundle_place", "write_bundle"]

BUNDLE_FORMAT = "visual-search report bundle"
_MANIFEST = "bundle.json"
_IMAGES = "'self' file: data:"  # a page on disk has no origin that 'self' is sure to mean


@dataclass(frozen=True, slots=True)
class _Links:
    """What the index page says of the pages of queries of each protocol."""

    protocols: list[QueryPages]
    picture_root: str = "images/"


def write_bundle(
    make: Callable[[FileAlbum], ReportContent],
    out: str | os.PathLike[str],
    *,
    per_page: int = 30,
    progress: Progress | None = None,
) -> Path:
    """Write the folder whole or not at all.

    Parameters
    ----------
    make : callable
        Gives the content of the report; its pictures go to the album that it is given.
    out : path
        The folder. A bundle that is there is replaced once the new one is whole; any other folder is refused.
    per_page : int
        Queries of a page, at least 1.
    progress : Progress, optional
        Told how many queries were written.

    Returns
    -------
    Path
        The index page.

    Raises
    ------
    InputError
        A file, or a folder that is no bundle and not empty, is there; ``per_page`` below 1.

    Convention
    ----------
    Memory grows with the queries and with the results shown of each, and neither with the depth of the lists nor with
    the pictures: of these only the names of their files are kept.
    """
    if per_page < 1:
        raise InputError(f"per_page={per_page}: at least 1 query a page")
    target = check_bundle_place(out)
    with _beside(target) as folder:
        (folder / "images").mkdir()
        album = FileAlbum(folder / "images")
        content = make(album)
        pages = [query_pages(part, shown=content.shown, per_page=per_page) for part in content.parts]
        if progress is not None:
            progress.start(sum(len(one.queries) for one in pages))
        for one in pages:
            _write_pages(one, content, folder, album, progress)
            _write_names(one, content, folder)
        values = content.values() | {"bundle": _Links(pages), "picture_root": "images/"}
        write_text(folder / "index.html", render_page("report.html.j2", images=_IMAGES, **values))
        told = {
            "format": BUNDLE_FORMAT,
            "format_version": 1,
            "results": sum(len(group.systems) for group in content.groups),
            "queries": sum(len(one.queries) for one in pages),
            "pages": sum(len(one.pages) for one in pages),
            "images": len(album),
        }
        write_json(folder / _MANIFEST, told)
    return target / "index.html"


def check_bundle_place(out: str | os.PathLike[str]) -> Path:
    """Where a bundle goes; a link to a folder is followed.

    Raises
    ------
    InputError
        What is there is no bundle, and would be lost; or nothing can be written there.
    """
    target = Path(os.path.realpath(out))
    if os.path.ismount(target):
        raise InputError(
            f"bundle: {out} is where a file system begins, which nothing can replace; give a folder in it"
        )
    check_folder_takes(target, "bundle", out)
    if not os.path.lexists(target):
        return target
    if not target.is_dir():
        raise InputError(f"bundle: {out} is there and is no folder; give another name")
    if not any(target.iterdir()) or _is_bundle(target):
        return target
    raise InputError(
        f"bundle: {out} is a folder and no bundle of a report (it has no {_MANIFEST} of one); give another name, so "
        "that nothing in it is lost"
    )


def _is_bundle(folder: Path) -> bool:
    try:
        value = json.loads((folder / _MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("format") == BUNDLE_FORMAT


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A folder beside the target that takes its place when the block ends well, else goes away."""
    target.parent.mkdir(parents=True, exist_ok=True)
    mark = f"{os.getpid()}-{secrets.token_hex(4)}"
    folder = target.parent / f".visual-search-bundle.{mark}.tmp"
    old = target.parent / f".visual-search-bundle.{mark}.old"
    folder.mkdir()
    try:
        yield folder
        fsync_folder(folder)
        check_bundle_place(target)  # meanwhile somebody may have put something else there
        if target.exists():
            target.rename(old)
        try:
            folder.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            raise
        fsync_folder(target.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _write_pages(
    one: QueryPages, content: ReportContent, folder: Path, album: FileAlbum, progress: Progress | None
) -> None:
    (folder / "queries").mkdir(exist_ok=True)
    for page in one.pages:
        shown = one.cases(page, album)
        html = render_page(
            "query_page.html.j2",
            images=_IMAGES,
            picture_root="../images/",
            title=f"Queries {page.first:,} to {page.last:,}{one.part.group.after}",
            report_title=content.title,
            pages=one,
            page=page,
            shown=shown,
            view=one.part,
            album=album,
        )
        (folder / "queries" / page.file).write_text(html, "utf-8")
        if progress is not None:
            progress.advance(len(shown))


def _write_names(one: QueryPages, content: ReportContent, folder: Path) -> None:
    (folder / "names").mkdir(exist_ok=True)
    for page in one.names:
        html = render_page(
            "name_page.html.j2",
            images=_IMAGES,
            title=f"Queries by name, {page.number:,} of {len(one.names):,}{one.part.group.after}",
            report_title=content.title,
            pages=one,
            page=page,
            rows=_rows(one, page.rows),
            view=one.part,
            album=content.album,
            long_names=LongNames("name"),
        )
        (folder / "names" / page.file).write_text(html, "utf-8")


def _rows(one: QueryPages, queries: Sequence[Any]) -> list[tuple[Any, str, list[float | None]]]:
    """Each query with where it is shown and its average precision under every system."""
    values = [{value.query: value.ap for value in system.per_query} for system in one.part.group.systems]
    return [(query, one.place[query], [given.get(query) for given in values]) for query in queries]
