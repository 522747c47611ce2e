"""How often 95 % intervals hold the true mean, on simulated queries that succeed and fail together in groups.

For each number of groups, 2,000 data sets are simulated (see ``visual_search.testing.simulated_queries``), and each
gets an interval by the bootstrap over groups (percentiles, corrected ones, and these widened, which is the default)
and by one over queries, which takes them for independent. The data sets of a batch share their resamples, each batch
having a seed of its own. ``--write`` puts the table into docs/explanation/statistics.md.

    python benchmarks/coverage.py [--simulations 2000] [--resamples 2000] [--write]
"""

from __future__ import annotations

import time
from typing import get_args

import numpy as np
from documented_table import EXPLANATION, DocumentedTable, table_options

from visual_search.evaluation.statistics.bootstrap import bootstrap_ratios
from visual_search.evaluation.statistics.interval import IntervalMethod, Resampling
from visual_search.testing.simulated_queries import TRUE_MEAN, SimulatedKind, simulated_groups, simulated_values

TABLE = DocumentedTable(
    EXPLANATION / "statistics.md", "<!-- table of coverage: benchmarks/coverage.py -->", "<!-- end of table -->"
)
GROUPS = (10, 20, 50, 200)
BATCH = 100


def coverage(kind: SimulatedKind, groups: int, simulations: int, resamples: int) -> dict[str, float]:
    """Share of the simulations whose interval holds the true mean, for each way of making it."""
    values = simulated_values(groups, simulations, kind=kind, seed=groups)
    codes = simulated_groups(groups).tolist()
    ways: list[tuple[str, list[int] | None, IntervalMethod, bool]] = [
        ("groups, percentile", codes, "percentile", False),
        ("groups, BCa", codes, "bca", False),
        ("groups, widened BCa (the default)", codes, "bca", True),
        ("queries, percentile", None, "percentile", False),
        ("queries, widened BCa", None, "bca", True),
    ]
    held = dict.fromkeys((way[0] for way in ways), 0)
    for name, units, method, widened in ways:
        for batch, start in enumerate(range(0, simulations, BATCH)):
            part = values[:, start : start + BATCH]
            settings = Resampling(resamples=resamples, seed=batch, method=method, widened=widened)
            made = bootstrap_ratios(part, np.ones_like(part), groups=units, resampling=settings)
            held[name] += sum(one is not None and TRUE_MEAN in one for one in made)
    return {name: count / simulations for name, count in held.items()}


def main() -> None:
    """Simulate, print and perhaps write the table."""
    options = table_options(__doc__, simulations=2000, resamples=2000)
    begun = time.perf_counter()
    lines: list[str] = []
    for kind in get_args(SimulatedKind):
        for groups in GROUPS:
            shares = coverage(kind, groups, options.simulations, options.resamples)
            if not lines:
                lines = [
                    "| values | groups | queries | " + " | ".join(shares) + " |",
                    "|---|" + "---:|" * (2 + len(shares)),
                ]
            cells = " | ".join(f"{100 * share:.1f} %" for share in shares.values())
            lines.append(f"| {kind} | {groups} | {len(simulated_groups(groups))} | {cells} |")
            print(lines[-1], flush=True)
    remark = (
        f"{options.simulations} simulations of {options.resamples} resamples: {time.perf_counter() - begun:.0f} s"
    )
    TABLE.show(lines, remark, write=options.write)


if __name__ == "__main__":
    main()
