"""Fingerprints by which two results are found comparable: same gallery, queries, right answers and exclusions.

Each is of the content, whatever the order in which a file or an index happens to hold it. The ranking's is not
compared; it tells whether a stored ranking is the one a result was computed from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from visual_search.formats.fingerprint import fingerprint_array, fingerprint_bytes, fingerprint_file
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id, Ids
from visual_search.rankings.ranking import Ranking

__all__ = [
    "fingerprint_gallery",
    "fingerprint_ids",
    "fingerprint_pairs",
    "fingerprint_pictures",
    "fingerprint_ranking",
    "fingerprints_of",
    "picture_hashes",
]

Int64Array = npt.NDArray[np.int64]


def fingerprints_of(
    relevance: Relevance, ranking: Ranking, gallery: Ids | None, hashes: Mapping[Id, str] | None = None
) -> dict[str, str | None]:
    """Fingerprints of gallery, queries, relevance, exclusions and ranking; a gallery that is not known has none.

    The gallery's is over its ids and, where they are known, the hashes of its files: another picture under the same
    id makes it another gallery. The model's vectors do not enter, so that two models can be compared on one gallery.
    """
    judged = ~relevance.ignored
    return {
        "gallery": None if gallery is None else fingerprint_gallery(gallery, hashes),
        "queries": fingerprint_ids(relevance.queries),
        "relevance": fingerprint_pairs(relevance, judged),
        "exclusions": fingerprint_pairs(relevance, relevance.ignored),
        "ranking": fingerprint_ranking(ranking),
    }


def fingerprint_ids(ids: Ids) -> str:
    """Of a set of ids, whatever their order.

    >>> fingerprint_ids(Ids(["a", "b"])) == fingerprint_ids(Ids(["b", "a"]))
    True
    """
    return Ids(sorted(ids, key=_sort_key)).fingerprint()


def fingerprint_gallery(ids: Ids, hashes: Mapping[Id, str] | None) -> str:
    """Of a set of ids and, where they are known, of each item's file."""
    if hashes is None:
        return fingerprint_ids(ids)
    files = "\n".join(hashes.get(item, "") for item in sorted(ids, key=_sort_key))
    return fingerprint_bytes(f"{fingerprint_ids(ids)}\n{files}".encode())


def picture_hashes(places: Mapping[Id, Path | None]) -> dict[Id, str]:
    """Fingerprint of each query's picture file; queries without one are left out."""
    return {query: fingerprint_file(path) for query, path in places.items() if path is not None and path.is_file()}


def fingerprint_pictures(queries: Iterable[Id], hashes: Mapping[Id, str]) -> str | None:
    """Of queries' ids and their :func:`picture_hashes`; None where there is no such file at all."""
    return fingerprint_gallery(Ids(list(queries)), hashes) if hashes else None


def fingerprint_ranking(ranking: Ranking) -> str:
    """Of queries, items and scores, in order."""
    digest = hashlib.sha256(f"{ranking.queries.fingerprint()}\n".encode())
    used, rows = np.unique(ranking.rows, return_inverse=True)
    digest.update(Ids(ranking.items.take(used.tolist())).fingerprint().encode())
    for array in (ranking.offsets, rows.astype(np.int64), ranking.scores.astype(np.float64)):
        digest.update(fingerprint_array(array).encode())
    return f"sha256:{digest.hexdigest()}"


def fingerprint_pairs(relevance: Relevance, chosen: npt.NDArray[np.bool_]) -> str:
    """Of (query, item, grade) triples as a set."""
    query = np.repeat(np.arange(len(relevance)), np.diff(relevance.offsets))[chosen]
    rows = relevance.rows[chosen]
    query_order, query_names = _ranked(relevance.queries, query)
    item_order, item_names = _ranked(relevance.items, rows)
    order = np.lexsort((item_order, query_order))
    parts = [Ids(query_names).fingerprint(), Ids(item_names).fingerprint()]
    arrays = (query_order[order], item_order[order], relevance.grades[chosen][order])
    parts += [fingerprint_array(array) for array in arrays]
    return fingerprint_bytes("\n".join(parts).encode())


def _ranked(ids: Ids, rows: Int64Array) -> tuple[Int64Array, list[Id]]:
    """Place of each row's id among the sorted ids that occur, and those ids."""
    used, inverse = np.unique(rows, return_inverse=True)
    named = ids.take(used.tolist())
    order = sorted(range(len(named)), key=lambda place: _sort_key(named[place]))
    places = np.empty(len(named), dtype=np.int64)
    places[order] = np.arange(len(named))
    return places[inverse.reshape(-1)], [named[place] for place in order]


def _sort_key(value: Id) -> tuple[bool, int, str]:
    return (isinstance(value, str), 0, value) if isinstance(value, str) else (False, value, "")
