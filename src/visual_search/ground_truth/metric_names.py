"""One name for a metric everywhere: ``ip`` is the inner product, and ``inner_product`` is taken for it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from visual_search.errors import InputError
from visual_search.ground_truth.vector_checks import ExactMetric

__all__ = ["TRUTH_METRICS", "MetricName", "TruthMetric", "metric_name", "searched_metric"]

TruthMetric: TypeAlias = Literal["l2", "ip", "cosine", "hamming", "jaccard"]
#: What a caller may write.
MetricName: TypeAlias = Literal["l2", "ip", "inner_product", "cosine", "hamming", "jaccard"]
TRUTH_METRICS: tuple[TruthMetric, ...] = ("l2", "ip", "cosine", "hamming", "jaccard")


def metric_name(metric: str) -> TruthMetric:
    """The one name under which a metric is written down, in truths, indexes and results alike.

    >>> metric_name("inner_product"), metric_name("l2")
    ('ip', 'l2')
    """
    name = "ip" if metric == "inner_product" else metric
    if name not in TRUTH_METRICS:
        raise InputError(f"metric: got {metric!r}; must be one of {', '.join(TRUTH_METRICS)} (inner_product is ip)")
    return name


def searched_metric(metric: str) -> ExactMetric:
    """The name that `search_exactly` and its kernels have for it."""
    name = metric_name(metric)
    return "inner_product" if name == "ip" else name
