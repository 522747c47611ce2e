"""Reading what stands behind the colon of an embedder's text form."""

from __future__ import annotations

from visual_search.errors import InputError

__all__ = ["needed_argument", "no_argument", "whole_number"]


def no_argument(argument: str, name: str) -> None:
    """Refuse an argument where none is taken.

    >>> no_argument("64", "histogram")
    Traceback (most recent call last):
    ...
    visual_search.errors.InputError: histogram:64: histogram takes no argument; write 'histogram'
    """
    if argument:
        raise InputError(f"{name}:{argument}: {name} takes no argument; write {name!r}")


def needed_argument(argument: str, name: str, example: str) -> str:
    """Refuse an empty argument where one is needed.

    >>> needed_argument("", "timm", "timm:resnet50")
    Traceback (most recent call last):
    ...
    visual_search.errors.InputError: timm: an argument is needed, for example 'timm:resnet50'
    """
    if not argument:
        raise InputError(f"{name}: an argument is needed, for example {example!r}")
    return argument


def whole_number(text: str, name: str, what: str) -> int:
    """Read a whole number.

    >>> whole_number("8", "pixels", "side")
    8
    >>> whole_number("8.5", "pixels", "side")
    Traceback (most recent call last):
    ...
    visual_search.errors.InputError: pixels: side '8.5' is not a whole number
    """
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{name}: {what} {text!r} is not a whole number") from None
