"""Names cut where they are long, each leading to its whole text further down the page."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from visual_search.reports.wording import printable, short_id

__all__ = ["LongNames", "breakable"]

# Marks that turn the direction of what follows: an id that has them could pass for another.
_TURNS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass
class LongNames:
    """The names that a page, or a part of it, has cut.

    Parameters
    ----------
    prefix : str
        What the anchors begin with; two lists on one page need two.

    Examples
    --------
    >>> names = LongNames("name")
    >>> print(names.shown("a.jpg", 8), names.shown("a-long-name.jpg", 8))
    a<wbr>.jpg <a class="cut" href="#name-1">a-<wbr>…e<wbr>.jpg</a>
    >>> names.entries
    [('name-1', 'a-long-name.jpg')]
    """

    prefix: str
    _anchors: dict[str, str] = field(default_factory=dict)

    def shown(self, identifier: object, limit: int = 96) -> Markup:
        """A name for a table or a caption: as it is, or cut and linked to the whole."""
        text = _TURNS.sub("\ufffd", printable(str(identifier)))
        if len(text) <= limit:
            return breakable(text)
        anchor = self._anchors.setdefault(text, f"{self.prefix}-{len(self._anchors) + 1}")
        return Markup('<a class="cut" href="#{}">{}</a>').format(anchor, breakable(short_id(text, limit)))

    @property
    def entries(self) -> list[tuple[str, str]]:
        """Anchor and whole text of each name that was cut so far."""
        return [(anchor, text) for text, anchor in self._anchors.items()]


def breakable(text: str) -> Markup:
    """An id that may wrap where its parts meet: after separators and before a dot, so that no ending is cut."""
    parts = re.split(r"(?<=[/\\_-])(?=[^/\\_-])|(?<=[^.])(?=\.[^.])", text)
    return Markup("<wbr>").join(escape(part) for part in parts)
