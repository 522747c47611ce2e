"""Near-duplicates by appearance: candidates by the 64-bit hash, in blocks, each checked by five more rules."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from visual_search.images.hashes import hamming
from visual_search.indexing.progress import Progress
from visual_search.leaks.distinct_pictures import Int64Array
from visual_search.leaks.likeness import compare_small
from visual_search.leaks.picture_pairs import PicturePairs, Wanted
from visual_search.leaks.signatures import Signatures
from visual_search.leaks.thresholds import LeakThresholds

__all__ = ["near_duplicates"]

# Hits of a block if every picture were like every other: what bounds the memory of a block at some 300 MB.
_WORST_HITS = 1 << 23


def near_duplicates(
    signatures: Signatures,
    candidates: Int64Array,
    wanted: Wanted,
    thresholds: LeakThresholds,
    *,
    mirrored: bool = False,
    progress: Progress | None = None,
) -> Iterator[PicturePairs]:
    """Find pairs of distinct pictures that are alike; each pair once, in no order.

    Parameters
    ----------
    signatures : array of shape (pictures,) and dtype ``SIGNATURE``
    candidates : int64 array
        Pictures to compare: those with pixels that are not plain.
    wanted : Wanted
        Which pairs count.
    thresholds : LeakThresholds
    mirrored : bool
        Whether one of the two is mirrored left to right.
    progress : Progress, optional
        Told of every picture that has been searched with.

    Yields
    ------
    PicturePairs
        Of a block of pictures.

    Convention
    ----------
    Exact: no pair within the thresholds is missed. FAISS scans the 64-bit hashes of all candidates, so the time grows
    with (pictures searched with) x (candidates), at about a billion pairs a second and core; memory stays.
    """
    import faiss

    searching = wanted.searching(candidates)
    if not len(searching):
        return
    index = faiss.IndexBinaryFlat(64)
    index.add(np.ascontiguousarray(signatures["hash64"][candidates]))
    ours = "mirrored" if mirrored else "hash"
    is_searched = np.zeros(len(signatures), dtype=np.bool_)
    is_searched[searching] = True
    rows = max(16, min(4096, _WORST_HITS // len(candidates)))
    for start in range(0, len(searching), rows):
        block = searching[start : start + rows]
        limits, _, labels = index.range_search(
            np.ascontiguousarray(signatures[f"{ours}64"][block]), thresholds.radius64 + 1
        )
        first = np.repeat(block, np.diff(limits.astype(np.int64)))
        second = candidates[labels]
        # Of two pictures that are both searched with, the later one sees the pair as well.
        once = (second != first) & (~is_searched[second] | (first < second))
        first, second = first[once], second[once]
        kept = wanted.pairs(first, second)
        yield _checked(signatures, first[kept], second[kept], thresholds, mirrored=mirrored)
        if progress is not None:
            progress.advance(len(block))


def _checked(
    signatures: Signatures, first: Int64Array, second: Int64Array, thresholds: LeakThresholds, *, mirrored: bool
) -> PicturePairs:
    ours = "mirrored" if mirrored else "hash"
    bits256 = hamming(signatures[f"{ours}256"][first], signatures["hash256"][second])
    close = bits256 <= thresholds.radius256
    first, second, bits256 = first[close], second[close], bits256[close]
    likeness = compare_small(signatures, first, second, mirrored=mirrored)
    alike = (likeness.detail >= thresholds.detail) & (likeness.color <= thresholds.color)
    alike &= (likeness.local <= thresholds.patch) & (likeness.shade <= thresholds.shade)
    first, second = first[alike], second[alike]
    bits64 = hamming(signatures[f"{ours}64"][first], signatures["hash64"][second])
    return PicturePairs(
        "mirrored" if mirrored else "near",
        first,
        second,
        bits64,
        bits256[alike],
        likeness.detail[alike].astype(np.float64),
    )
