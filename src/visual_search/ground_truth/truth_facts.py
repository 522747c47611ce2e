"""What a truth says of itself, for a program and for a person."""

from __future__ import annotations

from typing import Any

import numpy as np

from visual_search.counted import counted
from visual_search.ground_truth.exact_neighbors import ExactNeighbors

__all__ = ["truth_facts", "truth_words"]


def truth_facts(truth: ExactNeighbors) -> dict[str, Any]:
    """As a JSON object: what was asked of what, how much of it is proven, and what it cost."""
    evaluations = truth.answers.evaluations
    ties = np.diff(truth.answers.tie_offsets)
    return {
        "label": truth.label(),
        "kind": truth.kind,
        "metric": truth.metric,
        "k": truth.k,
        "num_queries": len(truth),
        "gallery_size": truth.gallery_size,
        "scope": truth.scope.as_json(),
        "certified": int(truth.certified.sum()),
        "queries_with_ties_beyond_k": int((ties > 0).sum()),
        "queries_with_more_ties_than_kept": int(truth.ties_capped.sum()),
        "evaluations": {
            "median": float(np.median(evaluations)) if len(evaluations) else 0.0,
            "largest": int(evaluations.max(initial=0)),
        },
        "fingerprint": truth.fingerprint,
        "gallery_fingerprint": truth.gallery_fingerprint,
        "queries_fingerprint": truth.queries_fingerprint,
        "versions": dict(truth.versions),
    }


def truth_words(truth: ExactNeighbors) -> str:
    """The same in some lines."""
    facts = truth_facts(truth)
    proven, cost = facts["certified"], facts["evaluations"]
    lines = [
        f"{truth.label()}, for {counted(len(truth), 'query', 'queries')}",
        f"certified: {proven:,} of {len(truth):,}"
        + ("" if proven == len(truth) else "; of the others a nearer item may have been left out"),
        f"items tie with the last neighbour, beyond the answer: in {facts['queries_with_ties_beyond_k']:,} queries"
        + (
            f"; in {facts['queries_with_more_ties_than_kept']:,} there are, or may be, more than were kept"
            if facts["queries_with_more_ties_than_kept"]
            else ""
        ),
        (
            f"items whose exact distance was computed: {cost['median']:,.0f} a query in the median, "
            f"{cost['largest']:,} at most"
        ),
        f"gallery {truth.gallery_fingerprint}",
        f"queries {truth.queries_fingerprint}",
        "; ".join(f"{name} {version}" for name, version in truth.versions.items()),
    ]
    return "\n".join(lines)
