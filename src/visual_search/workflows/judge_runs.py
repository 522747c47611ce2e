"""Rankings that go into a pool, with where their pictures are: from results, or from run files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from visual_search.errors import FileFormatError, InputError, Problems
from visual_search.formats.results import ImageLocation, StoredResult, read_result
from visual_search.formats.strict_json import read_unrepeated_json
from visual_search.ids import Id
from visual_search.rankings.ranking import Ranking
from visual_search.workflows.score_files import read_ranking

__all__ = ["PooledRun", "pooled_runs"]


@dataclass(frozen=True)
class PooledRun:
    """One system's lists.

    Attributes
    ----------
    name : str
    ranking : Ranking
        Without items that count neither way, such as the query itself.
    fingerprint : str or None
        Of the ranking, where a result states it.
    query_images, item_images : mapping of id to ImageLocation
        Those that a result knows.
    """

    name: str
    ranking: Ranking
    fingerprint: str | None = None
    query_images: Mapping[Id, ImageLocation] = field(default_factory=dict)
    item_images: Mapping[Id, ImageLocation] = field(default_factory=dict)


def pooled_runs(places: Sequence[str]) -> list[PooledRun]:
    """Read rankings from ``path`` or ``name=path``: results with their ranking, TREC runs, Parquet, nested JSON.

    Raises
    ------
    InputError
        Two systems of one name, or a result without its ranking; all at once.
    """
    problems = Problems("rankings")
    runs: dict[str, PooledRun] = {}
    for place in places:
        given, _, rest = place.partition("=")
        named = bool(rest) and not Path(place).exists()
        try:
            run = _read(rest if named else place, given if named else None)
        except FileFormatError as error:
            problems.add(str(error))
            continue
        if run.name in runs:
            problems.add(f"{place}: two systems are called {run.name!r}; give names: NAME={place}")
        runs[run.name] = run
    problems.raise_if_any(InputError)
    return list(runs.values())


def _read(place: str, name: str | None) -> PooledRun:
    path = Path(place)
    if not path.is_file():
        raise FileFormatError(f"{place}: not there, or no file; give a result, a TREC run or a Parquet file")
    with path.open("rb") as stream:
        is_object = stream.read(256).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    if is_object and "model_name" in read_unrepeated_json(path):
        return _of_result(read_result(path), name)
    return PooledRun(name or path.name.split(".")[0], read_ranking(path))


def _of_result(stored: StoredResult, name: str | None) -> PooledRun:
    table = stored.ranking()
    columns = {key: table.column(key).to_pylist() for key in ("query", "item", "rank")}
    kept = [place for place, rank in enumerate(columns["rank"]) if rank is not None]
    if not kept:
        raise FileFormatError(f"{stored.path}: its ranking lists no item that counts")
    queries, items = ([columns[key][place] for place in kept] for key in ("query", "item"))
    scores = -np.array([columns["rank"][place] for place in kept], dtype=np.float64)
    ranking = Ranking.from_frame({"query": queries, "item": items, "score": scores})
    return PooledRun(
        name or str(stored.record["model_name"]),
        ranking,
        (stored.record.get("fingerprints") or {}).get("ranking"),
        _known({query: stored.query_location(query) for query in stored.queries().column("query").to_pylist()}),
        _known({item: stored.item_location(item) for item in dict.fromkeys(items)}),
    )


def _known(places: Mapping[Id, ImageLocation | None]) -> dict[Id, ImageLocation]:
    return {name: place for name, place in places.items() if place is not None}
