"""One query's rows of a ranking file without reading the rest: where each query's rows are, found once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from visual_search.errors import FileFormatError
from visual_search.formats.query_runs import QueryRuns
from visual_search.formats.result_tables import check_columns, read_table
from visual_search.ids import Id

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["RankingRows"]


class RankingRows:
    """Where each query's rows are in a ranking file.

    Told by the column of queries alone. Rows of one query stand together in every file that
    :func:`visual_search.formats.results.write_result` made of lists; where they do not, the query is looked for
    in the whole file.

    Parameters
    ----------
    path : Path
        A ranking file whose checksum was compared; see :meth:`visual_search.formats.results.StoredResult.ranking_rows`.
    runs : QueryRuns, optional
        Those of this very file where they are known; else the column is read, which is most of the work.

    Raises
    ------
    FileFormatError
        Damaged, or not Parquet; or the runs are of another file.
    """

    def __init__(self, path: Path, runs: QueryRuns | None = None) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._path = path
        try:
            with pq.ParquetFile(path, read_dictionary=["query"]) as opened:
                self._metadata = opened.metadata
                self._columns = [name for name in opened.schema_arrow.names if name != "query"]
                check_columns(opened.metadata.schema.to_arrow_schema(), "ranking", path.name)
                #: Where each query's rows are.
                self.runs = runs or QueryRuns.of_column(opened.read(columns=["query"]).column("query"))
        except (pa.ArrowException, OSError) as problem:
            raise _damaged(path, problem) from problem
        if self.runs.rows != self._metadata.num_rows:
            raise FileFormatError(
                f"{path.name}: has {self._metadata.num_rows:,} rows; the runs given have {self.runs.rows:,}"
            )
        lengths = [self._metadata.row_group(number).num_rows for number in range(self._metadata.num_row_groups)]
        self._ends = np.cumsum(lengths, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.runs)

    def rows(self, query: Id) -> pa.Table:
        """The rows of one query in the file's order, without the column of queries; none where it has none.

        Raises
        ------
        FileFormatError
            The file was damaged or taken away.
        """
        run = self.runs.of(query)
        if run is None:
            return read_table(self._path, "ranking", queries=[query]).drop_columns(["query"])
        return self._slice(*run)

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


def _damaged(path: Path, problem: Exception) -> FileFormatError:
    return FileFormatError(f"{path.name}: damaged, or gone since it was opened: {problem}")
