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
    cubes = [_cubes(places, radius, coordinates) for places in (first, second)]
    width = cubes[0].shape[1]
    order = np.lexsort(cubes[1].T[::-1])
    keys, starts = np.unique(cubes[1][order], axis=0, return_index=True)
    counts = np.diff(np.append(starts, len(order)))
    table = {key: place for place, key in enumerate(map(tuple, keys.tolist()))}
    found: list[tuple[Int64Array, Int64Array]] = []
    empty = np.zeros(0, dtype=np.int64)
    for step in product((-1, 0, 1), repeat=width):
        places = np.array([table.get(key, -1) for key in map(tuple, (cubes[0] + step).tolist())], dtype=np.int64)
        rows = np.flatnonzero(places >= 0)
        for some in _blocks(counts[places[rows]]):
            near = rows[some]
            number = counts[places[near]]
            query = np.repeat(near, number)
            at = np.repeat(starts[places[near]] - offsets_of(number)[:-1], number) + np.arange(len(query))
            item = order[at]
            close = distances(first[query], second[item], coordinates) <= radius
            found.append((query[close], item[close]))
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


def _cubes(places: FloatArray, radius: float, coordinates: Coordinates) -> Int64Array:
    edge = radius * (1 + 1e-6)  # so that rounding never parts two places that are just the radius apart
    if coordinates == "metres":
        return np.floor(places / edge).astype(np.int64)
    wrong = np.flatnonzero((np.abs(places[:, 0]) > 90) | (np.abs(places[:, 1]) > 360))
    if len(wrong):
        raise InputError(
            f"places: {len(wrong)} are no latitude and longitude in degrees, first rows {first_few(wrong.tolist())}: "
            f"{first_few(places[wrong[:3]].tolist())}; latitude comes first, and metres (UTM) need coordinates='metres'"
        )
    latitude, longitude = np.radians(places).T
    across = np.cos(latitude)
    in_space = np.stack((across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)), axis=1)
    # A chord is no longer than its arc, so that a cube of the radius reaches far enough.
    return np.floor(EARTH_RADIUS * in_space / edge).astype(np.int64)
