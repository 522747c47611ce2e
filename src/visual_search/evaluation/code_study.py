"""One set of codes, told whole: measures with their band and chance, conventions, curves, and the codes' own look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from visual_search.evaluation.code_conventions import CODE_PRESETS, code_band, code_conventions
from visual_search.evaluation.code_curves import EmptyBall, RadiusCurve, RankCurve, precision_at_n, within_radius
from visual_search.evaluation.code_histograms import code_histograms
from visual_search.evaluation.code_precision_recall import PrecisionRecallCurve, precision_recall_curve
from visual_search.evaluation.code_report import CodeReport, report_codes
from visual_search.evaluation.codes import evaluate_codes
from visual_search.evaluation.label_codes import NO_ANSWER
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.result import Result
from visual_search.evaluation.text_table import decimals, text_table
from visual_search.evaluation.tie_bands import TieBand
from visual_search.formats.binary_codes import BinaryCodes
from visual_search.ground_truth.relevance import Relevance
from visual_search.ground_truth.shared_labels import SharedLabels
from visual_search.undefined import none_if_nan

__all__ = ["CODE_MEASURES", "CodeStudy", "study_codes"]

CODE_MEASURES = ("AP", "AP@100", "Precision@100", "nDCG(gain=binary)@100", "HitRate@1")


@dataclass(frozen=True, slots=True, eq=False)
class CodeStudy:
    """What is known of one set of codes against its right answers.

    Attributes
    ----------
    band : TieBand
        The measures, in expectation and under the best and the worst order of ties.
    chance : Result
        The same measures of codes that tell nothing: random retrieval, exactly.
    conventions : mapping
        The presets of hashing, each with its band.
    radius : RadiusCurve
    ranks : RankCurve
    precision_recall : tuple of PrecisionRecallCurve
        By radius and by rank, macro and micro.
    queries, gallery : CodeReport
        What the codes of both sides look like.
    """

    band: TieBand
    chance: Result
    conventions: Mapping[str, TieBand]
    radius: RadiusCurve
    ranks: RankCurve
    precision_recall: tuple[PrecisionRecallCurve, ...]
    queries: CodeReport
    gallery: CodeReport

    @property
    def bits(self) -> int:
        """Bits of a code."""
        return self.gallery.bits

    def table(self) -> list[dict[str, Any]]:
        """One row a measure: expected, best, worst, chance; then the presets' measures."""
        rows = [
            {"rules": "", **row, "chance": none_if_nan(self.chance[row["measure"]].mean)}
            for row in self.band.rows()
        ]
        for name, band in self.conventions.items():
            rows += [{"rules": name, **row, "chance": None} for row in band.rows()]
        return rows

    def sentences(self) -> list[str]:
        """What a reader of these numbers should know, the codes' own look first."""
        told = [f"gallery: {words}" for words in self.gallery.sentences()]
        told += [f"queries: {words}" for words in self.queries.sentences()[1:]]
        dependent = [self.band, *self.conventions.values()]
        widest = max((band for band in dependent), key=lambda band: max(map(band.width, band.expected), default=0))
        sentence = widest.sentence()
        if NO_ANSWER in self.band.expected.notes:
            return [NO_ANSWER, *told]
        return [*told, *([sentence] if sentence else ["no measure hangs on the order of ties"])]

    def as_json(self) -> dict[str, Any]:
        """The whole as a JSON object; undefined values are null."""
        return {
            "bits": self.bits,
            "num_queries": len(self.band.expected.queries),
            "measures": self.table(),
            "within_radius": self.radius.as_json(),
            "at_n": self.ranks.as_json(),
            "precision_recall": [curve.as_json() for curve in self.precision_recall],
            "queries": self.queries.as_json(),
            "gallery": self.gallery.as_json(),
            "notes": list(dict.fromkeys([*self.sentences(), *self.band.expected.notes])),
        }

    def __repr__(self) -> str:
        names = ("expected", "best", "worst", "chance")
        rows = [[row["measure"], row["rules"], *(decimals(row[name], 4) for name in names)] for row in self.table()]
        return text_table(["measure", "rules of", *names], rows)


def study_codes(
    query_codes: Any,
    gallery_codes: Any,
    relevance: Relevance | SharedLabels,
    measures: Sequence[str | Measure] = CODE_MEASURES,
    *,
    empty: EmptyBall = "undefined",
    presets: Sequence[str] = CODE_PRESETS,
    k_values: Sequence[int] | None = None,
    query_ids: Iterable[Any] | None = None,
    gallery_ids: Iterable[Any] | None = None,
) -> CodeStudy:
    """Measure one set of codes in every way the field does.

    Parameters
    ----------
    query_codes, gallery_codes : array-like or BinaryCodes
        As for `visual_search.evaluate_codes`; packed codes as `BinaryCodes`.
    relevance, query_ids, gallery_ids
        As for `visual_search.evaluate_codes`.
    measures : sequence of str or Measure
        Text forms.
    empty : {"undefined", "zero"}
        What the precision of an empty Hamming ball is.
    presets : sequence of str
        Fields' rules to stand beside.
    k_values : sequence of int, optional
        Their cut-offs; each field's own by default.

    Examples
    --------
    >>> codes = [[1, -1, 1, -1], [-1, -1, 1, -1], [-1, -1, 1, -1], [1, 1, -1, -1], [-1, 1, -1, -1], [1, 1, -1, 1]]
    >>> labels = SharedLabels.of([1], [1, 1, 0, 0, 1, 0])
    >>> study_codes([[1, -1, 1, 1]], codes, labels, ["AP"], presets=["deephash"], k_values=[6])
    measure                             rules of  expected    best   worst  chance
    AP(denominator=all)                             0.7407  0.8333  0.6667  0.6450
    AP(denominator=found,empty=zero)@6  deephash    0.7407  0.8333  0.6667       -
    """
    queries, gallery = BinaryCodes.both(query_codes, gallery_codes)
    named: dict[str, Any] = {"query_ids": query_ids, "gallery_ids": gallery_ids}
    histograms = code_histograms(queries, gallery, relevance, **named)
    blank, others = (BinaryCodes(np.zeros((len(side), 1), dtype=np.uint64), 1) for side in (queries, gallery))
    return CodeStudy(
        code_band(queries, gallery, relevance, measures, **named),
        evaluate_codes(blank, others, relevance, measures, **named),
        code_conventions(queries, gallery, relevance, presets, k_values=k_values, **named),
        within_radius(histograms, empty=empty),
        precision_at_n(histograms),
        tuple(
            precision_recall_curve(histograms, by=by, average=average, empty=empty)
            for by in ("radius", "rank")
            for average in ("macro", "micro")
        ),
        report_codes(queries),
        report_codes(gallery),
    )
