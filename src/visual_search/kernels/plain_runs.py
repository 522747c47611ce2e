"""The run join with NumPy alone."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.kernels.joined import JudgedNames, RunHits, ScoreKind
from visual_search.kernels.plain_lists import Found, KeyTable, distinct_count, hits_of, list_blocks, pair_keys
from visual_search.kernels.records import Names, Records, names_of, read_records
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


def join_run(source: Source, judged: JudgedNames, *, scores: ScoreKind = "as given") -> RunHits:
    """Read a TREC run in one pass and find the judged items in its lists.

    Parameters
    ----------
    source : path or stream of bytes
        The run; gzip is known by its first bytes. A line has six columns, ``query Q0 item rank score tag``, parted by
        white space, or by single tabs, so that ids may hold spaces; empty lines and lines that begin with ``#`` are
        passed over. Lists are ordered by score, equal scores as in the file.
    judged : JudgedNames
        The judged pairs.
    scores : {"as given", "float32", "positive"}
        Whether scores are compared as they are, as float32, or only those above 0 are in a list.

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
    gallery = distinct_count(run.hashes)
    run.sort()
    run.prepare(scores)
    there = {query: number for number, query in enumerate(run.queries)}
    names = [query.encode("utf-8", "surrogatepass") for query in judged.queries]
    list_of_query = np.array([there.get(name, -1) for name in names], dtype=np.int64)
    found = _found(run, list_of_query, judged)
    known = set(names)
    return RunHits(
        hits_of(
            list_of_query,
            run.offsets,
            run.scores,
            found,
            judged.ignored,
            lambda places: _order_of_names(run, run.record(places)),
        ),
        unjudged_queries=tuple(name.decode() for name in run.queries if name not in known),
        gallery_size=gallery,
        lists=len(run.queries),
        against_rank=run.against_rank,
    )


def _read(text: TextFile, span: Span) -> tuple[list[Records], bool]:
    """Records of a span, and whether it stops at a line without an end."""
    found: list[Records] = []
    try:
        found.extend(read_records(block, RUN) for block in text.blocks(span))
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
            suspects = list(pool.map(self._suspects, list_blocks(self.offsets)))
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
        return begin, pair_keys(lists, self.hashes[begin:end])

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
        self._choose(order)

    def prepare(self, scores: ScoreKind) -> None:
        """Bring the scores into the form in which they are compared."""
        if scores == "float32":
            with np.errstate(over="ignore"):
                self.scores = self.scores.astype(np.float32).astype(np.float64)
        elif scores == "positive":
            kept = self.scores > 0
            self.offsets = np.concatenate(([0], np.cumsum(kept)))[self.offsets]
            self._choose(np.flatnonzero(kept))

    def _choose(self, places: Int64Array) -> None:
        self.scores, self.hashes = self.scores[places], self.hashes[places]
        self.records = places if self.records is None else self.records[places]


def _assembled(parts: list[tuple[list[Records], bool]]) -> _Run:
    blocks: list[Records] = []
    stopped = False
    for found, stopped in parts:
        blocks += found
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
    code = np.array(
        [codes.setdefault(query, len(codes)) for block in blocks for query in block.queries], dtype=np.int64
    )
    change = np.concatenate(
        [np.zeros(0, dtype=np.int64), *(b.query_changes + at for b, at in zip(blocks, counts, strict=False))]
    )
    length = np.diff(np.append(change, counts[-1]))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(code, weights=length, minlength=len(codes))))).astype(
        np.int64
    )
    hashes = np.concatenate([np.zeros(0, dtype=np.uint64), *(block.items.hashes for block in blocks)])
    scores = np.concatenate([np.zeros(0), *(block.values for block in blocks)])
    records: Int64Array | None = None
    ranks: Int64Array | None = None
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


def _found(run: _Run, list_of_query: Int64Array, judged: JudgedNames) -> Found:
    names, possible = names_of(judged.items)
    query_of_entry = np.repeat(np.arange(len(list_of_query)), np.diff(judged.offsets))
    list_of_entry = list_of_query[query_of_entry]
    wanted = np.flatnonzero((list_of_entry >= 0) & possible[judged.rows])
    rows = judged.rows[wanted]
    table = KeyTable(pair_keys(list_of_entry[wanted].astype(np.uint64), names.hashes[rows]))

    def found_in(lists: tuple[int, int]) -> tuple[Int64Array, Int64Array]:
        begin, keys = run.keys(*lists)
        place, pair = table.find(
            keys, lambda places, pairs: _same_names(run, run.record(places + begin), names, rows[pairs])
        )
        return place + begin, wanted[pair]

    with ThreadPoolExecutor(thread_count()) as pool:
        parts = [(np.zeros(0, dtype=np.int64),) * 2, *pool.map(found_in, list_blocks(run.offsets))]
    place, entry = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(place)
    return Found(place[order], entry[order], query_of_entry[entry[order]])


def _same_names(run: _Run, records: Int64Array, names: Names, places: Int64Array) -> BoolArray:
    same = np.zeros(len(records), dtype=np.bool_)
    for which, items, there in run.by_block(records):
        same[which] = items.short[there] == names.short[places[which]]
        if items.long or names.long:
            same[which] = [
                items[a] == names[b] for a, b in zip(there.tolist(), places[which].tolist(), strict=True)
            ]
    return same


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
