"""The run join with NumPy alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.kernels.records import Names, Records, names_of, read_records
from visual_search.kernels.runs import GALLERY_LIMIT, RunHits
from visual_search.kernels.text_files import (
    RUN,
    SHOWN,
    Fault,
    LongLineError,
    Problem,
    Source,
    Span,
    TextFile,
    raise_problems,
)
from visual_search.kernels.threads import thread_count

__all__ = ["join_run"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Hashes: TypeAlias = npt.NDArray[np.uint64]

_LEAST_BYTES = 1 << 23
_FILTER_BITS = 24
# Members of tied groups whose ids are compared at a time.
_MEMBERS = 1 << 20


def join_run(
    source: Source,
    queries: Sequence[str],
    items: Sequence[str],
    offsets: Int64Array,
    rows: Int64Array,
    ignored: BoolArray,
) -> RunHits:
    """Read a TREC run in one pass and find the judged items in its lists.

    Parameters
    ----------
    source : path or stream of bytes
        The run; gzip is known by its first bytes. A line has six columns, ``query Q0 item rank score tag``, parted by
        white space, or by single tabs, so that ids may hold spaces; empty lines and lines that begin with ``#`` are
        passed over. Lists are ordered by score, equal scores as in the file.
    queries, items : sequences of str
        Distinct names of the judged queries, shape (n,), and of the judged items.
    offsets : int64 array of shape (n + 1,)
        Query i has the judged pairs ``offsets[i]:offsets[i + 1]``.
    rows : int64 array of shape (pairs,)
        The item of each pair, distinct within a query.
    ignored : bool array of shape (pairs,)
        Pairs that are taken out of the lists.

    Returns
    -------
    RunHits

    Raises
    ------
    FileFormatError
        Bad lines and repeated items: all of them, the first fifty in full.
    """
    with TextFile(source) as text:
        spans = text.spans(_LEAST_BYTES, thread_count())
        if len(spans) == 1:
            parts = [_read(text, spans[0])]
        else:
            with ThreadPoolExecutor(len(spans)) as pool:
                parts = list(pool.map(lambda span: _read(text, span), spans))
        run = _assembled(parts)
    problems, problem_count = run.repeats()
    first = sorted([*run.problems, *problems])[:SHOWN]
    raise_problems(text.name, first, run.problem_count + problem_count, RUN, empty=not run.queries)
    run.sort()
    return _hits(run, queries, items, offsets, rows, ignored)


def _read(text: TextFile, span: Span) -> tuple[list[Records], bool]:
    """Records of a span, and whether it stops at a line without an end."""
    found: list[Records] = []
    try:
        for block in text.blocks(span):
            found.append(read_records(block, RUN))
    except LongLineError:
        return found, True
    return found, False


@dataclass(slots=True, eq=False)
class _Run:
    """All records of a run, list by list."""

    queries: list[bytes]  # as they came
    offsets: Int64Array  # of the lists, in the order of the queries
    records: Int64Array | None  # which record each place holds, None for each its own
    hashes: Hashes
    scores: FloatArray
    blocks: list[Records]
    block_begins: Int64Array  # first record of each block
    line_begins: Int64Array  # lines before each block
    problems: list[Problem]
    problem_count: int
    against_rank: int

    def record(self, places: Int64Array) -> Int64Array:
        return places if self.records is None else self.records[places]

    def by_block(self, records: Int64Array) -> list[tuple[Int64Array, Names, Int64Array]]:
        """Which of the records lie in a block, the block's names, and the places there; block after block."""
        block = np.searchsorted(self.block_begins, records, side="right") - 1
        order = np.argsort(block, kind="stable")
        bounds = np.flatnonzero(np.diff(block[order], prepend=-1, append=-1))
        return [
            (which, self.blocks[here].items, records[which] - self.block_begins[here])
            for which in np.split(order, bounds[1:-1])
            if len(which)
            for here in [int(block[which[0]])]
        ]

    def name(self, record: int) -> bytes:
        block = int(np.searchsorted(self.block_begins, record, side="right")) - 1
        return self.blocks[block].items[record - int(self.block_begins[block])]

    def line(self, record: int) -> int:
        block = int(np.searchsorted(self.block_begins, record, side="right")) - 1
        there = self.blocks[block].line[record - int(self.block_begins[block])]
        return int(self.line_begins[block] + there) + 1

    def repeats(self) -> tuple[list[Problem], int]:
        """Items that a list has again: the first of them by line, and how many there are."""
        with ThreadPoolExecutor(thread_count()) as pool:
            suspects = list(pool.map(self._suspects, _list_blocks(self.offsets)))
        seen: dict[tuple[int, bytes], int] = {}
        problems: list[Problem] = []
        count = 0
        for place in np.concatenate([np.zeros(0, dtype=np.int64), *suspects]).tolist():
            record = int(self.record(np.array([place]))[0])
            query = int(np.searchsorted(self.offsets, place, side="right")) - 1
            name = self.name(record)
            earlier = seen.setdefault((query, name), record)
            if earlier != record:
                count += 1
                text = self.queries[query][:320], name[:320]
                problems.append(Problem(self.line(record), Fault.REPEATED, self.line(earlier), *text))
        return sorted(problems)[:SHOWN], count

    def _suspects(self, lists: tuple[int, int]) -> Int64Array:
        """Places of some lists whose item has the hash of another of its list."""
        begin, keys = self.keys(*lists)
        ordered = np.sort(keys)
        twice = ordered[1:][ordered[1:] == ordered[:-1]]
        return begin + np.flatnonzero(np.isin(keys, twice)) if len(twice) else np.zeros(0, dtype=np.int64)

    def keys(self, first: int, last: int) -> tuple[int, Hashes]:
        """The first place of some lists, and a key for list and item of each of their places."""
        begin, end = int(self.offsets[first]), int(self.offsets[last])
        lists = np.repeat(np.arange(first, last, dtype=np.uint64), np.diff(self.offsets[first : last + 1]))
        return begin, _keys(lists, self.hashes[begin:end])

    def sort(self) -> None:
        """Put each list in the order of falling score, equal scores as in the file."""
        rising = self.scores[1:] > self.scores[:-1]
        rising[self.offsets[1:-1] - 1] = False
        if not rising.any():
            return
        wrong = np.unique(np.searchsorted(self.offsets, np.flatnonzero(rising), side="right") - 1)
        order = np.arange(len(self.scores))
        for query in wrong.tolist():
            span = slice(int(self.offsets[query]), int(self.offsets[query + 1]))
            order[span] = span.start + np.argsort(-self.scores[span], kind="stable")
        self.scores, self.hashes = self.scores[order], self.hashes[order]
        self.records = order if self.records is None else self.records[order]


