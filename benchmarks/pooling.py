"""How well a tenth of the judgements orders systems: orders of judging beside the pool of fixed depth and chance.

Eight simulated systems of rising quality return 50 items each for 40 queries; who judged all pairs of the pool would
order them by AP. A share of each query's pooled pairs is judged in an order, each judgement known to the next choice,
the others count as not relevant, and Kendall's tau compares the order of the systems with that of full relevance.
``fixed`` is the pool of a depth that costs as much. Means over seeds with 95 % intervals. ``--write`` puts the table
into docs/explanation/judging.md.

    python benchmarks/pooling.py [--seeds 30] [--write]
"""

from __future__ import annotations

import time

import numpy as np
from documented_table import EXPLANATION, DocumentedTable, table_options

from visual_search.evaluation.statistics.bootstrap import bootstrap_mean
from visual_search.judging.task import ORDERS
from visual_search.testing.simulated_pools import judged_in_order, kendall_tau, simulated_pool, system_means

TABLE = DocumentedTable(
    EXPLANATION / "judging.md", "<!-- table of orders: benchmarks/pooling.py -->", "<!-- end of orders -->"
)
STEPS = {"apart": 0.2, "close": 0.1}
SHARES = (0.05, 0.1)
QUERIES = 40


def taus(step: float, share: float, seeds: int) -> dict[str, tuple[list[float], float]]:
    """Kendall's tau of each seed for every order, and the relevant items found on average, as a share of all pooled."""
    made: dict[str, tuple[list[float], float]] = {}
    for order in ORDERS:
        values, found = [], []
        for seed in range(seeds):
            pool = simulated_pool(queries=QUERIES, step=step, seed=seed)
            judged = judged_in_order(pool, order, share, seed=seed)
            values.append(kendall_tau(system_means(pool), system_means(pool, judged)))
            pooled = sum(int(pool.relevant[query, pool.pooled(query)[0]].sum()) for query in range(QUERIES))
            found.append(judged.grades.sum() / pooled)
        made[order] = values, float(np.mean(found))
    return made


def main() -> None:
    """Simulate, print and perhaps write the table."""
    options = table_options(__doc__, seeds=30)
    begun = time.perf_counter()
    lines = [
        "| systems | judged | order | Kendall's tau | 95 % | relevant items found |",
        "|---|---:|---|---:|---|---:|",
    ]
    for words, step in STEPS.items():
        for share in SHARES:
            for order, (values, found) in taus(step, share, options.seeds).items():
                between = bootstrap_mean(np.array(values))
                ends = "-" if between is None else f"{between.low:.3f} to {between.high:.3f}"
                lines.append(
                    f"| {words} | {share:.0%} | `{order}` | {np.mean(values):.3f} | {ends} | {found:.0%} |".replace(
                        "%", " %"
                    )
                )
                print(lines[-1], flush=True)
    remark = f"{options.seeds} seeds: {time.perf_counter() - begun:.0f} s"
    TABLE.show(lines, remark, write=options.write)


if __name__ == "__main__":
    main()
