"""Chooses between the compiled kernels and their plain twins, once per process.

The compiled ones run where they were built and pass a self-test at first use. ``VISUAL_SEARCH_KERNELS=plain`` in the
environment chooses the plain ones, ``=compiled`` makes it an error to have no others. Who calls does not know which
ran: both give the same integers.
"""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, MissingDependencyError
from visual_search.kernels.int8_codes import Candidates, CodedQueries, PackedRows
from visual_search.kernels.joined import (
    DictHits,
    IdHits,
    JudgedIds,
    JudgedNames,
    LabelRule,
    RankHits,
    RunHits,
    ScoreKind,
)
from visual_search.kernels.plain_pairs import VectorMetric
from visual_search.kernels.text_files import Layout, Source, Table

__all__ = [
    "ENVIRONMENT_VARIABLE",
    "Active",
    "Kernels",
    "RowScreen",
    "active",
    "fast_screen",
    "kernels",
    "largest_code",
]

Int64Array: TypeAlias = npt.NDArray[np.int64]

ENVIRONMENT_VARIABLE = "VISUAL_SEARCH_KERNELS"

_log = logging.getLogger(__name__)


class Active(NamedTuple):
    """Which kernels run, and why.

    Attributes
    ----------
    name : {"compiled", "plain"}
        Which.
    reason : str
        Why, in a few words.
    """

    name: str
    reason: str


def active() -> Active:
    """Tell which kernels run.

    Raises
    ------
    InputError
        The environment variable has another value.
    MissingDependencyError
        It asks for the compiled kernels and there are none that work.

    Examples
    --------
    >>> active().name in ("compiled", "plain")
    True
    """
    return _chosen()[1]


class RowScreen(Protocol):
    """What both twins of the int8 screen do; described in `visual_search.kernels.plain_int8.RowScreen`."""

    def see(
        self,
        packed: PackedRows,
        limits: npt.NDArray[np.float64],
        slack: npt.NDArray[np.float64],
        *,
        first: int = 0,
    ) -> None:
        """More rows."""
        ...

    def found(self) -> Candidates:
        """Of all rows that have been seen."""
        ...


