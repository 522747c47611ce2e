"""Which of many settings may be said to reach a target, with one chance of any wrong word for all of them together.

Settings that share a structure are a ladder. Along a ladder the hypotheses "its mean is below the target" are tested in
an order that is fixed beforehand, from the dearest setting to the cheapest, each at the full level, until one is not
refused (a fixed-sequence test [1]_): the first wrong word would have to be said at the first true hypothesis, so no
correction for their number is needed. The level is divided among ladders (Bonferroni).

.. [1] P. Westfall, A. Krishen, Optimally weighted, fixed sequence and gatekeeper multiple testing procedures, Journal
   of Statistical Planning and Inference 99, 2001.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.tuning.lower_bound import GroupedValues, p_value

__all__ = ["CORRECTION", "Status", "Verdict", "certify"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Status: TypeAlias = Literal["certified", "not certified", "not tested"]

CORRECTION = "fixed-sequence test down each ladder, from the dearest setting; Bonferroni over ladders"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found of one setting.

    Attributes
    ----------
    status : {"certified", "not certified", "not tested"}
        Not tested: a dearer setting of its ladder was not certified, so the test had ended.
    mean : float
        Of the validation queries; NaN where no value is defined.
    p_value : float or None
    level : float
        What the p-value was held against.
    values : GroupedValues or None
    """

    status: Status
    mean: float
    p_value: float | None
    level: float
    values: GroupedValues | None


def certify(
    ladders: Sequence[Sequence[FloatArray]],
    target: float,
    confidence: float = 0.95,
    groups: Sequence[object] | None = None,
) -> list[list[Verdict]]:
    """Test settings for reaching a target.

    Parameters
    ----------
    ladders : sequence of sequences of float64 arrays of shape (n,)
        Values between 0 and 1 of the validation queries, for each ladder and setting, the dearest setting first. The
        order must not come from these values.
    target : float in (0, 1)
    confidence : float in (0, 1)
        That no setting is certified whose true mean is below the target.
    groups : sequence of length n, optional
        Group of each query.

    Returns
    -------
    list of lists of Verdict
        In the order of what came.

    Raises
    ------
    InputError
        A target or confidence outside its range, or values outside theirs.

    Examples
    --------
    >>> good, poor = np.ones(100), np.repeat([1.0, 0.0], [90, 10])
    >>> [[verdict.status for verdict in ladder] for ladder in certify([[good, poor, good], [good]], 0.95)]
    [['certified', 'not certified', 'not tested'], ['certified']]
    """
    for name, value in (("target", target), ("confidence", confidence)):
        if not 0 < value < 1:
            raise InputError(f"{name}: got {value}; must lie between 0 and 1, such as 0.95")
    level = (1 - confidence) / max(len(ladders), 1)
    return [_down(ladder, target, level, groups) for ladder in ladders]


def _down(
    ladder: Sequence[FloatArray], target: float, level: float, groups: Sequence[object] | None
) -> list[Verdict]:
    made: list[Verdict] = []
    ended = False
    for values in ladder:
        known = values[~np.isnan(values)]
        mean = float(known.mean()) if known.size else float("nan")
        if ended or not known.size:
            made.append(Verdict("not tested", mean, None, level, None))
            ended = True
            continue
        held = GroupedValues.of(values, groups)
        found = p_value(held, target)
        ended = found > level
        made.append(Verdict("not certified" if ended else "certified", mean, found, level, held))
    return made
