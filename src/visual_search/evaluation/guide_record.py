"""The results JSON: the evaluation guide's keys first and in its order, then what makes them trustworthy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.fingerprints import fingerprint_pictures, fingerprints_of
from visual_search.evaluation.item_states import relevant_counts
from visual_search.evaluation.provenance import machine, versions
from visual_search.evaluation.result import Result
from visual_search.formats.image_places import is_sha256
from visual_search.formats.result_record import FORMAT, FORMAT_VERSION
from visual_search.ids import Id
from visual_search.undefined import none_if_nan

if TYPE_CHECKING:
    from visual_search.evaluation.evaluation_result import EvaluationResult

__all__ = ["guide_record", "items_manifest", "per_query_results", "query_columns"]


def guide_record(result: EvaluationResult) -> dict[str, Any]:
    """Give the whole result as a JSON value; undefined numbers are None."""
    numbers = {
        key: {f"{key}_at_{k}": none_if_nan(value) for k, value in getattr(result, f"{key}_at_k").items()}
        for key in ("recall", "precision", "ndcg", "hit_rate")
    }
    return {
        "num_queries": result.num_queries,
        "k_values": result.k_values,
        **numbers["recall"],
        **numbers["precision"],
        "map": none_if_nan(result.map),
        "mrr": none_if_nan(result.mrr),
        "per_query_results": result.per_query_results,
        "timestamp": result.timestamp,
        "model_name": result.model_name,
        **numbers["ndcg"],
        **numbers["hit_rate"],
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "preset": result.measures.preset,
        "ties": result.measures.ties,
        "protocol": None if result.protocol is None else dict(result.protocol),
        "dataset": result.dataset.name,
        "measures": {text: found.as_json() for text, found in result.measures.items()},
        "random_baseline": _means(result.random_baseline),
        "ceilings": _means(result.ceilings),
        "truth": _truth(result),
        "audit": _audit(result),
        "warnings": list(result.warnings),
        "notes": list(result.notes),
        "left_out": _left_out(result),
        "embedder": _copied(result.gallery.embedder),
        "index": _copied(result.gallery.index),
        "ledger": _copied(result.gallery.ledger),
        "fingerprints": fingerprints_of(result.relevance, result.ranking, result.gallery.ids, result.gallery.hashes)
        | {
            "query_pictures": fingerprint_pictures(
                (query.query_id for query in result.dataset.queries), result.query_hashes
            )
        },
        "versions": versions(),
        "machine": machine(),
        "seeds": {"bootstrap": result.resampling.seed},
    }


def per_query_results(result: EvaluationResult) -> list[dict[str, Any]]:
    """Give one dictionary a query: the guide's keys, then ours."""
    guide, measures = result.guide, result.measures
    columns = {
        key: {str(k): plain_list(measures[guide.at(key, k)].values) for k in guide.k_values}
        for key in ("recall", "precision", "ndcg", "hit_rate")
    }
    average_precision = plain_list(measures[guide.average_precision].values)
    counts = relevant_counts(result.relevance).tolist()
    reciprocal_rank = plain_list(measures[guide.reciprocal_rank].values)

    def at_k(key: str, row: int) -> dict[str, float | None]:
        return {k: column[row] for k, column in columns[key].items()}

    return [
        {
            "query_id": query.query_id,
            "recall_at_k": at_k("recall", row),
            "precision_at_k": at_k("precision", row),
            "average_precision": average_precision[row],
            "reciprocal_rank": reciprocal_rank[row],
            "ndcg_at_k": at_k("ndcg", row),
            "hit_rate_at_k": at_k("hit_rate", row),
            "num_relevant": count,
            "group": query.group,
            "category": query.category,
        }
        for row, (query, count) in enumerate(zip(result.dataset.queries, counts, strict=True))
    ]


def query_columns(result: EvaluationResult) -> dict[str, Any]:
    """Columns of the queries' table: ids, groups, R, and one column a measure."""
    queries = result.dataset.queries
    return {
        "query": [query.query_id for query in queries],
        "group": [query.group for query in queries],
        "category": [query.category for query in queries],
        "num_relevant": relevant_counts(result.relevance),
        **{text: found.values for text, found in result.measures.items()},
    }


def items_manifest(result: EvaluationResult) -> dict[str, Any] | None:
    """Where the images of items and queries are, and what they were; None where no place is known."""
    paths = {q.query_id: path for q in result.dataset.queries if (path := result.dataset.image_of(q)) is not None}
    sides = {
        "items": (result.gallery.places, result.gallery.hashes or {}),
        "queries": (_places(paths), result.query_hashes),
    }
    known = {side: _with_hashes(places, hashes) for side, (places, hashes) in sides.items() if places is not None}
    return known or None


def _with_hashes(places: Mapping[str, Any], hashes: Mapping[Id, str]) -> dict[str, Any]:
    """Places with the SHA-256 of each file that has one; another's service may call something else a hash."""
    found = {name: str(told).removeprefix("sha256:").lower() for name, told in hashes.items()}
    kept = {name: told for name, told in found.items() if is_sha256(told)}
    return {**places, "sha256": kept} if kept else dict(places)


def plain_list(values: npt.NDArray[np.float64]) -> list[float | None]:
    """Give the numbers, None where undefined."""
    listed: list[float | None] = values.tolist()
    for row in np.flatnonzero(np.isnan(values)).tolist():
        listed[row] = None
    return listed


def _means(result: Result | None) -> dict[str, float | None] | None:
    return None if result is None else {text: none_if_nan(found.mean) for text, found in result.items()}


def _truth(result: EvaluationResult) -> dict[str, Any]:
    pseudo = result.dataset.pseudo
    if pseudo is None:
        return {"kind": "complete" if result.dataset.complete else "judged"}
    # What a file says of its own truth must not hide that a model chose it.
    return {**pseudo, "pseudo_model": pseudo.get("model_name"), "kind": "pseudo"}


def _audit(result: EvaluationResult) -> dict[str, Any]:
    absent = None if result.absent is None else {str(item): near for item, near in result.absent.nearest.items()}
    return {**result.audit.as_json(), "absent_items": absent}


def _left_out(result: EvaluationResult) -> dict[str, Any]:
    return {
        "queries_missing_from_ranking": list(result.measures.missing_queries),
        "queries_without_relevant": list(result.audit.empty),
        "pairs_ignored": int(result.relevance.ignored.sum()),
    }


def _copied(told: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if told is None else dict(told)


def _places(paths: Mapping[Id, Path]) -> dict[str, Any] | None:
    if not paths:
        return None
    absolute = {query: Path(os.path.normpath(path.absolute())) for query, path in paths.items()}
    root = Path(os.path.commonpath([path.parent for path in absolute.values()]))
    return {
        "root": str(root),
        "paths": {query: path.relative_to(root).as_posix() for query, path in absolute.items()},
    }
