"""TREC files read whole, with NumPy alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.kernels.records import Records, read_records
from visual_search.kernels.text_files import (
    SHOWN,
    Fault,
    Layout,
    LongLineError,
    Problem,
    Source,
    Table,
    TextFile,
    raise_problems,
)

__all__ = ["read_table"]

Int64Array: TypeAlias = npt.NDArray[np.int64]


def read_table(source: Source, layout: Layout) -> Table:
    """Read a TREC file whole: its ids once each, its lines as numbers.

    Parameters
    ----------
    source : path or stream of bytes
        The file; gzip is known by its first bytes. What a line may be is told in
        `visual_search.kernels.plain_runs.join_run`.
    layout : Layout
        Its columns.

    Returns
    -------
    Table

    Raises
    ------
    FileFormatError
        Bad lines and pairs that come again: all of them, the first fifty in full; or no line at all.
    """
    blocks: list[Records] = []
    problems: list[Problem] = []
    lines = 0
    with TextFile(source) as text:
        try:
            for block in text.blocks():
                blocks.append(read_records(block, layout))
                problems += [p._replace(line=p.line + lines) for p in blocks[-1].problems]
                lines += blocks[-1].lines
        except LongLineError:
            problems.append(Problem(lines + 1, Fault.TOO_LONG))
    count = sum(block.problem_count for block in blocks) + sum(p.fault == Fault.TOO_LONG for p in problems)
    queries, query = _query_codes(blocks)
    items, item = _item_codes(blocks)
    repeated = _repeated(queries, items, query, item, blocks)
    found = sorted([*problems, *repeated])[:SHOWN]
    raise_problems(text.name, found, count + len(repeated), layout, empty=not len(query))
    values = np.concatenate([block.values for block in blocks])
    named = [name.decode() for name in queries], [name.decode() for name in items]
    return Table(*named, query, item, values, _ranks(blocks))


def _query_codes(blocks: list[Records]) -> tuple[list[bytes], Int64Array]:
    codes: dict[bytes, int] = {}
    parts = [np.zeros(0, dtype=np.int64)]
    for block in blocks:
        code = np.array([codes.setdefault(query, len(codes)) for query in block.queries], dtype=np.int64)
        parts.append(np.repeat(code, np.diff(np.append(block.query_changes, len(block.line)))))
    return list(codes), np.concatenate(parts)


def _item_codes(blocks: list[Records]) -> tuple[list[bytes], Int64Array]:
    """Items in the order they came, by their hashes where these tell them apart."""
    hashes = np.concatenate([np.zeros(0, dtype=np.uint64), *(block.items.hashes for block in blocks)])
    _, first, code = np.unique(hashes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    code = place[code]
    names = _names_at(blocks, first[order])
    short = np.array(names, dtype=f"S{max(map(len, names), default=1)}")
    at = 0
    for block in blocks:
        mine = code[at : at + len(block.line)]
        at += len(block.line)
        same = bool((block.items.short == short[mine]).all()) if not block.items.long else False
        if not same and any(block.items[row] != names[wanted] for row, wanted in enumerate(mine.tolist())):
            return _item_codes_one_by_one(blocks)
    return names, code


def _item_codes_one_by_one(blocks: list[Records]) -> tuple[list[bytes], Int64Array]:
    codes: dict[bytes, int] = {}
    code = [codes.setdefault(name, len(codes)) for name in _each_item(blocks)]
    return list(codes), np.array(code, dtype=np.int64)


def _each_item(blocks: list[Records]) -> Iterator[bytes]:
    for block in blocks:
        for row in range(len(block.line)):
            yield block.items[row]


def _names_at(blocks: list[Records], records: Int64Array) -> list[bytes]:
    """Items of rising records."""
    names: list[bytes] = []
    at = 0
    for block in blocks:
        low, high = np.searchsorted(records, [at, at + len(block.line)])
        rows = records[low:high] - at
        found: list[bytes] = block.items.short[rows].tolist()
        if block.items.long:
            found = [block.items[row] for row in rows.tolist()]
        names += found
        at += len(block.line)
    return names


def _repeated(
    queries: list[bytes], items: list[bytes], query: Int64Array, item: Int64Array, blocks: list[Records]
) -> list[Problem]:
    keys = query * max(len(items), 1) + item
    ordered = np.sort(keys)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(twice):
        return []
    lines, before = [], 0
    for block in blocks:
        lines.append(block.line + before + 1)
        before += block.lines
    line = np.concatenate(lines)
    first: dict[int, int] = {}
    found = []
    for record in np.flatnonzero(np.isin(keys, twice)).tolist():
        earlier = first.setdefault(int(keys[record]), record)
        if earlier != record:
            text, name = queries[query[record]][:320], items[item[record]][:320]
            found.append(Problem(int(line[record]), Fault.REPEATED, int(line[earlier]), text, name))
    return found


def _ranks(blocks: list[Records]) -> Int64Array | None:
    ranks = [block.ranks for block in blocks if block.ranks is not None]
    return np.concatenate(ranks) if len(ranks) == len(blocks) else None
