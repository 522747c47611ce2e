"""Judgements: what a judge says of a pair, and the record that is kept of it for good."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from visual_search.errors import InputError, Problems
from visual_search.ids import Id

__all__ = ["COLUMNS", "Judgement", "Role", "Verdict", "judgement_columns"]

Role: TypeAlias = Literal["judge", "adjudicator"]

# Longest note and longest reason, in characters.
LONGEST = 2000
# A person who says more seconds than a week was not judging.
MOST_SECONDS = 7 * 86400.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of one pair: a grade, or that he cannot tell, and why.

    Attributes
    ----------
    grade : float or None
        One of the task's grades; None where the judge cannot tell.
    reason : str
        Why he cannot; empty where there is a grade.
    note : str
        Anything else, at most 2000 characters.
    seconds : float or None
        How long he took, s.

    Raises
    ------
    InputError
        Both or neither of grade and reason, a text that is too long, seconds that cannot be.

    Examples
    --------
    >>> Verdict(1, seconds=2.5)
    Verdict(grade=1.0, reason='', note='', seconds=2.5)
    >>> Verdict(None, reason="the image cannot be seen").grade is None
    True
    """

    grade: float | None
    reason: str = ""
    note: str = ""
    seconds: float | None = None

    def __post_init__(self) -> None:
        problems = Problems("judgement")
        if self.grade is None and not self.reason.strip():
            problems.add("neither grade nor reason; give a grade, or say why it cannot be told")
        if self.grade is not None and self.reason:
            problems.add(f"grade {self.grade} and the reason {self.reason!r} why there is none; give one of them")
        if self.grade is not None and not math.isfinite(self.grade):
            problems.add(f"grade is {self.grade}; it must be finite")
        for name in ("reason", "note"):
            text = getattr(self, name)
            if len(text) > LONGEST:
                problems.add(f"{name} has {len(text)} characters; at most {LONGEST}")
            if "\0" in text or not _is_unicode(text):
                problems.add(f"{name} holds NUL or half of a surrogate pair; give plain text")
        if self.seconds is not None and not 0 <= self.seconds <= MOST_SECONDS:
            problems.add(f"seconds is {self.seconds}; from 0 to {MOST_SECONDS:.0f}")
        problems.raise_if_any(InputError)
        if self.grade is not None:
            object.__setattr__(self, "grade", float(self.grade))


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Judgement:
    """One record of the log. Records are never changed nor removed: who thinks again adds one that replaces.

    Attributes
    ----------
    number : int
        Grows with every record of a store, with gaps.
    key : str
        The client's name for its request; a request that comes again with the same key is not a second judgement.
    pair : int
        The pair's number in the store.
    query, item : str or int
    judge : str
    role : {"judge", "adjudicator"}
        An adjudicator decides where judges disagree.
    time : datetime
        When it was written, UTC.
    verdict : Verdict or None
        None: this record undoes the one that it replaces, and the pair is unjudged by this judge again.
    replaces : int or None
        Number of the record of the same judge and pair that holds no more.
    """

    number: int
    key: str
    pair: int
    query: Id
    item: Id
    judge: str
    role: Role
    time: datetime
    verdict: Verdict | None
    replaces: int | None = None

    @property
    def is_undo(self) -> bool:
        """Whether it only takes another back."""
        return self.verdict is None

    @property
    def grade(self) -> float | None:
        """The grade, or None of an undo and of "can't tell"."""
        return None if self.verdict is None else self.verdict.grade


COLUMNS = (
    "number", "key", "query", "item", "judge", "adjudicated", "time", "grade", "reason", "seconds", "note", "replaces",
    "undo",
)  # fmt: skip


def judgement_columns(judgements: Iterable[Judgement]) -> dict[str, list[Any]]:
    """Columns of a table with one row a record, as `COLUMNS` names them.

    ``grade`` is None of an undo and where the judge could not tell; ``time`` is ISO 8601 in UTC.

    Examples
    --------
    >>> sorted(judgement_columns([]))[:3]
    ['adjudicated', 'grade', 'item']
    """
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for one in judgements:
        verdict = one.verdict
        row = {
            "number": one.number, "key": one.key, "query": one.query, "item": one.item, "judge": one.judge,
            "adjudicated": one.role == "adjudicator", "time": one.time.isoformat(timespec="microseconds"),
            "grade": one.grade,
            "reason": "" if verdict is None else verdict.reason,
            "seconds": None if verdict is None else verdict.seconds,
            "note": "" if verdict is None else verdict.note, "replaces": one.replaces, "undo": one.is_undo,
        }  # fmt: skip
        for name, value in row.items():
            columns[name].append(value)
    return columns
