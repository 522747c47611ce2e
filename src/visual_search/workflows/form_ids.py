"""Ids as forms on pages send them: a page shows no line breaks and no control characters, so its fields hold none."""

from __future__ import annotations

from collections.abc import Iterable

from visual_search.ids import Id
from visual_search.reports.wording import printable

__all__ = ["FormIds"]


class FormIds:
    r"""Finds the id that a form meant; links send ids as they are.

    Parameters
    ----------
    ids : iterable of str or int
        The ids that are there; of most, which a page shows as they are, nothing is kept.

    Examples
    --------
    >>> forms = FormIds(["plain", "two\nlines"])
    >>> forms.meant("two lines"), forms.meant("plain"), forms.meant("three")
    ('two\nlines', None, None)
    """

    def __init__(self, ids: Iterable[Id]) -> None:
        self._by_form: dict[str, Id | None] = {}
        for one in ids:
            if isinstance(one, str) and (form := printable(one)) != one:
                self._by_form[form] = None if form in self._by_form else one

    def meant(self, text: str) -> Id | None:
        """The one id that is shown and sent so; None where there is none, or several."""
        return self._by_form.get(text)
