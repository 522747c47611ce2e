"""Start-up: the package and its command against the import of NumPy, each in a fresh process.

Prints medians of several runs taken in turn, the ratios, the machine and the versions. The aim for
``visual-search --help`` is at most 3 times ``python -c "import numpy"``.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import time

import numpy as np

from visual_search import __version__

COMMANDS = {
    "import numpy": [sys.executable, "-c", "import numpy"],
    "import visual_search": [sys.executable, "-c", "import visual_search"],
    "visual-search --help": [sys.executable, "-m", "visual_search", "--help"],
    "visual-search evaluate --help": [sys.executable, "-m", "visual_search", "evaluate", "--help"],
}


def seconds(command: list[str]) -> float:
    """Wall time of one fresh process."""
    begun = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def main() -> None:
    """Time the commands in turn and print their medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
          f"NumPy {np.__version__}, visual-search {__version__}")  # fmt: skip
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for run in range(runs + 1):
        for name, command in COMMANDS.items():
            spent = seconds(command)
            if run:  # the first warms the file cache
                taken[name].append(spent)
    base = statistics.median(taken["import numpy"])
    for name, all_spent in taken.items():
        middle = statistics.median(all_spent)
        print(f"{name:<32} {1000 * middle:7.0f} ms  {middle / base:5.2f} x")


if __name__ == "__main__":
    main()
