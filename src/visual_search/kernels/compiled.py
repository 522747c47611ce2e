"""The compiled kernels in the shape of their plain twins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.kernels import _compiled, plain_dicts
from visual_search.kernels.compiled_exact import (
    RowScreen,
    code_queries,
    merge_nearest,
    pack_rows,
    pair_distances,
)
from visual_search.kernels.joined import (
    GALLERY_LIMIT,
    LABEL_RULES,
    SCORE_KINDS,
    DictHits,
    IdHits,
    JudgedIds,
    JudgedNames,
    LabelRule,
    ListHits,
    Offence,
    RankHits,
    RunHits,
    ScoreKind,
    hit_offsets,
)
from visual_search.kernels.text_files import (
    RUN,
    SHOWN,
    Layout,
    LongLineError,
    Problem,
    Source,
    Span,
    Table,
    TextFile,
    raise_problems,
)
from visual_search.kernels.threads import in_threads, thread_count

__all__ = [
    "RowScreen",
    "code_queries",
    "count_code_ranks",
    "count_in_dicts",
    "count_labelled_codes",
    "count_ranks",
    "join_ids",
    "join_run",
    "merge_nearest",
    "pack_rows",
    "pair_distances",
    "read_table",
]

Int64Array: TypeAlias = npt.NDArray[np.int64]

# Less than this for each thread is not worth another one.
_LEAST_BYTES = 1 << 23
_LEAST_IDS = 1 << 18


def join_run(source: Source, judged: JudgedNames, *, scores: ScoreKind = "as given") -> RunHits:
    """Read a run and find the judged items; see `visual_search.kernels.plain_runs.join_run`."""
    table = _compiled.Judged(list(judged.queries), list(judged.items), judged.offsets, judged.rows, judged.ignored)
    kind = SCORE_KINDS.index(scores)
    with TextFile(source) as text:
        reader = None
        if text.rewinds:
            reader = _read(text, text.spans(_LEAST_BYTES, thread_count()), table, kind, grouped=True)
        if reader is None or reader.interleaved:
            reader = _read(text, [(0, None)], table, kind, grouped=False)
    reader.finish()
    found = [Problem(*problem) for problem in reader.problems()]
    raise_problems(text.name, found, reader.problem_count, RUN, empty=reader.lists == 0)
    return RunHits(
        _hits(reader.in_order(len(judged.queries))),
        unjudged_queries=tuple(reader.unjudged_queries()),
        gallery_size=reader.gallery if reader.gallery <= GALLERY_LIMIT else None,
        lists=reader.lists,
        against_rank=reader.against_rank,
    )


def _hits(columns: tuple[npt.NDArray[Any], ...]) -> ListHits:
    lengths, ignored, listed, ends_tied, *others = columns
    return ListHits(lengths, ignored, listed, ends_tied.view(np.bool_), *others)


def _read(
    text: TextFile, spans: list[Span], judged: _compiled.Judged, kind: int, *, grouped: bool
) -> _compiled.RunReader:
    """One reader that has read all spans; stops early where lists turn out to be interleaved."""
    readers = [
        _compiled.RunReader(judged, kind, grouped, place > 0, SHOWN, GALLERY_LIMIT) for place in range(len(spans))
    ]

    def read(place: int) -> None:
        reader = readers[place]
        try:
            for block in text.blocks(spans[place]):
                reader.feed(block)
                if reader.interleaved:
                    break
        except LongLineError:
            reader.stop_at_long_line()

    in_threads(read, len(spans))
    for later in readers[1:]:
        readers[0].absorb(later)
    return readers[0]


def join_ids(
    ids: npt.NDArray[np.integer[Any]],
    scores: npt.NDArray[np.floating[Any]] | None,
    query_of_list: Int64Array,
    judged: JudgedIds,
    *,
    pad: int | None = None,
) -> IdHits:
    """Find the judged items in lists of ids; see `visual_search.kernels.plain_ids.join_ids`."""
    lists: npt.NDArray[np.integer[Any]]
    lists = np.ascontiguousarray(ids, dtype=np.int32 if ids.dtype == np.int32 else np.int64)
    values: npt.NDArray[np.floating[Any]] | None = None
    if scores is not None:
        values = np.ascontiguousarray(scores, dtype=np.float32 if scores.dtype == np.float32 else np.float64)
    count = max(min(thread_count(), ids.size // _LEAST_IDS), 1)
    bounds = [len(lists) * part // count for part in range(count + 1)]
    joins = [_compiled.IdJoin(GALLERY_LIMIT) for _ in range(count)]

    def read(part: int) -> None:
        span = bounds[part], bounds[part + 1]
        joins[part].read(lists, values, *span, pad, query_of_list, judged.offsets, judged.ids, judged.ignored)

    in_threads(read, count)
    for later in joins[1:]:
        joins[0].absorb(later)
    first = joins[0]
    return IdHits(
        _hits(first.in_order(len(judged.offsets) - 1)),
        gallery_size=first.gallery if first.gallery <= GALLERY_LIMIT else None,
        not_finite=Offence(*first.not_finite),
        rising=Offence(*first.rising),
        repeated=Offence(*first.repeated),
    )


def count_in_dicts(
    lists: Sequence[Mapping[Any, Any]], offsets: Int64Array, items: Sequence[Any], *, texts: bool
) -> DictHits:
    """Count ranks in dictionaries of scores; see `visual_search.kernels.plain_dicts.count_in_dicts`."""
    listed = list(lists)
    try:
        score, above, tied, ends_tied = _compiled.count_in_dicts(listed, offsets, list(items), texts)
    except TypeError:
        # Mappings that are no dictionaries, and ids and numbers of other types than Python's own.
        return plain_dicts.count_in_dicts(listed, offsets, items, texts=texts)
    return DictHits(score, above, tied, ends_tied.view(np.bool_))


def count_ranks(
    similarity: npt.NDArray[np.float32],
    offsets: Int64Array,
    columns: Int64Array,
    ignored: npt.NDArray[np.bool_],
    *,
    threads: int | None = None,
) -> RankHits:
    """Count what is above and level with judged items; see `visual_search.kernels.plain_ranks.count_ranks`."""
    return _counted(
        partial(_compiled.count_ranks, similarity), similarity.shape, offsets, columns, ignored, threads
    )


def count_code_ranks(
    queries: npt.NDArray[np.uint64],
    gallery: npt.NDArray[np.uint64],
    offsets: Int64Array,
    columns: Int64Array,
    ignored: npt.NDArray[np.bool_],
    *,
    threads: int | None = None,
) -> RankHits:
    """Count codes nearer than and as near as judged ones; see `visual_search.kernels.plain_codes.count_code_ranks`."""
    count = partial(_compiled.count_code_ranks, queries, gallery)
    return _counted(count, (len(queries), len(gallery)), offsets, columns, ignored, threads)


def count_labelled_codes(
    queries: npt.NDArray[np.uint64],
    gallery: npt.NDArray[np.uint64],
    query_labels: npt.NDArray[np.uint64],
    gallery_labels: npt.NDArray[np.uint64],
    *,
    rule: LabelRule,
    own: Int64Array,
    levels: int,
    threads: int | None = None,
) -> Int64Array:
    """Count codes by distance and grade; see `visual_search.kernels.plain_label_codes.count_labelled_codes`."""
    n, size = len(queries), len(gallery)
    into = np.empty((n, 64 * gallery.shape[1] + 1, levels), dtype=np.int64)
    workers = max(min(threads or thread_count(), n, n * size // _LEAST_IDS), 1)
    parts = min(2 * workers, n) if workers > 1 else 1  # so that one that is held up leaves some to the others
    bounds = [n * part // parts for part in range(parts + 1)]
    number = LABEL_RULES.index(rule)

    def some(part: int) -> None:
        _compiled.count_labelled_codes(
            queries, gallery, query_labels, gallery_labels, number, own, bounds[part], bounds[part + 1], into
        )

    in_threads(some, parts, threads=workers)
    return into


def _counted(
    count: Callable[..., None],
    shape: tuple[int, ...],
    offsets: Int64Array,
    columns: Int64Array,
    ignored: npt.NDArray[np.bool_],
    threads: int | None,
) -> RankHits:
    hits = hit_offsets(offsets, ignored)
    entry, above, tied = (np.empty(int(hits[-1]), dtype=np.int64) for _ in range(3))
    rows = shape[0]
    parts = max(min(threads or thread_count(), rows, rows * shape[1] // _LEAST_IDS), 1)
    bounds = [rows * part // parts for part in range(parts + 1)]

    def some(part: int) -> None:
        count(offsets, columns, ignored, hits, bounds[part], bounds[part + 1], entry, above, tied)

    in_threads(some, parts)
    return RankHits(hits, entry, above, tied)


def read_table(source: Source, layout: Layout) -> Table:
    """Read a TREC file whole; see `visual_search.kernels.plain.read_table`."""
    reader = _compiled.TableReader(len(layout.columns), layout.value_column, SHOWN)
    with TextFile(source) as text:
        try:
            for block in text.blocks():
                reader.feed(block)
        except LongLineError:
            reader.stop_at_long_line()
    reader.finish()
    found = [Problem(*problem) for problem in reader.problems()]
    raise_problems(text.name, found, reader.problem_count, layout, empty=reader.records == 0)
    queries, items, query, item, value, rank = reader.table()
    return Table(queries, items, query, item, value, rank if reader.ranked else None)
