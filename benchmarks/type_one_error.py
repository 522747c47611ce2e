"""How often the paired randomisation test calls two equal systems different, over 10,000 simulated pairs.

Both systems of a pair have values from one distribution on the same queries, which succeed and fail together in
groups (see ``visual_search.testing.simulated_queries``). At the 5 % level, 5 % should come out. ``--write`` puts the
table into docs/explanation/statistics.md.

    python benchmarks/type_one_error.py [--pairs 10000] [--flips 999] [--write]
"""

from __future__ import annotations

import time
from typing import get_args

import numpy as np
from documented_table import EXPLANATION, DocumentedTable, table_options

from visual_search.evaluation.statistics.flips import flip_test
from visual_search.testing.simulated_queries import SimulatedKind, simulated_groups, simulated_values

TABLE = DocumentedTable(
    EXPLANATION / "statistics.md",
    "<!-- table of errors: benchmarks/type_one_error.py -->",
    "<!-- end of errors -->",
)
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
    options = table_options(__doc__, pairs=10_000, flips=999)
    begun = time.perf_counter()
    lines = ["| values | groups | groups signed together | queries signed one by one |", "|---|---:|---:|---:|"]
    for kind in get_args(SimulatedKind):
        for groups in GROUPS:
            shares = type_one_error(kind, groups, options.pairs, options.flips)
            lines.append(f"| {kind} | {groups} | " + " | ".join(f"{100 * share:.2f} %" for share in shares) + " |")
            print(lines[-1], flush=True)
    remark = f"{options.pairs} pairs, {options.flips} flips: {time.perf_counter() - begun:.0f} s"
    TABLE.show(lines, remark, write=options.write)


if __name__ == "__main__":
    main()
