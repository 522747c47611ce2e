"""Points that a sweep gave up, since they took longer than they may: kept beside the finished ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from visual_search.counted import counted
from visual_search.errors import FileFormatError, Problems
from visual_search.formats.json_shapes import check_shape, whole
from visual_search.tuning.grid import GridPoint

__all__ = ["NotFinished", "Step", "given_up_words"]

Step: TypeAlias = Literal["build", "search"]

_KEY = "not_finished"
_NAMED = 3
_MOST = 1e15


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_place(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MOST


def _is_seconds(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value < _MOST


def _is_step(value: Any) -> bool:
    return isinstance(value, str) and value in ("build", "search")


_TEXT = (_is_text, "text")
_SHAPE = whole(
    *("key", "place", "label", "ladder", "step", "seconds"),
    key=_TEXT,
    place=(_is_place, "a whole number of at least 0"),
    label=_TEXT,
    ladder=_TEXT,
    step=(_is_step, "build or search"),
    seconds=(_is_seconds, "a number above 0"),
)


@dataclass(frozen=True, slots=True)
class NotFinished:
    """A setting that took longer than it may.

    Attributes
    ----------
    key, label, ladder : str
        As those of a finished point.
    place : int
    step : "build" or "search"
        What took too long: the structure that it shares with its ladder, or what is measured under the setting alone.
    seconds : float
        The time limit.
    """

    key: str
    place: int
    label: str
    ladder: str
    step: Step
    seconds: float

    @classmethod
    def of(cls, point: GridPoint, step: Step, seconds: float) -> NotFinished:
        """Give a point up."""
        return cls(point.key, point.place, point.label, point.ladder, step, seconds)

    def words(self) -> str:
        """What became of it, for a table's cell.

        >>> NotFinished("", 0, "flat", "flat", "search", 60.0).words()
        'not finished within 60 s'
        >>> NotFinished("", 0, "flat", "flat", "build", 0.5).words()
        'build not finished within 0.5 s'
        """
        return f"{'build ' if self.step == 'build' else ''}not finished within {self.seconds:g} s"

    def told(self) -> dict[str, Any]:
        """As a JSON object for readers."""
        return {
            "setting": self.label,
            "ladder": self.ladder,
            "step": self.step,
            "seconds": self.seconds,
            "words": self.words(),
        }

    def as_record(self) -> dict[str, Any]:
        """As a record of a sweep's file."""
        return {_KEY: asdict(self)}

    @staticmethod
    def is_record(record: Any) -> bool:
        """Whether a record of a sweep's file is one of these."""
        return isinstance(record, dict) and _KEY in record

    @classmethod
    def latest(cls, records: Iterable[Mapping[str, Any]], finished: Iterable[str]) -> dict[str, NotFinished]:
        """By key; without those that were finished after all, and of several the last.

        Raises
        ------
        FileFormatError
            Something else than ``as_record`` wrote.
        """
        held: dict[str, NotFinished] = {}
        for record in records:
            problems = Problems("not a point that was given up")
            check_shape(record[_KEY], _SHAPE, _KEY, problems)
            if not problems.found and record[_KEY] is None:
                problems.add(f"{_KEY}: an object is needed; got null")
            problems.raise_if_any(FileFormatError)
            one = cls(**{name: record[_KEY][name] for name in cls.__dataclass_fields__})
            held[one.key] = one
        for key in finished:
            held.pop(key, None)
        return held


def given_up_words(given_up: Iterable[NotFinished]) -> list[str]:
    """Notes of what was given up and why, one for each step and time limit.

    >>> given_up_words([NotFinished("", 0, "ivf nprobe=9", "ivf", "search", 2.5)])
    ['1 setting was given up, not finished within 2.5 s: ivf nprobe=9; without values it has no part in fronts and \
choices; swept again with a longer time limit, or none, it is tried again']
    """
    alike: dict[tuple[Step, float], list[str]] = {}
    for one in given_up:
        alike.setdefault((one.step, one.seconds), []).append(one.label)
    return [_given_up(labels, step, seconds) for (step, seconds), labels in alike.items()]


def _given_up(labels: list[str], step: Step, seconds: float) -> str:
    alone = len(labels) == 1
    named = ", ".join(labels[:_NAMED]) + (f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else "")
    late = (
        "not finished" if step == "search" else f"the build of {'its' if alone else 'their'} structure not finished"
    )
    return (
        f"{counted(len(labels), 'setting was', 'settings were')} given up, {late} within {seconds:g} s: {named}; "
        f"without values {'it has' if alone else 'they have'} no part in fronts and choices; swept again with a longer "
        f"time limit, or none, {'it is' if alone else 'they are'} tried again"
    )
