"""Two judges at a time: the pairs both marked, the confusion of their grades, kappa."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.statistics.bootstrap import group_sums
from visual_search.evaluation.statistics.bootstrap_function import bootstrap_function
from visual_search.evaluation.statistics.interval import Resampling
from visual_search.ids import Id
from visual_search.judging.coefficient import Coefficient
from visual_search.judging.cohen_kappa import WEIGHTS, cohen_kappa, kappa_of_confusions
from visual_search.judging.fleiss_kappa import percent_agreement
from visual_search.judging.judgement_table import JudgementTable
from visual_search.undefined import none_if_nan

__all__ = ["JudgePair", "judge_pairs"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class JudgePair:
    """How far two judges agree.

    Attributes
    ----------
    first, second : id
    scale : float64 array of shape (grades,)
    confusion : int64 array of shape (grades, grades)
        Pairs to which the first gave the row's grade and the second the column's.
    percent, plain, linear, quadratic : Coefficient
        Share of equal grades, and Cohen's kappa by its weights.
    """

    first: Id
    second: Id
    scale: FloatArray
    confusion: Int64Array
    percent: Coefficient
    plain: Coefficient
    linear: Coefficient
    quadratic: Coefficient

    @property
    def pairs(self) -> int:
        """Pairs that both gave a grade."""
        return int(self.confusion.sum())

    @property
    def shift(self) -> float:
        """Mean grade of the first less that of the second on the pairs both judged; NaN where there is none."""
        if not self.pairs:
            return float("nan")
        given = self.confusion.sum(axis=1) - self.confusion.sum(axis=0)
        return float((given * self.scale).sum() / self.pairs)

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "judges": [self.first, self.second],
            "pairs": self.pairs,
            "shift": none_if_nan(self.shift),
            "scale": self.scale.tolist(),
            "confusion": self.confusion.tolist(),
            "coefficients": [one.as_json() for one in (self.percent, self.plain, self.linear, self.quadratic)],
        }


def judge_pairs(
    table: JudgementTable, codes: Int64Array, unit: str, *, resampling: Resampling | None = None
) -> tuple[JudgePair, ...]:
    """Compare every two judges on the pairs both gave a grade.

    Parameters
    ----------
    table : JudgementTable
        Adjudications are left out.
    codes : int64 array of shape (queries,)
        Independent group of each query.
    unit : str
        What the groups are, for the intervals' words.
    resampling : Resampling, optional
        No intervals where left out.
    """
    kept = table.take(table.independent)
    present = np.unique(kept.judge)
    cells = np.full((len(present), table.pairs), -1, dtype=np.int64)
    of_row = np.searchsorted(present, kept.judge), table.pair[table.independent]
    cells[of_row] = np.searchsorted(table.scale, kept.grade)
    groups = codes[table.pair_query]
    made = []
    for one, other in combinations(range(len(present)), 2):
        both = (cells[one] >= 0) & (cells[other] >= 0)
        cell = cells[one, both] * len(table.scale) + cells[other, both]
        names = table.judges[int(present[one])], table.judges[int(present[other])]
        made.append(_compared(names, cell, groups[both], table.scale, unit, resampling))
    return tuple(made)


def _compared(
    names: tuple[Id, Id],
    cell: Int64Array,
    groups: Int64Array,
    scale: FloatArray,
    unit: str,
    resampling: Resampling | None,
) -> JudgePair:
    width = len(scale)
    confusion = np.bincount(cell, minlength=width * width).reshape(width, width)
    kappas = [cohen_kappa(confusion, scale, weights=weights) for weights in WEIGHTS]
    counts = np.zeros((len(cell), width))
    np.add.at(counts, (np.arange(len(cell)), cell // width), 1)
    np.add.at(counts, (np.arange(len(cell)), cell % width), 1)
    percent = percent_agreement(counts)
    if resampling is not None and len(cell):
        count = int(groups.max()) + 1
        sums = group_sums(np.eye(width * width)[cell], groups, count)
        diagonal = np.eye(width).reshape(-1)

        def share(drawn: FloatArray) -> FloatArray:
            equal: FloatArray = drawn @ diagonal / drawn.sum(axis=1)
            return equal

        percent = percent.with_interval(bootstrap_function(share, sums, resampling=resampling, unit=unit))
        kappas = [
            kappa.with_interval(
                bootstrap_function(
                    lambda drawn, weights=weights: kappa_of_confusions(drawn, scale, weights),  # type: ignore[misc]
                    sums,
                    resampling=resampling,
                    unit=unit,
                )
                if kappa.defined
                else None
            )
            for kappa, weights in zip(kappas, WEIGHTS, strict=True)
        ]
    return JudgePair(*names, scale, confusion, percent, *kappas)
