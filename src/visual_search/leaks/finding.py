"""Finds leaks: all comparisons over all roles, put together to one report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from visual_search.errors import InputError
from visual_search.indexing.progress import Progress
from visual_search.leaks.chains import chains_of
from visual_search.leaks.distinct_pictures import BoolArray, DistinctPictures, Int64Array
from visual_search.leaks.embedding_duplicates import embedding_duplicates
from visual_search.leaks.leak_report import LeakGroup, LeakReport, RoleCounts
from visual_search.leaks.likeness import is_plain
from visual_search.leaks.listing import count_pairs, flagged_items, list_pairs
from visual_search.leaks.near_duplicates import near_duplicates
from visual_search.leaks.picture_pairs import MOST_PICTURE_PAIRS, PicturePairs, Wanted, joined
from visual_search.leaks.roles import Role, check_roles
from visual_search.leaks.shared_units import shared_units
from visual_search.leaks.thresholds import LeakThresholds

__all__ = ["find_leaks"]

_ORDER = ("query", "gallery", "train")


def find_leaks(
    roles: Sequence[Role],
    *,
    thresholds: LeakThresholds | None = None,
    mirrored: bool = False,
    within: bool = False,
    max_pairs: int = 100_000,
    progress: Progress | None = None,
) -> LeakReport:
    """Find pictures that stand in two roles.

    Parameters
    ----------
    roles : sequence of Role
        Queries, gallery, training pictures; two or three of them, or one with ``within``.
    thresholds : LeakThresholds, optional
        From when on two pictures are called the same.
    mirrored : bool
        Whether mirror images are looked for. They cost a second comparison, and symmetric things make more false ones.
    within : bool
        Whether pairs within one role are looked for too: copies in a gallery are no leak, but right answers that are
        missing.
    max_pairs : int
        Pairs listed; all are counted.
    progress : Progress, optional
        Told of every picture that has been searched with, once for each way of comparing.

    Returns
    -------
    LeakReport

    Raises
    ------
    InputError
        Roles that cannot be compared; or more than 5,000,000 pairs of distinct pictures, as in the frames of a film.
    DimensionError, ZeroVectorError
        Embeddings that cannot be compared.

    Convention
    ----------
    A pair is of two roles; a self-match is one file (or, of vectors, one id) in both. Exact duplicates are the same
    pixel for pixel once decoded, with one shape; files that cannot be decoded are duplicates of nothing. Near ones
    satisfy all rules of ``thresholds``. Pictures without detail are compared by pixels only, and counted. Memory:
    1,840 bytes a picture and some 300 MB a block; never all pairs at once.

    References
    ----------
    B. Barz and J. Denzler, "Do we train on test data? Purging CIFAR of near-duplicates", J. Imaging 2020, for what such
    leaks do to results.

    Examples
    --------
    >>> from PIL import Image
    >>> from visual_search.ids import Ids
    >>> from visual_search.leaks.signatures import signatures_of
    >>> picture = Image.effect_mandelbrot((400, 300), (-2, -1, 1, 1), 50).convert("RGB")
    >>> other = picture.rotate(90)
    >>> query = Role("query", Ids(["q1"]), signatures_of([picture.resize((200, 150))]))
    >>> gallery = Role("gallery", Ids(["a", "b"]), signatures_of([other, picture]))
    >>> report = find_leaks([query, gallery])
    >>> [(pair.kind, pair.first.id, pair.second.id) for pair in report.pairs]
    [('near', 'q1', 'b')]
    """
    rule = thresholds or LeakThresholds()
    ordered = sorted(roles, key=lambda role: _ORDER.index(role.name))
    check_roles(ordered, within=within, cosine=rule.cosine is not None)
    if type(max_pairs) is not int or max_pairs < 1:
        raise InputError(f"max_pairs={max_pairs!r}: give a positive whole number")
    pictures = DistinctPictures(ordered)
    wanted = Wanted(pictures.in_role, within)
    found: list[PicturePairs] = []
    signatures = pictures.signatures()
    plain = is_plain(signatures) & pictures.has_pixels
    candidates = np.flatnonzero(pictures.has_pixels & ~plain)
    flips = (False, True) if mirrored else (False,)
    if progress is not None:
        everything = np.arange(len(pictures), dtype=np.int64)
        once = len(wanted.searching(everything)) if rule.cosine is not None else 0
        progress.start(len(flips) * len(wanted.searching(candidates)) + once)
    for flip in flips:
        blocks = near_duplicates(signatures, candidates, wanted, rule, mirrored=flip, progress=progress)
        found.append(_new(blocks, found, len(pictures)))
    if rule.cosine is not None:
        blocks = embedding_duplicates(pictures.vectors(), wanted, rule.cosine, progress=progress)
        found.append(_new(blocks, found, len(pictures)))
    return _report(pictures, wanted, found, plain, (rule, mirrored, max_pairs))


def _new(blocks: Iterable[PicturePairs], found: Sequence[PicturePairs], pictures: int) -> PicturePairs:
    """All blocks as one, in order, without pairs that a stronger comparison found already."""
    before = sum(len(pairs) for pairs in found)
    pairs = joined(_counted(blocks, before))
    keys = _keys(pairs, pictures)
    order = np.argsort(keys, kind="stable")
    known = [_keys(one, pictures) for one in found]
    fresh = order[~np.isin(keys[order], np.concatenate(known))] if known else order
    return pairs.taken(fresh)


def _counted(blocks: Iterable[PicturePairs], before: int) -> Iterator[PicturePairs]:
    total = before
    for block in blocks:
        total += len(block)
        if total > MOST_PICTURE_PAIRS:
            raise InputError(
                f"pictures: more than {MOST_PICTURE_PAIRS:,} pairs of distinct pictures are alike, as frames of a film "
                "are; keep one frame a scene, or set narrower thresholds"
            )
        yield block


def _keys(pairs: PicturePairs, pictures: int) -> Int64Array:
    low, high = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
    keys: Int64Array = low * pictures + high
    return keys


def _report(
    pictures: DistinctPictures,
    wanted: Wanted,
    found: Sequence[PicturePairs],
    plain: BoolArray,
    rule: tuple[LeakThresholds, bool, int],
) -> LeakReport:
    thresholds, mirrored, max_pairs = rule
    none = [np.empty(0, dtype=np.int64)]
    first = np.concatenate([*none, *(pairs.first for pairs in found)])
    second = np.concatenate([*none, *(pairs.second for pairs in found)])
    repeated = np.flatnonzero(
        pictures.counts.sum(axis=1) > 1 if wanted.within else pictures.in_role.sum(axis=1) > 1
    )
    chains = chains_of(len(pictures), first, second, repeated.tolist())
    groups = tuple(
        LeakGroup(number, len(chain.pictures), int(pictures.counts[chain.pictures].sum()), chain.complete)
        for number, chain in enumerate(chains, 1)
    )
    number_of = {int(picture): number for number, chain in enumerate(chains, 1) for picture in chain.pictures}
    flagged = flagged_items(pictures, first, second, within=wanted.within)
    pairs = list_pairs(pictures, repeated, found, number_of, within=wanted.within, most=max_pairs)
    return LeakReport(
        pairs=tuple(pairs),
        pairs_by_kind=count_pairs(pictures, repeated, found, within=wanted.within),
        groups=groups,
        shared=shared_units(pictures.roles),
        roles=tuple(
            RoleCounts(
                role.name,
                len(role),
                len(role.ledger.left_out),
                int(plain[pictures.picture[pictures.role == place]].sum()),
                len(flagged[role.name]),
                role.ledger.as_json(),
            )
            for place, role in enumerate(pictures.roles)
        ),
        thresholds=thresholds,
        mirrored=mirrored,
        within=wanted.within,
        flagged=flagged,
        places={
            role.name: {one: role.places[one] for one in flagged[role.name] if one in role.places}
            for role in pictures.roles
        },
    )
