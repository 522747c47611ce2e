"""One query's rows of a ranking file without reading the rest: where each query's rows are, found once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError
from visual_search.formats.result_tables import check_columns, read_table
from visual_search.ids import Id

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["RankingRows"]


class RankingRows:
    """Where each query's rows are in a ranking file.

    Made of the column of queries alone. Rows of one query stand together in every file that
    :func:`visual_search.formats.results.write_result` made of lists; where they do not, the query is looked for
    in the whole file.

    Parameters
    ----------
    path : Path
        A ranking file whose checksum was compared; see :meth:`visual_search.formats.results.StoredResult.ranking_rows`.

    Raises
    ------
    FileFormatError
        Damaged, or not Parquet.
    """

    def __init__(self, path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._path = path
        try:
            with pq.ParquetFile(path, read_dictionary=["query"]) as opened:
                self._metadata = opened.metadata
                self._columns = [name for name in opened.schema_arrow.names if name != "query"]
                check_columns(opened.metadata.schema.to_arrow_schema(), "ranking", path.name)
                column = opened.read(columns=["query"]).column("query")
        except (pa.ArrowException, OSError) as problem:
            raise _damaged(path, problem) from problem
        lengths = [self._metadata.row_group(number).num_rows for number in range(self._metadata.num_row_groups)]
        self._ends = np.cumsum(lengths, dtype=np.int64)
        self._places, self._starts = _runs(column)

    def __len__(self) -> int:
        return len(self._places)

    def rows(self, query: Id) -> pa.Table:
        """The rows of one query in the file's order, without the column of queries; none where it has none.

        Raises
        ------
        FileFormatError
            The file was damaged or taken away.
        """
        place = self._places.get(query)
        if place is None or place < 0:
            return read_table(self._path, "ranking", queries=[query]).drop_columns(["query"])
        return self._slice(int(self._starts[place]), int(self._starts[place + 1]))

    def _slice(self, first: int, stop: int) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        begins = int(np.searchsorted(self._ends, first, side="right"))
        groups = list(range(begins, int(np.searchsorted(self._ends, stop)) + 1))
        skipped = int(self._ends[begins - 1]) if begins else 0
        try:
            with pq.ParquetFile(self._path, metadata=self._metadata) as opened:
                rows = opened.read_row_groups(groups, columns=self._columns, use_threads=False)
                return rows.slice(first - skipped, stop - first)
        except (pa.ArrowException, OSError) as problem:
            raise _damaged(self._path, problem) from problem


def _runs(column: Any) -> tuple[dict[Id, int], npt.NDArray[np.int64]]:
    """For each query the number of its run of rows, -1 where it has several; and where each run starts."""
    places: dict[Id, int] = {}
    starts: list[npt.NDArray[np.int64]] = []
    last: Id | None = None
    before = number = 0
    for chunk in column.chunks:
        # Each chunk has a dictionary of its own where the file has one; whole numbers have none.
        encoded = chunk if hasattr(chunk, "dictionary") else chunk.dictionary_encode()
        codes = encoded.indices.to_numpy(zero_copy_only=False)
        if not len(codes):
            continue
        names = encoded.dictionary.to_pylist()
        changes = np.concatenate([[0], np.flatnonzero(codes[1:] != codes[:-1]) + 1])
        owners: list[Id] = [names[code] for code in codes[changes].tolist()]
        goes_on = owners[0] == last
        for owner in owners[1:] if goes_on else owners:
            places[owner] = -1 if owner in places else number
            number += 1
        starts.append((changes[1:] if goes_on else changes).astype(np.int64) + before)
        last = owners[-1]
        before += len(codes)
    return places, np.concatenate([*starts, [before]]).astype(np.int64)


def _damaged(path: Path, problem: Exception) -> FileFormatError:
    return FileFormatError(f"{path.name}: damaged, or gone since it was opened: {problem}")
