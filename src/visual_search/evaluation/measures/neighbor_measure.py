"""What measures of an index have in common: they compare with exact neighbours, not with relevance."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import DepthError, InputError
from visual_search.evaluation.measures.measure import Measure, MeasureValues
from visual_search.evaluation.measures.parameters import choice
from visual_search.evaluation.neighbor_positions import NeighborPositions
from visual_search.evaluation.positions import Positions
from visual_search.evaluation.ties import AnyTies, TieRule

__all__ = ["NeighborMeasure"]

AnyArray: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class NeighborMeasure(Measure):
    """A measure that reads `NeighborPositions`.

    It has the text form, parameters and averages of every measure, and its own meaning of ``ties``: items that are
    equally far in truth, not items a system scored alike. Over people's relevance it is refused: what is nearest is
    not what is right.

    Parameters
    ----------
    average : {"macro", "micro", "median", "minimum"}
        As for every measure; or the lowest value of a query, which the mean hides.
    """

    averages: ClassVar[tuple[str, ...]] = ("macro", "micro", "median", "minimum")

    average: str = choice("macro", "macro", "micro", "median", "minimum", about="how the queries become one number")
    ties: str = choice("exact", "exact", about="items that are equally far count alike")

    @abstractmethod
    def neighbor_pairs(self, table: NeighborPositions) -> tuple[AnyArray, AnyArray]:
        """Numerators and denominators, one per query; denominator 0 where undefined."""

    def check(self, table: NeighborPositions) -> None:
        """Refuse a truth that cannot answer.

        Raises
        ------
        DepthError
            k beyond the gallery, or more neighbours than the truth has.
        """
        refuse_depth(self, table, k=self.k_number, nearest=self.k_number)

    @property
    def k_number(self) -> int:
        """The cut-off as a number."""
        return int(getattr(self, "k", 0))

    def neighbor_values(self, table: NeighborPositions) -> MeasureValues:
        """Numerator, denominator and value of each query.

        Raises
        ------
        DepthError, InputError
            A truth or lists that cannot answer.
        """
        self.check(table)
        numerator, denominator = (np.asarray(part, dtype=np.float64) for part in self.neighbor_pairs(table))
        if self.empty == "zero":
            undefined = denominator == 0
            numerator, denominator = np.where(undefined, 0.0, numerator), np.where(undefined, 1.0, denominator)
        return MeasureValues.of(numerator, denominator)

    def remarks(self, table: NeighborPositions) -> list[str]:
        """What a reader of this number should know about this run."""
        del table
        return []

    def tie_words(self) -> AnyTies:
        """Its own meaning of ties."""
        ties: AnyTies = self.ties  # type: ignore[assignment]
        return ties

    def mean(self, values: MeasureValues) -> float:
        """One number for all queries by this measure's ``average``."""
        if self.average != "minimum":
            return super().mean(values)
        kept = values.value[values.defined]
        return float(kept.min()) if len(kept) else float("nan")

    def tie_rule(self, ties: TieRule) -> NoReturn:
        """Refused: there is none for items of equal score."""
        del ties
        raise InputError(self._refusal)

    @property
    def _refusal(self) -> str:
        return (
            f"{self} compares an index with the exact neighbours; people's relevance does not say what is nearest. "
            "Give exact neighbours as the truth, or measure relevance with HitRate, Recall, AP or nDCG"
        )

    def values(self, positions: Positions, ties: TieRule = "expected") -> NoReturn:
        """Refused: positions of judged items know no distances."""
        del positions, ties
        raise InputError(self._refusal)

    def expectation(self, positions: Positions) -> NoReturn:
        """Refused, as for `values`."""
        self.values(positions)


def refuse_depth(measure: Measure, table: NeighborPositions, *, k: int, nearest: int) -> None:
    """Refuse k beyond the gallery and more neighbours than the truth has.

    Raises
    ------
    DepthError
        Says what is there.
    """
    if k > table.gallery_size:
        raise DepthError(f"{measure}: k={k}, but the gallery has {table.gallery_size} items; give k up to that")
    if nearest > table.depth:
        raise DepthError(
            f"{measure}: needs the {nearest} nearest of each query, but the truth is {table.depth} deep; make one of "
            f"{nearest} or more, or ask for k up to {table.depth}"
        )
