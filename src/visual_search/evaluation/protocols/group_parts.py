"""Makes train, validation and test parts, and folds, that keep each group whole."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError, ProofError, first_few
from visual_search.evaluation.folds import split_folds
from visual_search.evaluation.protocols.metadata import Metadata, Table
from visual_search.evaluation.protocols.partition import Partition
from visual_search.evaluation.seeds import seeded
from visual_search.ids import Id

__all__ = ["group_folds", "parts_by_column", "parts_by_group", "parts_of_random_images"]

Where = Mapping[str, Id | Sequence[Id]] | None
DEFAULT_SHARES = {"train": 0.6, "validation": 0.2, "test": 0.2}


def parts_by_group(
    table: Table,
    *,
    group: str,
    shares: Mapping[str, float] | None = None,
    seed: int = 0,
    item: str | None = None,
    where: Where = None,
) -> Partition:
    """Draw parts of about the given shares of the items, every group whole in one of them.

    Parameters
    ----------
    table, item, where
        As for `by_view`.
    group : str
        Column of the scene, identity or document.
    shares : mapping of str to float
        Name of each part and its share; they sum to 1. Train .6, validation .2 and test .2 where left out.
    seed : int
        Groups are shuffled, then dealt, the largest first, each to the part that lacks most.

    Returns
    -------
    Partition

    Raises
    ------
    InputError
        Shares that do not sum to 1, or fewer groups than parts.

    Examples
    --------
    >>> table = {"scene": ["a", "a", "b", "b", "c", "c", "d", "d", "e", "e"]}
    >>> parts_by_group(table, group="scene")
    Partition(parts-by-group: train 6, validation 2, test 2; proof holds)
    """
    wanted = _checked(DEFAULT_SHARES if shares is None else shares)
    metadata = Metadata(table, where=where)
    everything = metadata.side(item, group=group)
    assert everything.group is not None
    codes = everything.group.ranks()
    sizes = np.bincount(codes)
    if len(sizes) < len(wanted):
        raise InputError(
            f"column {group!r}: {counted(len(sizes), 'group', 'groups')} for {len(wanted)} parts; a group stays whole"
        )
    part = _dealt(sizes, np.array(list(wanted.values())), seed)
    told = ", ".join(f"{name} {share:g}" for name, share in wanted.items())
    return Partition.of_codes(
        everything,
        part[codes],
        list(wanted),
        protocol="parts-by-group",
        words=f"each {group} whole in one part, shares {told}, seed {seed}",
        options={"table": metadata.name, "group": group, "shares": dict(wanted), "seed": seed},
    )


def parts_by_column(
    table: Table, *, group: str, part: str, item: str | None = None, where: Where = None
) -> Partition:
    """Take parts from a column, and see whether groups are whole in them.

    Examples
    --------
    >>> table = {"scene": ["a", "a", "b"], "split": ["train", "test", "test"]}
    >>> parts_by_column(table, group="scene", part="split").proof.failed
    ('groups',)
    """
    metadata = Metadata(table, where=where)
    column = metadata.column(part)
    used = np.unique(column.codes)
    names = [str(column.values[code]) for code in used.tolist()]
    return Partition.of_codes(
        metadata.side(item, group=group),
        np.searchsorted(used, column.codes).astype(np.int64),
        names,
        protocol="parts-by-column",
        words=f"parts as column {part} has them",
        options={"table": metadata.name, "group": group, "part": part},
    )


def group_folds(
    table: Table, *, group: str, n_splits: int = 5, seed: int = 0, item: str | None = None, where: Where = None
) -> list[Partition]:
    """Folds of about one size, each with its own proof; see `visual_search.evaluation.folds.split_folds`.

    Examples
    --------
    >>> folds = group_folds({"scene": ["a", "a", "b", "b", "c", "c"]}, group="scene", n_splits=3)
    >>> [fold.ids("test") for fold in folds], all(fold.proof.holds for fold in folds)
    ([[4, 5], [0, 1], [2, 3]], True)
    """
    metadata = Metadata(table, where=where)
    everything = metadata.side(item, group=group)
    assert everything.group is not None
    folds = split_folds(everything.group.rows(), n_splits, seed)
    made = []
    for number, fold in enumerate(folds, start=1):
        codes = np.zeros(len(everything), dtype=np.int64)
        codes[fold.test] = 1
        options = {"table": metadata.name, "group": group, "fold": number, "n_splits": n_splits, "seed": seed}
        words = f"fold {number} of {n_splits}, each {group} whole in one part, seed {seed}"
        names = ["train", "test"]
        made.append(
            Partition.of_codes(everything, codes, names, protocol="group-folds", words=words, options=options)
        )
    return made


def parts_of_random_images(
    table: Table,
    *,
    group: str,
    shares: Mapping[str, float] | None = None,
    seed: int = 0,
    allow_shared_groups: bool = False,
    item: str | None = None,
    where: Where = None,
) -> Partition:
    """Draw parts image by image, which tears groups apart: refused unless asked for by name.

    Raises
    ------
    ProofError
        Unless ``allow_shared_groups``; the message says how many groups this draw puts on several sides.

    Examples
    --------
    >>> table = {"scene": ["a", "a", "b", "b", "c", "c", "d", "d"]}
    >>> parts_of_random_images(table, group="scene", allow_shared_groups=True).proof.marked
    ('groups',)
    """
    wanted = _checked(DEFAULT_SHARES if shares is None else shares)
    metadata = Metadata(table, where=where)
    everything = metadata.side(item, group=group)
    order = seeded(seed).permutation(len(everything))
    ends = np.rint(np.cumsum(list(wanted.values())) * len(order)).astype(np.int64)
    codes = np.empty(len(order), dtype=np.int64)
    codes[order] = np.searchsorted(ends, np.arange(len(order)), side="right")
    partition = Partition.of_codes(
        everything,
        codes,
        list(wanted),
        protocol="parts-of-random-images",
        words=f"images drawn one by one with seed {seed}",
        allowed=("groups",),
        warnings=(
            (
                f"drawn image by image: pictures of one {group} are in several parts, so that what is tested was seen "
                "in training; numbers of such parts do not compare with those of proven ones"
            ),
        ),
        options={"table": metadata.name, "group": group, "shares": dict(wanted), "seed": seed},
    )
    if not allow_shared_groups:
        raise ProofError(
            f"refused: random images do not keep {group} whole. This draw: {partition.proof['groups'].words}; use "
            "parts_by_group, or ask for it by name, allow_shared_groups=True, and it will be marked"
        )
    return partition


def _checked(shares: Mapping[str, float]) -> dict[str, float]:
    wrong = {name: share for name, share in shares.items() if not _is_number(share)}
    if wrong:
        raise InputError(f"shares={dict(shares)!r}: {first_few(list(wrong))}: shares are numbers")
    total = sum(shares.values())
    if len(shares) < 2 or min(shares.values()) <= 0 or abs(total - 1) > 1e-9:
        raise InputError(
            f"shares={dict(shares)!r}: two parts or more, each above 0, and 1 together; they sum to {total:g}"
        )
    return {str(name): float(share) for name, share in shares.items()}


def _is_number(share: object) -> bool:
    return isinstance(share, int | float | np.integer | np.floating) and math.isfinite(share)


def _dealt(sizes: npt.NDArray[np.int64], shares: npt.NDArray[np.float64], seed: int) -> npt.NDArray[np.int64]:
    """Part of each group: the largest first, each to the part that lacks most of its share; none is left empty."""
    shuffled = seeded(seed).permutation(len(sizes))
    order = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    wanted = shares * sizes.sum()
    held, part = np.zeros(len(shares)), np.zeros(len(sizes), dtype=np.int64)
    empty = len(shares)
    for place, group in enumerate(order):
        # As many groups left as parts without any: each of these gets one.
        lacking = np.where(held == 0, np.inf, -np.inf) if len(order) - place <= empty else (wanted - held) / wanted
        chosen = int(np.argmax(lacking))
        empty -= int(held[chosen] == 0)
        held[chosen] += sizes[group]
        part[group] = chosen
    return part
