"""The run join as a reader of its description would write it, one line and one pair at a time."""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from visual_search.kernels.runs import GALLERY_LIMIT, RunHits

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def fields_of(line: bytes, count: int) -> list[bytes] | None:
    tabbed = [field.strip() for field in line.split(b"\t")]
    for fields in (line.split(), tabbed):
        if len(fields) == count and all(fields):
            return fields
    return None


def line_fault(line: bytes) -> str | None:
    try:
        if b"\0" in line:
            line[: line.index(b"\0")].decode()
            return f"not UTF-8 at byte {line.index(bytes(1)) + 1};"
        line.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8 at byte {error.start + 1};"
    fields = fields_of(line, 6)
    if fields is None:
        return f"{len(line.split())} fields, 6 needed"
    number = NUMBER.fullmatch(fields[4]) and np.isfinite(float(fields[4]))
    return None if number else "is not a finite number"


def faults_of(text: bytes) -> list[tuple[int, str]]:
    """(line, part of the words) of everything wrong with a run."""
    faults = []
    seen: dict[tuple[bytes, bytes], int] = {}
    for number, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.split() or line.split()[0].startswith(b"#"):
            continue
        fault = line_fault(line)
        fields = fields_of(line, 6)
        if fault or fields is None:
            faults.append((number, str(fault)))
        elif (fields[0], fields[2]) in seen:
            faults.append((number, f"was on line {seen[fields[0], fields[2]]} already"))
        else:
            seen[fields[0], fields[2]] = number
    return faults


def rank_is_against_scores(ranked: list[tuple[str, str, float]]) -> bool:
    by_rank = sorted(ranked, key=lambda line: int(line[1]))
    return any(
        int(one[1]) < int(other[1]) and one[2] < other[2] for one, other in zip(by_rank, by_rank[1:], strict=False)
    )


def joined(
    text: bytes,
    queries: Sequence[str],
    items: Sequence[str],
    offsets: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    ignored: npt.NDArray[np.bool_],
) -> RunHits:
    read: dict[str, list[tuple[str, str, float]]] = {}
    for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        fields = fields_of(line, 6)
        if fields and not fields[0].startswith(b"#"):
            query, _, item, rank, score, _ = (field.decode() for field in fields)
            read.setdefault(query, []).append((item, rank, float(score)))
    lists = {query: [(item, score) for item, _, score in ranked] for query, ranked in read.items()}
    ranks_are_numbers = all(re.fullmatch("[0-9]+", rank) for ranked in read.values() for _, rank, _ in ranked)
    hits: list[tuple[int, int, int, int, int]] = []
    bounds, lengths, n_ignored, listed, ends = [0], [], [], [], []
    for number, query in enumerate(queries):
        ranked = sorted(lists.get(query, []), key=lambda pair: -pair[1])
        entries = range(int(offsets[number]), int(offsets[number + 1]))
        judged = {items[rows[entry]]: entry for entry in entries}
        kept = [pair for pair in ranked if not (pair[0] in judged and ignored[judged[pair[0]]])]
        for place, (item, score) in enumerate(kept):
            if item in judged:
                level = [(at, other) for at, (other, theirs) in enumerate(kept) if theirs == score]
                hits.append(
                    (
                        judged[item],
                        sum(theirs > score for _, theirs in kept),
                        len(level),
                        sum(at < place for at, _ in level),
                        sum(other.encode() > item.encode() for _, other in level),
                    )
                )
        bounds.append(len(hits))
        lengths.append(len(kept))
        n_ignored.append(len(ranked) - len(kept))
        listed.append(len(ranked) if query in lists else -1)
        ends.append(len(ranked) > 1 and ranked[-1][1] == ranked[-2][1])
    gallery = len({item for ranked in lists.values() for item, _ in ranked})
    columns = np.array(hits, dtype=np.int64).reshape(-1, 5).T
    return RunHits(
        np.array(lengths, dtype=np.int64),
        np.array(n_ignored, dtype=np.int64),
        np.array(listed, dtype=np.int64),
        np.array(ends, dtype=np.bool_),
        np.array(bounds, dtype=np.int64),
        columns[0],
        columns[1],
        columns[2],
        columns[3],
        columns[4],
        unjudged_queries=tuple(query for query in lists if query not in set(queries)),
        gallery_size=gallery if gallery <= GALLERY_LIMIT else None,
        lists=len(lists),
        against_rank=sum(map(rank_is_against_scores, read.values())) if ranks_are_numbers else 0,
    )
