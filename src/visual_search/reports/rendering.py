"""Templates to HTML: everything escaped, nothing undefined, a policy under which the page can load nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from jinja2 import BaseLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from visual_search.reports import wording
from visual_search.reports.page_drawing import swatch

__all__ = ["page_environment", "page_style", "render_page", "render_part"]


def render_page(template: str, **values: Any) -> str:
    """Fill a page template; the style sheet goes in with its hash in the content policy."""
    style = page_style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    return _environment().get_template(template).render(style=Markup(style), policy=policy, **values)  # noqa: S704


def render_part(template: str, **values: Any) -> Markup:
    """Fill a template that is a part of a page; what it shows is escaped."""
    return Markup(_environment().get_template(template).render(**values))  # noqa: S704 - autoescaped above


@cache
def page_style() -> str:
    """The style sheet of every page, served or mailed: the tokens (colours, fonts), then what they are put on."""
    templates = files("visual_search.reports").joinpath("templates")
    return "\n".join(templates.joinpath(name).read_text("utf-8") for name in ("tokens.css", "style.css"))


def _breakable(text: str) -> Markup:
    """An id that may wrap where its parts meet: after separators and before a dot, so that no ending is cut."""
    parts = re.split(r"(?<=[/\\_-])(?=[^/\\_-])|(?<=[^.])(?=\.[^.])", text)
    return Markup("<wbr>").join(escape(part) for part in parts)


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
        "breakable": _breakable,
    }
    environment.globals |= {"plural": wording.plural, "swatch": swatch, "version": version("visual-search")}
    return environment
