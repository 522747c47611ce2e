"""Write docs/reference/command-line.md from the verbs' own parsers; ``--check`` only says whether it is up to date."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

from visual_search.cli.main import VERBS

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "command-line.md"

HEAD = """\
# Command line

Every verb has `--help` with an example, and `--json` for programs. Exit codes: 0 done, 1 a check failed, 2 wrong use
(the message says what came, what is allowed and how to mend it), 70 a fault of the program itself. With `--json`
either of the last two prints one object, `{"error": {"verb", "type", "message"}}`.
"""


def reference() -> str:
    """The page as it should be."""
    parts = [HEAD]
    for verb, (module, _) in VERBS.items():
        found = import_module(f"visual_search.cli.{module}")
        parser = argparse.ArgumentParser(prog=f"visual-search {verb}")
        found.add_arguments(parser)
        parts.append(f"\n## `visual-search {verb}`\n\n{found.SUMMARY}\n")
        example = "\n".join(f"$ {words.strip()}" for words in found.EXAMPLE.splitlines())
        parts.append(f"\n```console\n{example}\n```\n")
        parts += _table(parser)
    return "".join(parts)


def _table(parser: argparse.ArgumentParser) -> list[str]:
    """The options of a verb; of one with tasks, a table for each task."""
    actions = [action for action in parser._actions if action.dest != "help"]  # noqa: SLF001
    tasks = [action for action in actions if isinstance(action, argparse._SubParsersAction)]  # noqa: SLF001
    own = [action for action in actions if action not in tasks]
    lines = ["\n| argument | meaning | default |\n|---|---|---|\n", *map(_row, own)] if own else []
    for task in tasks:
        about = {choice.dest: choice.help or "" for choice in task._choices_actions}  # noqa: SLF001
        for name, below in task.choices.items():
            lines.append(f"\n### `{below.prog}`\n\n{about[name][:1].upper()}{about[name][1:]}.\n")
            lines += _table(below)
    return lines


def _row(action: argparse.Action) -> str:
    names = ", ".join(f"`{name}`" for name in action.option_strings) or f"`{action.metavar or action.dest}`"
    choices = f" One of {', '.join(f'`{choice}`' for choice in action.choices)}." if action.choices else ""
    default = "" if action.default in (None, False, []) else f"`{_shown(action.default)}`"
    about = action.help or ""
    return f"| {names} | {about[:1].upper()}{about[1:]}.{choices} | {default} |\n"


def _shown(default: object) -> str:
    return " ".join(map(str, default)) if isinstance(default, list) else str(default)


if __name__ == "__main__":
    text = reference()
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if PAGE.read_text("utf-8") == text else f"{PAGE.name} is out of date: run {Path(__file__).name}")
    PAGE.write_text(text, "utf-8")
