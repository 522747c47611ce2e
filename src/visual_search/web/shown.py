"""A page's data with what its template draws."""

from __future__ import annotations

from typing import Any

__all__ = ["Shown"]


class Shown(dict[str, Any]):
    """A JSON value for the twin, and beside it the objects that the template draws.

    Parameters
    ----------
    value : dict
        What the twin gives.
    view : object
        The template finds it as ``data.view``.

    Examples
    --------
    >>> shown = Shown({"found": 3}, view=[1, 2, 3])
    >>> shown, shown.view
    ({'found': 3}, [1, 2, 3])
    """

    def __init__(self, value: dict[str, Any], view: Any) -> None:
        super().__init__(value)
        self.view = view
