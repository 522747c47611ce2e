"""File names as ids: text that any file of results can hold, whatever bytes the name has."""

from __future__ import annotations

import re

__all__ = ["id_text", "is_valid_text"]

_ODD = re.compile(r"[\ud800-\udfff]|\\(?=x[0-9A-F]{2}|uD[89A-F][0-9A-F]{2})")


def id_text(name: str) -> str:
    r"""Write a file name as valid Unicode, each name differently.

    Bytes that are no UTF-8, which Python holds as halves of surrogate pairs, become ``\xE9`` and the like; other
    halves (from Windows, or from JSON) become ``\uD800``. A backslash that would read as the beginning of such a sign
    becomes ``\x5C``, so that no two names give one text. All other names stay as they are.

    Examples
    --------
    >>> print(id_text("caf\udce9.png"), id_text(r"caf\xE9.png"), id_text("café.png"), id_text(r"a\b.png"))
    caf\xE9.png caf\x5CxE9.png café.png a\b.png
    """
    return name if name.isascii() and "\\" not in name else _ODD.sub(_sign, name)


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code == ord("\\"):
        return r"\x5C"
    return f"\\x{code - 0xDC00:02X}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04X}"


def is_valid_text(text: str) -> bool:
    r"""Whether a text can be written as UTF-8, having no half of a surrogate pair by itself.

    Examples
    --------
    >>> is_valid_text("café"), is_valid_text("caf\udce9")
    (True, False)
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
