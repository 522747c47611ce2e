"""What an evaluation gives: per measure one number, and everything needed to trust it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import UnknownNameError
from visual_search.evaluation.item_states import relevant_counts
from visual_search.evaluation.measures.measure import Measure, MeasureValues
from visual_search.evaluation.measures.parsing import parse_measure
from visual_search.evaluation.setting import Setting
from visual_search.evaluation.ties import TIE_WORDS, AnyTies
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id, Ids
from visual_search.undefined import none_if_nan

__all__ = ["Interval", "IntervalMaker", "MeasureResult", "Result"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]
Reader: TypeAlias = Callable[[Sequence[str | Measure]], tuple[Measure, ...]]


class Interval(Protocol):
    """An interval for a mean; `visual_search.evaluation.statistics` makes them."""

    @property
    def low(self) -> float:
        """Lower end."""
        ...

    @property
    def high(self) -> float:
        """Upper end."""
        ...

    @property
    def confidence(self) -> float:
        """Its level, as .95."""
        ...

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        ...


class IntervalMaker(Protocol):
    """Makes the interval of one measure from its numerators and denominators."""

    def __call__(self, measure: Measure, values: MeasureValues, groups: Int64Array | None, /) -> Interval | None:
        """``groups`` has one code per query, equal for queries that are drawn together."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class MeasureResult:
    """One measure over all queries.

    Attributes
    ----------
    measure : Measure
        What was measured; its text names every choice.
    parts : MeasureValues
        Numerator, denominator and value per query.
    mean : float
        One number by the measure's ``average``; NaN when no query is defined.
    counted, undefined : int
        Queries that entered it, and queries for which the measure is undefined.
    undefined_queries : tuple of ids
        The latter by name.
    ties : str
        The tie rule that was used.
    interval : Interval or None
        Where one was asked for.
    """

    measure: Measure
    parts: MeasureValues
    mean: float
    counted: int
    undefined: int
    undefined_queries: tuple[Id, ...]
    ties: AnyTies
    interval: Interval | None

    @property
    def values(self) -> FloatArray:
        """One float64 per query, NaN where undefined."""
        return self.parts.value

    @property
    def words(self) -> str:
        """What the number is, how queries entered it, and what was done with ties."""
        over = counted(self.counted, "query", "queries")
        return f"{self.measure.words}; {self.measure.average} over {over}; {TIE_WORDS[self.ties]}"

    def as_json(self) -> dict[str, Any]:
        """As a JSON object; undefined is null."""
        return {
            "mean": none_if_nan(self.mean),
            "words": self.words,
            "ties": self.ties,
            "counted": self.counted,
            "undefined": self.undefined,
            "undefined_queries": list(self.undefined_queries),
            "interval": None if self.interval is None else self.interval.as_json(),
        }

    def __repr__(self) -> str:
        over = counted(self.counted, "query", "queries")
        return f"{self.measure} = {self.mean:.6g} over {over}, {self.undefined} undefined"


