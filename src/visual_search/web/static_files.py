"""Style sheets and scripts: a table made at start, so that no address ever becomes a path."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import Response

from visual_search.reports.rendering import page_style

__all__ = ["ROUTER", "static_address"]

ROUTER = APIRouter()
_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


@cache
def _contents() -> dict[str, tuple[bytes, str]]:
    """Name to bytes and their hash; ``look.css`` is the style sheet of the reports."""
    folder = files("visual_search.web").joinpath("static")
    found = {"look.css": page_style().encode()}
    found |= {file.name: file.read_bytes() for file in folder.iterdir() if file.name.rpartition(".")[2] in _TYPES}
    return {name: (data, hashlib.sha256(data).hexdigest()[:16]) for name, data in found.items()}


def static_address(name: str) -> str:
    """Address of one of the files, with its hash, so that a browser may keep it for good."""
    return f"/static/{name}?v={_contents()[name][1]}"


@ROUTER.get("/static/{name}", include_in_schema=False)
def static_file(request: Request, name: str) -> Response:
    """One file of the table."""
    if name not in _contents():
        raise HTTPException(404, "no such file")
    data, mark = _contents()[name]
    known = request.query_params.get("v") == mark
    headers = {"ETag": f'"{mark}"', "Cache-Control": f"public, max-age={31536000 if known else 0}"}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(data, headers=headers, media_type=_TYPES[name.rpartition(".")[2]])
