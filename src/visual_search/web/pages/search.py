"""Search by a picture, by an item or by words; each result is the next query."""

from __future__ import annotations

from typing import Annotated, Any, BinaryIO

from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from starlette.responses import RedirectResponse, Response

from visual_search.ids import Id
from visual_search.prediction.response import SearchResult
from visual_search.web.addresses import address
from visual_search.web.explorer import Explorer, ExplorerOf
from visual_search.web.page import Page
from visual_search.web.pictures import Size, marked_response, no_picture, picture_response
from visual_search.web.refusals import wants_page
from visual_search.web.rendering import json_response
from visual_search.workflows.explored_indexes import ExploredIndex
from visual_search.workflows.explored_search import ExploredSearch, SearchAsked, explored_search

__all__ = ["PAGES", "item_picture"]

_MOST = 200
_USUAL = 24
_ALIKE = 0.98
_SOME = 12
_UPLOAD = "/search/upload"
_PICTURE = "/search/picture"
_ROUTER = APIRouter()

Depth = Annotated[int, Query(ge=1, le=_MOST, description="how many results")]
Alike = Annotated[
    float, Query(gt=-1, le=1, description="cosine similarity from which two results are near-duplicates")
]


def _search(
    explorer: ExplorerOf,
    *,
    index: str | None = None,
    item: str | None = None,
    upload: str | None = None,
    text: str | None = None,
    k: Depth = _USUAL,
    hide: bool = False,
    alike: Alike = _ALIKE,
    seed: Annotated[int, Query(ge=0, le=1 << 31, description="of the items to start from")] = 0,
) -> dict[str, Any]:
    searched = explorer.indexes.named(index or None)
    asked = SearchAsked(item or None, upload or None, text or None, k, alike if hide else None)
    found = explored_search(searched, explorer.uploads, asked)
    # What every link on the page carries on; what is as usual is left out of addresses.
    settings = {
        "index": searched.name if len(explorer.indexes) > 1 else None,
        "k": k if k != _USUAL else None,
        "hide": hide or None,
        "alike": alike if alike != _ALIKE else None,
    }
    query = {"item": asked.item, "upload": asked.upload, "text": asked.text}
    return {
        "index": searched.facts,
        "indexes": [one.name for one in explorer.indexes],
        "takes": searched.takes,
        "state": {**query, "k": k, "hide": hide, "alike": alike, "seed": seed},
        "settings": settings,
        "query": None if found is None else _query(explorer, searched, found),
        "results": []
        if found is None
        else [_result(searched, one, {**settings, "seed": seed or None}) for one in found.response],
        "hidden": 0 if found is None else found.response.hidden,
        "shortfall": None if found is None else found.response.shortfall,
        "some_items": [_item(searched, one, settings) for one in searched.some_items(seed, _SOME)],
        "other_items": address("/search", **{**query, **settings}, seed=seed + 1),
        "max_upload_bytes": explorer.settings.max_upload_bytes,
    }


def item_picture(index: ExploredIndex, item: Id, size: Size = "small") -> str | None:
    """Address of an item's picture; None where the index has none."""
    if index.place(item) is None:
        return None
    return address(_PICTURE, index=index.name, item=item, size=None if size == "small" else size)


def _item(index: ExploredIndex, item: Id, settings: dict[str, Any]) -> dict[str, Any]:
    return {
        "item": item,
        "picture": item_picture(index, item),
        "search": address("/search", item=item, **settings),
    }


def _result(index: ExploredIndex, result: SearchResult, settings: dict[str, Any]) -> dict[str, Any]:
    scores = {"rank": result.rank, "score": result.score, "distance": result.distance}
    return {**scores, **_item(index, result.image_id, settings)}


def _query(explorer: Explorer, index: ExploredIndex, found: ExploredSearch) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": found.kind, "name": found.query, "picture": None}
    if found.kind == "item":
        told["picture"] = item_picture(index, found.query, "large")
    elif found.kind == "upload":
        kept = explorer.uploads.named(str(found.query))
        told |= {"width": kept.width, "height": kept.height, "changes": list(kept.changes)}
        told["picture"] = address(_UPLOAD, upload=found.query)
    return told


@_ROUTER.get(_PICTURE, include_in_schema=False)
def _picture(
    request: Request, explorer: ExplorerOf, item: str, index: str | None = None, size: Size = "small"
) -> Response:
    searched = explorer.indexes.named(index)
    known = searched.place(searched.item(item))
    if known is None:
        raise no_picture("the index does not say where its images are")
    return picture_response(
        request, explorer.thumbnails, known.location, size, rules=known.rules, sha256=known.sha256
    )


@_ROUTER.get(_UPLOAD, include_in_schema=False)
def _uploaded(request: Request, explorer: ExplorerOf, upload: str) -> Response:
    return marked_response(request, explorer.uploads.named(upload).shown, upload)


@_ROUTER.post(_UPLOAD)
def _upload(
    request: Request,
    explorer: ExplorerOf,
    picture: Annotated[UploadFile, File(description="an image file")],
    *,
    index: Annotated[str, Form()] = "",
    k: Annotated[str, Form()] = "",
    hide: Annotated[str, Form()] = "",
    alike: Annotated[str, Form()] = "",
) -> Response:
    """Keep a picture for a while and search by it: a redirect for browsers, its name and address for programs."""
    searched = explorer.indexes.named(index or None)
    searched.check_takes_pictures()
    content: BinaryIO = picture.file
    data = content.read(explorer.settings.max_upload_bytes + 1)
    name = explorer.uploads.keep(data, None if searched.images is None else searched.images.rules)
    state = {"index": index or None, "upload": name, "k": k or None, "hide": hide or None, "alike": alike or None}
    if wants_page(request):
        return RedirectResponse(address("/search", **state), 303)
    told = {"upload": name, "seconds": explorer.settings.upload_seconds, "search": address("/search.json", **state)}
    return json_response(told, 201)


PAGES = (
    Page(
        "/search",
        "search.html.j2",
        _search,
        "Search",
        navigation="Search",
        order=10,
        offered=lambda explorer: len(explorer.indexes) > 0,
        actions=_ROUTER,
        uploads=(_UPLOAD,),
    ),
)
