"""Scores of each fold of the queries, and how far they spread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.folds import Fold
from visual_search.evaluation.measures.measure import Measure, MeasureValues
from visual_search.evaluation.result import Result
from visual_search.evaluation.text_table import decimals, text_table
from visual_search.undefined import none_if_nan

__all__ = ["FoldScores", "fold_scores"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FoldScores:
    """Each measure's number on the test queries of every fold.

    Attributes
    ----------
    scores : dict of canonical text to float64 array of shape (folds,)
        NaN where no query of a fold is defined.
    sizes : tuple of int
        Test queries a fold.
    seed : int
        Of the split.
    titles : dict of canonical text to str

    How to read it
    --------------
    The spread says how much a number depends on which queries were asked. Folds are smaller than the whole, so it
    is wider than the interval of the whole.
    """

    scores: Mapping[str, FloatArray]
    sizes: tuple[int, ...]
    seed: int
    titles: Mapping[str, str]

    def mean(self, measure: str) -> float:
        """Mean over the folds that have a number."""
        known = self._known(measure)
        return float(known.mean()) if len(known) else float("nan")

    def spread(self, measure: str) -> float:
        """Standard deviation over the folds (n - 1); NaN with fewer than two."""
        known = self._known(measure)
        return float(known.std(ddof=1)) if len(known) > 1 else float("nan")

    def _known(self, measure: str) -> FloatArray:
        scores = self.scores[measure]
        return scores[~np.isnan(scores)]

    def summary(self) -> str:
        """Write a table: mean, spread, and every fold."""
        folds = [f"fold {number} ({size})" for number, size in enumerate(self.sizes, start=1)]
        rows = [
            [self.titles[text], decimals(self.mean(text)), decimals(self.spread(text)), *map(decimals, scores)]
            for text, scores in self.scores.items()
        ]
        return text_table(["", "mean", "spread", *folds], rows)

    def as_json(self) -> dict[str, Any]:
        """As a JSON object; undefined is null."""
        return {
            "folds": len(self.sizes),
            "sizes": list(self.sizes),
            "seed": self.seed,
            "measures": {
                text: {
                    "mean": none_if_nan(self.mean(text)),
                    "spread": none_if_nan(self.spread(text)),
                    "folds": [*map(none_if_nan, scores)],
                }
                for text, scores in self.scores.items()
            },
        }


def fold_scores(
    result: Result, folds: Sequence[Fold], seed: int, title: Callable[[Measure], str] = str
) -> FoldScores:
    """Take each measure's number over the test queries of every fold.

    Nothing is searched again: a query's value does not depend on the other queries.
    """
    scores = {
        text: np.array([found.measure.mean(_part(found.parts, fold.test)) for fold in folds])
        for text, found in result.items()
    }
    titles = {text: title(found.measure) for text, found in result.items()}
    return FoldScores(scores, tuple(len(fold.test) for fold in folds), seed, titles)


def _part(values: MeasureValues, rows: npt.NDArray[np.int64]) -> MeasureValues:
    return MeasureValues(values.numerator[rows], values.denominator[rows], values.value[rows])
