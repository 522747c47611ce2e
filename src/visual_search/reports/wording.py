"""Numbers and ids as people read them: one place, so that a table and a page never differ."""

# ruff: noqa: RUF001, RUF002 - a page writes dashes and minus signs as printers do

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from math import isfinite

from visual_search.evaluation.text_table import p_text

__all__ = [
    "begun",
    "counted",
    "listed",
    "markdown",
    "p_value",
    "percent",
    "plural",
    "position",
    "printable",
    "score",
    "short_id",
    "signed",
    "value",
]

UNDEFINED = "–"
_WORD = re.compile(r"(?!visual-search\b)[a-z][a-z-]+(?=[\s,;]|$)")
_SPACES = re.compile(r"[\t\n\r]+")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def value(number: float | None, digits: int = 3) -> str:
    """A measure's value; 0 and 1 appear only where they are exact.

    Examples
    --------
    >>> value(0.98512), value(1.0), value(0.99996), value(0.0002), value(None)
    ('0.985', '1.000', '0.99996', '0.0002', '–')
    """
    if number is None:
        return UNDEFINED
    for places in range(digits, 18):
        text = _rounded(number, places)
        if float(text) not in {0.0, 1.0, -1.0} or float(text) == number:
            return text
    return f"{number:.3g}"


def signed(number: float | None, digits: int = 3) -> str:
    """A difference, its sign always shown.

    Examples
    --------
    >>> signed(0.171), signed(-0.02), signed(0.0)
    ('+0.171', '−0.020', '0.000')
    """
    if number is None:
        return UNDEFINED
    sign = "+" if number > 0 else "−" if number < 0 else ""
    return sign + value(abs(number), digits)


def percent(number: float | None) -> str:
    """A share in per cent, with one place; 0 % and 100 % only where they are exact.

    Examples
    --------
    >>> percent(0.9725), percent(1.0), percent(0.99999), percent(0.0)
    ('97.3 %', '100 %', '99.999 %', '0 %')
    """
    if number is None:
        return UNDEFINED
    if number in {0, 1}:
        return f"{number * 100:.0f} %"
    for places in range(1, 16):
        text = _rounded(number, places + 2, shift=2)
        if float(text) not in {0.0, 100.0}:
            return f"{text} %"
    return f"{number * 100:.3g} %"


def position(number: float | None) -> str:
    """A place on a bar, in per cent of its length.

    Examples
    --------
    >>> position(0.25), position(None), position(1.7)
    ('25.000', '0.000', '100.000')
    """
    return f"{100 * min(max(number or 0.0, 0.0), 1.0):.3f}"


def _rounded(number: float, places: int, shift: int = 0) -> str:
    # The point moves in the text: 0.9725 times 100 would round to 97.2 % beside 0.973.
    return str(Decimal(f"{number:.{places}f}").scaleb(shift))


def p_value(number: float | None) -> str:
    """A p value; small ones as a bound.

    Examples
    --------
    >>> p_value(0.0312), p_value(0.00002)
    ('0.0312', '< 0.0001')
    """
    if number is None:
        return UNDEFINED
    return p_text(number)


def score(number: float | None) -> str:
    """A score or distance of any scale, with about four figures.

    Examples
    --------
    >>> score(0.98765), score(-12.5), score(1234567.0), score(3e-9)
    ('0.988', '−12.50', '1.235e+06', '3e-09')
    """
    if number is None or not isfinite(number):
        return UNDEFINED
    size = abs(number)
    if size >= 100_000 or 0 < size < 0.0005:
        text = f"{size:.4g}"
    else:
        text = f"{size:.3f}" if size < 10 else f"{size:.2f}" if size < 1000 else f"{size:.1f}"
    return f"−{text}" if number < 0 else text


def counted(number: float) -> str:
    """A count with thousands apart.

    Examples
    --------
    >>> counted(10000)
    '10,000'
    """
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:,.1f}"


def plural(number: int, one: str, many: str | None = None) -> str:
    """A count with its noun.

    Examples
    --------
    >>> plural(1, "query", "queries"), plural(400, "query", "queries")
    ('1 query', '400 queries')
    """
    return f"{counted(number)} {one if number == 1 else many or one + 's'}"


def begun(text: str) -> str:
    """A text as a sentence begins: with a capital, unless a sign such as k, a file or the program stands first.

    Examples
    --------
    >>> begun("only 32 queries"), begun("leave-one-out"), begun("k = 100 exceeds the list"), begun("run.json: empty")
    ('Only 32 queries', 'Leave-one-out', 'k = 100 exceeds the list', 'run.json: empty')
    >>> begun("visual-search 0.1.0")
    'visual-search 0.1.0'
    """
    return text[:1].upper() + text[1:] if _WORD.match(text) else text


def printable(text: str) -> str:
    r"""Text without what neither a page nor a terminal can show: control characters and halves of surrogate pairs.

    Examples
    --------
    >>> printable("red\x1b[31m.jpg\x00"), printable("two\nlines")
    ('red�[31m.jpg�', 'two lines')
    """
    if text.isprintable():  # true of nearly every text, and much quicker
        return text
    return _UNPRINTABLE.sub("\ufffd", _SPACES.sub(" ", text))


def short_id(identifier: object, limit: int = 96) -> str:
    """An id, its middle left out when it is very long; the whole of it stands in the ranking file.

    Examples
    --------
    >>> short_id("cats/1.jpg"), len(short_id("x" * 10_000))
    ('cats/1.jpg', 96)
    """
    text = printable(str(identifier))
    if len(text) <= limit:
        return text
    head = (limit - 1) * 2 // 5  # a file's name stands at the end
    return f"{text[:head]}…{text[len(text) - (limit - 1 - head) :]}"


def listed(values: Sequence[object], limit: int = 8) -> str:
    """Ids in a sentence, the first few and how many more; each is isolated, whatever direction it is written in.

    Examples
    --------
    >>> listed(["a", "b", "c"], limit=2)
    '\u2068a\u2069, \u2068b\u2069 and 1 more'
    """
    head = ", ".join(f"\u2068{short_id(one)}\u2069" for one in values[:limit])
    return f"{head} and {counted(len(values) - limit)} more" if len(values) > limit else head


def markdown(text: str) -> str:
    r"""A name as Markdown shows it, in a table as well: what it would read as marks is escaped.

    Examples
    --------
    >>> print(markdown("a|b_c"))
    a\|b\_c
    """
    for character, escaped in (
        ("\\", "\\\\"),
        ("|", "\\|"),
        ("<", "&lt;"),
        ("*", "\\*"),
        ("_", "\\_"),
        ("`", "\\`"),
    ):
        text = text.replace(character, escaped)
    return text
