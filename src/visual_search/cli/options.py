"""Options that several verbs share."""

from __future__ import annotations

import argparse
import json
import re
import sys
from typing import Any

from rich.console import Console

from visual_search.errors import InputError

__all__ = ["add_json", "add_measures", "byte_count", "print_json", "stderr"]


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``: one JSON value on standard output, for programs."""
    parser.add_argument("--json", action="store_true", help="print one JSON value, for programs")


def add_measures(parser: argparse.ArgumentParser, words: str) -> None:
    """Add measures, to be named one after another or with ``--measure``; both come to ``measures``."""
    parser.add_argument("measures", metavar="MEASURE", nargs="*", default=[], help=words)
    parser.add_argument(
        "--measure", metavar="MEASURE", action="append", default=[], help="the same; may be given several times"
    )


def print_json(value: Any) -> None:
    """Print a JSON value; NaN is refused, since JSON has none. What the terminal has no letters for is escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2, ensure_ascii=True, allow_nan=False)
    print(text)


def stderr() -> Console:
    """Console for what is said beside the result."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def byte_count(text: str, option: str) -> int:
    """Bytes from a text as a person writes it.

    >>> byte_count("2GB", "--memory"), byte_count("1.5 GiB", "--memory"), byte_count("100000000", "--memory")
    (2000000000, 1610612736, 100000000)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", text, re.IGNORECASE)
    if found is None:
        raise InputError(f"{option}: got {text!r}; a size is needed, such as 512MB, 2GB or 1GiB")
    number, prefix, binary = found.groups()
    step = 1024 if binary else 1000
    return int(float(number) * step ** " kmgt".index(prefix.lower() or " "))
