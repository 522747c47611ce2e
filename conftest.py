"""What all tests share: how hypothesis behaves, that Python blocks of README and docs are tests, and which need peers.

Each page runs from top to bottom in a folder of its own, which has ``photos/`` with a few small pictures.

Tests of ``tests/parity/peers`` need the packages of the extra ``parity``. Where one is absent the folder is not run,
and the last lines of the run say so; under ``--require-peers`` that is an error, and so is a run that left it out.
"""

import os
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from PIL import Image
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

# No deadlines: a busy machine is no fault of the code. In CI the same examples every time, so that a change is judged
# by what it changed.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# Can be imported only where the package is installed with its compiled half, or by alembic; they show no example.
collect_ignore = [
    "src/visual_search/kernels/compiled.py",
    "src/visual_search/judging/migrations/env.py",
]

PEERS_FOLDER = "tests/parity/peers"
ABSENT_PEERS = [
    name for name in ("pytorch_metric_learning", "ranx", "torch", "torchmetrics") if find_spec(name) is None
]
collect_ignore_glob = [f"{PEERS_FOLDER}/*"] if ABSENT_PEERS else []
_PEERS_RUN = set[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --require-peers."""
    parser.addoption("--require-peers", action="store_true", help=f"fail when {PEERS_FOLDER} is not run")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to begin where peers are required and absent."""
    if ABSENT_PEERS and config.getoption("--require-peers"):
        raise pytest.UsageError(f"--require-peers: {_how_to_run_peers()}")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember which tests against peers passed; under xdist the controller hears of all of them."""
    if report.when == "call" and report.passed and report.nodeid.startswith(PEERS_FOLDER):
        _PEERS_RUN.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that was to have the tests against peers and had none."""
    if _peers_were_left_out(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what was not run, and how to run it."""
    if ABSENT_PEERS:
        terminalreporter.write_line(_how_to_run_peers(), yellow=True)
    elif _peers_were_left_out(config):
        terminalreporter.write_line(f"--require-peers: no test of {PEERS_FOLDER} passed in this run", red=True)


def _peers_were_left_out(config: pytest.Config) -> bool:
    return bool(config.getoption("--require-peers")) and not hasattr(config, "workerinput") and not _PEERS_RUN


def _how_to_run_peers() -> str:
    absent = ", ".join(ABSENT_PEERS)
    return (
        f"{PEERS_FOLDER} was not run: no {absent}; pip install '.[test,parity]' and python -m pytest {PEERS_FOLDER}"
    )


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
