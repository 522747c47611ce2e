r"""What the distances of a ground truth mean, found by computing some of them again.

No layout says whether its distances are plain or squared, a distance or a similarity, of the vectors as they are or
brought to unit length, and makers changed their mind between versions. Here a sample is recomputed in float64 from the
vectors, each reading is tried, and the one that fits has a name. The same sample shows whether the truth is of these
vectors at all: where rows that are not in a list are nearer than its last, it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import DimensionError, FingerprintError, InputError, first_few
from visual_search.formats.neighbors import NeighborFile
from visual_search.ground_truth.distance_readings import METRICS, PairReadings, farness, pair_readings

__all__ = ["DistanceMeaning", "distance_meaning"]

AnyArray: TypeAlias = npt.NDArray[Any]
Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]

_TOLERANCE = 1e-4
_UNIT_WITHIN = 1e-3
_COLUMNS = 10


@dataclass(frozen=True, slots=True)
class DistanceMeaning:
    """What was found.

    Parameters
    ----------
    metric : "l2", "cosine", "ip", "hamming" or "jaccard"
        By what the neighbours are nearest.
    meaning : str or None
        What the distances are, as ``"squared distance"``; None where the truth has none.
    also : tuple of str
        Other readings that fit the sample as well, as on unit vectors, where several are one.
    largest_error : float
        Largest difference between a distance of the file and the recomputed one, relative to the larger of the
        distance and the sample's median distance.
    pairs : int
        Distances compared.
    rivals : int
        Pairs of a query and a random gallery row outside its list that were checked not to be nearer.
    """

    metric: str
    meaning: str | None
    also: tuple[str, ...]
    largest_error: float
    pairs: int
    rivals: int


def distance_meaning(
    truth: NeighborFile,
    gallery: AnyArray,
    queries: AnyArray,
    *,
    metric: str | None = None,
    sample: int = 100,
    seed: int = 0,
) -> DistanceMeaning:
    """Check a ground truth against its vectors on a sample, and name what its distances mean.

    Parameters
    ----------
    truth : NeighborFile
        Of shape (q, k), with distances or without.
    gallery : array of shape (n, d)
        Numbers; 0 and 1 or packed bits under ``hamming``, 0 and 1 under ``jaccard``. A map is read at the rows needed.
    queries : array of shape (q, d)
    metric : "l2", "cosine", "ip", "hamming" or "jaccard", optional
        What the truth is going to be used for (``inner_product`` is ``ip``); default what the file
        says, else what its distances show.
    sample : int
        Queries looked at; of each up to ten neighbours evenly from first to last, and 1,000 random gallery rows.
    seed : int
        Of the sample.

    Returns
    -------
    DistanceMeaning

    Raises
    ------
    FingerprintError
        The truth does not belong to these vectors under this metric: no reading fits its distances, a row outside
        a list is nearer than the last in it, or the file was made for another metric and the vectors are not of unit
        length, where it would make no difference.
    InputError
        Shapes that do not fit; a truth that names no metric, has no distances, and none was asked for.

    Convention
    ----------
    Distances fit where they agree to 1 part in 10,000, of themselves or of the sample's median. A sample shows that
    a truth is wrong, and makes likely, but does not prove, that it is right: for that, compute it again.
    """
    metric = "ip" if metric == "inner_product" else metric
    _check_shapes(truth, gallery, queries, metric)
    pick = np.random.default_rng(seed)
    lines = np.sort(pick.choice(len(truth), size=min(sample, len(truth)), replace=False))
    columns = np.unique(np.linspace(0, truth.depth - 1, min(_COLUMNS, truth.depth)).astype(int))
    asked = np.asarray(queries[lines])
    listed = truth.positions[lines]
    pairs = _paired(gallery, asked, listed[:, columns])
    found = _fitting(truth, lines, columns, pairs)
    chosen = _chosen_metric(truth, metric, found, unit=_unit(pairs))
    rivals = pick.choice(len(gallery), size=min(1000, len(gallery)), replace=False)
    compared = _check_rivals(truth, chosen, gallery, (lines, asked, listed, np.sort(rivals)))
    fitting = {name: error for (kind, name), error in found.items() if kind == chosen}
    meaning = min(fitting, key=lambda name: fitting[name]) if fitting else None
    others = tuple(f"{name} ({kind})" for kind, name in found if (kind, name) != (chosen, meaning))
    count = int((listed[:, columns] >= 0).sum()) if truth.distances is not None else 0
    return DistanceMeaning(chosen, meaning, others, fitting[meaning] if meaning else 0.0, count, compared)


def _check_shapes(truth: NeighborFile, gallery: AnyArray, queries: AnyArray, metric: str | None) -> None:
    if metric is not None and metric not in METRICS:
        raise InputError(f"metric: got {metric!r}; must be one of {', '.join(METRICS)}")
    if gallery.ndim != 2 or queries.ndim != 2 or gallery.shape[1] != queries.shape[1]:
        raise DimensionError(f"gallery of shape {gallery.shape}, queries {queries.shape}; both (n, d), d the same")
    if len(queries) != len(truth):
        raise FingerprintError(
            f"{truth.path}: neighbours of {len(truth):,} queries, and {len(queries):,} queries; they are of another set"
        )
    if not len(truth):
        raise InputError(f"{truth.path}: no queries, so nothing can be checked")
    if int(truth.positions.max()) >= len(gallery):
        raise FingerprintError(
            f"{truth.path}: row {int(truth.positions.max()):,} among the neighbours, and {len(gallery):,} gallery rows"
        )


def _paired(gallery: AnyArray, asked: AnyArray, positions: Int64Array) -> PairReadings:
    found = np.asarray(gallery[np.maximum(positions, 0).ravel()]).reshape(*positions.shape, -1)
    return pair_readings(asked[:, None, :], found)


def _fitting(
    truth: NeighborFile, lines: Int64Array, columns: Int64Array, pairs: PairReadings
) -> dict[tuple[str, str], float]:
    if truth.distances is None:
        return {}
    held = truth.positions[np.ix_(lines, columns)] >= 0
    told = truth.distances[np.ix_(lines, columns)].astype(np.float64)[held]
    errors = {}
    for reading, (values, rounding) in pairs.all().items():
        mine = values[held]
        if mine.size and np.isfinite(mine).all():
            apart = np.maximum(np.abs(told - mine) - rounding[held], 0)
            scale = np.maximum(np.abs(mine), np.median(np.abs(mine)))
            with np.errstate(divide="ignore"):
                errors[reading] = float(np.divide(apart, scale, out=np.zeros_like(apart), where=apart > 0).max())
    found = {reading: error for reading, error in errors.items() if error <= _TOLERANCE}
    if errors and not found:
        (metric, name), error = min(errors.items(), key=lambda pair: pair[1])
        raise FingerprintError(
            f"{truth.path}: its distances are none that these vectors have, in any reading; nearest comes {name!r} "
            f"under {metric}, off by up to {error:.2g} of the distance; the vectors are of another set or order, "
            "were changed after the truth was made, or the metric is another"
        )
    return found


def _unit(pairs: PairReadings) -> bool:
    lengths = np.concatenate([pairs.left_length.ravel(), pairs.right_length.ravel()])
    return bool((np.abs(lengths - 1) < _UNIT_WITHIN).all())


def _chosen_metric(
    truth: NeighborFile, asked: str | None, found: dict[tuple[str, str], float], *, unit: bool
) -> str:
    shown = list(dict.fromkeys(metric for metric, _ in sorted(found, key=lambda reading: found[reading])))
    same = {"l2", "cosine", "ip"}  # one order on unit vectors
    chosen = asked or truth.metric or (shown[0] if shown else None)
    if chosen is None:
        raise InputError(
            f"metric: {truth.path} names none and has no distances; say by what its neighbours are nearest"
        )
    for source, other in (("was made for", [truth.metric] if truth.metric else []), ("has distances of", shown)):
        if other and chosen not in other and not (unit and chosen in same and same & set(other)):
            raise FingerprintError(
                f"metric: {chosen!r}, but {truth.path} {source} {' or '.join(map(repr, other))}, and the vectors are "
                "not of unit length, so the nearest by one are not the nearest by the other; use "
                f"metric={other[0]!r}, or compute the truth again"
            )
    return chosen


def _check_rivals(
    truth: NeighborFile,
    metric: str,
    gallery: AnyArray,
    sampled: tuple[Int64Array, AnyArray, Int64Array, Int64Array],
) -> int:
    lines, asked, listed, rivals = sampled
    others = np.asarray(gallery[rivals])
    wrong, compared = [], 0
    for line, query, own in zip(lines.tolist(), asked, listed, strict=True):
        known = own[own >= 0]
        if len(known) < truth.depth:
            continue  # a filtered list: rows outside it may be nearer
        mine = farness(metric, pair_readings(query[None], np.asarray(gallery[known])))
        theirs = farness(metric, pair_readings(query[None], others))[~np.isin(rivals, known)]
        slack = _TOLERANCE * float(np.abs(mine).max())
        compared += len(theirs)
        if (theirs < mine.max() - slack).any() or (np.diff(mine) < -slack).any():
            wrong.append(line)
    if wrong:
        raise FingerprintError(
            f"{truth.path}: under metric {metric!r} the lists of {len(wrong)} of {len(lines)} sampled queries are "
            f"out of order, or leave out rows that are nearer: queries {first_few(wrong)}; the truth is of another "
            "metric, other vectors, or a part of the gallery"
        )
    return compared
