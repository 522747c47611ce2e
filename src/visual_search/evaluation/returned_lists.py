"""What a system returned, as it came: short lists, empty places and repeated items included."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, first_few
from visual_search.evaluation.neighbor_positions import EMPTY
from visual_search.formats.arrays import as_numpy
from visual_search.formats.ragged import offsets_of
from visual_search.ground_truth.gallery_ids import GalleryIds
from visual_search.ids import Id, Ids
from visual_search.rankings.id_lists import IdLists
from visual_search.rankings.ranking import Ranking
from visual_search.rankings.run_file import RunFile

__all__ = ["ReturnedLists"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
AnyArray: TypeAlias = npt.NDArray[Any]

# What engines put where they found nothing; -1 in a list of strings becomes "-1" when numpy makes an array of it.
_PADS = (-1, "-1", None, "")


@dataclass(frozen=True, slots=True, eq=False)
class ReturnedLists:
    """Lists of ids, one after the other.

    Attributes
    ----------
    queries : Ids or None
        Ids of the lists; None where their order is all there is.
    offsets : int64 array of shape (lists + 1,)
        List i owns the places ``offsets[i]:offsets[i + 1]``.
    vocabulary : Ids or int64 array
        Ids.
    codes : int64 array of shape (places,)
        Place of each entry in the vocabulary; -1 where the engine found nothing.
    scores : float array of shape (places,) or None
        Higher is better; None where there are none.
    """

    queries: Ids | None
    offsets: Int64Array
    vocabulary: Ids | Int64Array
    codes: Int64Array
    scores: npt.NDArray[np.floating[Any]] | None

    @classmethod
    def of(cls, returned: Any, *, query_ids: Iterable[Any] | None = None) -> ReturnedLists:
        """Take a ranking, a run file, lists of integer ids, ``{query: {item: score}}``, or plain lists of ids.

        Raises
        ------
        InputError
            Ids that are neither integers nor strings, or not as many query ids as lists.
        """
        if isinstance(returned, RunFile):
            returned = Ranking.from_trec(returned.path)
        elif isinstance(returned, Mapping):
            returned = Ranking.from_dict(returned)
        if isinstance(returned, (Ranking, IdLists)):
            if query_ids is not None:
                raise InputError(f"query_ids: a {type(returned).__name__} has its own; leave them out")
            return _of_ranking(returned) if isinstance(returned, Ranking) else _of_id_lists(returned)
        return _of_arrays(returned, query_ids)

    @property
    def resolution(self) -> float:
        """Relative rounding of the scores."""
        return 2.0**-24 if self.scores is not None and self.scores.dtype != np.float64 else 2.0**-53

    def rows_among(self, gallery: GalleryIds) -> Int64Array:
        """Gallery row of every place; -1 where its id is unknown, EMPTY where the engine found nothing.

        Raises
        ------
        InputError
            Integer ids here and strings in the gallery, or the reverse.
        """
        filled = self.codes >= 0
        kind = self.vocabulary.kind if isinstance(self.vocabulary, Ids) else int
        if filled.any() and len(gallery) and kind is not gallery.kind:
            raise InputError(
                f"item ids are {gallery.kind.__name__} in the truth ({first_few(gallery.take([0]))}) and "
                f"{kind.__name__} in the lists ({first_few(self.vocabulary[:2])}); nothing would match: convert "
                "one side"
            )
        rows = np.full(len(self.codes), EMPTY, dtype=np.int64)
        rows[filled] = gallery.rows(self.vocabulary)[self.codes[filled]]
        return rows

    def id_at(self, place: int) -> Id:
        """Id at a place that is filled."""
        return (
            self.vocabulary[int(self.codes[place])]
            if isinstance(self.vocabulary, Ids)
            else int(self.vocabulary[self.codes[place]])
        )


def _of_ranking(ranking: Ranking) -> ReturnedLists:
    # Lists that came without scores were given falling numbers: an order, and no distances.
    scores = ranking.scores if ranking.scored else None
    return ReturnedLists(ranking.queries, ranking.offsets, ranking.items, ranking.rows, scores)


def _of_id_lists(lists: IdLists) -> ReturnedLists:
    count, depth = lists.ids.shape
    flat = lists.ids.ravel().astype(np.int64, copy=False)
    scores = None if lists.scores is None else lists.scores.ravel()
    return _of_integers(lists.queries, np.arange(count + 1, dtype=np.int64) * depth, flat, scores, pad=lists.pad)


def _of_integers(
    queries: Ids | None,
    offsets: Int64Array,
    flat: Int64Array,
    scores: npt.NDArray[np.floating[Any]] | None,
    *,
    pad: int | None = -1,
) -> ReturnedLists:
    codes = np.arange(len(flat), dtype=np.int64)
    return ReturnedLists(queries, offsets, flat, codes if pad is None else np.where(flat == pad, -1, codes), scores)


def _of_arrays(returned: Any, query_ids: Iterable[Any] | None) -> ReturnedLists:
    if isinstance(returned, (str, bytes)) or not hasattr(returned, "__len__"):
        raise InputError(f"returned_ids: {type(returned).__name__}; give one list of ids per query")
    plain = isinstance(returned, (list, tuple))
    if not plain or (len(returned) and all(isinstance(one, np.ndarray) for one in returned)):
        lists: list[Any] = list(as_numpy(returned, what="returned_ids")) if not plain else list(returned)
    else:
        lists = list(returned)
    if any(isinstance(one, (str, bytes)) or not hasattr(one, "__len__") for one in lists):
        raise InputError(f"returned_ids: one list of ids per query is needed; got {first_few(lists, 2)}")
    offsets = offsets_of(np.array([len(one) for one in lists], dtype=np.int64))
    queries = None if query_ids is None else Ids(query_ids, what="query_ids")
    if queries is not None and len(queries) != len(lists):
        raise InputError(f"query_ids: {len(queries)} ids for {len(lists)} lists; give one per list, in order")
    deep = [one for one in lists if isinstance(one, np.ndarray) and one.ndim != 1]
    if deep:
        raise InputError(f"returned_ids: a list of shape {deep[0].shape}; one row of ids per query is needed")
    if all(isinstance(one, np.ndarray) and one.dtype.kind in "iu" for one in lists):
        _check_width(max((int(one.max(initial=0)) for one in lists if one.dtype == np.uint64), default=0))
        flat = np.concatenate([one.astype(np.int64) for one in lists]) if lists else np.zeros(0, dtype=np.int64)
        return _of_integers(queries, offsets, flat, None)
    return _of_objects(queries, offsets, [value for one in lists for value in _plain(one)])


def _check_width(value: int) -> None:
    if not -(2**63) <= value < 2**63:
        raise InputError(f"returned_ids: {value} is beyond 64 bits with a sign; no gallery has such a row or id")


def _plain(one: Any) -> list[Any]:
    listed = one.tolist() if hasattr(one, "tolist") else list(one)
    return [value.item() if isinstance(value, np.generic) else value for value in listed]


def _of_objects(queries: Ids | None, offsets: Int64Array, flat: list[Any]) -> ReturnedLists:
    odd = [value for value in flat if value is not None and type(value) not in (str, int)]
    if odd:
        raise InputError(
            f"returned_ids: ids are integers or strings, never {type(odd[0]).__name__}: {first_few(odd, 3)}"
        )
    distinct = [value for value in dict.fromkeys(flat) if value not in _PADS]
    vocabulary = Ids(distinct, what="returned_ids")
    codes = vocabulary.rows(value if value not in _PADS else "" for value in flat)
    if vocabulary.kind is int:
        for value in distinct:
            _check_width(value)
        values = np.array(distinct, dtype=np.int64)
        return ReturnedLists(queries, offsets, values, codes, None)
    return ReturnedLists(queries, offsets, vocabulary, codes, None)
