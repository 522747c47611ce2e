"""The setting that was chosen, why, and what it does on queries that had no part in the choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from visual_search.counted import counted
from visual_search.evaluation.text_table import decimals, text_table
from visual_search.tuning.certification import CORRECTION, Status
from visual_search.tuning.not_finished import NotFinished
from visual_search.tuning.sweep_point import COST_WORDS, SweepPoint
from visual_search.tuning.sweep_record import cost_in_words

__all__ = ["Candidate", "Choice", "HeldOut"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One setting in the choice.

    Attributes
    ----------
    point : SweepPoint
    status : {"certified", "not certified", "not tested"}
    mean : float
        Of the validation queries.
    bound : float or None
        Lower bound of the true mean at the level of its ladder; None where it was not tested.
    p_value : float or None
    cost : float or None
    queries, groups : int
        Validation queries with a value, and their groups, that mean and bound come from.
    """

    point: SweepPoint
    status: Status
    mean: float
    bound: float | None
    p_value: float | None
    cost: float | None
    queries: int
    groups: int


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The chosen setting on the test queries.

    Attributes
    ----------
    mean, bound : float
        Mean of the measure or, with a threshold, share of the queries that reach it, and its lower bound at the
        confidence of the choice.
    lowest : float
        Value of the measure for the worst query, with a threshold too.
    queries, groups : int
    upper : float or None
        Upper bound of the true mean at the same confidence; None where the mean reaches the target.
    """

    mean: float
    bound: float
    lowest: float
    queries: int
    groups: int
    upper: float | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """The cheapest setting that may be said to reach a target, or that none may.

    Attributes
    ----------
    chosen : Candidate or None
        None where nothing is certified.
    test : HeldOut or None
        What the chosen one does on the test queries.
    candidates : tuple of Candidate
        All settings, the cheapest first.
    measure : str
    target : float
        Of the mean or, with a threshold, of the share of queries whose value reaches it.
    threshold : float or None
    confidence : float
    cost : str or None
        By what they are cheap; None where cost was not measured.
    seed : int
        Of the split.
    validation_queries, validation_groups : int
        On which it was chosen.
    data : mapping
        What it is valid for: fingerprints, sizes, metric and k.
    notes : tuple of str
    missing : tuple of str
        Settings that the sweep was asked for and has not measured.
    not_finished : tuple of NotFinished
        Settings that the sweep gave up, since they took longer than its time limit: never chosen.
    """

    chosen: Candidate | None
    test: HeldOut | None
    candidates: tuple[Candidate, ...]
    measure: str
    target: float
    threshold: float | None
    confidence: float
    cost: str | None
    seed: int
    validation_queries: int
    validation_groups: int
    data: dict[str, Any]
    notes: tuple[str, ...]
    missing: tuple[str, ...] = ()
    not_finished: tuple[NotFinished, ...] = ()

    @property
    def certified(self) -> bool:
        """Whether there is a setting that may be said to reach the target."""
        return self.chosen is not None

    @property
    def what(self) -> str:
        """What is held against the target."""
        if self.threshold is None:
            return f"mean {self.measure}"
        return f"share of queries with {self.measure} of {self.threshold:g} or more"

    @property
    def statistic(self) -> str:
        """What a number of it is called: "mean" or, with a threshold, "share"."""
        return "mean" if self.threshold is None else "share"

    def words(self) -> str:
        """The choice in a few lines."""
        sure = f"{100 * self.confidence:g} %"
        if self.chosen is None:
            best = self._best()
            over = self._validated(best) if best else _over(self.validation_queries, self.validation_groups)
            told = [f"not certified at {over}: {self._why_not(best)}", *self._not_tested(), *self.notes]
            return "\n".join(told)
        one = self.chosen
        price = "" if self.cost is None else f"; {COST_WORDS[self.cost]} {cost_in_words(self.cost, one.cost)}"
        return "\n".join(
            [
                f"chosen: {one.point.label}{price}",
                (
                    f"{self.what} is at least {self.target:g} with {sure} confidence: lower bound "
                    f"{decimals(one.bound, 4)}, {self.statistic} {one.mean:.4f} over {self._validated(one)}"
                ),
                self._tested(sure),
                *self._not_tested(),
                self.validity(),
                *self.notes,
            ]
        )

    def _validated(self, one: Candidate) -> str:
        """On how many validation queries a setting was measured: fewer than there are where values are undefined."""
        without = self.validation_queries - one.queries
        of_all = f"; {without:,} of {self.validation_queries:,} have no value and are left out" if without else ""
        return _over(one.queries, one.groups) + of_all

    def _tested(self, sure: str) -> str:
        if self.test is None:
            return "no test query has a defined value, so there is nothing to report beside it"
        return (
            f"on {_over(self.test.queries, self.test.groups, kind='test')} that had no part in it: {self.statistic} "
            f"{self.test.mean:.4f}, lower bound {self.test.bound:.4f} ({sure}), lowest query {self.test.lowest:.3f}"
            + self._below(self.test, sure)
        )

    def _below(self, test: HeldOut, sure: str) -> str:
        """What it means that the test queries' own mean lies below the target; empty where it does not."""
        if test.upper is None:
            return ""
        if test.upper >= self.target:
            return (
                f"; below {self.target:g} here, which does not contradict the choice: by these queries alone the "
                f"true {self.statistic} may be as high as {test.upper:.4f} ({sure})"
            )
        return (
            f"; below {self.target:g} by more than chance explains: from these queries the true {self.statistic} is at "
            f"most {test.upper:.4f} ({sure}), so take a dearer setting, or sweep with more queries"
        )

    def _not_tested(self) -> list[str]:
        """Why settings have no lower bound."""
        skipped = [one for one in self.candidates if one.status == "not tested"]
        ladders = {one.point.ladder for one in skipped}
        ends = [
            one.point.label
            for one in self.candidates
            if one.status == "not certified" and one.point.ladder in ladders
        ]
        if not ends:
            return []
        of_all = f"{len(skipped):,} of {counted(len(self.candidates), 'setting', 'settings')}"
        how = "the test of each structure goes from its dearest setting down and ends at the first that fails"
        return [f"not tested: {of_all}, since {how}: {', '.join(ends)}"]

    def validity(self) -> str:
        """What the statement holds for."""
        return (
            f"it holds for this index of {self.data['gallery_size']:,} vectors ({self.data['metric']}, "
            f"k = {self.data['k']}) and queries like these; another gallery, size or kind of query needs its own sweep"
        )

    def _best(self) -> Candidate | None:
        tested = [one for one in self.candidates if one.bound is not None]
        return max(tested, key=lambda one: one.bound or 0.0) if tested else None

    def _why_not(self, best: Candidate | None) -> str:
        if best is None:
            if all(one.mean != one.mean for one in self.candidates):
                return f"no setting has a defined {self.measure}"
            return (
                f"the dearest setting of each structure has no defined {self.measure}, and the test begins there; "
                "leave it out of the sweep"
            )
        mend = (
            "more queries may certify it"
            if best.mean > self.target
            else "add settings that search wider, or lower it"
        )
        return (
            f"no lower bound of the {self.what} reaches {self.target:g}; the best is {decimals(best.bound, 4)} "
            f"({self.statistic} {best.mean:.4f}) of {best.point.label}; {mend}"
        )

    def table(self) -> str:
        """Every setting in plain text, the cheapest first, and after them those that the sweep gave up."""
        rows = [
            [
                one.point.label,
                decimals(one.mean, 4),
                decimals(one.bound, 4),
                "" if self.cost is None else cost_in_words(self.cost, one.cost),
                "chosen" if one is self.chosen else one.status,
            ]
            for one in self.candidates
        ]
        dash = "" if self.cost is None else "-"
        rows += [[one.label, "-", "-", dash, one.words()] for one in self.not_finished]
        head = "cost" if self.cost is None else COST_WORDS[self.cost]
        return text_table(["setting", self.statistic, "lower bound", head, "verdict"], rows)

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "certified": self.certified,
            "measure": self.measure,
            "statistic": self.statistic,
            "target": self.target,
            "threshold": self.threshold,
            "confidence": self.confidence,
            "bound": "Gaffke",
            "correction": CORRECTION,
            "cost": self.cost,
            "seed": self.seed,
            "validation": {"queries": self.validation_queries, "groups": self.validation_groups},
            "chosen": None if self.chosen is None else _told(self.chosen, whole=True),
            "test": None
            if self.test is None
            else {
                name: getattr(self.test, name) for name in ("mean", "bound", "upper", "lowest", "queries", "groups")
            },
            "candidates": [_told(one, whole=False) for one in self.candidates],
            "valid_for": dict(self.data),
            "not_finished": [one.told() for one in self.not_finished],
            "missing": list(self.missing),
            "notes": list(self.notes),
            "words": self.words(),
        }


def _over(queries: int, groups: int, *, kind: str = "validation") -> str:
    words = counted(queries, f"{kind} query", f"{kind} queries")
    return words if groups == queries else f"{words} in {counted(groups, 'group', 'groups')}"


def _told(one: Candidate, *, whole: bool) -> dict[str, Any]:
    told = {
        "setting": one.point.label,
        "status": one.status,
        "mean": None if one.mean != one.mean else one.mean,
        "bound": one.bound,
        "p_value": one.p_value,
        "queries": one.queries,
        "groups": one.groups,
        "cost": one.cost,
        "settings": dict(one.point.settings),
    }
    return told | {"point": one.point.as_json(values=False)} if whole else told
