"""The compiled kernels in the shape of their plain twins."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.kernels import _compiled
from visual_search.kernels.runs import GALLERY_LIMIT, RunHits
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
from visual_search.kernels.threads import thread_count

__all__ = ["join_run", "read_table"]

Int64Array: TypeAlias = npt.NDArray[np.int64]

# Less than this for each thread is not worth another one.
_LEAST_BYTES = 1 << 23


def join_run(
    source: Source,
    queries: Sequence[str],
    items: Sequence[str],
    offsets: Int64Array,
    rows: Int64Array,
    ignored: npt.NDArray[np.bool_],
) -> RunHits:
    """Read a run and find the judged items; see `visual_search.kernels.plain.join_run`."""
    judged = _compiled.Judged(list(queries), list(items), offsets, rows, ignored)
    with TextFile(source) as text:
        reader = None
        if text.rewinds:
            reader = _read(text, text.spans(_LEAST_BYTES, thread_count()), judged, grouped=True)
        if reader is None or reader.interleaved:
            reader = _read(text, [(0, None)], judged, grouped=False)
    reader.finish()
    found = [Problem(*problem) for problem in reader.problems()]
    raise_problems(text.name, found, reader.problem_count, RUN, empty=reader.lists == 0)
    lengths, n_ignored, listed, ends_tied, *hits = reader.collected(len(queries))
    return RunHits(
        lengths,
        n_ignored,
        listed,
        ends_tied.view(np.bool_),
        *hits,
        unjudged_queries=tuple(reader.unjudged_queries()),
        gallery_size=reader.gallery if reader.gallery <= GALLERY_LIMIT else None,
        lists=reader.lists,
        against_rank=reader.against_rank,
    )


def _read(text: TextFile, spans: list[Span], judged: _compiled.Judged, *, grouped: bool) -> _compiled.RunReader:
    """One reader that has read all spans; stops early where lists turn out to be interleaved."""
    readers = [
        _compiled.RunReader(judged, grouped, place > 0, SHOWN, GALLERY_LIMIT) for place in range(len(spans))
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

    if len(spans) == 1:
        read(0)
    else:
        with ThreadPoolExecutor(len(spans)) as pool:
            list(pool.map(read, range(len(spans))))
    for later in readers[1:]:
        readers[0].absorb(later)
    return readers[0]


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
