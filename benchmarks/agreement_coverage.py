"""How often intervals of agreement, intervals that know the judges, and forecasts hold, on simulated judges.

Three tables, which ``--write`` puts into docs/explanation/judging.md:

- coefficients of agreement: three judges of fixed leniency, a fifth of the marks missing, queries drawn anew in each
  simulation; the true value is that of 4,000 queries;
- scores: queries and a panel of judges drawn anew in each simulation, an interval over queries and one that knows the
  judges; the true value is the mean over 400 panels of 100 queries each;
- forecasts: the true difference of two systems drawn from a wide distribution, or from one as wide as the standard
  error of what is seen; of the pairs not yet separated, how many are after the forecast number of queries.

    python benchmarks/agreement_coverage.py [--simulations 400] [--resamples 1000] [--write]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.provenance import machine, versions
from visual_search.evaluation.scoring import evaluate
from visual_search.evaluation.statistics.beta import student_quantile
from visual_search.evaluation.statistics.interval import Resampling
from visual_search.judging.aggregation import relevance_of_judgements
from visual_search.judging.agreement import agreement
from visual_search.judging.judge_intervals import judge_intervals
from visual_search.judging.judgements_needed import groups_to_separate
from visual_search.testing.simulated_judgements import simulated_judgements, simulated_study

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "judging.md"
MEASURES = ("nDCG@5", "AP@10", "Precision@3")
# queries, judges, judges a pair, share of pairs that get so many, leniency's spread, rule
DESIGNS = (
    (40, 2, 2, 1.0, 0.5, "mean"),
    (40, 3, 3, 1.0, 0.5, "majority"),
    (40, 5, 2, 1.0, 0.5, "mean"),
    (100, 5, 5, 1.0, 0.5, "median"),
    (40, 4, 2, 0.3, 0.5, "mean"),
    (40, 3, 3, 1.0, 0.0, "majority"),
)
PANELS, PANEL_QUERIES = 400, 100


def agreement_table(simulations: int, resamples: int) -> Iterator[str]:
    """Coverage of every coefficient's interval."""
    truth = {one.name: one.value for one in agreement(simulated_judgements(4000, seed=10**6)).overall}
    yield "| queries | " + " | ".join(truth) + " |"
    yield "|---:|" + "---:|" * len(truth)
    for queries in (10, 20, 50):
        held = dict.fromkeys(truth, 0)
        for seed in range(simulations):
            table = simulated_judgements(queries, seed=seed)
            for one in agreement(table, resampling=Resampling(resamples=resamples), pair_intervals=False).overall:
                held[one.name] += one.interval is not None and truth[one.name] in one.interval
        yield f"| {queries} | " + " | ".join(percent(count / simulations) for count in held.values()) + " |"


def score_table(simulations: int, resamples: int) -> Iterator[str]:
    """Coverage of a score's intervals, over queries and over queries and judges."""
    heads = [f"{measure}, {kind}" for measure in MEASURES for kind in ("queries", "and judges")]
    yield "| queries | judges | a pair | judges differ | rule | " + " | ".join(heads) + " |"
    yield "|---:|---:|---|---:|---|" + "---:|" * len(heads)
    for queries, judges, per_pair, overlap, spread, rule in DESIGNS:
        design = {"per_pair": per_pair, "overlap": overlap, "spread": spread}
        true = np.zeros(len(MEASURES))
        for seed in range(PANELS):
            ranking, table = simulated_study(PANEL_QUERIES, judges, seed=10**6 + seed, **design)  # type: ignore[arg-type]
            found = evaluate(ranking, relevance_of_judgements(table, rule), MEASURES)
            true += np.array([one.mean for one in found.values()]) / PANELS
        held = np.zeros((len(MEASURES), 2))
        for seed in range(simulations):
            ranking, table = simulated_study(queries, judges, seed=seed, **design)  # type: ignore[arg-type]
            settings = Resampling(resamples=resamples)
            for row, one in enumerate(judge_intervals(ranking, table, MEASURES, rule=rule, resampling=settings)):
                for column, interval in enumerate((one.queries_only, one.interval)):
                    held[row, column] += interval is not None and float(true[row]) in interval
        each = f"{per_pair}" if overlap == 1 else f"{per_pair} of {overlap:.0%}, else 1".replace("%", " %")
        cells = " | ".join(percent(share) for share in (held / simulations).ravel())
        yield f"| {queries} | {judges} | {each} | {spread} | {rule} | {cells} |"


def forecast_table(simulations: int) -> Iterator[str]:
    """How often the interval excludes 0 after the forecast number of queries, 80 % being meant."""
    yield "| true differences | queries so far | separated after the forecast | median forecast, further queries |"
    yield "|---|---:|---:|---:|"
    for words, width in (("of any size", None), ("as large as their standard error", 1.0)):
        for queries in (20, 50):
            rng, held, forecasts = np.random.default_rng(queries), 0, list[int]()
            while len(forecasts) < simulations:
                error = 1 / np.sqrt(queries)
                true = (
                    rng.uniform(-20 * error, 20 * error) if width is None else width * error * rng.standard_normal()
                )
                seen = true + rng.standard_normal(queries)
                if separated(seen):
                    continue
                more = groups_to_separate(float(seen.mean()), float(seen.std(ddof=1)), queries)
                held += separated(np.concatenate((seen, true + rng.standard_normal(more))))
                forecasts.append(more)
            yield f"| {words} | {queries} | {percent(held / simulations)} | {int(np.median(forecasts)):,} |"


def separated(values: npt.NDArray[np.float64]) -> bool:
    """Whether Student's interval of the mean excludes 0."""
    edge = student_quantile(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return bool(abs(values.mean()) > edge)


def percent(share: float) -> str:
    """A share as the page writes it."""
    return f"{100 * share:.1f} %"


def main() -> None:
    """Simulate, print and perhaps write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--write", action="store_true", help="put the tables into the documentation")
    options = parser.parse_args()
    begun = time.perf_counter()
    print(json.dumps({"machine": machine(), "versions": versions()}))
    made = {
        "agreement coverage": agreement_table(options.simulations, options.resamples),
        "judge coverage": score_table(options.simulations, options.resamples),
        "forecasts": forecast_table(options.simulations),
    }
    for name, lines in made.items():
        table = []
        for line in lines:
            table.append(line)
            print(line, flush=True)
        if options.write:
            begin = f"<!-- table of {name}: benchmarks/agreement_coverage.py -->"
            end = f"<!-- end of {name} -->"
            before, _, rest = PAGE.read_text("utf-8").partition(begin)
            _, _, after = rest.partition(end)
            PAGE.write_text(f"{before}{begin}\n\n" + "\n".join(table) + f"\n\n{end}{after}", "utf-8")
    print(f"{options.simulations} simulations, {options.resamples} resamples: {time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
