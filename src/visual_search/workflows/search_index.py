"""One search of an index on disk, with a page that shows it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from visual_search.counted import counted
from visual_search.errors import InputError, UnknownIdError, first_few
from visual_search.evaluation.near_ids import NearIds
from visual_search.formats.results import ImageLocation
from visual_search.ids import Id
from visual_search.indexing.index_table import VectorIndex
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch, SearchResponse
from visual_search.reports.contact_sheet import write_contact_sheet

__all__ = ["FoundInIndex", "search_index"]


_METRIC_WORDS = {"cosine": "cosines", "ip": "inner products", "l2": "distances", "hamming": "bits that differ"}


@dataclass(frozen=True, slots=True)
class FoundInIndex:
    """What a search of an index found.

    Attributes
    ----------
    service : NearestNeighborSearch
    response : SearchResponse
    query_image : ImageLocation or None
        The query's image, where it has one.
    """

    service: NearestNeighborSearch
    response: SearchResponse
    query_image: ImageLocation | None

    def as_json(self) -> dict[str, Any]:
        """Query, results and what was asked, as a JSON object."""
        index = self.service.index
        return {
            "query": self.response.query_id,
            "k": self.response.k_requested,
            "shortfall": self.response.shortfall,
            "hidden": self.response.hidden,
            "embedder": None if index.embedder is None else index.embedder.name,
            "engine": index.engine,
            "metric": index.metric,
            "results": [{**result._asdict(), **self._place(result.image_id)} for result in self.response],
        }

    def _place(self, item: Id) -> dict[str, str | None]:
        location = self.service.item_location(item)
        return {
            "path": None if location is None else str(location.path),
            "member": None if location is None else location.member,
        }

    def notes(self) -> list[str]:
        """What is worth saying beside the results: fewer than asked for, some hidden."""
        said = [] if self.response.shortfall is None else [self.response.shortfall]
        if self.response.hidden and not said:
            said.append(f"{self.response.hidden} hidden as near-duplicates of results above them")
        return said

    def write_page(self, out: str | os.PathLike[str]) -> Path:
        """Write one page with the query's picture and those of the results."""
        index = self.service.index
        maker = "" if index.embedder is None else f" by {index.embedder.name}"
        scores = _METRIC_WORDS[index.metric]
        about = (
            f"{counted(len(index), 'image', 'images')} embedded{maker}; scores are {scores}; engine {index.engine}"
        )
        return write_contact_sheet(
            self.query_image or str(self.response.query_id),
            self.response,
            out,
            locate=self.service.item_location,
            notes=[about, *self.notes()],
        )


def search_index(
    index: str | os.PathLike[str],
    *,
    image: str | os.PathLike[str] | None = None,
    item: str | None = None,
    text: str | None = None,
    k: int = 10,
    hide_near_duplicates: float | None = None,
) -> FoundInIndex:
    """Search an index on disk by an image file, by one of its items, or by words; exactly one is given.

    Raises
    ------
    InputError
        None or several of the three were given, or as ``NearestNeighborSearch`` says.
    """
    given = [name for name, value in (("image", image), ("item", item), ("text", text)) if value is not None]
    if len(given) != 1:
        raise InputError(f"give one of image, item and text; got {', '.join(given) or 'none'}")
    service = NearestNeighborSearch(index=VectorIndex.open(index))
    if image is not None:
        response = service.search_image(image, k, hide_near_duplicates=hide_near_duplicates)
        return FoundInIndex(service, response, ImageLocation(Path(image)))
    if item is not None:
        name = int(item) if service.index.ids.kind is int and item.lstrip("-").isdigit() else item
        if name not in service.index:
            near = NearIds(service.index.ids).of(name)
            mend = f"is {first_few(near)} meant?" if near else "none is like it"
            raise UnknownIdError(f"--id: no item {name!r} in {index}; {mend}")
        response = service.search_id(name, k, hide_near_duplicates=hide_near_duplicates)
        return FoundInIndex(service, response, service.item_location(name))
    assert text is not None
    return FoundInIndex(service, service.search_text(text, k, hide_near_duplicates=hide_near_duplicates), None)
