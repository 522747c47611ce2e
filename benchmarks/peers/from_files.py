"""One tool, one run and one qrels file, twenty measures: what `benchmarks/measures.py` starts in a process of its own.

Imports nothing that the tool itself does not, so that its start is its own.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

OURS = [
    *("AP", "AP@10", "AP@100", "nDCG", "nDCG@10", "nDCG@100", "Precision@5", "Precision@10", "Precision@100"),
    *("Recall@10", "Recall@100", "Recall@1000", "RR", "RPrecision", "Bpref"),
    *("HitRate@1", "HitRate@5", "HitRate@10", "RR@10", "nDCG(gain=exponential)@10"),
]
PYTREC_EVAL = {
    *("map", "map_cut.10,100", "ndcg", "ndcg_cut.5,10,100", "P.5,10,100", "recall.10,100,1000", "recip_rank"),
    *("Rprec", "bpref", "success.1,5,10"),
}
IR_MEASURES = [
    *("AP", "AP@10", "AP@100", "nDCG", "nDCG@5", "nDCG@10", "nDCG@100", "P@1", "P@5", "P@10", "P@100"),
    *("R@10", "R@100", "R@1000", "RR", "Rprec", "Bpref", "Success@1", "Success@5", "Success@10"),
]
RANX = [
    *("map", "map@10", "map@100", "ndcg", "ndcg@5", "ndcg@10", "ndcg@100", "ndcg_burges@10", "precision@5"),
    *("precision@10", "precision@100", "recall@10", "recall@100", "recall@1000", "mrr", "mrr@10", "r-precision"),
    *("hit_rate@1", "hit_rate@5", "hit_rate@10"),
]


def ours(run: str, qrels: str) -> float:
    """Visual Search, with exact expectations under ties."""
    from visual_search import Relevance, RunFile, evaluate

    return evaluate(RunFile(run), Relevance.from_trec(qrels), OURS)["AP"].mean


def pytrec_eval(run: str, qrels: str) -> float:
    """The trec_eval bindings."""
    from pytrec_eval import RelevanceEvaluator, parse_qrel, parse_run

    with Path(run).open() as run_lines, Path(qrels).open() as qrel_lines:
        values = RelevanceEvaluator(parse_qrel(qrel_lines), PYTREC_EVAL).evaluate(parse_run(run_lines))
    return float(sum(found["map"] for found in values.values()) / len(values))


def ir_measures(run: str, qrels: str) -> float:
    """The measure language with its default providers."""
    import ir_measures as ir

    measures = [ir.parse_measure(text) for text in IR_MEASURES]
    found = ir.calc_aggregate(measures, ir.read_trec_qrels(qrels), ir.read_trec_run(run))
    return float(found[ir.parse_measure("AP")])


def ranx(run: str, qrels: str) -> float:
    """The just-in-time compiled one."""
    from ranx import Qrels, Run, evaluate

    found = evaluate(Qrels.from_file(qrels, kind="trec"), Run.from_file(run, kind="trec"), RANX)
    return float(found["map"])


def peak_megabytes() -> float:
    """Most memory this process has held; other counts go on from the process it was started by."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024


if __name__ == "__main__":
    tools = {"ours": ours, "pytrec_eval": pytrec_eval, "ir_measures": ir_measures, "ranx": ranx}
    ap = tools[sys.argv[1]](*sys.argv[2:4])
    print(json.dumps({"ap": ap, "mb": peak_megabytes()}))
