"""One set of independent groups for results that may each name their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.folds import group_codes

__all__ = ["joint_groups"]

Groups = Sequence[object] | None


def joint_groups(told: Sequence[Groups]) -> tuple[list[object] | None, list[str]]:
    """Put queries together that any of the results puts together, so that the order of the results plays no part.

    Parameters
    ----------
    told : sequence of sequences of length n, or None
        Group of each query by each result; None where it names none.

    Returns
    -------
    groups : list of length n, or None
        As the results name them where they agree; None where none names any.
    notes : list of str
        What to say where they do not agree.

    Examples
    --------
    >>> joint_groups([["a", "a", "b", "c"], ["x", "y", "y", "z"]])[0]
    [0, 0, 0, 3]
    >>> joint_groups([["a", "a", "b"], None])
    (['a', 'a', 'b'], [])
    """
    named = [list(groups) for groups in told if groups is not None]
    if not named:
        return None, []
    codes = [group_codes(groups) for groups in named]
    if all(np.array_equal(codes[0], other) for other in codes[1:]):
        return named[0], []
    joined = _joined(codes)
    numbers = [int(one.max()) + 1 for one in codes]
    note = (
        f"the results name other groups ({', '.join(f'{number:,}' for number in sorted(numbers))} of them): queries "
        f"that any result puts into one are taken together, which makes {len(set(joined)):,}; name the groups to choose"
    )
    return list(joined), [note]


def _joined(codes: Sequence[npt.NDArray[np.int64]]) -> list[int]:
    """First query of each query's group, once groups that share a query are one."""
    count = len(codes[0])
    head = np.arange(count)
    while True:
        before = head
        for one in codes:
            least = np.full(int(one.max()) + 1, count)
            np.minimum.at(least, one, head)
            head = least[one]
        if np.array_equal(before, head):
            return [int(row) for row in head]
