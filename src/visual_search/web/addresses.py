"""Addresses of pages: every value quoted whole, so that an id of any kind comes back as it was."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from visual_search.ids import Id

__all__ = ["address"]

Value = Id | float | bool | None


def address(path: str, **values: Value | list[Value] | tuple[Value, ...]) -> str:
    """A page's address with its state.

    Parameters
    ----------
    path : str
        Such as ``"/search"``.
    **values
        Query parameters; None is left out, True is 1, False is left out, a list gives one parameter an element.

    Examples
    --------
    >>> address("/search", item="a/b?&.jpg", k=10, hide=True, text=None)
    '/search?item=a%2Fb%3F%26.jpg&k=10&hide=1'
    """
    pairs = [
        (name, "1" if one is True else str(one))
        for name, value in values.items()
        for one in (value if isinstance(value, list | tuple) else [value])
        if one is not None and one is not False
    ]
    return path + (f"?{urlencode(pairs, quote_via=quote, safe='', errors='surrogatepass')}" if pairs else "")