class Result(Mapping[str, MeasureResult]):
    """Measures of one ranking against one relevance; a mapping from text form to `MeasureResult`.

    Any spelling that reads as the measure finds it: ``result["nDCG@10"]``, ``result["nDCG(gain=linear)@10"]``.

    Attributes
    ----------
    queries : Ids
        The queries, one per element of every ``values``.
    ties : str
        The tie rule of the call; a measure's own stands in its text and its result.
    preset : str or None
        Name of the preset.
    missing_queries : tuple of ids
        Queries of the relevance that the ranking lacks.
    unjudged_queries : tuple of ids
        Queries of the ranking that the relevance lacks; not evaluated.
    notes : tuple of str
        What a reader of the numbers should know.
    protocol : mapping or None
        The split it was measured under, its proof included; see `visual_search.evaluation.protocols.split.Split`.
    groups : int64 array of shape (n,) or None
        Equal for queries that belong to one independent group; None where no groups were given.
    setting : Setting or None
        The right answers and, where it is known, the gallery: by these two results are found comparable.
    """

    def __init__(
        self,
        queries: Ids,
        measured: Mapping[Measure, MeasureResult],
        *,
        ties: AnyTies,
        preset: str | None = None,
        reader: Reader | None = None,
        missing_queries: tuple[Id, ...] = (),
        unjudged_queries: tuple[Id, ...] = (),
        notes: tuple[str, ...] = (),
        protocol: Mapping[str, Any] | None = None,
        groups: Int64Array | None = None,
        setting: Setting | None = None,
        relevant: Int64Array | None = None,
    ) -> None:
        self.queries = queries
        self.ties = ties
        self.preset = preset
        self.missing_queries = missing_queries
        self.unjudged_queries = unjudged_queries
        self.notes = notes
        self.protocol = protocol
        self.groups = groups
        self.setting = setting
        self._relevant = relevant
        self._measured = dict(measured)
        self._reader = reader

    def replaced(
        self,
        measured: Mapping[Measure, MeasureResult] | None = None,
        *,
        preset: str | None = None,
        queries: Ids | None = None,
        missing_queries: tuple[Id, ...] | None = None,
        protocol: Mapping[str, Any] | None = None,
        groups: Int64Array | None = None,
        notes: tuple[str, ...] | None = None,
        relevant: Int64Array | None = None,
    ) -> Result:
        """The same result with other values, queries, preset or protocol; what is left out is kept.

        With other queries, their groups and numbers of right answers are to be given too.
        """
        return Result(
            self.queries if queries is None else queries,
            self._measured if measured is None else measured,
            ties=self.ties,
            preset=self.preset if preset is None else preset,
            reader=self._reader,
            missing_queries=self.missing_queries if missing_queries is None else missing_queries,
            unjudged_queries=self.unjudged_queries,
            notes=self.notes if notes is None else notes,
            protocol=self.protocol if protocol is None else protocol,
            groups=self.groups if groups is None and queries is None else groups,
            setting=self.setting,
            relevant=self._relevant if relevant is None and queries is None else relevant,
        )

    @property
    def relevant_counts(self) -> Int64Array | None:
        """How many items of grade 1 or more each query has, int64 of shape (n,); None where it is not known.

        Label sets do not tell it.
        """
        relevance = None if self.setting is None else self.setting.relevance
        if self._relevant is not None or not isinstance(relevance, Relevance):
            return self._relevant
        rows = relevance.queries.rows(self.queries)
        if (rows < 0).any():
            return None
        counts: Int64Array = relevant_counts(relevance)[rows]
        return counts

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What was measured, in the order asked for."""
        return tuple(self._measured)

    def __getitem__(self, measure: str | Measure) -> MeasureResult:
        found = self._found(measure)
        if found is None:
            raise UnknownNameError(f"{measure} was not measured; there are {', '.join(self)}")
        return found

    def _found(self, measure: str | Measure) -> MeasureResult | None:
        # What stands in the result goes first; a preset's reading is tried when the plain one is not there.
        plain = parse_measure(measure)
        if plain in self._measured or self._reader is None:
            return self._measured.get(plain)
        return self._measured.get(self._reader([measure])[0])

    def __contains__(self, measure: object) -> bool:
        if not isinstance(measure, (str, Measure)):
            return False
        return self._found(measure) is not None

    def __iter__(self) -> Iterator[str]:
        return (str(measure) for measure in self._measured)

    def __len__(self) -> int:
        return len(self._measured)

    def as_json(self) -> dict[str, Any]:
        """As a JSON object, without the values per query."""
        return {
            "num_queries": len(self.queries),
            "ties": self.ties,
            "preset": self.preset,
            "protocol": None if self.protocol is None else dict(self.protocol),
            "measures": {str(measure): found.as_json() for measure, found in self._measured.items()},
            "queries_missing_from_ranking": list(self.missing_queries),
            "queries_without_relevance": list(self.unjudged_queries),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        over = counted(len(self.queries), "query", "queries")
        return "\n".join([f"Result over {over}, ties {self.ties}", *map(repr, self.values())])
