"""The highest nDCG that grades of unjudged items can give, where more relevance also raises the ideal.

DCG is a sum over levels of the scale: an item of grade g adds, for every level up to g, the step in gain to that level
times its discount. For given numbers of items at each level DCG is highest when grades fall down the list, and the
ideal depends on these numbers alone. Both are then sums over levels of functions of N, the unjudged items that reach
the level, and for a trial value t the sign of the highest ``DCG - t * ideal``, level by level, says whether a value
above t can be reached [1]_. N never rises with the level, since higher levels hold fewer judged items and cost more of
the ideal.

.. [1] W. Dinkelbach, On nonlinear fractional programming, Management Science 13(7), 1967.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["best_grades"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


def best_grades(
    discounts: FloatArray,
    own: float,
    judged: FloatArray,
    ideal: FloatArray,
    levels: tuple[FloatArray, FloatArray],
) -> FloatArray:
    """Grades of unjudged items under which nDCG is highest.

    Parameters
    ----------
    discounts : float64 array of shape (u,)
        Expected discount of each unjudged item of the list, falling; 0 beyond the cut.
    own : float
        DCG of the judged items.
    judged : float64 array of shape (judged,)
        Gains of all judged items of the query.
    ideal : float64 array of shape (ranks + 1,)
        Sum of the discounts of the first 0, 1, ... ranks; beyond its end it stays as it is.
    levels : tuple of two float64 arrays of shape (s,)
        Grades above 0 that an unjudged item may have, rising, and their gains.

    Returns
    -------
    float64 array of shape (u,)
        Grades, falling.

    Examples
    --------
    One relevant item is judged but not found; the two unjudged items of the list give the most where both are relevant.
    Where the judged one is found first, the unjudged one after it can add nothing:

    >>> discounts, ideal = np.array([1.0, 0.63]), np.array([0.0, 1.0, 1.63, 2.13])
    >>> best_grades(discounts, 0.0, np.array([1.0]), ideal, (np.array([1.0]), np.array([1.0]))).tolist()
    [1.0, 1.0]
    >>> best_grades(discounts[1:], 1.0, np.array([1.0]), ideal, (np.array([1.0]), np.array([1.0]))).tolist()
    [0.0]
    """
    reached = np.concatenate(([0.0], np.cumsum(discounts)))
    steps, over = _steps(judged, levels[1])
    cost = [_ideal_of(over[s], steps[s], ideal, len(discounts)) for s in range(len(steps))]
    beyond = _beyond(judged, levels[1], ideal)
    counts = [len(discounts)] * len(steps)
    value = _value(counts, own, beyond, reached, steps, cost)
    none = _value([0] * len(steps), own, beyond, reached, steps, cost)
    if none >= value:
        counts, value = [0] * len(steps), none
    while True:
        # The last of equal ones, so that N never rises with the level.
        tried = []
        for step, spent in zip(steps, cost, strict=True):
            worth = step.sum() * reached - value * spent
            tried.append(int(len(worth) - 1 - np.argmax(worth[::-1])))
        better = _value(tried, own, beyond, reached, steps, cost)
        if not better > value:
            break
        counts, value = tried, better
    rank = np.arange(len(discounts))
    level = sum((rank < count).astype(np.int64) for count in counts)
    return np.concatenate(([0.0], levels[0]))[level]


def _steps(judged: FloatArray, gains: FloatArray) -> tuple[list[FloatArray], list[npt.NDArray[np.int64]]]:
    """For each level the steps in gain up to it, parted where judged gains lie, and the judged items over each."""
    edges = np.unique(np.concatenate(([0.0], judged[judged > 0], gains)))
    falling = np.sort(judged)
    steps, over = [], []
    low = 0.0
    for gain in gains.tolist():
        inside = edges[(edges >= low) & (edges <= gain)]
        steps.append(np.diff(inside))
        over.append((len(falling) - np.searchsorted(falling, inside[1:], side="left")).astype(np.int64))
        low = gain
    return steps, over


def _ideal_of(over: npt.NDArray[np.int64], steps: FloatArray, ideal: FloatArray, unjudged: int) -> FloatArray:
    """What this level adds to the ideal when 0, 1, ... unjudged items reach it."""
    places = np.minimum(over[:, None] + np.arange(unjudged + 1), len(ideal) - 1)
    added: FloatArray = steps @ ideal[places]
    return added


def _beyond(judged: FloatArray, gains: FloatArray, ideal: FloatArray) -> float:
    """What judged gains above the highest level add to the ideal, whatever the unjudged items are."""
    top = float(gains.max())
    edges = np.unique(np.concatenate(([top], judged[judged > top])))
    falling = np.sort(judged)
    over = len(falling) - np.searchsorted(falling, edges[1:], side="left")
    return float(np.diff(edges) @ ideal[np.minimum(over, len(ideal) - 1)])


def _value(
    counts: list[int],
    own: float,
    beyond: float,
    reached: FloatArray,
    steps: list[FloatArray],
    cost: list[FloatArray],
) -> float:
    top = own + sum(float(step.sum()) * float(reached[n]) for step, n in zip(steps, counts, strict=True))
    bottom = beyond + sum(float(spent[n]) for spent, n in zip(cost, counts, strict=True))
    return top / bottom if bottom > 0 else float("-inf")