def _keys(lists: Hashes, hashes: Hashes) -> Hashes:
    """One number for a list and the hash of an item."""
    return hashes ^ ((lists + np.uint64(1)) * np.uint64(0xD6E8FEB86659FD93))


def _list_blocks(offsets: Int64Array) -> list[tuple[int, int]]:
    """Runs of lists with about a million places together."""
    bounds = [0]
    while bounds[-1] < len(offsets) - 1:
        stop = int(np.searchsorted(offsets, offsets[bounds[-1]] + (1 << 20)))
        bounds.append(max(min(stop, len(offsets) - 1), bounds[-1] + 1))
    return list(zip(bounds[:-1], bounds[1:], strict=True))


def _assembled(parts: list[tuple[list[Records], bool]]) -> _Run:
    blocks: list[Records] = []
    stopped = False
    for records, stopped in parts:
        blocks += records
        if stopped:
            break
    lines = np.cumsum([0, *(block.lines for block in blocks)])
    counts = np.cumsum([0, *(len(block.line) for block in blocks)])
    problems = [
        problem._replace(line=problem.line + int(before))
        for block, before in zip(blocks, lines, strict=False)
        for problem in block.problems
    ]
    if stopped:
        problems.append(Problem(int(lines[-1]) + 1, Fault.TOO_LONG))
    codes: dict[bytes, int] = {}
    code = np.array([codes.setdefault(query, len(codes)) for block in blocks for query in block.queries], dtype=np.int64)
    change = np.concatenate(
        [np.zeros(0, dtype=np.int64), *(b.query_changes + at for b, at in zip(blocks, counts, strict=False))]
    )
    length = np.diff(np.append(change, counts[-1]))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(code, weights=length, minlength=len(codes))))).astype(np.int64)
    hashes = np.concatenate([np.zeros(0, dtype=np.uint64), *(block.items.hashes for block in blocks)])
    scores = np.concatenate([np.zeros(0), *(block.values for block in blocks)])
    records = None
    ranks = None
    if all(block.ranks is not None for block in blocks):
        ranks = np.concatenate([np.zeros(0, dtype=np.int64), *(b.ranks for b in blocks if b.ranks is not None)])
    if (np.diff(code) < 0).any():
        # Lists are not each in one piece.
        records = np.argsort(np.repeat(code, length), kind="stable")
        hashes, scores = hashes[records], scores[records]
        ranks = None if ranks is None else ranks[records]
    count = sum(block.problem_count for block in blocks) + stopped
    return _Run(
        list(codes),
        offsets,
        records,
        hashes,
        scores,
        blocks,
        counts[:-1],
        lines[:-1],
        problems,
        count,
        _against_rank(offsets, ranks, scores),
    )


