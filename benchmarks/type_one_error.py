"""How often the paired randomisation test calls two equal systems different, over 10,000 simulated pairs.

Both systems of a pair have values from one distribution on the same queries, which succeed and fail together in
groups (see ``visual_search.testing.simulated_queries``). At the 5 % level, 5 % should come out. ``--write`` puts the
table into docs/explanation/statistics.md.

    python benchmarks/type_one_error.py [--pairs 10000] [--flips 999] [--write]
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import get_args

import numpy as np

from visual_search.evaluation.provenance import machine, versions
from visual_search.evaluation.statistics.flips import flip_test
from visual_search.testing.simulated_queries import SimulatedKind, simulated_groups, simulated_values

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "statistics.md"
BEGIN, END = "<!-- table of errors: benchmarks/type_one_error.py -->", "<!-- end of errors -->"
GROUPS = (10, 20, 50, 200)
LEVEL = 0.05
BATCH = 100


def type_one_error(kind: SimulatedKind, groups: int, pairs: int, flips: int) -> tuple[float, float]:
    """Share of pairs with p at most 5 %: groups signed together, and queries signed one by one."""
    codes = simulated_groups(groups)
    together = np.arange(groups)[:, None] == codes
    found = np.zeros(2)
    for batch, start in enumerate(range(0, pairs, BATCH)):
        count = min(BATCH, pairs - start)
        first, second = (
            simulated_values(groups, count, kind=kind, seed=1_000_000 * groups + 2 * batch + side)
            for side in (0, 1)
        )
        difference = first - second
        for place, sums in enumerate((together.astype(np.float64) @ difference, difference)):
            found[place] += (flip_test(sums, flips=flips, seed=batch).p_values <= LEVEL).sum()
    return float(found[0] / pairs), float(found[1] / pairs)


def main() -> None:
    """Simulate, print and perhaps write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--flips", type=int, default=999)
    parser.add_argument("--write", action="store_true", help="put the table into the documentation")
    options = parser.parse_args()
    begun = time.perf_counter()
    lines = ["| values | groups | groups signed together | queries signed one by one |", "|---|---:|---:|---:|"]
    for kind in get_args(SimulatedKind):
        for groups in GROUPS:
            shares = type_one_error(kind, groups, options.pairs, options.flips)
            lines.append(f"| {kind} | {groups} | " + " | ".join(f"{100 * share:.2f} %" for share in shares) + " |")
            print(lines[-1], flush=True)
    table = "\n".join(lines)
    print(json.dumps({"machine": machine(), "versions": versions()}), table, sep="\n")
    print(f"{options.pairs} pairs, {options.flips} flips: {time.perf_counter() - begun:.0f} s")
    if options.write:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
