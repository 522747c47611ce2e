"""The paired differences a page shows, with p-values that hold for all of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from visual_search.errors import FileFormatError, FingerprintError, InputError
from visual_search.evaluation.comparison import Comparison, compare
from visual_search.evaluation.contrast import Contrast
from visual_search.evaluation.statistics.multiplicity import holm
from visual_search.reports.protocol_groups import ProtocolGroup
from visual_search.reports.systems import System
from visual_search.undefined import none_if_nan

__all__ = ["PageComparison", "adjusted", "compare_with_baseline", "drawn_words"]

# Differences query by query mean something only where these agree.
_PARTS = {
    "gallery": "the gallery",
    "queries": "the queries",
    "relevance": "the right answers",
    "exclusions": "what is left out of the lists",
}


@dataclass(frozen=True, slots=True)
class PageComparison:
    """One difference of a page.

    Attributes
    ----------
    protocol : str
        Name of the protocol it was found under.
    contrast : Contrast
    words : str
        How interval and p were made.
    p_adjusted : float or None
        Of the same test, valid for all comparisons of the page; None until `adjusted`, or where there is no p.
    """

    protocol: str
    contrast: Contrast
    words: str
    p_adjusted: float | None = None

    def as_json(self) -> dict[str, Any]:
        """As ``write_report`` takes it."""
        more = {"protocol": self.protocol, "words": self.words, "p_adjusted": self.p_adjusted}
        return self.contrast.as_json() | more


def adjusted(comparisons: Sequence[PageComparison]) -> list[PageComparison]:
    """Raise the p-values to hold for all comparisons of the page at once (Holm)."""
    raised = holm(np.array([one.contrast.p_value for one in comparisons], dtype=np.float64))
    return [replace(one, p_adjusted=none_if_nan(p)) for one, p in zip(comparisons, raised.tolist(), strict=True)]


def drawn_words(found: Comparison) -> str:
    """What interval and test draw at a time."""
    drawn = "queries one by one" if found.groups == found.queries else "all queries of a group together"
    return f"Interval and test draw {drawn}."


def compare_with_baseline(group: ProtocolGroup, baseline: str | None) -> tuple[list[PageComparison], list[str]]:
    """Hold the systems of a protocol against its baseline.

    Parameters
    ----------
    group : ProtocolGroup
    baseline : str or None
        Name of the baseline, for the warning where none of the systems is it.

    Returns
    -------
    comparisons : list of PageComparison
        On the hit rate at the smallest k and the deepest average precision.
    warnings : list of str
        What cannot be compared, and why.
    """
    if len(group.systems) < 2:
        return [], []
    against = next((system for system in group.systems if system.is_baseline), None)
    if against is None:
        return [], [f"Nothing is compared{group.under}: the baseline, {baseline}, was not measured there."]
    comparisons: list[PageComparison] = []
    warnings: list[str] = []
    for system in group.systems:
        if system is against:
            continue
        pair = f"Query by query, {system.label} is not compared with {against.label}"
        obstacle = _obstacle(system, against)
        if obstacle is not None:
            warnings.append(f"{pair}: {obstacle}.")
            continue
        try:
            found = list(_differences(group, system, against))
        except (FileFormatError, FingerprintError, InputError) as problem:
            warnings.append(f"{pair}: {problem}")
            continue
        if not found:
            warnings.append(f"{pair}: they share neither a hit rate nor average precision.")
        comparisons += found
    return comparisons, warnings


def _obstacle(system: System, against: System) -> str | None:
    """Why two results must not be compared: what differs between their data, or is not told."""
    ours, theirs = (one.record.get("fingerprints") or {} for one in (system, against))
    # Nothing left out on either side agrees; and run files do not tell what they were drawn from.
    runs = all(one.record.get("lists") == "run" for one in (system, against))
    silent = ("exclusions", "gallery") if runs else ("exclusions",)
    different, untold = [], []
    for part, words in _PARTS.items():
        if ours.get(part) and theirs.get(part):
            if ours[part] != theirs[part]:
                different.append(words)
        elif ours.get(part) or theirs.get(part) or part not in silent:
            untold.append(words)
    if system.record.get("ties") != against.record.get("ties"):
        different.append("the rule for equal scores")
    reasons = []
    if different:
        reasons.append(f"these differ: {', '.join(different)}")
    if untold:
        reasons.append(f"the files do not tell whether these agree: {', '.join(untold)}")
    return "; ".join(reasons) or None


def _differences(group: ProtocolGroup, system: System, against: System) -> Iterator[PageComparison]:
    """Paired differences of the two headline measures.

    Raises
    ------
    FileFormatError, FingerprintError, InputError
        A file of per-query values that is gone, damaged or of another run; data that differ after all.
    """
    names = _measures(group, system, against)
    if not names:
        return
    metrics = [(one.record.get("index") or {}).get("metric") for one in (against, system)]
    own = None not in metrics and metrics[0] != metrics[1]
    found = compare(
        {against.label: against.result, system.label: system.result},
        names,
        despite="each system likens by a metric of its own" if own else None,
    )
    likened = f" Metrics differ: {metrics[1]} against {metrics[0]}." if own else ""
    for one in found:
        yield PageComparison(group.name, one, f"{drawn_words(found)}{likened}")


def _measures(group: ProtocolGroup, system: System, against: System) -> list[str]:
    """The hit rate at the smallest k and the deepest average precision that both systems have a value of."""
    both = [
        name
        for name in group.measure_names
        if all(name in one.measures and one.measures[name].mean is not None for one in (system, against))
    ]
    hit_rates = [name for name in both if system.measures[name].family == "HitRate"]
    precisions = [name for name in both if system.measures[name].family == "AP"]
    return [*hit_rates[:1], *precisions[-1:]]
