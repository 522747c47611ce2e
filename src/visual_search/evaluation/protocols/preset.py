"""What a preset is: a field's own rules for measures, ties, empty queries and missing queries, as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.parsing import parse_measures
from visual_search.evaluation.positions import Positions
from visual_search.evaluation.ties import AnyTies

__all__ = ["WHOLE_LIST", "ListKind", "Preset"]

ListKind: TypeAlias = Literal["as given", "float32", "positive"]

# Families that torchmetrics, whose rule "positive" is, computes from all scores.
WHOLE_LIST = frozenset({"HitRate", "RPrecision", "nDCG"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """The rules of one field.

    Attributes
    ----------
    name : str
        What ``preset=`` takes.
    used_by : str
        The field, benchmark or tool.
    measures : tuple of str
        Text forms with ``{k}`` for each cut-off and ``{max_k}`` for the largest.
    k_values : tuple of int
        The field's usual cut-offs.
    defaults : mapping
        For a family, what its parameters are when a text form does not say.
    ties : str
        What is done with equal scores.
    empty : {"by measure", "zero", "left out"}
        What a query without relevant items is: as each measure defines it, 0, or left out of every mean.
    missing : {"empty list", "left out"}
        What a query that the ranking lacks is.
    lists : {"as given", "float32", "positive"}
        What the scores are before ties are looked for: as they came, rounded to float32, or only those above 0
        (for the families in ``WHOLE_LIST`` as they came).
    truth : {"relevance", "neighbors"}
        What it compares with: judged relevance, or exact neighbours.
    exclusions : str
        What the relevance must mark as ignored; a preset cannot know it.
    why : str
        The choices in one sentence, and where they are from.
    """

    name: str
    used_by: str
    measures: tuple[str, ...]
    k_values: tuple[int, ...]
    ties: AnyTies
    exclusions: str
    why: str
    defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: MappingProxyType({}))
    empty: Literal["by measure", "zero", "left out"] = "by measure"
    missing: Literal["empty list", "left out"] = "empty list"
    lists: ListKind = "as given"
    truth: Literal["relevance", "neighbors"] = "relevance"

    def measures_at(self, k_values: Sequence[int] | None = None) -> tuple[Measure, ...]:
        """The field's measures at the given cut-offs, or at its usual ones.

        Examples
        --------
        >>> from visual_search.evaluation.protocols.presets import preset_named
        >>> [str(measure) for measure in preset_named("gldv2").measures_at()]
        ['AP(denominator=min)@100']
        """
        chosen = tuple(self.k_values if k_values is None else k_values)
        if not chosen:
            raise InputError(f"preset {self.name}: no k given")
        texts = [
            form.format(k=k, max_k=max(chosen))
            for form in self.measures
            for k in (chosen if "{k}" in form else chosen[:1])
        ]
        return self.read(texts)

    def read(self, texts: Sequence[str | Measure]) -> tuple[Measure, ...]:
        """Measures from text forms, what they leave out being filled in by this preset."""
        return tuple(
            dict.fromkeys(self._as_here(measure) for measure in parse_measures(texts, defaults=self.defaults))
        )

    def _as_here(self, measure: Measure) -> Measure:
        # 0 would be the best of all ranks, and adds nothing to a micro average.
        counts_zero = self.empty == "zero" and measure.higher_is_better and measure.average != "micro"
        return replace(measure, empty="zero") if counts_zero and measure.on_empty == "undefined" else measure

    def list_kind(self, measure: Measure) -> ListKind:
        """Which list a measure reads."""
        return "as given" if self.lists == "positive" and measure.name in WHOLE_LIST else self.lists

    def left_out(self, positions: Positions) -> npt.NDArray[np.bool_]:
        """Queries that enter no mean, bool of shape (n,)."""
        without = positions.relevant_counts() == 0 if self.empty == "left out" else np.zeros(len(positions), bool)
        left_out: npt.NDArray[np.bool_] = without | positions.missing if self.missing == "left out" else without
        return left_out
