"""What comes into an index from outside: ids and vectors, checked together, all problems at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import DuplicateIdError, InputError, first_few
from visual_search.ids import Ids
from visual_search.indexing.engines.contract import Metric
from visual_search.indexing.id_table import IdTable
from visual_search.indexing.incoming_codes import as_codes
from visual_search.indexing.vector_checks import Findings, as_float32, check_values

__all__ = ["Incoming", "checked_items", "checked_vectors", "listed"]

Vectors = npt.NDArray[Any]


class Incoming(NamedTuple):
    """Vectors ready for an engine, float32, or packed codes under ``hamming``; and their dimension, or bits."""

    vectors: Vectors
    dimension: int


def listed(ids: Iterable[Any]) -> list[Any]:
    """Several ids as a list; a single id where several belong is refused, not read letter by letter."""
    if isinstance(ids, str | bytes | int | np.integer):
        raise InputError(f"ids: got the single {type(ids).__name__} {ids!r}; give a list of ids, as [{ids!r}]")
    if not isinstance(ids, Iterable):
        raise InputError(f"ids: got {type(ids).__name__}; give a list of ids")
    return list(ids)


def checked_vectors(
    vectors: Any, dimension: int | None, metric: Metric, *, subject: str, names: Ids | None = None
) -> Incoming:
    """Vectors of shape (n, dimension) ready for an engine; ``names`` are theirs, for messages."""
    findings = Findings(subject)
    ready = _ready(vectors, dimension, metric, names, findings)
    findings.raise_if_any()
    assert ready is not None
    return ready


def checked_items(
    ids: Iterable[Any], vectors: Any, table: IdTable, dimension: int | None, metric: Metric
) -> tuple[Ids, Incoming]:
    """New items for an index: distinct ids that are not there yet, one vector to each."""
    findings = Findings("add")
    names = _new_ids(ids, table, findings)
    ready = _ready(vectors, dimension, metric, names, findings)
    findings.raise_if_any()
    assert names is not None
    assert ready is not None
    return names, ready


def _ready(
    vectors: Any, dimension: int | None, metric: Metric, names: Ids | None, findings: Findings
) -> Incoming | None:
    if metric == "hamming":
        codes = as_codes(vectors, dimension, findings, names=names)
        if codes is None:
            return None
        _one_each(names, len(codes), "code", findings)
        return Incoming(codes.packed(), codes.bits)
    ready = as_float32(vectors, dimension, findings)
    if ready is None:
        return None
    if not _one_each(names, len(ready), "vector", findings):
        names = None
    checked = check_values(ready, metric, _row if names is None else names.__getitem__, findings)
    return Incoming(checked, checked.shape[1])


def _one_each(names: Ids | None, count: int, what: str, findings: Findings) -> bool:
    if names is None or len(names) == count:
        return True
    findings.add(
        InputError,
        f"ids: {counted(len(names), 'id', 'ids')} for {counted(count, what, what + 's')}; give one id to each",
    )
    return False


def _row(row: int) -> str:
    return f"row {row}"


def _new_ids(ids: Iterable[Any], table: IdTable, findings: Findings) -> Ids | None:
    try:
        names = Ids(listed(ids), what="ids")
    except InputError as error:
        findings.add(type(error), str(error))
        return None
    there = table.vocabulary
    if names and there and names.kind is not there.kind:
        findings.add(
            InputError,
            f"ids: {names.kind.__name__} came ({first_few(names, 2)}), but the index has {there.kind.__name__} "
            f"({first_few(there[:2])}); one index has ids of one kind",
        )
        return names
    present = names.take(np.flatnonzero(table.rows(names) >= 0).tolist())
    if present:
        findings.add(
            DuplicateIdError,
            f"ids: {len(present)} are in the index already: {first_few(present)}; remove them first",
        )
    return names
