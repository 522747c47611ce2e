"""Small questions whose answers are known, asked before the compiled kernels are trusted."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from visual_search.kernels.joined import (
    DictHits,
    IdHits,
    JudgedIds,
    JudgedNames,
    ListHits,
    Offence,
    RankHits,
    RunHits,
)
from visual_search.kernels.text_files import RUN, Table

__all__ = ["QUESTIONS", "first_wrong"]

_LONG = "an-item-with-a-long-name-0123456789-0123456789-0123456789-0123456789"
# Items that tie, fields between tabs, white space of all kinds, a comment, a number that needs the slow way, letters
# beyond ASCII and a last line without its end.
_TEXT = (
    "q1 Q0 apple 1 2.5 t\nq1  Q0\vpear 2 1e-1 t\r\nq1\tQ0\tfig of fig\t3\t.1\tt\n\n# comment\n"
    f"q2 Q0 {_LONG} 1 0.30000000000000004 t\nq2 Q0 gr\u00fcn 2 0.3 t"
)


def _columns(*columns: list[int]) -> list[Any]:
    return [np.array(column, dtype=np.int64) for column in columns]


def _run(kernels: ModuleType) -> tuple[Any, Any]:
    arrays = (np.array([0, 3, 4, 4]), np.array([0, 1, 2, 3]), np.array([False, False, True, False]))
    judged = JudgedNames(["q1", "q2", "q3"], ["pear", "fig of fig", "apple", "gr\u00fcn"], *arrays)
    lists = [*_columns([2, 2, 0], [1, 0, 0], [3, 2, -1]), np.array([True, False, False])]
    hits = _columns([0, 2, 3, 3], [0, 1, 3], [0, 0, 1], [2, 2, 1], [0, 1, 0], [0, 1, 0])
    return kernels.join_run(io.BytesIO(_TEXT.encode()), judged), RunHits(ListHits(*lists, *hits), (), 5, 2, 0)


def _table(kernels: ModuleType) -> tuple[Any, Any]:
    items = ["apple", "pear", "fig of fig", _LONG, "gr\u00fcn"]
    values = np.array([2.5, 0.1, 0.1, 0.1 + 0.2, 0.3])
    query, item, rank = _columns([0, 0, 0, 1, 1], [0, 1, 2, 3, 4], [1, 2, 3, 1, 2])
    return kernels.read_table(io.BytesIO(_TEXT.encode()), RUN), Table(
        ["q1", "q2"], items, query, item, values, rank
    )


def _ids(kernels: ModuleType) -> tuple[Any, Any]:
    ids = np.array([[5, 3, 9, 1], [2, 5, 3, -1]])
    scores = np.array([[4, 2, 2, 2], [1, 1, 1, 0]], dtype=np.float32)
    judged = JudgedIds(np.array([0, 2, 5]), np.array([5, 3, 1, 3, 9]), np.array([False, False, False, True, False]))
    lists = [*_columns([3, 3], [0, 1], [3, 4]), np.array([True, True])]
    hits = _columns([0, 2, 4], [0, 1, 4, 2], [0, 0, 1, 1], [3, 3, 2, 2], [1, 2, 0, 1], [0, 1, 0, 1])
    fine = Offence(0, -1, -1)
    found = kernels.join_ids(ids, scores, np.array([1, 0]), judged, pad=-1)
    return found, IdHits(ListHits(*lists, *hits), 5, fine, fine, fine)


def _ranks(kernels: ModuleType) -> tuple[Any, Any]:
    # Two rows of all numbers below 271 in another order; in the second each is there for its half, so that two tie.
    order = np.arange(271) * 100 % 271
    similarity = np.stack((order, order // 2)).astype(np.float32)
    first, second = np.argsort(-order, kind="stable")[::3], np.argsort(-(order // 2), kind="stable")
    columns = np.concatenate((first, second))
    ignored = np.zeros(len(columns), dtype=np.bool_)
    ignored[0] = True  # the highest of the first row
    above = np.concatenate((270 - order[first[1:]] - 1, np.maximum(269 - order[second] // 2 * 2, 0)))
    tied = np.concatenate((np.ones(len(first) - 1, dtype=np.int64), np.where(order[second] == 270, 1, 2)))
    offsets = np.array([0, len(first), len(columns)])
    right = RankHits(offsets - [0, 1, 1], np.arange(1, len(columns)), above, tied)
    return kernels.count_ranks(similarity, offsets, columns, ignored), right


def _codes(kernels: ModuleType) -> tuple[Any, Any]:
    # Codes 0, 1, 3, 7, ... of one bit more each, and a second word that changes nothing; the query has ten bits.
    words = np.array([(1 << bits) - 1 for bits in range(65)], dtype=np.uint64)
    gallery, query = np.stack((words, np.full_like(words, 5)), axis=1), np.array([[1023, 5]], dtype=np.uint64)
    columns = np.array([64, 20, 10, 0, 9])
    ignored = np.array([False, False, False, False, True])
    # Distance |bits - 10|: 0 for one code, 1 to 10 for two each (but one less at 1), then one each.
    right = RankHits(np.array([0, 4]), np.array([2, 1, 3, 0]), np.array([0, 18, 18, 63]), np.array([1, 2, 2, 1]))
    return kernels.count_code_ranks(query, gallery, np.array([0, 5]), columns, ignored), right


# 70 rows along a line; the largest number of each is 127, so that the codes are the numbers themselves.
_LINE = np.stack((np.full(70, 127), np.arange(70)), axis=1).astype(np.float32)


def _pairs(kernels: ModuleType) -> tuple[Any, Any]:
    rows, query_of = np.array([40, 0, 5]), np.array([0, 1, 1])
    asked = kernels.pair_distances(_LINE, _LINE[[43, 5]], rows, query_of, metric="l2")
    return asked, np.array([3.0, 5.0, 0.0])


def _packed(kernels: ModuleType) -> tuple[Any, Any]:
    packed = kernels.pack_rows(_LINE, np.zeros(2, dtype=np.float32))
    codes = packed.codes.reshape(-1, 32, 4)[:, :, :2].reshape(-1, 2)
    return (codes[:70], packed.bias[:70]), (_LINE, -128 * _LINE.sum(axis=1))


def _coded(kernels: ModuleType) -> tuple[Any, Any]:
    found = kernels.code_queries(np.array([[126.0, 40.0], [126.0, 3.0]]), most=63)
    # Twice (63, 20), which is all of it, and twice (63, 2), which is one too much.
    right = np.array([[127, 84, 64, 64], [127, 66, 64, 64]], dtype=np.uint8), np.array([0, 1]) / np.hypot(126, 4)
    return (found.codes, np.round(found.ratio, 9)), (right[0], np.round(right[1], 9))


def _nearest(kernels: ModuleType) -> tuple[Any, Any]:
    packed = kernels.pack_rows(_LINE, np.zeros(2, dtype=np.float32))
    queries = kernels.code_queries(
        np.array([[127.0, 40.25], [127.0, 3.0]]), most=63
    )  # which every processor can take
    screen = kernels.RowScreen(queries, 2, euclidean=True)
    screen.see(packed, np.full(2, 1.5), np.zeros(2))
    found = screen.found()
    first, second = (set(rows.tolist()) for rows in np.split(found.rows, [found.counts[0]]))
    # What the second nearest is supposed not to be above is at least its squared distance.
    asked = first >= {40, 41}, second >= {2, 3, 4}, len(found.rows) < 100, (found.supposed >= [0.5625, 1]).all()
    return (*asked, found.full), (True, True, True, True, [False] * 2)


def _merged(kernels: ModuleType) -> tuple[Any, Any]:
    # Room for two and one that ties with the second; row 9 has none. The other query is not asked for.
    distances, rows = np.array([[1.0, 2, np.inf], [3, 4, 4]]), np.array([[5, 4, -1], [2, 1, 8]])
    pairs = np.zeros(5, dtype=np.int64), np.array([9, 7, 1, 2, 3]), np.array([1.5, 1.5, 1.5, 7, 2.5])
    dropped = kernels.merge_nearest((distances, rows), 2, *pairs)
    right = np.array([[1, 1.5, 1.5], [3, 4, 4]]), np.array([[5, 1, 7], [2, 1, 8]]), np.array([1.5, np.inf])
    return (distances, rows, dropped), right


def _dicts(kernels: ModuleType) -> tuple[Any, Any]:
    # One list as it falls, one in disorder with whole numbers, and an item that is not there.
    lists = [{"a": 0.5, "b": 0.25, "c": 0.25}, {"a": 1, "b": 3, "c": 1, "d": 2.0}, {}]
    found = kernels.count_in_dicts(lists, np.array([0, 2, 4, 5]), ["c", "a", "d", "c", "a"], texts=True)
    above, tied = _columns([1, 0, 1, 2, 0], [2, 1, 1, 2, 0])
    right = DictHits(np.array([0.25, 0.5, 2, 1]), above, tied, np.array([True, True, False]))
    # NaN, of the item that is not there, equals nothing.
    return dataclasses.replace(found, score=found.score[~np.isnan(found.score)]), right


def _labelled_codes(kernels: ModuleType) -> tuple[Any, Any]:
    # Code b has b bits and label b % 3; the query, itself code 7, is in the gallery and left out.
    words = np.array([[(1 << bits) - 1] for bits in range(65)], dtype=np.uint64)
    labels = np.array([[1 << bits % 3] for bits in range(65)], dtype=np.uint64)
    right = np.zeros((1, 65, 2), dtype=np.int64)
    for bits in range(65):
        right[0, abs(bits - 7), int(bits % 3 == 1)] += bits != 7
    sides = words[7:8], words, labels[7:8], labels
    return kernels.count_labelled_codes(*sides, rule="any shared", own=np.array([7]), levels=2), right


QUESTIONS: dict[str, Callable[[ModuleType], tuple[Any, Any]]] = {
    "count_code_ranks": _codes,
    "count_in_dicts": _dicts,
    "count_labelled_codes": _labelled_codes,
    "count_ranks": _ranks,
    "join_ids": _ids,
    "join_run": _run,
    "merge_nearest": _merged,
    "pack_rows": _packed,
    "code_queries": _coded,
    "pair_distances": _pairs,
    "read_table": _table,
    "RowScreen": _nearest,
}


def first_wrong(kernels: ModuleType) -> str | None:
    """Name of the first kernel that gives a wrong answer; None when all are right."""
    return next((name for name, ask in QUESTIONS.items() if not _equal(*ask(kernels))), None)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    if dataclasses.is_dataclass(one):
        return all(
            _equal(getattr(one, field.name), getattr(other, field.name)) for field in dataclasses.fields(one)
        )
    return bool(np.array_equal(one, other))
