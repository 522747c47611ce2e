"""The command ``visual-search``: finds the verb and runs it.

A verb is a module with ``SUMMARY``, ``EXAMPLE``, ``add_arguments(parser)`` and ``run(arguments) -> int``. Only the
verb that was asked for is imported, so that ``--help`` stays fast.
"""

from __future__ import annotations

import argparse
import io
import sys
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from visual_search import __version__
from visual_search.cli.command_words import command_words
from visual_search.cli.parser import Formatter, Parser
from visual_search.errors import VisualSearchError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class Verb(Protocol):
        """What a verb's module offers."""

        SUMMARY: str
        EXAMPLE: str

        @staticmethod
        def add_arguments(parser: argparse.ArgumentParser) -> None: ...
        @staticmethod
        def run(arguments: argparse.Namespace) -> int: ...


__all__ = ["VERBS", "main"]

# The last is what a program gives that failed by its own fault, EX_SOFTWARE of sysexits.
DONE, FAILED, WRONG_USE, BUG = 0, 1, 2, 70

# verb -> (module, one line). The line stands here, and not in the module, so that --help imports no verb.
VERBS = {
    "demo": ("demo", "the whole job on 400 real photographs, with a report that opens in a browser"),
    "index": ("index", "turn images into an index"),
    "search": ("search", "find the images most like one image, item or text"),
    "evaluate": ("evaluate", "measure an index against a JSON of right answers"),
    "score": ("score", "score a run file against right answers"),
    "conventions": ("conventions", "the same run under every field's rules, side by side"),
    "compare": ("compare", "hold results against each other, query by query"),
    "gate": ("gate", "fail when a change made a measure worse"),
    "truth": ("truth", "exact nearest neighbours, certified: build, verify, info"),
    "leaks": ("leaks", "find pictures that stand in two of query, gallery and train"),
    "split": ("split", "queries and gallery, or parts, from a metadata table, with a proof"),
    "directions": ("directions", "vectors under a split, in both directions and pooled"),
    "sweep": ("sweep", "measure engines under many settings, in quality and in cost"),
    "choose": ("choose", "the cheapest setting of a sweep that reaches a target with confidence"),
    "codes": ("codes", "binary codes, or embeddings hashed here, by the labels their items share"),
    "judge": ("judge", "people's judgements: pool, status, export, import"),
    "report": ("report", "one HTML page from result files"),
    "serve": ("serve", "look through indexes and results in a browser"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; returns 0 done, 1 a check failed, 2 wrong use, 70 a fault of this program."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        # A file name may hold bytes or letters that the terminal's encoding lacks: shown as escapes, never an error.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if words and words[0] in VERBS:
        return _run_verb(words[0], words[1:])
    front = _front_parser()
    if "--json" in words:
        front.refuse = partial(_refused, "", "InputError", as_json=True)
    front.parse_args(words)  # prints help or version, or refuses an unknown verb
    front.print_help()
    return WRONG_USE


def _front_parser() -> Parser:
    lines = "\n".join(f"  {verb:<12} {line}" for verb, (_, line) in VERBS.items())
    parser = Parser(
        prog="visual-search",
        usage="visual-search VERB [options]",
        description="Index images, search them, and measure the search so that its numbers can be trusted.",
        epilog=f"verbs:\n{lines}\n\nvisual-search VERB --help shows a verb's options and an example.",
        formatter_class=Formatter,
    )
    parser.add_argument("--version", action="version", version=f"visual-search {__version__}")
    parser.add_argument("verb", choices=list(VERBS), nargs="?", help=argparse.SUPPRESS, metavar="VERB")
    return parser


def _run_verb(name: str, words: Sequence[str]) -> int:
    verb: Verb = import_module(f"visual_search.cli.{VERBS[name][0]}")  # type: ignore[assignment]
    parser = Parser(
        prog=f"visual-search {name}",
        description=verb.SUMMARY,
        epilog=f"example:\n{verb.EXAMPLE}",
        formatter_class=Formatter,
    )
    verb.add_arguments(parser)
    if "--json" in words:
        parser.refuse = partial(_refused, name, "InputError", as_json=True)
    arguments = parser.parse_args(list(words))
    try:
        return verb.run(arguments)
    except VisualSearchError as error:
        return _refused(name, type(error).__name__, command_words(str(error)), as_json=arguments.json)
    except BrokenPipeError:
        # The reader went away (head, less): not an error of ours.
        sys.stderr.close()
        return DONE
    except OSError as error:
        place = f"{error.filename}: " if error.filename is not None else ""
        return _refused(name, type(error).__name__, f"{place}{error.strerror or error}", as_json=arguments.json)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except Exception as error:  # noqa: BLE001 - whatever it is, a program that reads the output must be told
        return _failed(name, error, as_json=arguments.json)


def _failed(verb: str, error: Exception, *, as_json: bool) -> int:
    """Tell a fault of this program, with where it was, and not as a check that failed."""
    import traceback

    traceback.print_exception(error)
    message = (
        f"an unexpected {type(error).__name__}: {error}; this is a fault of visual-search {__version__}: please report "
        "it as a bug, with the command and the lines on standard error"
    )
    _refused(verb, type(error).__name__, message, as_json=as_json)
    return BUG


def _refused(verb: str, kind: str, message: str, *, as_json: bool) -> int:
    if as_json:
        import json

        print(json.dumps({"error": {"verb": verb, "type": kind, "message": message}}, indent=2))
    else:
        print(f"visual-search {verb}: {message}", file=sys.stderr)
    return WRONG_USE


if __name__ == "__main__":
    sys.exit(main())
