"""What the demonstration found, for the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from visual_search.counted import counted
from visual_search.evaluation.evaluation_result import EvaluationResult
from visual_search.evaluation.protocols.directions import Directions
from visual_search.evaluation.result import Interval
from visual_search.evaluation.statistics.agreement import agreement_note, between
from visual_search.evaluation.text_table import decimals, p_text, text_table
from visual_search.leaks.leak_report import LeakReport
from visual_search.workflows.demo_directions import MeasuredDirections
from visual_search.workflows.demo_protocols import BOTH_DIRECTIONS, HALVES
from visual_search.workflows.page_comparisons import PageComparison

__all__ = ["HEADLINE", "DemoReport"]

HEADLINE = "HitRate@1"
_PRECISION = "AP(denominator=all)"


@dataclass(frozen=True, slots=True)
class DemoReport:
    """What the demonstration found.

    Attributes
    ----------
    folder : Path
        Indexes, datasets, results, the split and the page.
    page : Path
    results : dict of (protocol name, embedder) to EvaluationResult
    directions : MeasuredDirections
        The view split, from either side.
    leaks : LeakReport
        Of every two photographs.
    differences : dict of protocol name to PageComparison
        HitRate@1 of the network minus that of the histogram; interval over people, p for all comparisons of the page.
    """

    folder: Path
    page: Path
    results: Mapping[tuple[str, str], EvaluationResult]
    directions: MeasuredDirections
    leaks: LeakReport
    differences: Mapping[str, PageComparison]

    def summary(self) -> str:
        """One table a protocol, what the network is worth over the histogram, and whether anything leaks."""
        protocols = dict.fromkeys(name for name, _ in self.results)
        parts = [self._protocol_summary(name) for name in protocols]
        return "\n\n".join([*parts, self._directions_summary(), self._leaks_summary()])

    def _protocol_summary(self, protocol: str) -> str:
        shown = {embedder: result for (name, embedder), result in self.results.items() if name == protocol}
        any_result = next(iter(shown.values()))
        rows = [_row(embedder, result) for embedder, result in shown.items()]
        if any_result.random_baseline is not None:
            rows.append(_random_row(any_result))
        words = (any_result.protocol or {}).get("words", "")
        return "\n".join(
            [
                f"{protocol}: {words}",
                text_table(["", HEADLINE, "95 % over people", "Recall@1", "of at most", "mAP", "MRR"], rows),
                *_footnote(result[HEADLINE].interval for result in shown.values()),
                _in_words(self.differences[protocol]),
            ]
        )

    def _directions_summary(self) -> str:
        rows = [_direction_row(name, found) for name, found in self.directions.systems.items()]
        random = self.directions.random
        rows.append(["random, exact", *_means(random), "", "", decimals(random.pooled[_PRECISION].mean)])
        head = ["", *(f"{half} ask" for half in HALVES), "pooled", "95 % over people", "difference", "mAP"]
        return "\n".join(
            [
                f"{BOTH_DIRECTIONS}: {self.directions.split.words}, and back; {HEADLINE}; the split is proven",
                text_table(head, rows),
                *_footnote(found.pooled[HEADLINE].interval for found in self.directions.systems.values()),
                _in_words(self.differences[BOTH_DIRECTIONS]),
            ]
        )

    def _leaks_summary(self) -> str:
        found = sum(self.leaks.pairs_by_kind.values())
        pictures = sum(role.pictures for role in self.leaks.roles)
        said = counted(found, "pair", "pairs") if found else "no picture is there twice"
        return f"leaks: {said} among {pictures} photographs, by pixels, perceptual hashes and the network's vectors"

    def as_json(self) -> dict[str, Any]:
        """The figures as a JSON object."""
        return {
            "report": str(self.page),
            "results": [
                {
                    "protocol": protocol,
                    "embedder": embedder,
                    "queries": result.num_queries,
                    "hit_rate_at_1": result.hit_rate_at_k[1],
                    "recall_at_1": result.recall_at_k[1],
                    "map": result.map,
                    "mrr": result.mrr,
                }
                for (protocol, embedder), result in self.results.items()
            ],
            "directions": self.directions.as_json(),
            "leaks": self.leaks.as_json(),
            "differences": {name: found.as_json() for name, found in self.differences.items()},
        }


def _row(embedder: str, result: EvaluationResult) -> list[str]:
    ceiling = None if result.ceilings is None else result.ceilings["Recall@1"].mean
    return [
        embedder,
        decimals(result[HEADLINE].mean),
        between(result[HEADLINE].interval),
        decimals(result.recall_at_k[1]),
        decimals(ceiling),
        decimals(result.map),
        decimals(result.mrr),
    ]


def _random_row(result: EvaluationResult) -> list[str]:
    random = result.random_baseline
    assert random is not None
    measures = (HEADLINE, "Recall@1", result.guide.average_precision, result.guide.reciprocal_rank)
    hit, recall, precision, reciprocal = (decimals(random[measure].mean) for measure in measures)
    return ["random, exact", hit, "", recall, "", precision, reciprocal]


def _direction_row(name: str, found: Directions) -> list[str]:
    ends = between(found.pooled[HEADLINE].interval)
    gap = f"{found.asymmetry[HEADLINE].difference:+.3f}"
    return [name, *_means(found), ends, gap, decimals(found.pooled[_PRECISION].mean)]


def _means(found: Directions) -> list[str]:
    return [decimals(one[HEADLINE].mean) for one in (found.there, found.back, found.pooled)]


def _footnote(intervals: Iterable[Interval | None]) -> list[str]:
    note = agreement_note(intervals)
    return [] if note is None else [note]


def _in_words(found: PageComparison) -> str:
    one = found.contrast
    between = "" if one.interval is None else f" ({one.interval.low:+.3f} to {one.interval.high:+.3f})"
    adjusted = "" if found.p_adjusted is None else f", {p_text(found.p_adjusted)} adjusted"
    return (
        f"{one.a} minus {one.b}, {one.measure}: {one.difference:+.3f}{between}, p {_equals(one.p_value)}{adjusted}; "
        f"better on {counted(one.wins, 'query', 'queries')}, worse on {one.losses}"
    )


def _equals(p: float) -> str:
    text = p_text(p)
    return text if text.startswith("<") else f"= {text}"