def _against_rank(offsets: Int64Array, ranks: Int64Array | None, scores: FloatArray) -> int:
    """In how many lists an item has a better rank and a lower score than the next in rank."""
    if ranks is None or not len(ranks):
        return 0
    inside = np.ones(len(ranks) - 1, dtype=np.bool_)
    inside[offsets[1:-1] - 1] = False
    if (inside & (ranks[1:] < ranks[:-1])).any():
        order = np.lexsort((ranks, np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))))
        ranks, scores = ranks[order], scores[order]
    against = inside & (ranks[1:] > ranks[:-1]) & (scores[1:] > scores[:-1])
    return len(np.unique(np.searchsorted(offsets, np.flatnonzero(against), side="right")))


class _Found(NamedTuple):
    place: Int64Array  # rising
    entry: Int64Array
    query: Int64Array


def _hits(
    run: _Run, queries: Sequence[str], items: Sequence[str], offsets: Int64Array, rows: Int64Array, ignored: BoolArray
) -> RunHits:
    n = len(queries)
    there = {query: number for number, query in enumerate(run.queries)}
    run_list = np.array([there.get(query.encode("utf-8", "replace"), -1) for query in queries], dtype=np.int64)
    run_list[[query.encode("utf-8", "replace").decode() != query for query in queries]] = -1
    found = _found(run, run_list, items, offsets, rows)
    out = found.place[ignored[found.entry]]
    kept = ~ignored[found.entry]
    place, entry, query = found.place[kept], found.entry[kept], found.query[kept]
    start, stop = _groups(run, place)
    list_begin = run.offsets[run_list[query]]

    def out_before(where: Int64Array) -> Int64Array:
        return np.searchsorted(out, where)

    falling = _falling_places(run, start, stop, place, out)
    order = np.argsort(query, kind="stable")
    missing = run_list < 0
    listed = np.where(missing, -1, np.diff(run.offsets)[run_list] if len(run.queries) else -1)
    n_ignored = np.bincount(found.query[~kept], minlength=n)
    last = run.offsets[run_list + 1] - 1
    two = np.flatnonzero(listed >= 2)
    ends_tied = np.zeros(n, dtype=np.bool_)
    ends_tied[two] = run.scores[last[two]] == run.scores[last[two] - 1]
    known = set(queries)
    gallery = _distinct(run.hashes)
    return RunHits(
        lengths=np.where(missing, 0, listed - n_ignored),
        ignored=n_ignored,
        listed=listed,
        ends_tied=ends_tied,
        offsets=np.concatenate(([0], np.cumsum(np.bincount(query, minlength=n)))),
        entry=entry[order],
        above=(start - list_begin - (out_before(start) - out_before(list_begin)))[order],
        tied=(stop - start - (out_before(stop) - out_before(start)))[order],
        listed_place=(place - start - (out_before(place) - out_before(start)))[order],
        falling_place=falling[order],
        unjudged_queries=tuple(name for name in (query.decode() for query in run.queries) if name not in known),
        gallery_size=gallery,
        lists=len(run.queries),
        against_rank=run.against_rank,
    )


def _distinct(hashes: Hashes) -> int | None:
    seen = np.zeros(0, dtype=np.uint64)
    for first in range(0, len(hashes), 1 << 16):
        seen = np.union1d(seen, hashes[first : first + (1 << 16)])
        if len(seen) > GALLERY_LIMIT:
            return None
    return len(seen)