class Kernels(Protocol):
    """What both twins do; each function is described in its plain one."""

    def count_ranks(
        self,
        similarity: npt.NDArray[np.float32],
        offsets: Int64Array,
        columns: Int64Array,
        ignored: npt.NDArray[np.bool_],
        *,
        threads: int | None = None,
    ) -> RankHits:
        """`visual_search.kernels.plain_ranks.count_ranks`."""
        ...

    def count_code_ranks(
        self,
        queries: npt.NDArray[np.uint64],
        gallery: npt.NDArray[np.uint64],
        offsets: Int64Array,
        columns: Int64Array,
        ignored: npt.NDArray[np.bool_],
        *,
        threads: int | None = None,
    ) -> RankHits:
        """`visual_search.kernels.plain_codes.count_code_ranks`."""
        ...

    def count_labelled_codes(
        self,
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
        """`visual_search.kernels.plain_label_codes.count_labelled_codes`."""
        ...

    def count_in_dicts(
        self, lists: Sequence[Mapping[Any, Any]], offsets: Int64Array, items: Sequence[Any], *, texts: bool
    ) -> DictHits:
        """`visual_search.kernels.plain_dicts.count_in_dicts`."""
        ...

    def join_run(self, source: Source, judged: JudgedNames, *, scores: ScoreKind = "as given") -> RunHits:
        """`visual_search.kernels.plain_runs.join_run`."""
        ...

    def join_ids(
        self,
        ids: npt.NDArray[np.integer[Any]],
        scores: npt.NDArray[np.floating[Any]] | None,
        query_of_list: Int64Array,
        judged: JudgedIds,
        *,
        pad: int | None = None,
    ) -> IdHits:
        """`visual_search.kernels.plain_ids.join_ids`."""
        ...

    def pair_distances(
        self,
        gallery: npt.NDArray[Any],
        queries: npt.NDArray[Any],
        rows: Int64Array,
        query_of: Int64Array,
        *,
        metric: VectorMetric,
        threads: int | None = None,
    ) -> npt.NDArray[np.float64]:
        """`visual_search.kernels.plain_pairs.pair_distances`."""
        ...

    def merge_nearest(
        self,
        nearest: tuple[npt.NDArray[np.float64], Int64Array],
        k: int,
        query_of: Int64Array,
        rows: Int64Array,
        distances: npt.NDArray[np.float64],
        *,
        threads: int | None = None,
    ) -> npt.NDArray[np.float64]:
        """`visual_search.kernels.plain_nearest.merge_nearest`."""
        ...

    def pack_rows(
        self,
        rows: npt.NDArray[np.float32],
        centre: npt.NDArray[np.float32],
        *,
        into: PackedRows | None = None,
        threads: int | None = None,
    ) -> PackedRows:
        """`visual_search.kernels.plain_int8.pack_rows`."""
        ...

    def code_queries(
        self, queries: npt.NDArray[np.float64], most: int = 127, *, threads: int | None = None
    ) -> CodedQueries:
        """`visual_search.kernels.plain_int8.code_queries`."""
        ...

    def RowScreen(  # noqa: N802 - a class
        self,
        queries: CodedQueries,
        k: int,
        *,
        euclidean: bool,
        threads: int | None = None,
        room: int | None = None,
        supposed: float = 1.0,
    ) -> RowScreen:
        """`visual_search.kernels.plain_int8.RowScreen`."""
        ...

    def read_table(self, source: Source, layout: Layout) -> Table:
        """`visual_search.kernels.plain_tables.read_table`."""
        ...


def kernels() -> Kernels:
    """The module whose functions run: `visual_search.kernels.compiled` or `visual_search.kernels.plain`."""
    return cast(Kernels, _chosen()[0])


def fast_screen() -> bool:
    """Whether int8 products are faster than float32 ones here: compiled, on a processor that has them."""
    if active().name != "compiled":
        return False
    found: bool = importlib.import_module("visual_search.kernels.compiled_exact").fast_screen()
    return found


def largest_code() -> int:
    """Largest size of a query's code that the int8 screen of the kernels that run can take."""
    if active().name != "compiled":
        return 127
    found: int = importlib.import_module("visual_search.kernels.compiled_exact").largest_code()
    return found


@cache
def _chosen() -> tuple[ModuleType, Active]:
    wanted = os.environ.get(ENVIRONMENT_VARIABLE, "")
    if wanted not in ("", "plain", "compiled"):
        raise InputError(f"{ENVIRONMENT_VARIABLE}={wanted!r}: one of plain, compiled, or not set")
    if wanted == "plain":
        return _plain(), Active("plain", f"{ENVIRONMENT_VARIABLE}=plain")
    try:
        compiled = importlib.import_module("visual_search.kernels.compiled")
        wrong = importlib.import_module("visual_search.kernels.self_test").first_wrong(compiled)
    except ImportError as error:
        reason = f"the compiled kernels cannot be loaded ({error})"
    except (AttributeError, TypeError) as error:
        # A module built before this version's sources: a function is missing, or takes other arguments.
        reason = f"the compiled kernels belong to another version of this package ({_first_line(error)})"
    else:
        if wrong is None:
            return compiled, Active("compiled", "built and passed its self-test")
        reason = f"the compiled {wrong} failed its self-test"
    if wanted == "compiled":
        raise MissingDependencyError(
            f"{ENVIRONMENT_VARIABLE}=compiled, but {reason}; install again with a C++17 compiler at hand"
        )
    _log.warning(
        "%s; the plain NumPy path gives the same numbers, slower; install again to have them (%s=plain silences this)",
        reason,
        ENVIRONMENT_VARIABLE,
    )
    return _plain(), Active("plain", reason)


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]


def _plain() -> ModuleType:
    return importlib.import_module("visual_search.kernels.plain")
