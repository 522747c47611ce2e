"""The search in blocks misses no pair that comparing every two would find."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from visual_search.images.hashes import hamming
from visual_search.leaks import near_duplicates as module
from visual_search.leaks.chains import chains_of
from visual_search.leaks.likeness import compare_small
from visual_search.leaks.near_duplicates import near_duplicates
from visual_search.leaks.picture_pairs import Wanted
from visual_search.leaks.signatures import SIGNATURE
from visual_search.leaks.thresholds import LeakThresholds


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(2, 30),
    roles=st.integers(1, 3),
    radius64=st.integers(0, 12),
    radius256=st.integers(0, 60),
    mirrored=st.booleans(),
    within=st.booleans(),
    worst=st.sampled_from([1, 1 << 10]),
)
def test_as_every_two_compared(
    seed: int, count: int, roles: int, radius64: int, radius256: int, mirrored: bool, within: bool, worst: int
) -> None:
    rng = np.random.default_rng(seed)
    signatures = np.zeros(count, dtype=SIGNATURE)
    base = rng.integers(0, 256, 80, dtype=np.uint8)
    small = rng.integers(0, 256, (24, 24, 3)).astype(np.int64)
    for row in range(count):
        noise = np.packbits(rng.random(640) < rng.choice([0.0, 0.02, 0.06]))
        bits = base ^ noise
        signatures["hash64"][row], signatures["hash256"][row] = bits[:8], bits[8:40]
        signatures["mirrored64"][row], signatures["mirrored256"][row] = bits[40:48], bits[48:]
        amount = rng.choice([0, 5, 60])
        change = rng.integers(-amount, amount + 1, small.shape)
        signatures["small"][row] = np.clip(small + change, 0, 255)
    in_role = rng.random((count, roles)) < 0.5
    in_role[np.arange(count), rng.integers(0, roles, count)] = True
    rule = LeakThresholds(radius64, radius256, 0.9, 30)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_WORST_HITS", worst)
        blocks = list(
            near_duplicates(
                signatures, np.arange(count, dtype=np.int64), Wanted(in_role, within), rule, mirrored=mirrored
            )
        )
    found = [
        (min(a, b), max(a, b))
        for block in blocks
        for a, b in zip(block.first.tolist(), block.second.tolist(), strict=True)
    ]
    assert len(found) == len(set(found))
    # Of two that are both searched with, the first is mirrored; else the one that is searched with.
    is_searched = np.isin(np.arange(count), Wanted(in_role, within).searching(np.arange(count, dtype=np.int64)))
    low, high = (one.astype(np.int64) for one in np.triu_indices(count, 1))
    ours, theirs = np.where(is_searched[low], low, high), np.where(is_searched[low], high, low)
    name = "mirrored" if mirrored else "hash"
    likeness = compare_small(signatures, ours, theirs, mirrored=mirrored)
    near = (
        (hamming(signatures[f"{name}64"][ours], signatures["hash64"][theirs]) <= radius64)
        & (hamming(signatures[f"{name}256"][ours], signatures["hash256"][theirs]) <= radius256)
        & (likeness.detail >= 0.9)
        & (likeness.color <= 30)
        & (within | ((in_role[low] | in_role[high]).sum(axis=1) > 1))
    )
    assert set(found) == set(zip(low[near].tolist(), high[near].tolist(), strict=True))


@given(st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)).filter(lambda p: p[0] < p[1]), unique=True))
def test_chains_are_connected_components(pairs: list[tuple[int, int]]) -> None:
    first = np.array([a for a, _ in pairs], dtype=np.int64)
    second = np.array([b for _, b in pairs], dtype=np.int64)
    chains = chains_of(20, first, second)
    where = {picture: number for number, chain in enumerate(chains) for picture in chain.pictures.tolist()}
    assert set(where) == {*first.tolist(), *second.tolist()}
    assert all(where[a] == where[b] for a, b in pairs)
    assert sum(chain.pairs for chain in chains) == len(pairs)
    for chain in chains:
        members = set(chain.pictures.tolist())
        reached, todo = set(), [min(members)]
        while todo:
            one = todo.pop()
            reached.add(one)
            todo += [b if a == one else a for a, b in pairs if one in (a, b) and {a, b} - reached]
            todo = [other for other in todo if other not in reached]
        assert reached == members
        assert chain.complete == all((a, b) in pairs for a in members for b in members if a < b)
