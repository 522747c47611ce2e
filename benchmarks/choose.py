"""How often a certified setting misses its target on fresh queries, and how often something is certified at all.

A population of queries with known recall under a ladder of settings is simulated (see
``visual_search.testing.simulated_recalls``), one of them a ten-thousandth below the target, which is the hardest case.
From it validation queries are drawn again and again; each rule chooses; the mean of the queries that were not drawn
tells whether it was right. Rules: the plain mean; Student's bound, a betting bound [1] and Gaffke's bound, these three
with the same fixed-sequence test along the ladder. With ``--ladders`` above 1 the ladder stands there several times,
with other queries easy, and the level is divided. ``--write`` puts the table into docs/explanation/choosing.md.

    python benchmarks/choose.py [--draws 2000] [--write]

[1] I. Waudby-Smith, A. Ramdas, Estimating means of bounded random variables by betting, Journal of the Royal
Statistical Society B 86, 2024.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import exp, log, sqrt
from typing import get_args

import numpy as np
import numpy.typing as npt
from documented_table import EXPLANATION, DocumentedTable, table_options

from visual_search.evaluation.statistics.beta import beta_cdf
from visual_search.testing.simulated_recalls import RecallKind, simulated_recalls
from visual_search.tuning.lower_bound import p_value

FloatArray = npt.NDArray[np.float64]
TABLE = DocumentedTable(
    EXPLANATION / "choosing.md", "<!-- table of choices: benchmarks/choose.py -->", "<!-- end of table -->"
)
TARGET, LEVEL = 0.95, 0.05
# Below the target, a hair below it, and above it by .01 at most.
MEANS = (0.80, 0.86, 0.90, 0.92, 0.93, 0.94, 0.945, 0.9499, 0.96)
SIZES = (100, 300, 800, 1000)


def student(values: FloatArray, target: float, _level: float) -> float:
    """One-sided p-value of Student's test."""
    spread = float(values.std(ddof=1))
    distance = float(values.mean()) - target
    if spread == 0:
        return 0.0 if distance > 0 else 1.0
    t, freedom = distance / (spread / sqrt(len(values))), len(values) - 1
    tail = beta_cdf(freedom / (freedom + t * t), freedom / 2, 0.5) / 2
    return tail if t > 0 else 1 - tail


def betting(values: FloatArray, target: float, level: float) -> float:
    """One over the largest capital of one who bets on the mean being above the target; values in the order drawn."""
    n = len(values)
    counts = np.arange(1, n + 1)
    means = (0.5 + np.cumsum(values)) / (counts + 1)
    variances = (0.25 + np.cumsum((values - means) ** 2)) / (counts + 1)
    before = np.concatenate(([0.25], variances[:-1]))
    stakes = np.minimum(np.sqrt(2 * log(1 / level) / (n * before)), 0.75 / target)
    return exp(-min(max(float(np.cumsum(np.log1p(stakes * (values - target))).max()), 0.0), 700.0))


def gaffke(values: FloatArray, target: float, _level: float) -> float:
    """Ours."""
    return p_value(values, target)


RULES: dict[str, Callable[[FloatArray, float, float], float]] = {
    "Student": student,
    "betting": betting,
    "Gaffke (ours)": gaffke,
}


def cheapest(ladder: FloatArray, rule: Callable[[FloatArray, float, float], float], level: float) -> int | None:
    """Down the ladder, from the dearest setting, until one is not certified."""
    found = None
    for place in reversed(range(len(ladder))):
        if rule(ladder[place], TARGET, level) > level:
            break
        found = place
    return found


def rates(kind: RecallKind, queries: int, draws: int, ladders: int) -> dict[str, tuple[float, float]]:
    """For each rule the share of draws with a choice, and with one that missed the target on fresh queries."""
    populations = [simulated_recalls(20_000, MEANS, kind=kind, seed=seed) for seed in range(ladders)]
    rng = np.random.default_rng(queries)
    chosen: dict[str, int] = {}
    missed: dict[str, int] = {}
    for _ in range(draws):
        drawn = rng.permutation(20_000)
        seen, fresh = drawn[:queries], drawn[queries:]
        samples = [population[:, seen] for population in populations]
        truths = [population[:, fresh].mean(axis=1) for population in populations]
        choices: dict[str, list[tuple[int, int]]] = {
            "plain mean": [
                (int(np.argmax(sample.mean(axis=1) >= TARGET)), number)
                for number, sample in enumerate(samples)
                if (sample.mean(axis=1) >= TARGET).any()
            ]
        }
        for name, rule in RULES.items():
            found = [(cheapest(sample, rule, LEVEL / ladders), number) for number, sample in enumerate(samples)]
            choices[name] = [(place, number) for place, number in found if place is not None]
        for name, places in choices.items():
            chosen[name] = chosen.get(name, 0) + bool(places)
            if places:
                place, number = min(places)  # the cheapest of all ladders
                missed[name] = missed.get(name, 0) + bool(truths[number][place] < TARGET)
    return {name: (chosen[name] / draws, missed.get(name, 0) / draws) for name in chosen}


def main() -> None:
    """Simulate, print and perhaps write the table."""
    options = table_options(__doc__, draws=2000, ladders=1)
    begun = time.perf_counter()
    lines: list[str] = []
    for kind in get_args(RecallKind):
        for queries in SIZES:
            found = rates(kind, queries, options.draws, options.ladders)
            if not lines:
                lines = [
                    "| recalls | validation queries | "
                    + " | ".join(f"{name}: chosen / wrong" for name in found)
                    + " |",
                    "|---|" + "---:|" * (1 + len(found)),
                ]
            cells = " | ".join(f"{100 * a:.1f} % / {100 * b:.1f} %" for a, b in found.values())
            lines.append(f"| {kind} | {queries} | {cells} |")
            print(lines[-1], flush=True)
    remark = (
        f"{options.draws} draws, {options.ladders} ladders of {len(MEANS)} settings; 5 % + 2 standard errors is "
        f"{100 * (LEVEL + 2 * sqrt(LEVEL * (1 - LEVEL) / options.draws)):.2f} %; {time.perf_counter() - begun:.0f} s"
    )
    TABLE.show(lines, remark, write=options.write)


if __name__ == "__main__":
    main()
