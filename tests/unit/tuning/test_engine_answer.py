"""An engine that breaks its contract stops a sweep with a reason, whatever the ids are."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.errors import InputError
from visual_search.indexing.engines.flat import FlatEngine
from visual_search.testing.exact_answers import exact_by_brute_force
from visual_search.tuning.sweep import sweep
from visual_search.tuning.sweep_data import SweepData
from visual_search.tuning.sweep_record import Sweep

_OF_ANOTHER_KIND: dict[str, Callable[[Any, Any], Any]] = {
    "wide": lambda rows, scores: (np.hstack([rows, rows[:, :1]]), np.hstack([scores, scores[:, :1]])),
    "ragged": lambda *_: ([[0, 1], [2]], [[0.0, 0.0], [0.0]]),
    "objects": lambda rows, scores: (rows, np.full(scores.shape, None)),
    "texts": lambda rows, scores: (rows, scores.astype(str)),
    "complex": lambda rows, scores: (rows, scores.astype(np.complex64)),
    "rising": lambda rows, scores: (rows, scores[:, ::-1]),
    "nothing": lambda *_: None,
}


def _broken(kind: str, rows: Any, scores: Any) -> tuple[Any, Any]:
    if kind in _OF_ANOTHER_KIND:
        made: tuple[Any, Any] = _OF_ANOTHER_KIND[kind](rows, scores)
        return made
    rows, scores = rows.copy(), scores.copy()
    if kind == "twice":
        rows[3, 1] = rows[3, 0]
    elif kind == "beyond":
        rows[3, 0] = 600
    elif kind == "below":
        rows[3, 0] = -2
    elif kind == "nan":
        scores[3, 0] = np.nan
    elif kind == "floats":
        rows = rows.astype(np.float64)
    elif kind == "fewer":
        rows, scores = rows[:-1], scores[:-1]
    elif kind == "scores":
        scores = scores[:, :-1]
    elif kind == "short":
        rows[:, 4:], scores[:, 4:] = -1, -np.inf
    return rows, scores


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("twice", "a row twice for 1 queries, first 3"),
        ("beyond", r"rows outside -1\.\.599 for 1 queries, first 3"),
        ("below", r"rows outside -1\.\.599 for 1 queries, first 3"),
        ("nan", "NaN or infinite for 1 queries, first 3"),
        ("floats", "float64 of shape"),
        ("fewer", r"shape \(59, 5\); whole numbers of shape \(60, 5\)"),
        ("scores", r"shape \(60, 4\), and the rows have \(60, 5\)"),
        ("wide", r"rows: int64 of shape \(60, 6\); whole numbers of shape \(60, 5\)"),
        ("ragged", "rows: object of shape"),
        ("objects", "scores: object of shape"),
        ("texts", "scores: <U"),
        ("complex", "scores: complex64"),
        ("rising", "scores that rise along the list for 60 queries, first 0"),
        ("nothing", "NoneType given; a pair of rows and scores"),
        ("short", ""),
    ],
)
def test_broken_answers_are_refused_and_short_ones_counted(
    vectors: Any, file: Path, monkeypatch: pytest.MonkeyPatch, kind: str, words: str, named: bool
) -> None:
    gallery, queries = vectors
    ids = [f"\u00e9t\u00e9-{row}" for row in range(600)] if named else None
    truth = exact_by_brute_force(gallery, queries, 5, gallery_ids=ids)
    data = SweepData.of(gallery, queries, k=5, truth=truth, gallery_ids=ids)
    whole = FlatEngine.search
    monkeypatch.setattr(FlatEngine, "search", lambda self, asked, k: _broken(kind, *whole(self, asked, k)))
    if not words:
        found = sweep(data, ["flat"], out=file, costs=None).points[0]
        assert found.values["NeighborRecall(ties=exact)@5"].tolist() == pytest.approx([0.8] * 60)
        assert found.returned == 4
        return
    with pytest.raises(InputError, match=words):
        sweep(data, ["flat"], out=file, costs=None)


def test_what_a_library_raises_is_told_with_its_setting_and_the_points_before_are_kept(
    data: SweepData, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = FlatEngine.search
    sweep(data, ["ivf(nlist=4)"], {"nprobe": [1, 4]}, out=file, costs=None)
    before = file.read_bytes()

    def fails(*_: Any) -> None:
        raise RuntimeError("no such lists")

    monkeypatch.setattr(FlatEngine, "search", fails)
    with pytest.raises(
        InputError, match="flat failed with RuntimeError: no such lists; the points before it are kept"
    ):
        sweep(data, ["flat"], out=file, costs=None)
    assert file.read_bytes().startswith(before)  # what was asked for has come behind
    assert len(Sweep.load(file).points) == 2
    monkeypatch.setattr(FlatEngine, "search", whole)
    assert len(sweep(data, ["flat"], out=file, costs=None).points) == 1
