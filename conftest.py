"""What all tests share: how hypothesis behaves, and that Python blocks of README and docs are tests.

Each page runs from top to bottom in a folder of its own, which has ``photos/`` with a few small pictures.
"""

import os
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from PIL import Image
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

# No deadlines: a busy machine is no fault of the code. In CI the same examples every time, so that a change is judged
# by what it changed.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# Can be imported only where the package is installed with its compiled half, and shows no example.
collect_ignore = ["src/visual_search/kernels/compiled.py"]


def _enter_folder(namespace: dict[str, Any]) -> None:
    namespace["_home"] = os.getcwd()  # noqa: PTH109 - to go back to
    namespace["_folder"] = tempfile.TemporaryDirectory()
    os.chdir(namespace["_folder"].name)
    Path("photos").mkdir()
    for number, colour in enumerate(("red", "orange", "gold", "green", "teal", "navy", "purple", "black")):
        Image.new("RGB", (40 + number, 30), colour).save(f"photos/{number}.png")


def _leave_folder(namespace: dict[str, Any]) -> None:
    os.chdir(namespace["_home"])
    namespace["_folder"].cleanup()


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()],
    patterns=["README.md", "*/docs/*.md", "docs/*/*.md", "docs/*/*/*.md"],
    setup=_enter_folder,
    teardown=_leave_folder,
).pytest()
