"""Pictures that somebody gave to search by: checked, kept for a while, within bounds."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from visual_search.errors import UndecodableImageError, UnknownIdError
from visual_search.images.decoding import DecodingRules, decode
from visual_search.images.thumbnails import thumbnail

__all__ = ["KeptUpload", "KeptUploads"]

_SHOWN_SIDE = 384
_DECODED_AT_A_TIME = 2


@dataclass(frozen=True, slots=True)
class KeptUpload:
    """A picture that was given.

    Attributes
    ----------
    data : bytes
        The file as it came.
    shown : bytes
        A small copy as WebP, without the file's metadata.
    width, height : int
        Of the upright picture, in pixels.
    changes : tuple of str
        What decoding did, in the words of the ledger.
    since : float
        When it came, by the keeper's clock.
    """

    data: bytes
    shown: bytes
    width: int
    height: int
    changes: tuple[str, ...]
    since: float


class KeptUploads:
    r"""Keeps pictures in memory under the hash of their content.

    Parameters
    ----------
    max_bytes : int
        Of all pictures together; the oldest go first.
    max_pixels : int
        Width times height above which one is refused before its pixels are decoded.
    seconds : float
        How long one is kept at most.
    clock : callable, optional
        Seconds that only grow.

    Examples
    --------
    >>> uploads = KeptUploads(max_bytes=1000, max_pixels=100, seconds=60.0)
    >>> name = uploads.keep(b"P5 2 1 255\n" + bytes([0, 255]))
    >>> len(name), uploads.named(name).width
    (32, 2)
    """

    def __init__(
        self, *, max_bytes: int, max_pixels: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._max_bytes = max_bytes
        self._max_pixels = max_pixels
        self._seconds = seconds
        self._clock = clock
        self._kept: OrderedDict[str, KeptUpload] = OrderedDict()
        self._changing = threading.Lock()
        self._decoding = threading.BoundedSemaphore(_DECODED_AT_A_TIME)

    @property
    def held_bytes(self) -> int:
        """Bytes of the pictures kept now."""
        with self._changing:
            return self._held()

    def keep(self, data: bytes, rules: DecodingRules | None = None) -> str:
        """Check a picture and keep it.

        Parameters
        ----------
        data : bytes
            The whole file.
        rules : DecodingRules, optional
            Those of the index that is to be searched; of their limit on pixels and ours the lower one holds.

        Returns
        -------
        str
            The name under which it is kept: the same for the same content.

        Raises
        ------
        UndecodableImageError
            No image, a damaged one, or one beyond a limit.
        """
        rules = rules or DecodingRules()
        bounded = replace(rules, max_pixels=min(rules.max_pixels, self._max_pixels))
        with self._decoding:
            decoded = decode(data, bounded)
            shown = thumbnail(decoded.pixels, _SHOWN_SIDE)
        name = hashlib.sha256(data).hexdigest()[:32]
        kept = KeptUpload(data, shown, decoded.width, decoded.height, decoded.changes, self._clock())
        if len(data) + len(shown) > self._max_bytes:
            raise UndecodableImageError(
                f"too many bytes: {len(data)}, more than the {self._max_bytes} that are kept"
            )
        with self._changing:
            self._kept.pop(name, None)
            self._kept[name] = kept
            self._forget_old()
            while self._held() > self._max_bytes:
                self._kept.popitem(last=False)
        return name

    def named(self, name: str) -> KeptUpload:
        """A picture that was kept.

        Raises
        ------
        UnknownIdError
            It never was, or is no longer.
        """
        with self._changing:
            self._forget_old()
            found = self._kept.get(name)
        if found is None:
            raise UnknownIdError("upload: this picture is no longer kept; give it again")
        return found

    def _held(self) -> int:
        return sum(len(one.data) + len(one.shown) for one in self._kept.values())

    def _forget_old(self) -> None:
        oldest = self._clock() - self._seconds
        for name in [name for name, one in self._kept.items() if one.since < oldest]:
            del self._kept[name]
