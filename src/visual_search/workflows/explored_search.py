"""One search of an explored index: by an item, by a picture that was given, or by words."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from visual_search.errors import InputError
from visual_search.ids import Id
from visual_search.prediction.response import SearchResponse
from visual_search.workflows.explored_indexes import ExploredIndex
from visual_search.workflows.kept_uploads import KeptUploads

__all__ = ["ExploredSearch", "SearchAsked", "explored_search"]

_EMBEDDED_AT_A_TIME = threading.BoundedSemaphore(2)  # pictures are decoded whole


@dataclass(frozen=True, slots=True)
class SearchAsked:
    """What is asked; at most one of ``item``, ``upload`` and ``text``.

    Attributes
    ----------
    item, upload, text : str or None
        An item as typed, the name of a kept picture, or words.
    k : int
        How many results.
    hide : float or None
        Cosine similarity from which near-duplicates of results above are hidden.
    """

    item: str | None = None
    upload: str | None = None
    text: str | None = None
    k: int = 24
    hide: float | None = None


@dataclass(frozen=True, slots=True)
class ExploredSearch:
    """What was found.

    Attributes
    ----------
    kind : {"item", "upload", "text"}
    query : str or int
        The item, the name of the picture, or the words.
    response : SearchResponse
    """

    kind: str
    query: Id
    response: SearchResponse


def explored_search(index: ExploredIndex, uploads: KeptUploads, asked: SearchAsked) -> ExploredSearch | None:
    """Search; None where nothing is asked for.

    Raises
    ------
    InputError
        Several of item, upload and text; words where the embedder takes none; as ``NearestNeighborSearch`` says.
    UnknownIdError
        No such item, or a picture that is no longer kept.
    """
    given = [name for name in ("item", "upload", "text") if getattr(asked, name) is not None]
    if len(given) > 1:
        raise InputError(f"give one of item, upload and text; got {', '.join(given)}")
    service = index.service
    if asked.item is not None:
        item = index.item(asked.item)
        return ExploredSearch("item", item, service.search_id(item, asked.k, hide_near_duplicates=asked.hide))
    if asked.upload is not None:
        picture = uploads.named(asked.upload)
        with _EMBEDDED_AT_A_TIME:
            vector = service.embed_images([picture.data])[0]
        response = service.search(vector, asked.upload, asked.k, hide_near_duplicates=asked.hide)
        return ExploredSearch("upload", asked.upload, response)
    if asked.text is not None:
        response = service.search_text(asked.text, asked.k, hide_near_duplicates=asked.hide)
        return ExploredSearch("text", asked.text, response)
    return None
