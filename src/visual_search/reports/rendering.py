"""Templates to HTML: everything escaped, nothing undefined, a policy under which the page can load nothing."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from jinja2 import BaseLoader, Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from visual_search.reports import wording
from visual_search.reports.long_names import LongNames, breakable
from visual_search.reports.page_drawing import swatch

__all__ = ["page_environment", "page_style", "render_page", "render_part"]


def render_page(template: str, **values: Any) -> str:
    """Fill a page template; the style sheet goes in with its hash in the content policy.

    Pictures may be inside the page or, with ``images``, files that it names.
    """
    style = page_style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    images = values.pop("images", "data:")
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src {images}; base-uri 'none'; form-action 'none'"
    )
    values = {"long_names": LongNames("name"), "style": Markup(style), "policy": policy} | values  # noqa: S704
    return _environment().get_template(template).render(**values)


def render_part(template: str, *, anchor: str, **values: Any) -> Markup:
    """Fill a template that is a part of a page; what it shows is escaped.

    Names that it cuts stand whole at its end, under anchors that begin with the part's own.
    """
    values = {"long_names": LongNames(f"{anchor}-name"), "anchor": anchor} | values
    body = _environment().get_template(template).render(**values)
    listed = _environment().get_template("long_names.html.j2").render(long_names=values["long_names"])
    return Markup(body + listed)  # noqa: S704 - autoescaped above


@cache
def page_style() -> str:
    """The style sheet of every page, served or mailed: the tokens (colours, fonts), then what they are put on."""
    templates = files("visual_search.reports").joinpath("templates")
    return "\n".join(templates.joinpath(name).read_text("utf-8") for name in ("tokens.css", "style.css"))


@pass_context
def _named(context: Context, identifier: object, limit: int = 96) -> Markup:
    names: LongNames | None = context.get("long_names")
    return breakable(wording.short_id(identifier, limit)) if names is None else names.shown(identifier, limit)


def _shown(what: Any) -> Any:
    return what if isinstance(what, Markup) or not isinstance(what, str) else wording.printable(what)


@cache
def _environment() -> Environment:
    return page_environment(PackageLoader("visual_search.reports"))


def page_environment(loader: BaseLoader) -> Environment:
    """Templates that escape what they show, refuse what is not defined, and write numbers and ids as reports do."""
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_shown,
    )
    environment.filters |= {
        "value": wording.value,
        "signed": wording.signed,
        "percent": wording.percent,
        "position": wording.position,
        "p_value": wording.p_value,
        "score": wording.score,
        "counted": wording.counted,
        "short_id": wording.short_id,
        "listed": wording.listed,
        "begun": wording.begun,
        "breakable": breakable,
        "named": _named,
    }
    environment.globals |= {
        "plural": wording.plural,
        "swatch": swatch,
        "version": version("visual-search"),
        "picture_root": "",
    }
    return environment
