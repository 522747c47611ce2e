"""Which places lie within a radius of which, without a matrix of all distances."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, first_few
from visual_search.formats.ragged import offsets_of

__all__ = ["EARTH_RADIUS", "Coordinates", "distances", "pairs_within"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]
Coordinates: TypeAlias = Literal["degrees", "metres"]

# Mean radius of the Earth in metres (IUGG, R1).
EARTH_RADIUS = 6_371_008.8
# Metres from the origin: far beyond any place on the Earth, and small enough to be squared and subtracted.
_FURTHEST = 1e9
# Pairs of neighbouring cells whose distances are computed at a time.
_PAIRS = 1 << 20


def distances(first: FloatArray, second: FloatArray, coordinates: Coordinates) -> FloatArray:
    r"""Distance in metres of each pair of places, float64 of shape (n,).

    Formula
    -------
    Degrees: the haversine, :math:`2 r \arcsin\sqrt h` with
    :math:`h = \sin^2(\Delta\varphi/2) + \cos\varphi_1\cos\varphi_2\sin^2(\Delta\lambda/2)`; metres: Euclid's.

    Examples
    --------
    >>> one_degree = distances(np.array([[0.0, 179.5]]), np.array([[0.0, -179.5]]), "degrees")
    >>> round(float(one_degree[0]))
    111195
    """
    if coordinates == "metres":
        east, north = (first - second).T
        apart: FloatArray = np.hypot(east, north)
        return apart
    a, b = np.radians(first), np.radians(second)
    half = np.sin((a - b) / 2) ** 2
    inside = half[:, 0] + np.cos(a[:, 0]) * np.cos(b[:, 0]) * half[:, 1]
    arc: FloatArray = np.arcsin(np.sqrt(np.clip(inside, 0, 1)))
    return 2 * EARTH_RADIUS * arc


def pairs_within(
    first: FloatArray, second: FloatArray, radius: float, coordinates: Coordinates
) -> tuple[Int64Array, Int64Array]:
    """All pairs of places at most ``radius`` metres apart, as rows of ``first`` and of ``second``.

    Places are put into cubes with the radius as edge, and only those of neighbouring cubes are compared: memory is
    that of the pairs found and of a block of pairs looked at. Degrees are cut into cubes in space, where neither the
    date line nor a pole is an edge.

    Raises
    ------
    InputError
        A radius that is not positive; latitudes beyond 90 or longitudes beyond 360 degrees.
    """
    if not (np.isfinite(radius) and radius > 0):
        raise InputError(f"radius={radius!r}: it is in metres, more than 0 and finite, such as 25")
    if not len(first) or not len(second):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    mine, theirs, steps = _cubes(first, second, radius, coordinates)
    order = np.argsort(theirs, kind="stable")
    keys, starts, counts = np.unique(theirs[order], return_index=True, return_counts=True)
    found: list[tuple[Int64Array, Int64Array]] = []
    for step in steps:
        places = np.minimum(np.searchsorted(keys, mine + step), len(keys) - 1)
        rows = np.flatnonzero(keys[places] == mine + step)
        for some in _blocks(counts[places[rows]]):
            near = rows[some]
            number = counts[places[near]]
            query = np.repeat(near, number)
            at = np.repeat(starts[places[near]] - offsets_of(number)[:-1], number) + np.arange(len(query))
            item = order[at]
            close = distances(first[query], second[item], coordinates) <= radius
            found.append((query[close], item[close]))
    empty = np.zeros(0, dtype=np.int64)
    query = np.concatenate([empty, *(query for query, _ in found)])
    item = np.concatenate([empty, *(item for _, item in found)])
    sorted_rows = np.lexsort((item, query))
    return query[sorted_rows], item[sorted_rows]


def _blocks(counts: Int64Array) -> list[slice]:
    """Runs of rows that have about `_PAIRS` pairs together."""
    before = offsets_of(counts)
    bounds = [0]
    while bounds[-1] < len(counts):
        stop = int(np.searchsorted(before, before[bounds[-1]] + _PAIRS, side="right")) - 1
        bounds.append(min(max(stop, bounds[-1] + 1), len(counts)))
    return [slice(begin, end) for begin, end in pairwise(bounds)]


def _cubes(
    first: FloatArray, second: FloatArray, radius: float, coordinates: Coordinates
) -> tuple[Int64Array, Int64Array, list[int]]:
    """A number for the cube of each place, and what to add for each of the cubes around it."""
    points = [_in_space(places, coordinates) for places in (first, second)]
    low = np.minimum(points[0].min(axis=0), points[1].min(axis=0))
    extent = float((np.maximum(points[0].max(axis=0), points[1].max(axis=0)) - low).max())
    width = points[0].shape[1]
    # A little more than the radius, so that rounding never parts two places that are just that far apart; and wide
    # enough for three numbers of 20 bits, or two of 30, to make one of 64.
    bits = 60 // width
    edge = max(radius * (1 + 1e-6), extent / ((1 << bits) - 3))
    strides = np.array([1 << (bits * axis) for axis in range(width)], dtype=np.int64)
    mine, theirs = (((np.floor((one - low) / edge).astype(np.int64) + 1) * strides).sum(axis=1) for one in points)
    return mine, theirs, [int(np.dot(step, strides)) for step in product((-1, 0, 1), repeat=width)]


def _in_space(places: FloatArray, coordinates: Coordinates) -> FloatArray:
    """Metres on the plane, or in space, where a chord is no longer than its arc."""
    if coordinates == "metres":
        far = np.flatnonzero((np.abs(places) > _FURTHEST).any(axis=1))
        if len(far):
            raise InputError(
                f"places: {len(far)} are more than {_FURTHEST:.0e} m from the origin, first rows "
                f"{first_few(far.tolist())}: {first_few(places[far[:3]].tolist())}; metres east and north are needed"
            )
        return places
    wrong = np.flatnonzero((np.abs(places[:, 0]) > 90) | (np.abs(places[:, 1]) > 360))
    if len(wrong):
        raise InputError(
            f"places: {len(wrong)} are no latitude and longitude in degrees, first rows {first_few(wrong.tolist())}: "
            f"{first_few(places[wrong[:3]].tolist())}; latitude comes first, and metres (UTM) need coordinates='metres'"
        )
    latitude, longitude = np.radians(places).T
    across = np.cos(latitude)
    return EARTH_RADIUS * np.stack(
        (across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)), axis=1
    )
