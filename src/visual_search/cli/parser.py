"""The parser of every verb: wrong use is one line that says what may have been meant."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable
from typing import Any, NoReturn

__all__ = ["Formatter", "Parser"]

# What people write for a choice, and what it is called here.
_MEANT = {
    "by-scene": "parts-by-group",
    "by-person": "parts-by-group",
    "by-identity": "parts-by-group",
    "by-group": "parts-by-group",
    "by-camera": "by-view",
    "loo": "leave-one-out",
    "random": "random-images",
}


class Formatter(argparse.RawDescriptionHelpFormatter, argparse.ArgumentDefaultsHelpFormatter):
    """Keeps the example's lines, and shows the defaults that say something."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.default in (None, False, argparse.SUPPRESS) or isinstance(action.default, list):
            return action.help
        return super()._get_help_string(action)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, or one JSON object where that was asked for."""

    # Says the error as an object and gives the exit code; None where words are wanted.
    refuse: Callable[[str], int] | None = None

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where help is, and stop with exit code 2."""
        if self.refuse is not None:
            raise SystemExit(self.refuse(message))
        print(f"{self.prog}: {message} (see {self.prog} --help)", file=sys.stderr)
        raise SystemExit(2)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        allowed = [str(choice) for choice in action.choices]
        near = difflib.get_close_matches(str(value), allowed, 1)
        meant = next((name for name in (_MEANT.get(str(value)), *near) if name in allowed), None)
        said = (
            f"{value!r} is not among {', '.join(allowed)}" if meant is None else f"{value!r}: did you mean {meant}?"
        )
        raise argparse.ArgumentError(action, said)