def _found(run: _Run, run_list: Int64Array, items: Sequence[str], offsets: Int64Array, rows: Int64Array) -> _Found:
    """Places that hold a judged item of their query."""
    names, possible = names_of(items)
    query_of_entry = np.repeat(np.arange(len(run_list)), np.diff(offsets))
    list_of_entry = run_list[query_of_entry]
    wanted = np.flatnonzero((list_of_entry >= 0) & possible[rows])
    entry_keys = _keys(list_of_entry[wanted].astype(np.uint64), names.hashes[rows[wanted]])
    order = np.argsort(entry_keys)
    entry_keys, wanted = entry_keys[order], wanted[order]
    # Most places are turned away by one bit of their key.
    shift = np.uint64(64 - _FILTER_BITS)
    marked = np.zeros(1 << _FILTER_BITS, dtype=np.bool_)
    marked[entry_keys >> shift] = True
    places, entries = [], []
    for first, last in _list_blocks(run.offsets):
        begin, keys = run.keys(first, last)
        maybe = np.flatnonzero(marked[keys >> shift])
        at = np.searchsorted(entry_keys, keys[maybe])
        # Two judged items of one query with one hash stand side by side; each is tried.
        while len(maybe):
            same = (at < len(entry_keys)) & (entry_keys[np.minimum(at, len(entry_keys) - 1)] == keys[maybe])
            maybe, at = maybe[same], at[same]
            equal = _same_names(run, run.record(maybe + begin), names, rows[wanted[at]])
            places.append(maybe[equal] + begin)
            entries.append(wanted[at[equal]])
            maybe, at = maybe[~equal], at[~equal] + 1
    place = np.concatenate([np.zeros(0, dtype=np.int64), *places])
    entry = np.concatenate([np.zeros(0, dtype=np.int64), *entries])
    order = np.argsort(place)
    return _Found(place[order], entry[order], query_of_entry[entry[order]])


def _same_names(run: _Run, records: Int64Array, names: Names, places: Int64Array) -> BoolArray:
    same = np.zeros(len(records), dtype=np.bool_)
    for which, items, there in run.by_block(records):
        same[which] = items.short[there] == names.short[places[which]]
        if items.long or names.long:
            same[which] = [items[a] == names[b] for a, b in zip(there.tolist(), places[which].tolist(), strict=True)]
    return same


def _groups(run: _Run, place: Int64Array) -> tuple[Int64Array, Int64Array]:
    """First place and one past the last that have the same score as each hit, within its list."""
    new = np.ones(len(run.scores) + 1, dtype=np.bool_)
    np.not_equal(run.scores[1:], run.scores[:-1], out=new[1:-1])
    new[run.offsets[:-1]] = True
    bounds = np.flatnonzero(new)
    group = np.searchsorted(bounds, place, side="right") - 1
    return bounds[group], bounds[group + 1]


def _falling_places(run: _Run, start: Int64Array, stop: Int64Array, place: Int64Array, out: Int64Array) -> Int64Array:
    """For each hit how many places of its group have a greater id, those that are out left aside."""
    falling = np.zeros(len(place), dtype=np.int64)
    tied = np.flatnonzero(stop - start > 1)
    begins, first = np.unique(start[tied], return_index=True)
    ends = stop[tied][first]
    hit_group = np.searchsorted(begins, start[tied])
    bounds = _cut(np.cumsum(ends - begins), _MEMBERS)
    for low, high in zip(bounds[:-1], bounds[1:], strict=True):
        size = ends[low:high] - begins[low:high]
        group = np.repeat(np.arange(high - low), size)
        member = np.arange(len(group)) + np.repeat(begins[low:high] - (np.cumsum(size) - size), size)
        inside = ~np.isin(member, out)
        member, group = member[inside], group[inside]
        order = np.lexsort((-_order_of_names(run, run.record(member)), group))
        rank = np.empty(len(member), dtype=np.int64)
        count = np.bincount(group, minlength=high - low)
        rank[order] = np.arange(len(member)) - np.repeat(np.cumsum(count) - count, count)
        these = tied[(hit_group >= low) & (hit_group < high)]
        falling[these] = rank[np.searchsorted(member, place[these])]
    return falling


def _cut(running: Int64Array, most: int) -> list[int]:
    """Bounds of runs whose sums are about as large as given."""
    bounds = [0]
    while bounds[-1] < len(running):
        before = int(running[bounds[-1] - 1]) if bounds[-1] else 0
        bounds.append(max(int(np.searchsorted(running, before + most, side="right")), bounds[-1] + 1))
    return bounds


def _order_of_names(run: _Run, records: Int64Array) -> Int64Array:
    """A number per record that rises with its item's name."""
    named: list[bytes] = [b""] * len(records)
    for which, items, there in run.by_block(records):
        for at, name in zip(which.tolist(), items.short[there].tolist(), strict=True):
            named[at] = name
        if items.long:
            for at, place in zip(which.tolist(), there.tolist(), strict=True):
                named[at] = items[place]
    order: Callable[[int], bytes] = named.__getitem__
    rank = np.empty(len(records), dtype=np.int64)
    rank[sorted(range(len(records)), key=order)] = np.arange(len(records))
    return rank
