"""The run join as a reader of its description would write it, one line and one pair at a time."""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from visual_search.kernels.runs import GALLERY_LIMIT, RunHits

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def line_fault(line: bytes) -> str | None:
    fields = line.split()
    if len(fields) != 6:
        return f"{len(fields)} column"
    try:
        line.decode()
    except UnicodeDecodeError:
        return "not UTF-8 text"
    if b"\0" in line:
        return "not UTF-8 text"
    if NUMBER.fullmatch(fields[4]):
        return None if np.isfinite(float(fields[4])) else "is not finite"
    return "is not finite" if re.fullmatch(rb"(?i)[+-]?(inf|infinity|nan)", fields[4]) else "is not a number"


def faults_of(text: bytes) -> list[tuple[int, str]]:
    """(line, part of the words) of everything wrong with a run."""
    faults = []
    seen: dict[tuple[bytes, bytes], int] = {}
    for number, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        fields = line.split()
        if not fields or fields[0].startswith(b"#"):
            continue
        fault = line_fault(line)
        if fault:
            faults.append((number, fault))
        elif (fields[0], fields[2]) in seen:
            faults.append((number, f"again, which line {seen[fields[0], fields[2]]} has"))
        else:
            seen[fields[0], fields[2]] = number
    return faults


def joined(
    text: bytes,
    queries: Sequence[str],
    items: Sequence[str],
    offsets: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    ignored: npt.NDArray[np.bool_],
) -> RunHits:
    lists: dict[str, list[tuple[str, float]]] = {}
    for line in text.removeprefix(b"\xef\xbb\xbf").decode().split("\n"):
        fields = line.encode().split()
        if fields and not fields[0].startswith(b"#"):
            lists.setdefault(fields[0].decode(), []).append((fields[2].decode(), float(fields[4])))
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
    )
