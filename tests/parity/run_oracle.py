"""The run join as a reader of its description would write it, one line and one pair at a time."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.kernels.joined import GALLERY_LIMIT, JudgedNames, ListHits, RunHits, ScoreKind

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
        found = len(line.split())
        return f"{found} {'field' if found == 1 else 'fields'}, 6 needed"
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
    return any(int(one[1]) < int(other[1]) and one[2] < other[2] for one, other in pairwise(by_rank))


def joined(text: bytes, judged: JudgedNames, *, scores: ScoreKind = "as given") -> RunHits:
    read: dict[str, list[tuple[str, str, float]]] = {}
    for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        fields = fields_of(line, 6)
        if fields and not fields[0].startswith(b"#"):
            query, _, item, rank, score, _ = (field.decode() for field in fields)
            read.setdefault(query, []).append((item, rank, float(score)))
    lists = {query: [(item, score) for item, _, score in ranked] for query, ranked in read.items()}
    ranks_are_numbers = all(re.fullmatch("[0-9]+", rank) for ranked in read.values() for _, rank, _ in ranked)
    ordered = {query: sorted(ranked, key=lambda pair: -pair[1]) for query, ranked in lists.items()}
    if scores == "float32":
        with np.errstate(over="ignore"):
            ordered = {
                q: [(item, float(np.float32(score))) for item, score in pairs] for q, pairs in ordered.items()
            }
    elif scores == "positive":
        ordered = {query: [pair for pair in ranked if pair[1] > 0] for query, ranked in ordered.items()}
    gallery = len({item for ranked in lists.values() for item, _ in ranked})
    return RunHits(
        list_hits(
            ordered, judged.queries, [judged.items[row] for row in judged.rows], judged.offsets, judged.ignored
        ),
        unjudged_queries=tuple(query for query in lists if query not in set(judged.queries)),
        gallery_size=gallery if gallery <= GALLERY_LIMIT else None,
        lists=len(lists),
        against_rank=sum(map(rank_is_against_scores, read.values())) if ranks_are_numbers else 0,
    )


def id_key(item: Any) -> Any:
    return item.encode() if isinstance(item, str) else item


def list_hits(
    lists: Mapping[Any, list[tuple[Any, float]]],
    queries: Sequence[Any],
    items: Sequence[Any],
    offsets: npt.NDArray[np.int64],
    ignored: npt.NDArray[np.bool_],
) -> ListHits:
    """Count by comparing every pair; ``items`` has the item of each judged pair."""
    hits: list[tuple[int, int, int, int, int]] = []
    bounds, lengths, n_ignored, listed, ends = [0], [], [], [], []
    for number, query in enumerate(queries):
        ranked = lists.get(query, [])
        pairs = {items[entry]: entry for entry in range(int(offsets[number]), int(offsets[number + 1]))}
        kept = [pair for pair in ranked if not (pair[0] in pairs and ignored[pairs[pair[0]]])]
        for place, (item, score) in enumerate(kept):
            if item in pairs:
                level = [(at, other) for at, (other, theirs) in enumerate(kept) if theirs == score]
                above = sum(theirs > score for _, theirs in kept)
                before = sum(at < place for at, _ in level)
                greater = sum(id_key(other) > id_key(item) for _, other in level)
                hits.append((pairs[item], above, len(level), before, greater))
        bounds.append(len(hits))
        lengths.append(len(kept))
        n_ignored.append(len(ranked) - len(kept))
        listed.append(len(ranked) if query in lists else -1)
        ends.append(len(ranked) > 1 and ranked[-1][1] == ranked[-2][1])
    columns = np.array(hits, dtype=np.int64).reshape(-1, 5).T
    return ListHits(
        np.array(lengths, dtype=np.int64),
        np.array(n_ignored, dtype=np.int64),
        np.array(listed, dtype=np.int64),
        np.array(ends, dtype=np.bool_),
        np.array(bounds, dtype=np.int64),
        *columns,
    )
