"""What is undefined: NaN among numbers, None in a record, since JSON has no NaN."""

from __future__ import annotations

from math import isnan

__all__ = ["none_if_nan"]


def none_if_nan(value: float) -> float | None:
    """Give the number, or None where it is undefined.

    Examples
    --------
    >>> none_if_nan(0.5), none_if_nan(float("nan"))
    (0.5, None)
    """
    return None if isnan(value) else float(value)
