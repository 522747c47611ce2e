"""A scored run as a result on disk: what ``compare``, ``gate`` and ``report`` read of it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from visual_search.evaluation.fingerprints import fingerprints_of
from visual_search.evaluation.guide_measures import GuideMeasures
from visual_search.evaluation.guide_record import plain_list
from visual_search.evaluation.item_states import ranking_columns, relevant_counts
from visual_search.evaluation.provenance import machine, utc_now, versions
from visual_search.evaluation.result import Result
from visual_search.evaluation.scoring import evaluate
from visual_search.formats.result_record import FORMAT, FORMAT_VERSION
from visual_search.formats.results import StoredResult, write_result
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id
from visual_search.rankings.ranking import Ranking
from visual_search.undefined import none_if_nan

__all__ = ["RUN", "write_run_result"]

# Where the lists of a result come from; a run does not tell what it was drawn from, so that nothing is asked of it.
RUN = "run"

_KEYS = ("recall", "precision", "ndcg", "hit_rate")
_USUAL = 10


def write_run_result(
    path: str | os.PathLike[str],
    result: Result,
    ranking: Ranking,
    relevance: Relevance,
    *,
    name: str,
    dataset: str,
    groups: Sequence[Any] | None = None,
    more: Mapping[str, Any] | None = None,
) -> StoredResult:
    """Write what scoring a run gave as a result: the JSON, the lists and the values per query.

    Parameters
    ----------
    path : path
        Ends in ``.json``.
    result : Result
        Of ``evaluate`` on the ranking and relevance.
    ranking, relevance
        What was scored.
    name : str
        What the run is called, as ``model_name``.
    dataset : str
        What the right answers are called.
    groups : sequence, optional
        Group of each query, by name.
    more : mapping, optional
        Further keys of the record.

    Convention
    ----------
    The keys that every result begins with (recall, precision, AP and RR by the evaluation guide) are measured at the
    depths of the result's own measures, 10 where none has one, under the result's tie rule.
    """
    depths = sorted({measure.depth for measure in result.measures if isinstance(measure.depth, int)}) or [_USUAL]
    guide = GuideMeasures(tuple(depths))
    plainly = evaluate(ranking, relevance, guide.all, ties=result.ties)  # type: ignore[arg-type]
    owners: list[Any] = [None] * len(result.queries) if groups is None else list(groups)
    counts = relevant_counts(relevance)
    record = {
        **_guide_keys(plainly, guide, "recall", "precision"),
        "map": none_if_nan(plainly[guide.average_precision].mean),
        "mrr": none_if_nan(plainly[guide.reciprocal_rank].mean),
        "per_query_results": _per_query(plainly, guide, counts.tolist(), owners),
        "timestamp": utc_now(),
        "model_name": name,
        **{key: value for key, value in _guide_keys(plainly, guide, "ndcg", "hit_rate").items() if "_at_" in key},
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "lists": RUN,
        "longest_list": None if result.setting is None else result.setting.longest_list,
        "preset": result.preset,
        "ties": result.ties,
        "protocol": result.protocol,
        "dataset": dataset,
        "measures": {text: found.as_json() for text, found in result.items()},
        "truth": {"kind": "judged"},
        "notes": list(result.notes),
        "left_out": {
            "queries_missing_from_ranking": list(result.missing_queries),
            "queries_without_relevance": list(result.unjudged_queries),
            "pairs_ignored": int(relevance.ignored.sum()),
        },
        "fingerprints": fingerprints_of(relevance, ranking, None),
        "versions": versions(),
        "machine": machine(),
        **(more or {}),
    }
    columns = ranking_columns(ranking, relevance, None, complete=False)
    queries = {
        "query": list(result.queries),
        "group": owners,
        "num_relevant": counts,
        **{text: found.values for text, found in result.items()},
    }
    return write_result(path, record, ranking=_judged(columns, relevance), queries=queries, items=None)


def _guide_keys(measured: Result, guide: GuideMeasures, *keys: str) -> dict[str, Any]:
    head: dict[str, Any] = {"num_queries": len(measured.queries), "k_values": list(guide.k_values)}
    return head | {
        f"{key}_at_{k}": none_if_nan(measured[guide.at(key, k)].mean) for key in keys for k in guide.k_values
    }


def _per_query(
    measured: Result, guide: GuideMeasures, counts: Sequence[int], owners: Sequence[Any]
) -> list[dict[str, Any]]:
    columns = {
        key: {str(k): plain_list(measured[guide.at(key, k)].values) for k in guide.k_values} for key in _KEYS
    }
    average_precision = plain_list(measured[guide.average_precision].values)
    reciprocal_rank = plain_list(measured[guide.reciprocal_rank].values)

    def at_k(key: str, row: int) -> dict[str, float | None]:
        return {k: column[row] for k, column in columns[key].items()}

    return [
        {
            "query_id": query,
            "recall_at_k": at_k("recall", row),
            "precision_at_k": at_k("precision", row),
            "average_precision": average_precision[row],
            "reciprocal_rank": reciprocal_rank[row],
            "ndcg_at_k": at_k("ndcg", row),
            "hit_rate_at_k": at_k("hit_rate", row),
            "num_relevant": counts[row],
            "group": owners[row],
        }
        for row, query in enumerate(measured.queries)
    ]


def _judged(columns: Mapping[str, Any], relevance: Relevance) -> dict[str, Any]:
    """Rows of the queries that were evaluated; those without right answers were not."""
    wanted: set[Id] = set(relevance.queries)
    rows = np.flatnonzero([query in wanted for query in columns["query"]])
    return {
        name: column[rows] if isinstance(column, np.ndarray) else [column[row] for row in rows.tolist()]
        for name, column in columns.items()
    }
