"""One query's rows of a ranking file without reading the rest: where each query's rows are, found once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError
from visual_search.formats.result_tables import read_table
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
        self._path = path
        self._places, self._starts = _runs(path)

    def __len__(self) -> int:
        return len(self._places)

    def rows(self, query: Id) -> pa.Table:
        """The rows of one query in the file's order; none where it has none.

        Raises
        ------
        FileFormatError
            The file was damaged or taken away.
        """
        place = self._places.get(query)
        if place is None or place < 0:
            return read_table(self._path, "ranking", queries=[query])
        first, stop = int(self._starts[place]), int(self._starts[place + 1])
        return _slice(self._path, first, stop)


def _runs(path: Path) -> tuple[dict[Id, int], npt.NDArray[np.int64]]:
    """For each query the number of its run of rows, -1 where it has several; and where each run starts."""
    import pyarrow as pa

    column = read_table(path, "ranking", columns=["query"]).column("query").combine_chunks()
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    names = encoded.dictionary.to_pylist()
    changes = np.flatnonzero(np.diff(codes)) + 1
    starts = np.concatenate([[0], changes, [len(codes)]]).astype(np.int64) if len(codes) else np.zeros(1, np.int64)
    owners: Sequence[int] = codes[starts[:-1]].tolist()
    places: dict[Id, int] = {}
    for number, owner in enumerate(owners):
        places[names[owner]] = -1 if names[owner] in places else number
    return places, starts


def _slice(path: Path, first: int, stop: int) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as opened:
            groups, at, skipped = [], 0, 0
            for number in range(opened.num_row_groups):
                length = opened.metadata.row_group(number).num_rows
                if at + length <= first:
                    skipped += length
                elif at < stop:
                    groups.append(number)
                at += length
            return opened.read_row_groups(groups).slice(first - skipped, stop - first)
    except (pa.ArrowException, OSError) as problem:
        raise FileFormatError(f"{path.name}: damaged, or gone since it was opened: {problem}") from problem
