"""The pictures of a page: small, inside the file, each embedded once however often it is shown."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
import zipfile
from collections import Counter
from dataclasses import dataclass

from markupsafe import Markup
from PIL import Image, ImageOps

from visual_search.formats.results import ImageLocation

__all__ = ["Album", "Picture"]

_NO_PLACE = "no file is named"
_GONE = "file is gone"
_UNREADABLE = "not a readable image"
_FULL = "left out, page is full"


@dataclass(frozen=True)
class Picture:
    """One image as a page shows it.

    Parameters
    ----------
    symbol : str or None
        Id of the embedded drawing; None when there is nothing to show.
    problem : str or None
        Why there is nothing to show.
    """

    symbol: str | None
    problem: str | None = None


class Album:
    """Makes thumbnails on demand and keeps each once.

    Parameters
    ----------
    longest : int
        Longest side in pixels; smaller images keep their size.
    max_bytes : int
        Where the thumbnails' bytes, as text in the page, would pass this, further images are left out and counted.
    prefix : str
        Begins each symbol's id.
    """

    def __init__(self, *, longest: int = 128, max_bytes: int = 6_000_000, prefix: str = "t") -> None:
        self._longest = longest
        self._room = max_bytes
        self._prefix = prefix
        self._pictures: dict[ImageLocation | None, Picture] = {None: Picture(None, _NO_PLACE)}
        self._symbols: dict[str, str] = {}
        self._drawings: list[Markup] = []
        self._ratios: list[float] = []

    def picture(self, location: ImageLocation | None) -> Picture:
        """The picture at a place; a file that cannot be shown gives an empty frame that says why."""
        if location not in self._pictures:
            self._pictures[location] = self._made(location)
        return self._pictures[location]

    @property
    def missing(self) -> dict[str, int]:
        """How many distinct images could not be shown, by reason."""
        found = Counter(p.problem for place, p in self._pictures.items() if p.problem and place is not None)
        return dict(sorted((str(reason), count) for reason, count in found.items()))

    @property
    def symbols(self) -> Markup:
        """All drawings, for one hidden ``<svg>`` of the page."""
        return Markup("\n").join(self._drawings)

    @property
    def shape(self) -> str:
        """``tall``, ``square`` or ``wide``: what most pictures are, so that frames fit them."""
        if not self._ratios:
            return "square"
        median = sorted(self._ratios)[len(self._ratios) // 2]
        return "tall" if median < 0.9 else "wide" if median > 1.15 else "square"

    def __len__(self) -> int:
        return len(self._drawings)

    def _made(self, location: ImageLocation | None) -> Picture:
        assert location is not None
        try:
            data = _read(location)
        except (OSError, KeyError, zipfile.BadZipFile, tarfile.TarError):
            return Picture(None, _GONE)
        try:
            thumbnail, width, height = _thumbnail(data, self._longest)
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            return Picture(None, _UNREADABLE)
        return self._embedded(thumbnail, width, height)

    def _embedded(self, thumbnail: bytes, width: int, height: int) -> Picture:
        content = hashlib.sha256(thumbnail).hexdigest()
        if content in self._symbols:
            return Picture(self._symbols[content])
        encoded = base64.b64encode(thumbnail).decode("ascii")
        if len(encoded) > self._room:
            return Picture(None, _FULL)
        self._room -= len(encoded)
        name = f"{self._prefix}{len(self._drawings) + 1}"
        self._symbols[content] = name
        self._ratios.append(width / height)
        self._drawings.append(
            Markup(
                '<symbol id="{name}" viewBox="0 0 {width} {height}"><image width="{width}" height="{height}" '
                'href="data:image/webp;base64,{encoded}"/></symbol>'
            ).format(name=name, width=width, height=height, encoded=encoded)
        )
        return Picture(name)


def _read(location: ImageLocation) -> bytes:
    if location.member is None:
        return location.path.read_bytes()
    if zipfile.is_zipfile(location.path):
        with zipfile.ZipFile(location.path) as archive:
            return archive.read(location.member)
    with tarfile.open(location.path) as tar:
        stream = tar.extractfile(location.member)
        if stream is None:
            raise KeyError(location.member)
        return stream.read()


def _thumbnail(data: bytes, longest: int) -> tuple[bytes, int, int]:
    with Image.open(io.BytesIO(data)) as image:
        picture = ImageOps.exif_transpose(image).convert("RGB")
    picture.thumbnail((longest, longest))
    stream = io.BytesIO()
    picture.save(stream, format="WEBP", quality=72, method=4)
    return stream.getvalue(), *picture.size
