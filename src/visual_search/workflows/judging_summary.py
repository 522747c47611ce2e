"""What a store's judgements amount to so far: how far judges agree, and the scores under every rule of aggregation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from visual_search.evaluation.statistics.interval import Resampling
from visual_search.ids import Id
from visual_search.judging.aggregation import DEFAULT_RULE, RULE_WORDS, checked_rule
from visual_search.judging.agreement import Agreement, agreement
from visual_search.judging.judgement_table import JudgementTable
from visual_search.judging.pool import Pool
from visual_search.judging.rule_effects import RuleEffect, rule_effects
from visual_search.judging.store import JudgementStore
from visual_search.rankings.ranking import Ranking

__all__ = ["JudgingSummary", "judgement_table", "judging_summary", "pooled_rankings"]

_DEEPEST = 10
# A page is waited for: fewer draws than a report takes move an interval's ends by some hundredths of its width.
_RESAMPLES = 1000


@dataclass(frozen=True, eq=False)
class JudgingSummary:
    """Agreement, and each pooled system's scores under every rule.

    Attributes
    ----------
    rule : str
        The rule in use.
    agreement : Agreement
    systems : mapping of str to tuple of RuleEffect
        By system, the rule in use first; to the depth that the pool holds of it.
    """

    rule: str
    agreement: Agreement
    systems: dict[str, tuple[RuleEffect, ...]]

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "rule": self.rule,
            "rules": dict(RULE_WORDS),
            "agreement": self.agreement.as_json(),
            "measures": [self._measure(text) for text in self._measures()],
        }

    def _measures(self) -> list[str]:
        return list(dict.fromkeys(one.measure for effects in self.systems.values() for one in effects))

    def _measure(self, text: str) -> dict[str, Any]:
        """One measure: for each rule, the one in use first, every system's score."""
        found = {
            name: {one.rule: one.as_json() for one in effects if one.measure == text}
            for name, effects in self.systems.items()
        }
        found = {name: by_rule for name, by_rule in found.items() if by_rule}
        rules = next(iter(found.values()))
        rows = [{"rule": rule, "effects": [by_rule[rule] for by_rule in found.values()]} for rule in rules]
        return {"measure": text, "systems": list(found), "rows": rows}


def judgement_table(store: JudgementStore) -> JudgementTable | None:
    """The judgements that hold, with those that could not tell; None where there are none."""
    columns = store.table(graded=False)
    return JudgementTable.from_table(columns) if columns["judge"] else None


def judging_summary(
    store: JudgementStore, *, rule: str = DEFAULT_RULE, measures: Sequence[str] | None = None
) -> JudgingSummary | None:
    """Sum up what is judged.

    Parameters
    ----------
    store : JudgementStore
    rule : str
        How several grades of a pair become one; see `RULE_WORDS`.
    measures : sequence of str, optional
        Of each system's pooled list; nDCG, Precision and the judged share at the list's depth, at most 10, where left
        out.

    Returns
    -------
    JudgingSummary or None
        None where nobody has given a grade.

    Raises
    ------
    InputError
        No such rule or measure.

    How to read it
    --------------
    Lists are those that the pool holds, so that nothing but the store is needed; queries that nobody has judged are
    left out, and the mean is over those that somebody has.
    """
    checked_rule(rule)
    table = judgement_table(store)
    if table is None or not table.independent.any():
        return None
    settings = Resampling(resamples=_RESAMPLES)
    judged = set(table.queries)
    systems = {}
    for name, (ranking, depth) in pooled_rankings(store.pool(), judged).items():
        k = min(_DEEPEST, depth)
        asked = measures or (f"nDCG@{k}", f"Precision@{k}", f"Judged@{k}")
        systems[name] = rule_effects(ranking, table, asked, rule=rule, resampling=settings)
    return JudgingSummary(rule, agreement(table, resampling=settings), systems)


def pooled_rankings(pool: Pool, queries: set[Id]) -> dict[str, tuple[Ranking, int]]:
    """Each system's lists as deep as the pool holds them, for some queries, and that depth."""
    lists: dict[str, dict[Id, dict[Id, float]]] = {}
    for (query, item), sources in pool.sources.items():
        for source in sources:
            if (
                source.kind == "ranked"
                and source.system is not None
                and source.rank is not None
                and query in queries
            ):
                lists.setdefault(source.system, {}).setdefault(query, {})[item] = -float(source.rank)
    return {
        name: (Ranking.from_dict(found), max(map(len, found.values()))) for name, found in sorted(lists.items())
    }
