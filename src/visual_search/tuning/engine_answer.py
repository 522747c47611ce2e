"""What an engine gave back for some queries, looked at before anything is counted."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, Problems, first_few

__all__ = ["checked_answer"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
Scores: TypeAlias = npt.NDArray[np.float32]


def checked_answer(engine: str, answer: Any, *, queries: int, k: int, items: int) -> tuple[Int64Array, Scores]:
    """Rows and scores of an engine, as its contract has them.

    Parameters
    ----------
    engine : str
        Its name, for messages.
    answer : tuple of two arrays of shape (queries, k)
        Row numbers, -1 where a place was not filled, and their scores.
    queries, k, items : int
        How many were asked, for how many neighbours each, and how many items the engine holds.

    Raises
    ------
    InputError
        Another shape, rows that are no whole numbers or that the engine does not hold, a row twice for one query, or
        scores of found rows that are no numbers, NaN, infinite or rise: such an engine breaks its contract, and its
        recall says nothing.

    Examples
    --------
    >>> answer = np.array([[2, -1]]), np.array([[0.5, -np.inf]])
    >>> checked_answer("mine", answer, queries=1, k=2, items=3)[0].tolist()
    [[2, -1]]
    """
    problems = Problems(f"answer of engine {engine!r}; run visual_search.testing.engine_contract on it")
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        problems.add(f"{type(answer).__name__} given; a pair of rows and scores is needed")
        problems.raise_if_any(InputError)
    places, values = (_array(one) for one in answer)
    if places.dtype.kind not in "iu" or places.shape != (queries, k):
        problems.add(
            f"rows: {places.dtype} of shape {places.shape}; whole numbers of shape ({queries}, {k}) are needed, -1 "
            "where a place is not filled"
        )
    if values.dtype.kind not in "iuf" or values.shape != places.shape:
        problems.add(
            f"scores: {values.dtype} of shape {values.shape}, and the rows have {places.shape}; a number a row is "
            "needed"
        )
    problems.raise_if_any(InputError)

    def note(wrong: Any, words: str) -> None:
        found = np.flatnonzero(np.asarray(wrong).any(axis=1))
        if found.size:
            problems.add(f"{words} for {found.size} queries, first {first_few(found.tolist())}")

    note((places < -1) | (places >= items), f"rows outside -1..{items - 1}")
    ordered = np.sort(places, axis=1)
    note((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0), "a row twice")
    note((places >= 0) & ~np.isfinite(values), "scores that are NaN or infinite")
    with np.errstate(invalid="ignore"):
        note((places[:, 1:] >= 0) & (values[:, 1:] > values[:, :-1]), "scores that rise along the list")
    problems.raise_if_any(InputError)
    return places.astype(np.int64, copy=False), values


def _array(given: Any) -> npt.NDArray[Any]:
    """What was given as an array; of objects where it is ragged."""
    try:
        return np.asarray(given)
    except ValueError:
        return np.array(None, dtype=object)
