"""Without a browser the suite fails and says how to get one; it never passes by skipping."""

import os
import subprocess
import sys
from pathlib import Path


def test_without_chromium_the_suite_fails_with_the_line_that_installs_it(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    chosen = "tests/web/test_report_page.py::TestOpensFromDisk::test_its_own_style_sheet_is_applied"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        f"--basetemp={tmp_path / 'base'}",
        chosen,
    ]
    environment = os.environ | {"PATH": str(tmp_path)}
    ran = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "apt-get install -y --no-install-recommends chromium" in ran.stdout
    assert "skipped" not in ran.stdout
