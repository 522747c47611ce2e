"""Ids that were probably meant: ``img_001`` where the index has ``img_001.jpg``."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property

from visual_search.ids import Id

__all__ = ["NearIds"]

_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
_SEPARATORS = re.compile(r"[\s_\-]+")
# Neighbours in sorted order that are compared letter by letter, on either side.
_WINDOW = 50


class NearIds:
    """Finds ids like a given one, fast enough to be asked thousands of times among millions.

    Likeness, the nearest first: the same but for the kind (``7`` and ``"7"``), letter case, folder or file suffix;
    the same but for separators and leading zeros; one the beginning of the other; few letters changed. The last is
    looked for among neighbours in alphabetical order, forwards and backwards, since a slip rarely touches both ends
    of an id.

    Parameters
    ----------
    ids : sequence of str or int
        The ids that are there.

    Examples
    --------
    >>> near = NearIds(["img_001.jpg", "img_002.jpg", "cats/IMG-3.png"])
    >>> near.of("img_001"), near.of("img_003"), near.of("imh_002.jpg"), near.of("zebra")
    (['img_001.jpg'], ['cats/IMG-3.png'], ['img_002.jpg'], [])
    """

    def __init__(self, ids: Sequence[Id]) -> None:
        self._ids = ids

    def of(self, wanted: Id, limit: int = 3) -> list[Id]:
        """Up to ``limit`` ids like the one wanted, the nearest first; empty when there is none."""
        found: dict[Id, None] = {}
        for table, key in ((self._by_stem, _stem), (self._by_loose, _loose)):
            found.update(dict.fromkeys(self._ids[row] for row in table.get(key(wanted), ())))
            if found:
                break
        else:
            found.update(dict.fromkeys(self._alike(_loose(wanted))))
        return list(found)[:limit]

    @cached_property
    def _by_stem(self) -> dict[str, list[int]]:
        return _table(map(_stem, self._ids))

    @cached_property
    def _by_loose(self) -> dict[str, list[int]]:
        return _table(map(_loose, self._ids))

    @cached_property
    def _forwards(self) -> list[str]:
        return sorted(self._by_loose)

    @cached_property
    def _backwards(self) -> list[str]:
        return sorted(key[::-1] for key in self._by_loose)

    def _alike(self, key: str) -> list[Id]:
        if not key:
            return []
        ahead = _neighbours(self._forwards, key)
        behind = [other[::-1] for other in _neighbours(self._backwards, key[::-1])]
        begun = [other for other in ahead if other.startswith(key) or (len(other) > 2 and key.startswith(other))]
        close = difflib.get_close_matches(key, dict.fromkeys((*ahead, *behind)), n=5, cutoff=0.75)
        return [self._ids[row] for other in dict.fromkeys((*begun, *close)) for row in self._by_loose[other]]


def _stem(value: Id) -> str:
    """The name without folder and file suffix, in lower case."""
    name = re.split(r"[/\\]", str(value))[-1]
    return (_SUFFIX.sub("", name) or name).casefold()


def _loose(value: Id) -> str:
    """The stem without separators and leading zeros."""
    return _ZEROS.sub("", _SEPARATORS.sub("", _stem(value)))


def _table(keys: Iterable[str]) -> dict[str, list[int]]:
    table: dict[str, list[int]] = {}
    for row, key in enumerate(keys):
        table.setdefault(key, []).append(row)
    return table


def _neighbours(ordered: list[str], key: str) -> list[str]:
    place = bisect_left(ordered, key)
    return ordered[max(0, place - _WINDOW) : place + _WINDOW]
