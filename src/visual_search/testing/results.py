"""Results to try a reader, a table or a page on: measured by plain loops on any similarity matrix.

The numbers are real (each follows its formula on the given similarities), the code is the slow and obvious one. It
serves tests and plug-ins; the evaluation room measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import comb, log2
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.formats.fingerprint import fingerprint_json
from visual_search.formats.results import StoredResult, write_result
from visual_search.ids import Id

__all__ = ["SampleTask", "write_sample_result"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_WORDS = {
    "HitRate": "1 when a relevant item is among the first k, else 0; averaged over the queries",
    "Recall": "relevant items among the first k, divided by all relevant items of the query",
    "Precision": "relevant items among the first k, divided by k; short lists are padded",
    "nDCG": "discounted gain of the first k, divided by that of the best order of all judged items",
    "AP": "precision at each relevant item among the first k, summed and divided by all relevant items",
    "RR": "1 divided by the rank of the first relevant item; 0 when none was returned",
}


@dataclass(frozen=True)
class SampleTask:
    """What is asked and what is right, without a system.

    Parameters
    ----------
    query_ids, item_ids : sequence of ids, lengths n and m
    relevant : bool array of shape (n, m)
    ignored : bool array of shape (n, m), optional
        Pairs taken out of ranking and truth.
    groups : sequence of str or None, length n, optional
        Intervals are drawn over these.
    protocol : dict, optional
        ``{"name": ..., "words": ...}``.
    images : dict, optional
        The manifest of :func:`visual_search.formats.results.write_result`.
    k_values : tuple of int
    """

    query_ids: Sequence[Id]
    item_ids: Sequence[Id]
    relevant: BoolArray
    ignored: BoolArray | None = None
    groups: Sequence[str | None] | None = None
    protocol: dict[str, str] | None = None
    images: dict[str, Any] | None = None
    k_values: tuple[int, ...] = (1, 5, 10, 20)
    extra: dict[str, Any] = field(default_factory=dict)


def write_sample_result(path: Path, task: SampleTask, similarity: FloatArray, *, model_name: str) -> StoredResult:
    """Rank by falling similarity, measure, and write a result.

    Parameters
    ----------
    path : Path
        The JSON file.
    task : SampleTask
        Queries, items and the right answers.
    similarity : float64 array of shape (n, m)
    model_name : str

    Raises
    ------
    InputError
        A shape that does not fit.
    """
    shape = (len(task.query_ids), len(task.item_ids))
    if similarity.shape != shape or task.relevant.shape != shape:
        raise InputError(f"similarity {similarity.shape} and relevant {task.relevant.shape} must both be {shape}")
    ignored = np.zeros(shape, dtype=np.bool_) if task.ignored is None else task.ignored
    orders = [np.argsort(-similarity[row], kind="stable") for row in range(shape[0])]
    kept = [order[~ignored[row, order]] for row, order in enumerate(orders)]
    values = [_values(task.relevant[row, order], task.k_values) for row, order in enumerate(kept)]
    bounds = [
        _bounds(int(task.relevant[row, order].sum()), len(order), task.k_values) for row, order in enumerate(kept)
    ]
    record = _record(task, values, bounds, model_name)
    query, item = np.asarray(task.query_ids, dtype=object), np.asarray(task.item_ids, dtype=object)
    ranking = {
        "query": np.repeat(query, [len(order) for order in kept]),
        "position": np.concatenate([np.arange(1, len(order) + 1) for order in kept]),
        "rank": np.concatenate([np.arange(1, len(order) + 1) for order in kept]),
        "item": np.concatenate([item[order] for order in kept]),
        "score": np.concatenate([similarity[row, order] for row, order in enumerate(kept)]),
        "state": np.where(
            np.concatenate([task.relevant[row, order] for row, order in enumerate(kept)]),
            "relevant",
            "not_relevant",
        ),
    }
    columns = {name: np.array([np.nan if v[name] is None else v[name] for v in values]) for name in values[0]}
    queries = {
        "query": query,
        "group": None if task.groups is None else list(task.groups),
        "num_relevant": [int((task.relevant[row] & ~ignored[row]).sum()) for row in range(shape[0])],
        **columns,
    }
    named = {name: column for name, column in queries.items() if column is not None}
    return write_result(path, record, ranking=ranking, queries=named, items=task.images)


def _values(hits: BoolArray, k_values: Sequence[int]) -> dict[str, float | None]:
    """Every measure of one query whose ranked, judged list is ``hits``."""
    total, deepest = int(hits.sum()), max(k_values)
    ranks = np.flatnonzero(hits) + 1
    first = hits[:deepest]
    precisions = np.cumsum(first)[first] / (np.flatnonzero(first) + 1)
    out: dict[str, float | None] = {}
    for k in k_values:
        found = int(hits[:k].sum())
        gain = sum(1 / log2(rank + 1) for rank in ranks if rank <= k)
        ideal = sum(1 / log2(rank + 1) for rank in range(1, min(total, k) + 1))
        out[f"HitRate@{k}"] = float(found > 0)
        out[f"Recall(denominator=all)@{k}"] = found / total if total else None
        out[f"Precision(denominator=k)@{k}"] = found / k
        out[f"nDCG(gain=linear, ideal=all)@{k}"] = gain / ideal if total else None
    out[f"AP(denominator=all)@{deepest}"] = float(precisions.sum()) / total if total else None
    out["RR"] = 1 / float(ranks[0]) if total else None
    return out


def _bounds(total: int, size: int, k_values: Sequence[int]) -> dict[str, tuple[float | None, float | None]]:
    """Per measure the exact expectation of one query under random order, and the best that is reachable."""
    deepest = max(k_values)
    out: dict[str, tuple[float | None, float | None]] = {}
    for k in k_values:
        cut = min(k, size)
        discounts = sum(1 / log2(rank + 1) for rank in range(1, cut + 1))
        ideal = sum(1 / log2(rank + 1) for rank in range(1, min(total, k) + 1))
        out[f"HitRate@{k}"] = (1 - comb(size - total, cut) / comb(size, cut), float(total > 0))
        out[f"Recall(denominator=all)@{k}"] = (cut / size, min(total, k) / total) if total else (None, None)
        out[f"Precision(denominator=k)@{k}"] = (total / size * cut / k, min(total, k) / k)
        out[f"nDCG(gain=linear, ideal=all)@{k}"] = (
            (total / size * discounts / ideal, 1.0) if total else (None, None)
        )
    if not total:
        return out | {f"AP(denominator=all)@{deepest}": (None, None), "RR": (None, None)}
    step = (total - 1) / (size - 1) if size > 1 else 0.0
    ap = sum((1 + (rank - 1) * step) / rank for rank in range(1, min(deepest, size) + 1)) / size
    rr = sum(comb(size - rank, total - 1) / rank for rank in range(1, size - total + 2)) / comb(size, total)
    return out | {f"AP(denominator=all)@{deepest}": (ap, min(total, deepest) / total), "RR": (rr, 1.0)}


def _mean(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None


def _interval(values: Sequence[float | None], groups: Sequence[str | None] | None) -> dict[str, Any] | None:
    defined = [row for row, value in enumerate(values) if value is not None]
    names = list(range(len(values))) if groups is None else list(groups)
    distinct = list(dict.fromkeys(names[row] for row in defined))
    if len(distinct) < 2:
        return None
    place = {name: number for number, name in enumerate(distinct)}
    sums, counts = np.zeros(len(distinct)), np.zeros(len(distinct))
    for row in defined:
        sums[place[names[row]]] += values[row] or 0.0
        counts[place[names[row]]] += 1
    draws = np.random.default_rng(0).integers(0, len(distinct), (1000, len(distinct)))
    low, high = np.percentile(sums[draws].sum(axis=1) / counts[draws].sum(axis=1), [2.5, 97.5])
    method = "percentile bootstrap over groups"
    settings = {"confidence": 0.95, "method": method, "resamples": 1000, "seed": 0, "groups": len(distinct)}
    return {"low": float(low), "high": float(high), **settings}


def _record(
    task: SampleTask,
    values: list[dict[str, float | None]],
    bounds: list[dict[str, tuple[float | None, float | None]]],
    model_name: str,
) -> dict[str, Any]:
    names, ks, deepest = list(values[0]), list(task.k_values), max(task.k_values)
    columns = {name: [query[name] for query in values] for name in names}
    texts = {
        "recall": "Recall(denominator=all)@{}",
        "precision": "Precision(denominator=k)@{}",
        "ndcg": "nDCG(gain=linear, ideal=all)@{}",
        "hit_rate": "HitRate@{}",
    }
    at_k = {key: {k: text.format(k) for k in ks} for key, text in texts.items()}
    ap = f"AP(denominator=all)@{deepest}"
    means = {f"{key}_at_{k}": _mean(columns[name]) for key, named in at_k.items() for k, name in named.items()}
    guide = {key: mean for key, mean in means.items() if key.startswith(("recall", "precision"))}
    per_query = [
        {
            "query_id": task.query_ids[row],
            **{f"{key}_at_k": {str(k): query[at_k[key][k]] for k in ks} for key in ("recall", "precision")},
            "average_precision": query[ap],
            "reciprocal_rank": query["RR"],
            **{f"{key}_at_k": {str(k): query[at_k[key][k]] for k in ks} for key in ("ndcg", "hit_rate")},
            "num_relevant": int(task.relevant[row].sum()),
            "group": None if task.groups is None else task.groups[row],
            "category": None,
        }
        for row, query in enumerate(values)
    ]
    undefined = {
        name: [q for q, v in zip(task.query_ids, columns[name], strict=True) if v is None] for name in names
    }
    measures = {
        name: {
            "mean": _mean(columns[name]),
            "words": _WORDS[name.partition("@")[0].partition("(")[0]],
            "counted": len(values) - len(undefined[name]),
            "undefined": len(undefined[name]),
            "undefined_queries": undefined[name],
            "interval": _interval(columns[name], task.groups),
        }
        for name in names
    }
    sizes = task.relevant.sum(axis=1)
    return {
        "num_queries": len(values),
        "k_values": ks,
        **guide,
        "map": _mean(columns[ap]),
        "mrr": _mean(columns["RR"]),
        "per_query_results": per_query,
        "timestamp": "2026-01-15T10:30:00Z",
        "model_name": model_name,
        **{key: mean for key, mean in means.items() if key not in guide},
        "format": "visual-search result",
        "format_version": 1,
        "preset": "guide",
        "ties": "listed",
        "protocol": task.protocol,
        "measures": measures,
        "random_baseline": {name: _mean([query[name][0] for query in bounds]) for name in names},
        "ceilings": {name: _mean([query[name][1] for query in bounds]) for name in names},
        "truth": {"kind": "labels", "pseudo_model": None, "threshold": None},
        "audit": {
            "queries": len(values),
            "warnings": [],
            "truth_sizes": {"min": int(sizes.min()), "median": float(np.median(sizes)), "max": int(sizes.max())},
            "categories": None,
            "trivial_queries": [],
            "absent_items": {},
        },
        "warnings": [],
        "notes": [],
        "left_out": {"queries_missing_from_ranking": [], "queries_without_relevant": undefined["RR"]},
        "embedder": {"name": model_name, "dimension": 64, "preprocessing": "grey, 8 x 8", "weights_hash": None},
        "index": {"engine": "flat", "metric": "cosine", "settings": {}, "items": len(task.item_ids), "exact": True},
        "ledger": {"used": len(task.item_ids), "changed": 0, "left_out": 0, "reasons": {}},
        "fingerprints": {
            "gallery": fingerprint_json(list(task.item_ids)),
            "queries": fingerprint_json(list(task.query_ids)),
            "relevance": fingerprint_json(task.relevant.astype(int).tolist()),
            "exclusions": None if task.ignored is None else fingerprint_json(task.ignored.astype(int).tolist()),
            "ranking": None,
        },
        "versions": {"visual_search": "0.1.0", "numpy": np.__version__},
        "machine": {"platform": "sample", "processor": "sample", "cores": 1},
        "seeds": {"bootstrap": 0},
        **task.extra,
    }
