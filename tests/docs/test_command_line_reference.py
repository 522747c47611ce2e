"""The reference of the command line is what the verbs themselves say."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_reference_is_up_to_date() -> None:
    ended = subprocess.run(
        [sys.executable, ROOT / "tools" / "write_command_line_reference.py", "--check"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
