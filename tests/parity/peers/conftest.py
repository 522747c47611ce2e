"""Runs and judgements that every peer of this folder is asked about."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pytest

from visual_search import Ranking, Relevance


@dataclass(frozen=True)
class Case:
    """One run as dictionaries, which is what the peers take, and as ours."""

    run: dict[str, dict[str, float]]
    grades: dict[str, dict[str, int]]

    @property
    def ranking(self) -> Ranking:
        return Ranking.from_dict(self.run)

    @property
    def relevance(self) -> Relevance:
        return Relevance.from_dict(self.grades)

    def dense(self, query: str) -> tuple[list[float], list[int]]:
        """Scores of the listed items and their grades, 0 where unjudged: all that a peer of flat arrays can see."""
        scored = self.run[query]
        return list(scored.values()), [max(self.grades[query].get(item, 0), 0) for item in scored]


Generated: TypeAlias = Callable[..., Case]


@pytest.fixture(scope="session")
def generated() -> Generated:
    def make(seed: int, *, top: int = 3, ties: bool = False, listed_only: bool = False, lowest: float = 0) -> Case:
        """Lists of 1 to 25 of 30 items; some judged items are not listed, and one query has nothing relevant.

        Scores are multiples of 1/64, which float32 holds exactly, so that no peer rounds two of them into one.
        """
        rng = np.random.default_rng(seed)
        run: dict[str, dict[str, float]] = {}
        grades: dict[str, dict[str, int]] = {}
        for number in range(12):
            items = [f"d{item}" for item in rng.permutation(30)]
            listed = items[: int(rng.integers(1, 26))]
            places = rng.integers(0, 6, len(listed)) * 4 if ties else rng.permutation(64)[: len(listed)]
            run[f"q{number}"] = {
                item: lowest + float(place + 1) / 64 for item, place in zip(listed, places, strict=True)
            }
            judged = [item for item in (listed if listed_only else items) if rng.random() < 0.6]
            highest = 0 if number == 3 else top
            grades[f"q{number}"] = {item: int(rng.integers(0, highest + 1)) for item in judged} or {listed[0]: 0}
        return Case(run, grades)

    return make
