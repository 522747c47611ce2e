"""What judges are asked: the guideline, the grades, how many judgements a pair wants, and in which order pairs come."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, TypeAlias, get_args

from visual_search.errors import InputError, Problems
from visual_search.formats.checks import finite_number, shown, unknown_keys
from visual_search.ids import Id

__all__ = ["ORDERS", "Grade", "JudgingTask", "Order", "share_hash"]

Order: TypeAlias = Literal["move_to_front", "max_mean", "fixed", "shuffled"]
ORDERS: tuple[Order, ...] = get_args(Order)

_REASONS = ("the image cannot be seen", "the query is unclear", "the guideline does not say", "not my field")


@dataclass(frozen=True, slots=True)
class Grade:
    """One grade that a judge can give.

    Attributes
    ----------
    value : float
        What enters the measures.
    name : str
        What the judge reads.

    Examples
    --------
    >>> Grade(1, "relevant")
    Grade(value=1, name='relevant')
    """

    value: float
    name: str


_GRADES = (Grade(0, "not relevant"), Grade(1, "relevant"), Grade(2, "highly relevant"))


@dataclass(frozen=True, slots=True)
class JudgingTask:
    """What judges are asked, and how much.

    Attributes
    ----------
    guideline : str
        Plain text that stands beside every pair.
    grades : tuple of Grade
        From 2 to 10, by rising value.
    relevant_from : float
        A pair counts as relevant from this grade on; it steers the order only, measures have their own ``rel``.
    reasons : tuple of str
        Offered where a judge cannot tell; another may be written.
    wanted : int
        Judgements wanted per pair, each by another judge; from 1.
    overlap : float
        Share of the pairs, 0 to 1, that want ``overlap_wanted`` judgements instead, for agreement. Which pairs is
        drawn by a hash of seed and ids, so that neither system nor rank has a say.
    overlap_wanted : int
        At least ``wanted``.
    order : {"move_to_front", "max_mean", "fixed", "shuffled"}
        See `visual_search.judging.order`.
    run_length : int
        Pairs of one query that come one after another before the next query; from 1.
    seed : int
        Of the draws and of ties in the order.

    Raises
    ------
    InputError
        Values that are not allowed, all at once.

    Examples
    --------
    >>> task = JudgingTask(overlap=0.25, overlap_wanted=3)
    >>> sum(task.wanted_for("q", item) == 3 for item in range(1000))
    232
    >>> JudgingTask(wanted=0)
    Traceback (most recent call last):
    ...
    visual_search.errors.InputError: task: 1 problem
      - wanted is 0; it must be a whole number from 1
    """

    guideline: str = ""
    grades: tuple[Grade, ...] = _GRADES
    relevant_from: float = 1.0
    reasons: tuple[str, ...] = _REASONS
    wanted: int = 1
    overlap: float = 0.0
    overlap_wanted: int = 2
    order: Order = "move_to_front"
    run_length: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        problems = Problems("task")
        for name in ("wanted", "overlap_wanted", "run_length"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                problems.add(f"{name} is {value!r}; it must be a whole number from 1")
        if not len(problems) and self.overlap > 0 and self.overlap_wanted < self.wanted:
            problems.add(
                f"overlap_wanted is {self.overlap_wanted}, below wanted, {self.wanted}; give at least that"
            )
        if not 0 <= self.overlap <= 1:  # NaN too
            problems.add(f"overlap is {self.overlap!r}; it is a share of the pairs, 0 to 1")
        if self.order not in ORDERS:
            problems.add(f"order is {self.order!r}; one of {', '.join(ORDERS)}")
        if not math.isfinite(self.relevant_from):
            problems.add(f"relevant_from is {self.relevant_from!r}; it must be a finite grade")
        values = [grade.value for grade in self.grades]
        if not 2 <= len(values) <= 10 or not all(map(math.isfinite, values)) or sorted(set(values)) != values:
            problems.add(f"grades are {values}; from 2 to 10 finite numbers, each greater than the one before")
        if any(not grade.name.strip() for grade in self.grades):
            problems.add("grades: one has no name; a judge reads names")
        problems.raise_if_any(InputError)

    def wanted_for(self, query: Id, item: Id) -> int:
        """Judgements that one pair wants."""
        drawn = share_hash(self.seed, "overlap", query, item) < self.overlap
        return self.overlap_wanted if drawn else self.wanted

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        value = asdict(self)
        value["grades"] = [asdict(grade) for grade in self.grades]
        return value | {"reasons": list(self.reasons)}

    @classmethod
    def from_json(cls, value: Any, *, subject: str = "task") -> JudgingTask:
        """Take a JSON object as `as_json` gives it; what is left out has its default.

        Raises
        ------
        InputError
            Not an object, keys that are unknown, values of a wrong type; all at once.

        Examples
        --------
        >>> JudgingTask.from_json(JudgingTask(wanted=2).as_json()) == JudgingTask(wanted=2)
        True
        """
        problems = Problems(subject)
        if not isinstance(value, Mapping):
            raise InputError(f"{subject}: {shown(value)}; an object is needed")
        known = tuple(field.name for field in fields(cls))
        for name in unknown_keys(value, known, "", problems):
            problems.add(f"{name!r} is unknown; known are {', '.join(known)}")
        given: dict[str, Any] = {name: value[name] for name in known if name in value}
        for name in ("relevant_from", "overlap"):
            if isinstance(number := finite_number(given.get(name, 0.0)), str):
                problems.add(f"{name} is {number}")
        if not isinstance(given.get("guideline", ""), str):
            problems.add(f"guideline is {shown(given['guideline'])}; it must be text")
        given["grades"] = _grades(given.get("grades"), problems)
        reasons = given.get("reasons", _REASONS)
        if not isinstance(reasons, Sequence) or not all(isinstance(one, str) for one in reasons):
            problems.add("reasons must be a list of texts")
        given["reasons"] = tuple(reasons)
        problems.raise_if_any(InputError)
        return cls(**given)


def _grades(value: Any, problems: Problems) -> tuple[Grade, ...]:
    if value is None:
        return _GRADES
    made: list[Grade] = []
    for one in value if isinstance(value, list | tuple) else ():
        number = finite_number(one.get("value")) if isinstance(one, Mapping) else "no object"
        if isinstance(number, str) or not isinstance(one.get("name"), str):
            problems.add(f'grades holds {shown(one)}; each is {{"value": number, "name": text}}')
        else:
            made.append(Grade(number, one["name"]))
    if not made and not len(problems):
        problems.add(f"grades is {shown(value)}; it must be a list of objects")
    return tuple(made) or _GRADES


def share_hash(seed: int, *parts: Id) -> float:
    """A number from 0 to below 1 that only its parts decide, the same on every machine.

    >>> share_hash(0, "q", 1) == share_hash(0, "q", 1) != share_hash(0, "q", "1")
    True
    """
    text = "\x1f".join(repr(part) for part in (seed, *parts))
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) / (1 << 53)
