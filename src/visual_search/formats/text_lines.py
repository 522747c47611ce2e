"""Lines as files have them: they end at CR, LF or both, and at nothing else that a cell or an id may hold."""

from __future__ import annotations

import io

__all__ = ["lines_of"]


def lines_of(text: str) -> list[str]:
    r"""Lines of a text without their ends.

    Unlike ``str.splitlines``, U+0085, U+2028, vertical tab and form feed are letters of a line.

    Examples
    --------
    >>> lines_of("a\u2028b\r\nc\rd\n")
    ['a\u2028b', 'c', 'd']
    """
    lines = io.StringIO(text, newline=None).read().split("\n")
    return lines[:-1] if lines[-1] == "" else lines
