"""What a measure is: a frozen value that turns positions into one number per query."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.evaluation.measures.parameters import check, choice, declared, number_text
from visual_search.evaluation.positions import Positions
from visual_search.evaluation.ties import TIE_RULES, TieRule, checked_tie_rule

__all__ = ["EmptyRule", "Measure", "MeasureValues"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
EmptyRule: TypeAlias = Literal["undefined", "zero", "counted"]

_SHARED = ("average", "empty", "ties")


@dataclass(frozen=True, slots=True, eq=False)
class MeasureValues:
    """A measure's numerator, denominator and value for each query.

    Attributes
    ----------
    numerator, denominator : float64 arrays of shape (n,)
        What a micro average sums, and what a bootstrap resamples, in pairs.
    value : float64 array of shape (n,)
        Their quotient; NaN where the measure is undefined for the query (denominator 0).
    """

    numerator: FloatArray
    denominator: FloatArray
    value: FloatArray

    @classmethod
    def of(cls, numerator: npt.NDArray[Any], denominator: npt.NDArray[Any]) -> MeasureValues:
        """Divide; 0 denominators make undefined values."""
        above = np.asarray(numerator, dtype=np.float64)
        below = np.asarray(denominator, dtype=np.float64)
        value = np.full(above.shape, np.nan)
        np.divide(above, below, out=value, where=below != 0)
        return cls(above, below, value)

    @property
    def defined(self) -> npt.NDArray[np.bool_]:
        """Where the measure is defined, bool of shape (n,)."""
        return ~np.isnan(self.value)

    def without(self, left_out: npt.NDArray[np.bool_]) -> MeasureValues:
        """The same with some queries made undefined."""
        return MeasureValues.of(np.where(left_out, 0.0, self.numerator), np.where(left_out, 0.0, self.denominator))


@dataclass(frozen=True, kw_only=True)
class Measure(ABC):
    """A measure with all its choices; equal when all choices are.

    ``str(measure)`` is its canonical text and `parse_measure` reads it back. ``measure @ k`` is the same measure
    cut at k. A family is a frozen dataclass below this class that declares its parameters with
    `visual_search.evaluation.measures.parameters` and says what its expectation over tied groups is; every other
    tie rule follows, since it only takes the ties away first.

    Parameters
    ----------
    average : {"macro", "micro", "median"}
        How the values of the queries become one number: their mean; the sum of numerators over the sum of
        denominators; their median. Undefined queries enter none of them.
    empty : {"undefined", "zero"}
        Whether a query for which the measure is undefined is left out of the mean or counts as 0.
    ties : str
        A tie rule that overrides the call's; "call" leaves it to the call.
    """

    # Declared by each family; `visual_search.testing.measure_contract` holds the families to them. ``perfect`` is
    # the value of the whole list by falling grade, None where it depends on the judgements.
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    perfect: ClassVar[float | None] = 1.0
    higher_is_better: ClassVar[bool] = True
    averages: ClassVar[tuple[str, ...]] = ("macro", "median")

    # The order of fields here is the order of parameters in tables; each family adds its own.
    average: str = choice("macro", "macro", "micro", "median", about="how the queries become one number")
    empty: str = choice("undefined", "undefined", "zero", about="what an undefined query counts as")
    ties: str = choice("call", "call", *TIE_RULES, about="a tie rule that overrides the call's")

    def __post_init__(self) -> None:
        check(self)
        if self.average not in self.averages:
            raise InputError(
                f"{type(self).__name__}: average={self.average!r} says nothing here; allowed is one of "
                f"{', '.join(self.averages)}"
            )
        if self.empty == "zero" and not self.higher_is_better:
            raise InputError(
                f"{type(self).__name__}: empty='zero' would be the best of all values, since lower is better; leave it "
                "out: undefined queries are counted beside the mean"
            )
        if self.average == "micro" and self.empty == "zero":
            raise InputError(
                f"{type(self).__name__}: empty='zero' adds nothing to average='micro'; leave one of them out"
            )

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any]) -> Measure:
        """Make the measure a text form names; a family may know forms that are another's formula."""
        return cls(**values)

    @property
    def name(self) -> str:
        """Name of the family, as in the text form."""
        return type(self).__name__

    @property
    def depth(self) -> int | str | None:
        """The rank down to which the list is read: a number, "R" or None for the whole list."""
        depth: int | str | None = getattr(self, "k", None)
        return depth

    @property
    def on_empty(self) -> EmptyRule:
        """What a query without relevant items is: undefined, 0 and counted, or counted as any other."""
        return "undefined"

    @property
    def never_falls_with_k(self) -> bool:
        """Whether a deeper cut-off never gives less."""
        return False

    @property
    def words(self) -> str:
        """What the number is, in a few words, with the choices this value made."""
        # A measure of a user's own may leave it at the first line of its docstring.
        return (type(self).__doc__ or self.name).strip().splitlines()[0].rstrip(".")

    def __str__(self) -> str:
        shown = []
        table = declared(self)
        for name in [*(n for n in table if n not in _SHARED), *_SHARED]:
            field, parameter = table[name]
            value = getattr(self, name)
            if parameter.kind == "cutoff" or name in self._implied():
                continue
            if parameter.named or value != field.default:
                shown.append(f"{name}={value if isinstance(value, str) else number_text(value)}")
        inside = f"({','.join(shown)})" if shown else ""
        return f"{self.name}{inside}" + ("" if self.depth is None else f"@{self.depth}")

    def _implied(self) -> tuple[str, ...]:
        """Parameters that the others fix, which the text therefore leaves out."""
        return ()

    def __matmul__(self, k: int | str) -> Self:
        if "k" not in declared(self):
            raise InputError(f"{self.name} takes no cut-off, but @{k} was given")
        changed: dict[str, Any] = {"k": k}
        return replace(self, **changed)

    def tie_rule(self, ties: TieRule) -> TieRule:
        """The tie rule that holds for this measure when the call's is ``ties``."""
        return ties if self.ties == "call" else checked_tie_rule(self.ties)

    def values(self, positions: Positions, ties: TieRule = "expected") -> MeasureValues:
        """Numerator, denominator and value of each query.

        Parameters
        ----------
        positions : Positions
            Where the judged items stand.
        ties : str
            One of `TIE_RULES`; the measure's own ``ties`` goes first.

        Returns
        -------
        MeasureValues
            Three float64 arrays of shape (n,); the value is NaN where undefined.
        """
        numerator, denominator = self.pairs(positions, self.tie_rule(ties))
        if self.empty == "zero":
            undefined = denominator == 0
            numerator, denominator = np.where(undefined, 0.0, numerator), np.where(undefined, 1.0, denominator)
        return MeasureValues.of(numerator, denominator)

    def pairs(self, positions: Positions, ties: TieRule) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Numerators and denominators under a tie rule; a family overrides this where an order is not enough."""
        return self.expectation(positions.ordered(ties))

    @abstractmethod
    def expectation(self, positions: Positions) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Exact expectation over all orders within groups of equal score, as numerators and denominators."""

    def largest(self, relevant: Int64Array) -> FloatArray:
        """The largest value that a query can have, whatever is returned; no system can do better.

        A family that is limited by how many relevant items there are overrides this.

        Parameters
        ----------
        relevant : int64 array of shape (n,)
            R of each query, by the measure's own ``rel``.

        Returns
        -------
        float64 array of shape (n,)
            The upper one of ``bounds`` where R says nothing.
        """
        return np.full(len(relevant), self.bounds[1])

    def places(self, relevant: Int64Array) -> Int64Array:
        """How many relevant items the list can show down to its limit: min(R, k), int64 of shape (n,)."""
        return np.minimum(relevant, self.depth) if isinstance(self.depth, int) else relevant

    def mean(self, values: MeasureValues) -> float:
        """One number for all queries by this measure's ``average``; NaN when no query is defined."""
        kept = values.defined
        if not kept.any():
            return float("nan")
        if self.average == "micro":
            return float(values.numerator[kept].sum() / values.denominator[kept].sum())
        return float(np.median(values.value[kept]) if self.average == "median" else values.value[kept].mean())

    def retrieved(self, positions: Positions) -> Int64Array:
        """How many items each list has down to its limit, for division: 1 for an empty list, whose quotient is 0.

        A micro average sums the real numbers instead, so that an empty list adds nothing to it.
        """
        count = np.minimum(self.limits(positions), positions.lengths)
        return count if self.average == "micro" else np.maximum(count, 1)

    def limits(self, positions: Positions) -> Int64Array:
        """The rank down to which each list is read, int64 of shape (n,)."""
        if self.depth is None:
            return positions.lengths
        if self.depth == "R":
            return positions.relevant_counts(getattr(self, "rel", 1))
        return np.full(len(positions), self.depth, dtype=np.int64)
