"""Small questions with answers that both twins must give, asked before the compiled ones are trusted."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from visual_search.kernels.joined import JudgedIds, JudgedNames
from visual_search.kernels.text_files import RUN

__all__ = ["first_difference"]

_RUN_TEXT = (
    "q1 Q0 apple 1 2.5 t\nq1 Q0 pear 2 1e-1 t\nq1\tQ0\tfig of fig\t3\t.1\tt\r\n\n# comment\n"
    "q2 Q0 an-item-with-a-long-name-0123456789-0123456789 1 0.12345678901234567 t\nq2 Q0 gr\u00fcn 2 0.1 t"
)


def _runs(kernels: ModuleType) -> Any:
    names = (["q1", "q2", "q3"], ["pear", "fig of fig", "apple", "gr\u00fcn"])
    arrays = (np.array([0, 3, 4, 4]), np.array([0, 1, 2, 3]), np.array([False, False, True, False]))
    return kernels.join_run(io.BytesIO(_RUN_TEXT.encode()), JudgedNames(*names, *arrays))


def _ids(kernels: ModuleType) -> Any:
    ids = np.array([[5, 3, 9, 1], [2, 5, 3, -1]])
    scores = np.array([[4, 2, 2, 2], [1, 1, 1, 0]], dtype=np.float32)
    judged = JudgedIds(np.array([0, 2, 5]), np.array([5, 3, 1, 3, 9]), np.array([False, False, False, True, False]))
    return kernels.join_ids(ids, scores, np.array([1, 0]), judged, pad=-1)


def _tables(kernels: ModuleType) -> Any:
    return kernels.read_table(io.BytesIO(_RUN_TEXT.encode()), RUN)


def _ranks(kernels: ModuleType) -> Any:
    values = (np.arange(600) * 7919 % 271 - 100).astype(np.float32).reshape(2, 300)
    offsets, columns = np.array([0, 4, 254]), np.concatenate((np.arange(4) * 70, np.arange(250)))
    return kernels.count_ranks(values, offsets, columns, columns % 11 == 1)


_QUESTIONS: dict[str, Callable[[ModuleType], Any]] = {
    "count_ranks": _ranks,
    "join_run": _runs,
    "join_ids": _ids,
    "read_table": _tables,
}


def first_difference(compiled: ModuleType, plain: ModuleType) -> str | None:
    """Name of the first kernel whose twins give different answers; None when all agree."""
    for name, ask in _QUESTIONS.items():
        if not _equal(ask(compiled), ask(plain)):
            return name
    return None


def _equal(one: Any, other: Any) -> bool:
    if dataclasses.is_dataclass(one):
        return all(
            _equal(getattr(one, field.name), getattr(other, field.name)) for field in dataclasses.fields(one)
        )
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(np.array_equal(one, other))
