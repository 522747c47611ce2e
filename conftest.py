"""Python blocks of README and docs are tests: each page runs from top to bottom in an empty folder."""

import os
import tempfile
from typing import Any

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser


def _enter_empty_folder(namespace: dict[str, Any]) -> None:
    namespace["_home"] = os.getcwd()  # noqa: PTH109 - to go back to
    namespace["_folder"] = tempfile.TemporaryDirectory()
    os.chdir(namespace["_folder"].name)


def _leave_folder(namespace: dict[str, Any]) -> None:
    os.chdir(namespace["_home"])
    namespace["_folder"].cleanup()


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()],
    patterns=["README.md", "*/docs/*.md", "docs/**/*.md"],
    setup=_enter_empty_folder,
    teardown=_leave_folder,
).pytest()
