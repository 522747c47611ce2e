"""A part of a page that another room's findings make, and the check of the records that such parts are made of."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from visual_search.errors import FileFormatError, Problems
from visual_search.formats.json_shapes import Shape, check_shape, filled

__all__ = ["Section", "checked"]


@dataclass(frozen=True)
class Section:
    """A part of the page that another room brings: a sweep, leaks, attribution.

    Parameters
    ----------
    anchor : str
        Its id on the page: small letters, digits and hyphens, beginning with a letter.
    title : str
        Its heading, also its entry in the contents.
    body : Markup
        HTML that escaped what it shows; scripts and style attributes are blocked by the page's policy.
    """

    anchor: str
    title: str
    body: Markup


def checked(value: Any, shape: Shape, subject: str, *, needed: Collection[str] = ()) -> dict[str, Any]:
    """A record whose values are of the kinds that a section shows.

    Parameters
    ----------
    value : Any
        What a JSON file held, or what an ``as_json`` gave.
    shape : Shape
        As for `visual_search.formats.json_shapes.check_shape`.
    subject : str
        What the record is, for the error.
    needed : collection of str
        Keys that must be there.

    Raises
    ------
    FileFormatError
        Every value of another kind, and every key that is missing.
    """
    if not isinstance(value, Mapping):
        raise FileFormatError(f"{subject}: an object is needed; got {type(value).__name__}")
    problems = Problems(subject)
    for key in needed:
        if value.get(key) is None:
            problems.add(f"{key}: missing")
    check_shape(dict(value), shape, subject, problems)
    problems.raise_if_any(FileFormatError)
    made: dict[str, Any] = filled(dict(value), shape)
    return made
