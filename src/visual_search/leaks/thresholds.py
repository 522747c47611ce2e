"""From when on two pictures are called the same."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any

from visual_search.errors import InputError, Problems

__all__ = ["LeakThresholds"]


@dataclass(frozen=True, slots=True)
class LeakThresholds:
    """The rule for near-duplicates: every one of the six must hold.

    Parameters
    ----------
    radius64, radius256 : int
        Largest Hamming distance of the 64-bit and of the 256-bit DCT hash, in bits.
    detail : float
        Lowest correlation of the detail of the two pictures at 24 x 24 pixels; above 0, at most 1.
    color : float
        Largest root mean square difference of chroma, in levels of 255.
    local : float or None
        Largest difference of a 2 x 2 patch at 24 x 24 pixels, mean and contrast made the same, in levels of 255. None:
        11, but no bound where ``detail`` is set below its default, to see pictures that differ in places.
    shade : float
        The same as the pictures are, in levels of 255: a copy half as bright is another picture.
    cosine : float or None
        Lowest cosine of embeddings that alone makes two pictures near-duplicates; None compares no embeddings.

    Raises
    ------
    InputError
        A threshold outside its range.

    How to read it
    --------------
    The defaults are chosen on 400 photographs of 40 faces, ten of each under much the same light. The most alike two of
    them reach a detail of .963, and a person sees that they are two; copies scaled down to a quarter of the side, scaled
    up, or compressed to JPEG quality 30 reach .987 and more. docs/explanation/leaks.md has the table.

    Examples
    --------
    >>> LeakThresholds().words()
    'near-duplicates: at most 6 of 64 and 32 of 256 hash bits differ, detail correlates at .975 or more, colours differ by at most 16 levels, a patch by 11 and with its brightness by 50'
    """  # noqa: E501 - the words come in one line

    radius64: int = 6
    radius256: int = 32
    detail: float = 0.975
    color: float = 16.0
    cosine: float | None = None
    local: float | None = None
    shade: float = 50.0

    def __post_init__(self) -> None:
        problems = Problems("thresholds")
        for name, most in (("radius64", 64), ("radius256", 256)):
            value = getattr(self, name)
            if type(value) is not int or not 0 <= value <= most:
                problems.add(f"{name}={value!r}: give a whole number of bits from 0 to {most}")
        for name, most in (("detail", 1), ("color", 255), ("local", 255), ("shade", 255)):
            value = getattr(self, name)
            if name == "local" and value is None:
                continue
            if not _is_number(value) or not 0 < value <= most:
                problems.add(f"{name}={value!r}: give a number above 0 and at most {most}")
        if self.cosine is not None and (not _is_number(self.cosine) or not 0 < self.cosine <= 1):
            problems.add(f"cosine={self.cosine!r}: give a cosine above 0 and at most 1, or None")
        problems.raise_if_any(InputError)

    @property
    def patch(self) -> float:
        """The bound of ``local`` that holds."""
        if self.local is not None:
            return self.local
        return 11.0 if self.detail >= 0.975 else 255.0

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self) | {"local": self.patch}

    def words(self) -> str:
        """The rule in a line."""
        said = (
            f"near-duplicates: at most {self.radius64} of 64 and {self.radius256} of 256 hash bits differ, detail "
            f"correlates at {_short(self.detail)} or more, colours differ by at most {self.color:g} levels, "
            f"a patch by {self.patch:g} and with its brightness by {self.shade:g}"
        )
        return (
            said if self.cosine is None else f"{said}; or embeddings with a cosine of {_short(self.cosine)} or more"
        )


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _short(value: float) -> str:
    return f"{value:g}".removeprefix("0") if value < 1 else f"{value:g}"
