"""The heads of all lists, read a batch at a time, are what reading each list whole gives."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.formats import ranking_heads
from visual_search.formats.result_tables import ranking_table, write_table

COLUMNS = ("query", "position", "rank", "item", "score", "distance", "state", "grade")


def columns(seed: int, *, queries: int = 30, depth: int = 25) -> dict[str, list[Any]]:
    """Lists in which some items are ignored and the first relevant one may stand anywhere, or nowhere."""
    rng = np.random.default_rng(seed)
    made: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for query in rng.permutation(queries).tolist():
        rank = 0
        for position in range(1, int(rng.integers(1, depth)) + 1):
            state = str(rng.choice(["relevant", "not_relevant", "unjudged", "ignored"], p=[0.06, 0.5, 0.24, 0.2]))
            rank += state != "ignored"
            row = (
                f"q{query}",
                position,
                None if state == "ignored" else rank,
                f"i{position}",
                -position,
                None,
                state,
                None,
            )
            for name, value in zip(COLUMNS, row, strict=True):
                made[name].append(value)
    return made


@pytest.mark.parametrize("batch", [37, 1 << 16])
@pytest.mark.parametrize("shown", [1, 3, 40])
def test_heads_are_those_of_whole_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int, shown: int
) -> None:
    monkeypatch.setattr(ranking_heads, "_BATCH", batch)
    table = ranking_table(columns(shown))
    write_table(tmp_path / "r.parquet", table)
    heads = ranking_heads.read_heads(tmp_path / "r.parquet", shown)
    lists: dict[str, list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        lists.setdefault(row["query"], []).append(row)
    behind = 0
    for query, rows in lists.items():
        head = [row for row in rows if (row["position"] if row["rank"] is None else row["rank"]) <= shown]
        first = next((row for row in rows if row["state"] == "relevant"), None)
        later = [first] if first is not None and first["rank"] > shown else []
        behind += len(later)
        expected = [row | {"head": True, "returned": len(rows)} for row in head]
        expected += [row | {"head": False, "returned": len(rows)} for row in later]
        assert heads.rows(query) == sorted(expected, key=lambda row: row["position"])
    assert (behind > 0) == (shown < 40)
    assert heads.rows("never asked") == []
