"""A result as text for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from visual_search.counted import counted
from visual_search.evaluation.statistics.agreement import agreement_note, between
from visual_search.evaluation.text_table import decimals, text_table
from visual_search.evaluation.ties import TIE_WORDS

if TYPE_CHECKING:
    from visual_search.evaluation.evaluation_result import EvaluationResult

__all__ = ["summary_text"]

_WIDTH = 100


def summary_text(result: EvaluationResult) -> str:
    """Write the headline, the table of measures, what they mean, warnings and notes."""
    parts = [_headline(result), _table(result), _reading(result)]
    for title, said in (("Warnings", result.warnings), ("Notes", result.notes)):
        if said:
            parts.append(f"{title}\n" + _listed(said))
    return "\n\n".join(parts)


def _headline(result: EvaluationResult) -> str:
    size = result.gallery.size
    items = "" if size is None else f" against {counted(size, 'item', 'items')}"
    named = "" if result.dataset.name is None else f" of {result.dataset.name}"
    truth = "" if result.dataset.pseudo is None else " (pseudo ground truth)"
    lines = [f"{result.model_name}: {counted(result.num_queries, 'query', 'queries')}{named}{items}{truth}"]
    if result.protocol is not None:
        lines.append(f"{result.protocol['name']}: {result.protocol['words']}")
        if marks := (result.protocol.get("proof") or {}).get("allowed"):
            lines.append(f"NOT A PROVEN SPLIT; allowed by name: {', '.join(marks)}")
    return "\n".join(lines)


def _table(result: EvaluationResult) -> str:
    confidence = f"{result.resampling.confidence:.0%} interval"
    rows = []
    for text, found in result.measures.items():
        rows.append(
            [
                result.guide.title(found.measure),
                decimals(found.mean),
                between(found.interval, link="-"),
                "" if result.random_baseline is None else decimals(result.random_baseline[text].mean),
                "" if result.ceilings is None else decimals(result.ceilings[text].mean),
                f"{found.counted:,}",
                f"{found.undefined:,}" if found.undefined else "",
            ]
        )
    table = text_table(["", "value", confidence, "random", "ceiling", "queries", "undefined"], rows)
    note = agreement_note(found.interval for found in result.measures.values())
    return table if note is None else f"{table}\n{note}"


def _reading(result: EvaluationResult) -> str:
    measures, guide = result.measures, result.guide
    k = guide.k_values[-1]
    titles = {
        f"Recall@{k}": guide.at("recall", k),
        f"Precision@{k}": guide.at("precision", k),
        f"mAP@{k}": guide.average_precision,
        f"MRR@{k}": guide.reciprocal_rank,
        f"NDCG@{k}": guide.at("ndcg", k),
        f"HitRate@{k}": guide.at("hit_rate", k),
    }
    said = [f"{title} is {measure}: {measure.words}" for title, measure in titles.items()]
    said += [f"{text}: {found.measure.words}" for text, found in measures.items() if found.measure in guide.more]
    said.append(f"ties: {TIE_WORDS[measures.ties]}")
    made = [_making(found.interval.as_json()) for found in measures.values() if found.interval is not None]
    said += [f"interval: {words}" for words in dict.fromkeys(made)]
    if result.random_baseline is not None:
        said.append("random: exact expectation when items are returned in random order")
        said.append("ceiling: the best any ranking of this index could reach, given how many items are relevant")
    return _listed(said)


def _making(interval: Mapping[str, Any]) -> str:
    """How an interval was made; a formula has neither resamples nor a seed."""
    words = f"{interval['method']}, {interval['groups']} of them"
    if not interval["resamples"]:
        return words
    return f"{words}, {interval['resamples']} resamples, seed {interval['seed']}"


def _listed(said: Sequence[str]) -> str:
    return "\n".join(textwrap.fill(line, _WIDTH, initial_indent="  ", subsequent_indent="    ") for line in said)
