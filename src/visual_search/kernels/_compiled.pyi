from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Int64Array: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
FoundProblem: TypeAlias = tuple[int, int, int, bytes, bytes]

class Judged:
    def __init__(
        self, queries: list[str], items: list[str], offsets: Int64Array, rows: Int64Array, ignored: BoolArray
    ) -> None: ...

class RunReader:
    def __init__(
        self, judged: Judged, scores: int, grouped: bool, head_open: bool, shown: int, gallery_limit: int
    ) -> None: ...
    def feed(self, block: npt.NDArray[np.uint8]) -> int: ...
    def stop_at_long_line(self) -> None: ...
    def absorb(self, later: RunReader) -> None: ...
    def finish(self) -> None: ...
    def problems(self) -> list[FoundProblem]: ...
    def unjudged_queries(self) -> list[str]: ...
    def in_order(self, queries: int) -> tuple[npt.NDArray[Any], ...]: ...
    @property
    def interleaved(self) -> bool: ...
    @property
    def against_rank(self) -> int: ...
    @property
    def lists(self) -> int: ...
    @property
    def gallery(self) -> int: ...
    @property
    def problem_count(self) -> int: ...

class TableReader:
    def __init__(self, columns: int, value_column: int, shown: int) -> None: ...
    def feed(self, block: npt.NDArray[np.uint8]) -> int: ...
    def stop_at_long_line(self) -> None: ...
    def finish(self) -> None: ...
    def problems(self) -> list[FoundProblem]: ...
    def table(
        self,
    ) -> tuple[list[str], list[str], Int64Array, Int64Array, npt.NDArray[np.float64], Int64Array]: ...
    @property
    def problem_count(self) -> int: ...
    @property
    def ranked(self) -> bool: ...
    @property
    def records(self) -> int: ...

class IdJoin:
    def __init__(self, gallery_limit: int) -> None: ...
    def read(
        self,
        ids: npt.NDArray[np.integer[Any]],
        scores: npt.NDArray[np.floating[Any]] | None,
        first: int,
        last: int,
        pad: int | None,
        query_of: Int64Array,
        offsets: Int64Array,
        judged_ids: Int64Array,
        ignored: BoolArray,
    ) -> None: ...
    def absorb(self, later: IdJoin) -> None: ...
    def in_order(self, queries: int) -> tuple[npt.NDArray[Any], ...]: ...
    @property
    def not_finite(self) -> tuple[int, int, int]: ...
    @property
    def rising(self) -> tuple[int, int, int]: ...
    @property
    def repeated(self) -> tuple[int, int, int]: ...
    @property
    def gallery(self) -> int: ...

def count_in_dicts(
    lists: list[Any], offsets: Int64Array, items: list[Any], texts: bool
) -> tuple[npt.NDArray[np.float64], Int64Array, Int64Array, npt.NDArray[np.uint8]]: ...
def count_ranks(
    similarity: npt.NDArray[np.float32],
    offsets: Int64Array,
    columns: Int64Array,
    ignored: BoolArray,
    places: Int64Array,
    first: int,
    last: int,
    entry: Int64Array,
    above: Int64Array,
    tied: Int64Array,
) -> None: ...
def count_code_ranks(
    queries: npt.NDArray[np.uint64],
    gallery: npt.NDArray[np.uint64],
    offsets: Int64Array,
    columns: Int64Array,
    ignored: BoolArray,
    places: Int64Array,
    first: int,
    last: int,
    entry: Int64Array,
    above: Int64Array,
    tied: Int64Array,
) -> None: ...
def processor() -> int: ...
def multiply_registers(rounds: int) -> int: ...
def pair_distances(
    gallery: npt.NDArray[Any],
    queries: npt.NDArray[Any],
    rows: Int64Array,
    query_of: Int64Array,
    metric: int,
    first: int,
    last: int,
    distances: npt.NDArray[np.float64],
) -> None: ...
def code_queries(
    queries: npt.NDArray[np.float64],
    most: int,
    first: int,
    last: int,
    codes: npt.NDArray[np.uint8],
    scale: npt.NDArray[np.float64],
    sums: npt.NDArray[np.float64],
) -> None: ...
def merge_nearest(
    distances: npt.NDArray[np.float64],
    rows: Int64Array,
    dropped: npt.NDArray[np.float64],
    k: int,
    query_of: Int64Array,
    new_rows: Int64Array,
    new_distances: npt.NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
def pack_rows(
    rows: npt.NDArray[np.float32],
    centre: npt.NDArray[np.float32],
    growth: float,
    first: int,
    last: int,
    processor: int,
    codes: npt.NDArray[np.int8],
    half_square: npt.NDArray[np.float32],
    inverse: npt.NDArray[np.float32],
    error: npt.NDArray[np.float32],
    length: npt.NDArray[np.float32],
    bias: npt.NDArray[np.int32],
) -> None: ...

class RowScreen:
    def __init__(
        self,
        codes: npt.NDArray[np.uint8],
        half: bool,
        facts: npt.NDArray[np.float64],
        k: int,
        euclidean: bool,
        growth: float,
        room: int,
        supposed: float,
        processor: int,
        first: int,
        last: int,
    ) -> None: ...
    def see(
        self,
        packed: tuple[npt.NDArray[Any], ...],
        count: int,
        first: int,
        allowed: npt.NDArray[np.float64],
    ) -> None: ...
    def close(self, counts: Int64Array, full: npt.NDArray[np.uint8], supposed: npt.NDArray[np.float64]) -> None: ...
    def give(self, rows: Int64Array, query_of: Int64Array, begin: int) -> None: ...

def count_labelled_codes(
    queries: npt.NDArray[np.uint64],
    gallery: npt.NDArray[np.uint64],
    query_labels: npt.NDArray[np.uint64],
    gallery_labels: npt.NDArray[np.uint64],
    rule: int,
    own: Int64Array,
    first: int,
    last: int,
    into: Int64Array,
) -> None: ...
