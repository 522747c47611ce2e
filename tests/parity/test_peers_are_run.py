"""Whether the tests against the large peers are run, left out with a word, or missed."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = "tests/parity/peers"
OTHER = "tests/unit/formats/test_strict_json.py"
PEERS = ("pytorch_metric_learning", "ranx", "torch", "torchmetrics")

# Packages are made to seem absent or present without being so; none of them is imported by the tests chosen here.
ABSENT = "import sys; sys.modules['ranx'] = None\n"
PRESENT = f"""
import sys, importlib.machinery, types
for name in {PEERS!r}:
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__spec__ = importlib.machinery.ModuleSpec(name, None)
"""


def run(before: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = f"{before}\nimport pytest\nsys.exit(pytest.main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_where_a_peer_is_absent_the_folder_is_not_collected_and_the_summary_says_so() -> None:
    done = run(ABSENT, OTHER, FOLDER)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{FOLDER} was not run: no " in done.stdout
    assert "ranx" in done.stdout
    assert f"pip install '.[test,parity]' and python -m pytest {FOLDER}" in done.stdout


def test_where_peers_are_required_their_absence_is_an_error() -> None:
    done = run(ABSENT, OTHER, "--require-peers")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"--require-peers: {FOLDER} was not run: no " in done.stderr
    assert "pip install" in done.stderr


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["one process", "xdist"])
def test_where_peers_are_required_a_run_without_them_fails(workers: tuple[str, ...]) -> None:
    done = run(PRESENT, OTHER, "--require-peers", *workers)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    assert f"--require-peers: no test of {FOLDER} passed in this run" in done.stdout


def test_where_they_are_not_required_nothing_is_said() -> None:
    done = run(PRESENT, OTHER)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "peers" not in done.stdout


def test_ci_installs_and_requires_them() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert "'.[test,docs,parity]'" in script
    assert any("pytest" in line and "--require-peers" in line for line in script.splitlines())


def test_the_names_here_are_those_of_the_conftest() -> None:
    text = (ROOT / "conftest.py").read_text("utf-8")
    assert all(f'"{name}"' in text for name in PEERS)
