"""All that is said of a set of judgements: agreement, disagreements, and what they do to scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from visual_search.judging.aggregation import RULE_WORDS, Rule
from visual_search.judging.agreement import Agreement
from visual_search.judging.disagreements import Disagreement
from visual_search.judging.judgements_needed import JudgementsNeeded
from visual_search.judging.rule_effects import RuleEffect
from visual_search.judging.score_effect import ScoreEffect

__all__ = ["JudgedStudy", "JudgedSystem"]


@dataclass(frozen=True, slots=True)
class JudgedSystem:
    """One system's scores by the judgements.

    Attributes
    ----------
    name : str
    effect : ScoreEffect
        Scores with intervals that know the judges, judged share, bounds.
    rules : tuple of RuleEffect
        The same scores under every aggregation rule.
    """

    name: str
    effect: ScoreEffect
    rules: tuple[RuleEffect, ...]


@dataclass(frozen=True, slots=True)
class JudgedStudy:
    """All that is said of judgements.

    Attributes
    ----------
    rule : str
        How several grades became one.
    agreement : Agreement
    disagreements : tuple of Disagreement
        Those that wait for an adjudicator, the most disputed first.
    systems : tuple of JudgedSystem
    needed : tuple of (first name, second name, JudgementsNeeded)
        Every system against the first, by the first measure.
    """

    rule: Rule
    agreement: Agreement
    disagreements: tuple[Disagreement, ...]
    systems: tuple[JudgedSystem, ...]
    needed: tuple[tuple[str, str, JudgementsNeeded], ...]

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "rule": self.rule,
            "rule_words": RULE_WORDS[self.rule],
            "agreement": self.agreement.as_json(),
            "disagreements": [one.as_json() for one in self.disagreements],
            "systems": {
                one.name: {**one.effect.as_json(), "rules": [effect.as_json() for effect in one.rules]}
                for one in self.systems
            },
            "judgements_needed": [
                {"first": first, "second": second, **found.as_json()} for first, second, found in self.needed
            ],
        }
