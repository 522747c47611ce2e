"""Answers that are pictures: small, kept by the browser, asked for again only when they changed."""

from __future__ import annotations

from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from visual_search.errors import UndecodableImageError, UnknownIdError
from visual_search.images.decoding import DecodingRules
from visual_search.images.kept_thumbnails import KeptThumbnails
from visual_search.images.located import ImagePlace

__all__ = ["SIDES", "Size", "marked_response", "no_picture", "picture_response"]

Size = Literal["small", "large"]
#: Longest side in pixels of each size: twice what a page shows, for screens with two dots a pixel.
SIDES: dict[Size, int] = {"small": 256, "large": 640}


def picture_response(
    request: Request,
    thumbnails: KeptThumbnails,
    place: ImagePlace | None,
    size: Size,
    *,
    rules: DecodingRules | None = None,
    sha256: str | None = None,
) -> Response:
    """A thumbnail of the image at a place; 304 where the browser has it.

    Raises
    ------
    UnknownIdError
        There is no picture, or it cannot be shown.
    """
    if place is None:
        raise no_picture("no file is named")
    side = SIDES[size]
    mark = thumbnails.mark(place, side)
    if mark is not None and _tag(mark) in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=_headers(mark))
    try:
        made = thumbnails.made(place, side, rules=rules, sha256=sha256)
    except UndecodableImageError as error:
        raise no_picture(str(error)) from error
    return Response(made.data, headers=_headers(made.mark), media_type="image/webp")


def marked_response(request: Request, data: bytes, mark: str, *, media_type: str = "image/webp") -> Response:
    """A picture that is in memory; ``mark`` differs when it does. 304 where the browser has it."""
    if _tag(mark) in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=_headers(mark))
    return Response(data, headers=_headers(mark), media_type=media_type)


def no_picture(reason: str) -> UnknownIdError:
    """The error of a picture that is not there."""
    return UnknownIdError(f"no picture: {reason}")


def _tag(mark: str) -> str:
    return f'"{mark}"'


def _headers(mark: str) -> dict[str, str]:
    return {"ETag": _tag(mark), "Cache-Control": "private, max-age=600"}
