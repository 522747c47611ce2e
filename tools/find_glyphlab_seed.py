"""Find GlyphLab's seed: the smallest from 0 on whose raw pixels give the textbook's figures, well away from ties.

Run ``python tools/find_glyphlab_seed.py [COUNT]`` to see how many of the first COUNT seeds (200) do. A seed is taken
when, on its 30 test scenes and by cosine of raw pixels,

- view 0 against view 1, and back, finds every scene first (R@1 = mAP@5 = 1);
- view 0 at the severity of ``corrupted_test.npy`` against view 1 finds 29 first and one second (29/30 and 29.5/30);
- no similarity that decides one of these ranks lies within 0.001 of the one it is held against;
- none that decides another figure of the lab, at any severity or by class, lies within 0.00001.

A cosine of 576 float32 products is good to about 0.0000005, so that none of the lab's figures hangs on the machine.
"""

import sys
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.datasets.glyphlab import (
    CORRUPTED_TEST_SEVERITY,
    SEVERITIES,
    GlyphLab,
    corrupt,
    generate_glyphlab,
)

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

CHAPTER_MARGIN = 1e-3
OTHER_MARGIN = 1e-5
DEEPEST = 10


@dataclass(frozen=True)
class Condition:
    """Similarities of queries and gallery, what is relevant, and what counts neither way."""

    similarity: FloatArray
    relevant: BoolArray
    ignored: BoolArray

    def ranked(self) -> list[tuple[FloatArray, BoolArray]]:
        """For each query its similarities, falling, and whether each item is relevant."""
        lists = []
        for similarity, relevant, ignored in zip(self.similarity, self.relevant, self.ignored, strict=True):
            order = np.argsort(-similarity[~ignored], kind="stable")
            lists.append((similarity[~ignored][order], relevant[~ignored][order]))
        return lists

    def first_ranks(self) -> list[int]:
        """Rank of each query's first relevant item."""
        return [int(np.argmax(relevant)) + 1 for _, relevant in self.ranked()]

    def margin(self) -> float:
        """Smallest gap that decides a figure at depth 10 or less.

        A relevant item and one that is not, next to each other, of which at least one is among the first ten.
        """
        gaps = [
            (similarity[:-1] - similarity[1:])[:DEEPEST][relevant[:-1][:DEEPEST] != relevant[1:][:DEEPEST]]
            for similarity, relevant in self.ranked()
        ]
        return float(np.concatenate(gaps).min())


def conditions(data: GlyphLab) -> dict[str, Condition]:
    """What the lab measures."""
    first, second, both = data.rows("test", 0), data.rows("test", 1), data.rows("test")
    zero, one = _unit(data.images[first]), _unit(data.images[second])
    own = np.eye(len(first), dtype=np.bool_)
    none = np.zeros_like(own)
    own_class = data.labels[first][:, None] == data.labels[second]
    found = {
        "0 -> 1": Condition(zero @ one.T, own, none),
        "1 -> 0": Condition(one @ zero.T, own, none),
        "class 0 -> 1": Condition(zero @ one.T, own_class & ~own, own),
        "class 1 -> 0": Condition(one @ zero.T, own_class & ~own, own),
    }
    for severity in SEVERITIES[1:]:
        corrupted = corrupt(data.images[both], severity, data.seed)[data.view_ids[both] == 0]
        found[f"severity {severity}"] = Condition(_unit(corrupted) @ one.T, own, none)
    return found


def accepted(data: GlyphLab) -> bool:
    """Whether the seed is one to ship."""
    found = conditions(data)
    chapter = ["0 -> 1", "1 -> 0", f"severity {CORRUPTED_TEST_SEVERITY}"]
    ranks = [sorted(found[name].first_ranks()) for name in chapter]
    return (
        ranks == [[1] * 30, [1] * 30, [1] * 29 + [2]]
        and all(found[name].margin() >= CHAPTER_MARGIN for name in chapter)
        and all(condition.margin() >= OTHER_MARGIN for condition in found.values())
    )


def _unit(images: Any) -> FloatArray:
    pixels = images.reshape(len(images), -1).astype(np.float64)
    unit: FloatArray = pixels / np.linalg.norm(pixels, axis=1, keepdims=True)
    return unit


def recall_at_1(data: GlyphLab) -> dict[str, float]:
    """Share of the queries whose first result is right, under every condition."""
    return {name: float(np.mean(np.array(found.first_ranks()) == 1)) for name, found in conditions(data).items()}


if __name__ == "__main__":
    tried = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    every = [generate_glyphlab(seed) for seed in range(tried)]
    taken = [data.seed for data in every if accepted(data)]
    smallest = taken[0] if taken else next(seed for seed in count(tried) if accepted(generate_glyphlab(seed)))
    print(f"smallest seed: {smallest}; of the first {tried} seeds {len(taken)} would do")
    found = [recall_at_1(data) for data in every]
    perfect = np.mean([one["0 -> 1"] == one["1 -> 0"] == 1 for one in found])
    print(f"both directions perfect: {perfect:.2f} of them; mean R@1 over them:")
    for name in found[0]:
        print(f"  {name:<14} {np.mean([one[name] for one in found]):.3f}")
