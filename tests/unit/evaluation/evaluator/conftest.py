"""A small world: twelve items in three colours, and queries near them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.ids import Id, Ids
from visual_search.testing.plain_search import PlainSearch

COLOURS = {"red": [1.0, 0.0, 0.0], "green": [0.0, 1.0, 0.0], "blue": [0.0, 0.0, 1.0]}


@dataclass
class Embedder:
    name: str = "colours"
    dimension: int = 3
    preprocessing: str = "none"
    weights_hash: str | None = "sha256:0"

    def as_json(self) -> dict[str, Any]:
        return self.__dict__.copy()


@dataclass
class ToldIndex:
    """All that an index may tell."""

    ids: Ids
    embedder: Embedder | None = field(default_factory=Embedder)
    metric: str = "cosine"
    engine: str = "flat"
    exact: bool = True
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def dimension(self) -> int | None:
        return None if self.embedder is None else self.embedder.dimension


class FullService(PlainSearch):
    """A plain search that tells of its index and embeds images: three numbers in a text file."""

    def __init__(
        self,
        vectors: dict[Id, Any],
        *,
        places: dict[str, Any] | None = None,
        hashes: dict[Id, str] | None = None,
        ledger: dict[str, Any] | None = None,
        **told: Any,
    ) -> None:
        super().__init__(vectors)
        self.index = ToldIndex(self.gallery_ids, **told)
        self._told = places, hashes, ledger

    def item_places(self) -> dict[str, Any] | None:
        return self._told[0]

    def item_hashes(self) -> dict[Id, str] | None:
        return self._told[1]

    def ledger_counts(self) -> dict[str, Any] | None:
        return self._told[2]

    def embed_images(self, paths: Sequence[Path]) -> Any:
        return np.array([np.loadtxt(path) for path in paths], dtype=np.float32)


@dataclass
class World:
    items: dict[Id, Any]
    vectors: dict[Id, Any]
    dataset: dict[str, Any]

    def plain(self) -> PlainSearch:
        return PlainSearch(self.items)

    def full(self, **told: Any) -> FullService:
        return FullService(self.items, **told)

    def on_disk(self, folder: Path) -> dict[str, Any]:
        """The dataset with an image a query."""
        (folder / "queries").mkdir(parents=True, exist_ok=True)
        queries = []
        for query in self.dataset["queries"]:
            path = f"queries/{query['query_id']}.txt"
            np.savetxt(folder / path, self.vectors[query["query_id"]])
            queries.append(query | {"image_path": path})
        return {"queries": queries}


@pytest.fixture
def world() -> World:
    random = np.random.default_rng(3)
    items: dict[Id, Any] = {
        f"{colour}_{n}.jpg": np.array(vector) + random.normal(0, 0.4, 3)
        for colour, vector in COLOURS.items()
        for n in range(4)
    }
    vectors: dict[Id, Any] = {}
    queries = []
    for row in range(12):
        colour = list(COLOURS)[row % 3]
        vectors[f"q{row:02d}"] = np.array(COLOURS[colour]) + random.normal(0, 0.4, 3)
        truth = [item for item in items if str(item).startswith(colour)]
        queries.append(
            {"query_id": f"q{row:02d}", "ground_truth": truth, "group": f"g{row % 6}", "category": colour}
        )
    return World(items, vectors, {"queries": queries})
