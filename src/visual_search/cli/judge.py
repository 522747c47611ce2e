"""``visual-search judge``: its tasks, each in a file of its own."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

SUMMARY = (
    "People's judgements: pool what systems returned, let people mark what answers the query, see how far they are, "
    "export what they said."
)

# task -> its module in this folder, with WORDS, EXAMPLE, add_arguments(parser) and run(arguments).
TASKS = {
    "pool": "judge_pool",
    "serve": "judge_serve",
    "status": "judge_status",
    "export": "judge_export",
    "import": "judge_import",
    "agreement": "judge_agreement",
}


def _task(name: str) -> Any:
    return import_module(f"visual_search.cli.{TASKS[name]}")


EXAMPLE = "\n".join(_task(name).EXAMPLE for name in TASKS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the tasks and their options."""
    verbs = parser.add_subparsers(dest="task", metavar="TASK", required=True)
    for name in TASKS:
        task = _task(name)
        made = verbs.add_parser(
            name,
            help=task.WORDS,
            description=f"{task.WORDS[:1].upper()}{task.WORDS[1:]}.",
            epilog=f"example:\n{task.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        task.add_arguments(made)


def run(arguments: argparse.Namespace) -> int:
    """Do the task that was asked for."""
    done: int = _task(arguments.task).run(arguments)
    return done
