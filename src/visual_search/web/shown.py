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
    leads_to : str or None
        The address under which the page shows these data, where it was asked for without saying which: browsers are
        sent there, so that what they show can be kept and sent on.

    Examples
    --------
    >>> shown = Shown({"found": 3}, view=[1, 2, 3])
    >>> shown, shown.view
    ({'found': 3}, [1, 2, 3])
    """

    def __init__(self, value: dict[str, Any], view: Any, *, leads_to: str | None = None) -> None:
        super().__init__(value)
        self.view = view
        self.leads_to = leads_to
