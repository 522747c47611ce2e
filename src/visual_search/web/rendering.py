"""Templates of the served pages: the reports' look and rules, with styles and scripts from files of our own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from visual_search.reports.rendering import page_environment
from visual_search.reports.wording import printable
from visual_search.web.addresses import address
from visual_search.web.static_files import static_address

__all__ = ["compile_templates", "json_response", "page_response"]


@cache
def _environment() -> Environment:
    loader = ChoiceLoader([PackageLoader("visual_search.web"), PackageLoader("visual_search.reports")])
    environment = page_environment(loader)
    environment.filters["as_written"] = _as_written
    environment.globals |= {"address": address, "static": static_address}
    return environment


def _as_written(text: str) -> Markup:
    """A text of several lines, escaped; other texts are shown in one line."""
    return Markup("\n").join(printable(line) for line in text.split("\n"))


def compile_templates() -> None:
    """Do now what the first request of each page would wait for: templates become code once a process."""
    for name in _environment().list_templates(["j2"]):
        _environment().get_template(name)


def page_response(
    request: Request, template: str, data: Mapping[str, Any], *, title: str, twin: str | None, status: int = 200
) -> Response:
    """A page's template filled with its data, under the navigation.

    ``twin`` is the address of the same data as JSON; None where there is none.
    """
    html = (
        _environment()
        .get_template(template)
        .render(
            data=data,
            title=title,
            twin=twin,
            navigation=request.app.state.navigation,
            here=request.scope["path"],
        )
    )
    return HTMLResponse(html.encode("utf-8", "replace"), status, headers={"Cache-Control": "no-store"})


def json_response(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON value; NaN is refused, since JSON has none."""
    text = json.dumps(data, allow_nan=False)
    return Response(text, status, {"Cache-Control": "no-store", **(headers or {})}, "application/json")
