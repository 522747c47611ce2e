"""What an engine gave back for some queries, looked at before anything is counted."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, Problems, first_few

__all__ = ["checked_answer"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
Scores: TypeAlias = npt.NDArray[np.float32]


def checked_answer(engine: str, rows: Any, scores: Any, *, queries: int, items: int) -> tuple[Int64Array, Scores]:
    """Rows and scores of an engine, as its contract has them.

    Parameters
    ----------
    engine : str
        Its name, for messages.
    rows, scores : arrays of shape (queries, m)
        Row numbers, -1 where a place was not filled, and their scores.
    queries, items : int
        How many were asked, and how many the engine holds.

    Raises
    ------
    InputError
        Another shape, rows that are no whole numbers or that the engine does not hold, a row twice for one query, or
        scores of found rows that are NaN or infinite: such an engine breaks its contract, and its recall says nothing.

    Examples
    --------
    >>> checked_answer("mine", np.array([[2, -1]]), np.array([[0.5, -np.inf]]), queries=1, items=3)[0].tolist()
    [[2, -1]]
    """
    places, values = np.asarray(rows), np.asarray(scores)
    problems = Problems(f"answer of engine {engine!r}; run visual_search.testing.engine_contract on it")
    if places.dtype.kind not in "iu" or places.ndim != 2 or len(places) != queries:
        problems.add(
            f"rows: {places.dtype} of shape {places.shape}; whole numbers of shape ({queries}, k) are needed"
        )
    if values.shape != places.shape:
        problems.add(f"scores: shape {values.shape}, and the rows have {places.shape}; one a row is needed")
    problems.raise_if_any(InputError)

    def note(wrong: Any, words: str) -> None:
        found = np.flatnonzero(np.asarray(wrong).any(axis=1))
        if found.size:
            problems.add(f"{words} for {found.size} queries, first {first_few(found.tolist())}")

    note((places < -1) | (places >= items), f"rows outside -1..{items - 1}")
    ordered = np.sort(places, axis=1)
    note((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0), "a row twice")
    note((places >= 0) & ~np.isfinite(values), "scores that are NaN or infinite")
    problems.raise_if_any(InputError)
    return places.astype(np.int64, copy=False), values
