"""What every page is given: the settings, and what they name, opened when it is first asked for."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Depends, Request

from visual_search.counted import counted
from visual_search.errors import first_few
from visual_search.images.kept_thumbnails import KeptThumbnails
from visual_search.web.settings import ExplorerSettings
from visual_search.workflows.explored_indexes import ExploredIndexes
from visual_search.workflows.explored_results import ExploredResults
from visual_search.workflows.explored_sweeps import ExploredSweeps
from visual_search.workflows.kept_uploads import KeptUploads
from visual_search.workflows.result_pictures import ResultPictures
from visual_search.workflows.result_view import result_panels
from visual_search.workflows.served_folder import found_beside

__all__ = ["Explorer", "ExplorerOf"]


class Explorer:
    """What is served, shared by all requests; each part is safe to use from several threads.

    Attributes
    ----------
    settings : ExplorerSettings
    found : FoundBeside
        Indexes and sweeps that lie in the folders of results.
    indexes : ExploredIndexes
    sweeps : ExploredSweeps
    uploads : KeptUploads
        Pictures that were given to search by.
    thumbnails : KeptThumbnails
        Of all pages.
    results : ExploredResults
    pictures : ResultPictures
        Of the items and queries of results.
    """

    def __init__(self, settings: ExplorerSettings) -> None:
        self.settings = settings
        self.found = found_beside(settings.results, (*settings.indexes, *settings.sweeps))
        self.indexes = ExploredIndexes(settings.indexes, found=self.found.indexes)
        self.sweeps = ExploredSweeps(settings.sweeps, found=self.found.sweeps)
        self.uploads = KeptUploads(
            max_bytes=settings.kept_upload_bytes,
            max_pixels=settings.max_upload_pixels,
            seconds=settings.upload_seconds,
        )
        self.thumbnails = KeptThumbnails(settings.thumbnail_bytes)
        self.results = ExploredResults(settings.results, image_folders=settings.images)
        self.results.preparations.append(partial(result_panels, self.results, beside=True))
        self.pictures = ResultPictures(self.results, self.thumbnails, self.indexes)

    def told(self) -> list[str]:
        """What was found beside results, and what of it cannot be read; a line each, for the terminal."""
        lines = []
        for kind, found in (("index", self.found.indexes), ("sweep", self.found.sweeps)):
            if found:
                plural = {"index": "indexes", "sweep": "sweeps"}[kind]
                names = first_few([path.name for path in found])
                lines.append(f"found {counted(len(found), kind, plural)} beside the results: {names}")
        return [*lines, *self.indexes.problems, *self.sweeps.problems]

    def get_ready(self) -> None:
        """Do what the first visitors would wait for: read results, load what draws and reads tables."""
        import matplotlib.backends.backend_svg  # noqa: F401
        import pyarrow.parquet  # noqa: F401

        self.results.refreshed()
        self.results.prepare()

    def close(self) -> None:
        """Leave undone whatever waits behind the pages."""
        self.results.close()


def _explorer_of(request: Request) -> Explorer:
    explorer: Explorer = request.app.state.explorer
    return explorer


#: The type of a page's parameter that is to be the explorer.
ExplorerOf = Annotated[Explorer, Depends(_explorer_of)]
