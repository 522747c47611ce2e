"""A measure's parameters, each declared once: type, choices, default, one line.

Help, checks, parsing, the canonical text and the documentation all read this declaration.
"""

from __future__ import annotations

import math
import sys
from dataclasses import Field, dataclass, field, fields
from typing import Any, Literal

from visual_search.errors import InputError

__all__ = ["Parameter", "choice", "count", "cutoff", "declared", "number", "number_text", "threshold"]

# Ranks and counts are exact in float64 up to here.
_LARGEST = 2**53


@dataclass(frozen=True, slots=True)
class Parameter:
    """What one parameter of a measure may be.

    Attributes
    ----------
    kind : {"choice", "number", "cutoff"}
        How it is read and checked.
    about : str
        One line for help and documentation.
    choices : tuple of str
        Allowed texts of a choice.
    low, high : float
        Allowed range of a number, ends included unless ``open_ends``.
    open_ends : bool
        Whether the ends of the range are left out.
    whole : bool
        Whether a number must be an integer.
    named : bool
        Whether the canonical text names it also when it has its default.
    required : bool
        Whether it must be given.
    optional : bool
        Whether a number may be left out, so that it is None.
    """

    kind: Literal["choice", "number", "cutoff"]
    about: str
    choices: tuple[str, ...] = ()
    low: float = 0
    high: float = math.inf
    open_ends: bool = False
    whole: bool = False
    named: bool = False
    required: bool = False
    optional: bool = False

    def allowed(self) -> str:
        """What is allowed, in words."""
        if self.kind == "choice":
            return "one of " + ", ".join(self.choices)
        if self.kind == "cutoff":
            least = "a whole number from 1" + ("" if "R" not in self.choices else ", or R")
            return least if self.required else f"{least}, or none"
        kind = "a whole number" if self.whole else "a number"
        if math.isinf(self.high):
            none = ", or none" if self.optional else ""
            return f"{kind} {'above' if self.open_ends else 'from'} {number_text(self.low)}{none}"
        low, high = number_text(self.low), number_text(self.high)
        return f"{kind} between {low} and {high}" if self.open_ends else f"{kind} from {low} to {high}"

    def read(self, text: str) -> Any:
        """Read the parameter from a text form; what cannot be read stays as it came, for `check` to refuse."""
        text = text.strip().strip("'\"")
        if self.kind == "choice" or (self.kind == "cutoff" and text == "R"):
            return text
        if not text.isascii() or "_" in text:  # what Python reads as a number and no one writes as one
            return text
        try:
            return int(text)
        except ValueError:
            pass
        try:
            return float(text)
        except ValueError:
            return text

    def accepts(self, value: Any) -> bool:
        """Whether the value is allowed."""
        if self.kind == "choice":
            return value in self.choices
        if value is None:
            return self.optional or (self.kind == "cutoff" and not self.required)
        if self.kind == "cutoff":
            return value in self.choices or (type(value) is int and 1 <= value <= _LARGEST)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not -math.inf < value < math.inf:
            return False
        if (self.whole and (value != int(value) or value > _LARGEST)) or abs(value) > sys.float_info.max:
            return False
        return self.low < value < self.high if self.open_ends else self.low <= value <= self.high


def number_text(value: float) -> str:
    """The shortest text that reads back as the number; whole numbers without a point.

    >>> number_text(1.0), number_text(0.8)
    ('1', '0.8')
    """
    return str(int(value)) if value == int(value) else repr(float(value))


def choice(default: str, *choices: str, about: str, named: bool = False) -> Any:
    """Declare a parameter that is one of a few words."""
    return field(default=default, metadata={"parameter": Parameter("choice", about, choices=choices, named=named)})


def number(
    default: float | None,
    *,
    about: str,
    low: float = 0,
    high: float = math.inf,
    open_ends: bool = False,
    whole: bool = False,
    named: bool = False,
) -> Any:
    """Declare a parameter that is a number; a default of None makes it required."""
    declared_as = Parameter(
        "number",
        about,
        low=low,
        high=high,
        open_ends=open_ends,
        whole=whole,
        named=named or default is None,
        required=default is None,
    )
    return field(default=default, metadata={"parameter": declared_as})


def count(*, about: str) -> Any:
    """Declare a parameter that is a whole number from 1, or left out."""
    return field(default=None, metadata={"parameter": Parameter("number", about, low=1, whole=True, optional=True)})


def threshold() -> Any:
    """Declare ``rel``, the grade from which an item counts as relevant."""
    return number(1, about="an item is relevant when its grade is at least this", open_ends=True)


def cutoff(*, required: bool = True, or_r: bool = False) -> Any:
    """Declare ``k``, the rank down to which the list is read."""
    about = "the rank down to which the list is read" + ("" if required else "; without it the whole list is")
    return field(
        default=None,
        metadata={"parameter": Parameter("cutoff", about, choices=("R",) if or_r else (), required=required)},
    )


def declared(measure: Any) -> dict[str, tuple[Field[Any], Parameter]]:
    """Fields of a measure class that are parameters, by name, in their order."""
    return {f.name: (f, f.metadata["parameter"]) for f in fields(measure) if "parameter" in f.metadata}


def check(measure: Any) -> None:
    """Raise when a parameter of a measure has a value that is not allowed.

    Raises
    ------
    InputError
        Names measure, parameter, value and what is allowed.
    """
    for name, (_, parameter) in declared(measure).items():
        value = getattr(measure, name)
        if parameter.accepts(value):
            continue
        called = type(measure).__name__
        if isinstance(value, int) and value > _LARGEST:
            raise InputError(f"{called}: {name} is beyond 2^53; allowed is {parameter.allowed()}, up to that")
        if value is None:
            raise InputError(f"{called}: {name} must be given, {parameter.allowed()}; {parameter.about}")
        raise InputError(f"{called}: {name}={value!r}; allowed is {parameter.allowed()}")
