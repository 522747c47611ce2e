"""Options that several verbs share."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from rich.console import Console

__all__ = ["add_json", "add_measures", "print_json", "stderr"]


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
