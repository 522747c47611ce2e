"""A small pool, complete with pictures, of two systems that return the same items in different orders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from visual_search.formats.results import ImageLocation
from visual_search.judging.pool import Pair, Pool, PooledSystem, PoolQuery, Source
from visual_search.judging.task import JudgingTask
from visual_search.testing.textures import texture

__all__ = ["sample_pool"]

_SYSTEMS = ("secret-model-7", "secret-model-8")


def sample_pool(folder: Path, *, queries: int = 4, depth: int = 10, **task: Any) -> Path:
    """Draw pictures and write the pool.

    Parameters
    ----------
    folder : Path
        Gets the pictures and ``pool.json``.
    queries : int
        The last one is a text without a picture.
    depth : int
        Items of each query: both systems, whose names hold ``secret``, return the same.
    **task
        Fields of `JudgingTask`.

    Returns
    -------
    Path
        The pool's file, with ``queries * depth`` pairs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    places: dict[str, ImageLocation] = {}
    for number in range(depth + queries):
        name = f"telling-name-{number}.png"
        texture(number).resize((120 + 12 * (number % 4), 110)).save(folder / name)
        places[name] = ImageLocation(folder / name)
    names = list(places)
    asked = {f"query-{n}": PoolQuery(f"query-{n}", places[names[depth + n]]) for n in range(queries - 1)}
    asked[f"query-{queries - 1}"] = PoolQuery(f"query-{queries - 1}", None, "a pattern with a dark corner")
    sources: dict[Pair, tuple[Source, ...]] = {}
    for place, query in enumerate(asked):
        for turn, system in enumerate(_SYSTEMS):
            order = np.random.default_rng([place, turn]).permutation(depth).tolist()
            for rank, item in enumerate(order, start=1):
                pair = (query, names[item])
                sources[pair] = (*sources.get(pair, ()), Source("ranked", system, rank))
    systems = {system: PooledSystem(depth) for system in _SYSTEMS}
    path = folder / "pool.json"
    Pool(asked, sources, places, systems, JudgingTask(**task)).save(path)
    return path
