"""The table of an index's recall, for a program and for a terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from visual_search.counted import counted
from visual_search.evaluation.text_table import decimals, text_table
from visual_search.undefined import none_if_nan

if TYPE_CHECKING:
    from visual_search.evaluation.neighbor_recall_table import NeighborRecallTable
    from visual_search.evaluation.query_recall import QueryRecall

__all__ = ["summary_lines", "table_json", "table_text"]

_SHARES = (0.5, 0.9, 0.99)


def table_json(table: NeighborRecallTable, *, threshold: float, worst: int) -> dict[str, Any]:
    """As a JSON object; undefined is null."""
    interval = table.interval
    return {
        "measure": str(table.measure),
        "words": table.measure.words,
        "truth": {"label": table.truth.label(), "kind": table.truth.kind, "fingerprint": table.truth.fingerprint},
        "num_queries": len(table),
        "undefined": len(table) - len(table.defined),
        "mean": none_if_nan(table.mean),
        "interval": None if interval is None else interval.as_json(),
        "mean_missed": none_if_nan(table.mean_missed),
        "minimum": none_if_nan(table.minimum),
        "quantiles": {str(share): none_if_nan(value) for share, value in table.quantiles().items()},
        "share_below": {"threshold": threshold, "share": none_if_nan(table.share_below(threshold))},
        "zero_recall_queries": list(table.zero_recall_queries),
        "zero_recall_interval": list(table.zero_recall_interval) if len(table.defined) else None,
        "by_dimension": [
            {"lowest": low, "highest": high, "num_queries": count, "mean": mean}
            for low, high, count, mean in table.by_dimension()
        ],
        "worst": [one.as_json() for one in table.worst(worst)],
        "queries": list(table.queries),
        "recall": [none_if_nan(value) for value in table.recall.tolist()],
        "returned": table.returned.tolist(),
        "tied": table.tied.tolist(),
        "missed": table.missed.tolist(),
        "lower_bound": table.lower_bound.tolist(),
        "latency": None if table.latency is None else table.latency.tolist(),
        "dimension": [none_if_nan(value) for value in table.hardness.dimension.tolist()],
        "contrast": [none_if_nan(value) for value in table.hardness.contrast.tolist()],
        "notes": list(table.notes),
    }


def summary_lines(table: NeighborRecallTable, *, threshold: float) -> list[str]:
    """The table in sentences, without single queries."""
    over = counted(len(table.defined), "query", "queries")
    none = counted(len(table.zero_recall_queries), "query", "queries")
    interval = table.interval
    missed = f"{decimals(table.mean_missed)} neighbours missed a query"
    below = f"share of queries below {threshold}: {decimals(table.share_below(threshold))}"
    lines = [
        f"{table.measure} = {decimals(table.mean)} over {over}, {missed}",
        f"lowest {decimals(table.minimum)}; {none} with none found; {below}",
        "  ".join(f"{share:.0%} of the queries up to {value:.3f}" for share, value in table.quantiles().items()),
    ]
    if interval is not None:
        low, high = table.zero_recall_interval
        mean = f"{interval.low:.3f} to {interval.high:.3f}"
        lines.append(f"with other queries, at 95 %: mean {mean}; share with none found {low:.3f} to {high:.3f}")
    parts = table.by_dimension()
    if parts:
        shown = ", ".join(f"{mean:.3f} at {low:.1f} to {high:.1f}" for low, high, _, mean in parts)
        lines.append(f"by local intrinsic dimension, a quarter of the queries each: {shown}")
    if table.latency is not None and len(table):
        slow = np.quantile(table.latency, _SHARES, method="inverted_cdf") * 1e3
        lines.append("latency: " + ", ".join(f"{v:.2f} ms at {s:.0%}" for s, v in zip(_SHARES, slow, strict=True)))
    return lines


def table_text(table: NeighborRecallTable, *, threshold: float, worst: int) -> str:
    """The summary and the worst queries, in lines."""
    lines = [*summary_lines(table, threshold=threshold), ""]
    rows = [_row(one) for one in table.worst(worst) if one.missed]
    if rows:
        header = ["query", "recall", "returned", "missed", "dimension", "contrast", "ms", "missing neighbours"]
        lines += [text_table(header, rows), ""]
    return "\n".join([*lines, *table.notes])


def _row(one: QueryRecall) -> list[str]:
    named = ", ".join(f"{item} (rank {rank})" for item, rank in one.missing[:5])
    more = f" and {len(one.missing) - 5} more" if len(one.missing) > 5 else ""
    return [
        str(one.query),
        decimals(one.recall),
        str(one.returned),
        str(one.missed),
        "" if math.isnan(one.dimension) else f"{one.dimension:.1f}",
        "" if math.isnan(one.contrast) else f"{one.contrast:.2f}",
        "" if one.latency is None else f"{one.latency * 1e3:.2f}",
        named + more,
    ]
