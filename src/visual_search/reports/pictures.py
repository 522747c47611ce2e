"""The pictures of a page: small, inside the file, each embedded once however often it is shown."""

from __future__ import annotations

import base64
import hashlib
import io
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from markupsafe import Markup
from PIL import Image

from visual_search.errors import UndecodableImageError
from visual_search.formats.results import ImageLocation
from visual_search.images.decoding import DecodingRules
from visual_search.images.located import LocatedImages
from visual_search.images.thumbnails import thumbnail

__all__ = ["Album", "FileAlbum", "Picture", "Since"]

_NO_PLACE = "no file is named"
_GONE = "file is gone"
_UNREADABLE = "not a readable image"
_FULL = "left out, page is full"

Since: TypeAlias = Literal["measured", "indexed", "compared"]


@dataclass(frozen=True)
class Picture:
    """One image as a page shows it.

    Parameters
    ----------
    symbol : str or None
        Id of the embedded drawing; None when there is nothing to show.
    problem : str or None
        Why there is nothing to show.
    file : str or None
        Name of the image file, where the page does not hold the picture itself.
    size : tuple of two int, optional
        Its width and height in pixels.
    address : str or None
        Where a served page gets it from, instead of a drawing of its own.
    changed : bool or None
        Whether the file is another than the one that was measured; None where a served page does not know.
    since : {"measured", "indexed", "compared"}
        What was done with the file that it was.
    """

    symbol: str | None
    problem: str | None = None
    file: str | None = None
    size: tuple[int, int] | None = None
    address: str | None = None
    changed: bool | None = False
    since: Since = "measured"


class Album:
    """Makes thumbnails on demand and keeps each once.

    Parameters
    ----------
    longest : int
        Longest side in pixels; smaller images keep their size.
    max_bytes : int
        Where the thumbnails' bytes, as text in the page, would pass this, further images are left out and counted.
    name : str
        What the drawings' ids on the page begin with; two albums on one page need two.
    """

    def __init__(self, *, longest: int = 128, max_bytes: int = 6_000_000, name: str = "picture") -> None:
        self._longest = longest
        self._name = name
        self._room = max_bytes
        self._pictures: dict[tuple[ImageLocation, str | None, Since], Picture] = {}
        self._symbols: dict[str, str] = {}
        self._drawings: list[Markup] = []
        self._ratios: list[float] = []
        self._places = LocatedImages()
        self._taken: set[Path] = set()

    def picture(self, location: ImageLocation | None, *, since: Since = "measured") -> Picture:
        """The picture at a place; a file that cannot be shown gives an empty frame that says why.

        Where the place has the hash of what was ``measured``, ``indexed`` or ``compared``, and the file is another now,
        the frame says that it changed since.
        """
        if location is None:
            return Picture(None, _NO_PLACE)
        # Two results may have measured a file before and after it changed.
        key = (location, location.sha256, since)
        found = self._pictures.get(key)
        if found is None:
            found = self._pictures[key] = self._made(location, since)
        return found

    def took_from(self, root: Path) -> bool:
        """Whether a picture was taken from a file below this folder."""
        return any(path.is_relative_to(root) for path in self._taken)

    @property
    def missing(self) -> dict[str, int]:
        """How many distinct images could not be shown, by reason."""
        reasons = {place: one.problem for (place, *_), one in self._pictures.items() if one.problem}
        return dict(sorted(Counter(reasons.values()).items()))

    def changed(self, since: Since = "measured") -> int:
        """How many distinct images that are shown are no longer those that were measured (indexed, compared)."""
        return len({place for (place, _, done), one in self._pictures.items() if one.changed and done == since})

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

    def _made(self, location: ImageLocation, since: Since) -> Picture:
        source = self._places.source(location)
        if source is None:
            return Picture(None, _GONE)
        try:
            data = source.read(DecodingRules().max_bytes)
            small = thumbnail(data, self._longest, quality=72)
        except UndecodableImageError:
            return Picture(None, _UNREADABLE)
        self._taken.add(location.path)
        made = self._embedded(small)
        measured = location.sha256
        same = made.problem or measured is None or hashlib.sha256(data).hexdigest() == measured
        return made if same else replace(made, changed=True, since=since)

    def _embedded(self, small: bytes) -> Picture:
        content = hashlib.sha256(small).hexdigest()
        if content in self._symbols:
            return Picture(self._symbols[content])
        encoded = base64.b64encode(small).decode("ascii")
        if len(encoded) > self._room:
            return Picture(None, _FULL)
        self._room -= len(encoded)
        width, height = _size_of(small)
        name = f"{self._name}-{len(self._drawings) + 1}"
        self._symbols[content] = name
        self._ratios.append(width / height)
        self._drawings.append(
            Markup(
                '<symbol id="{name}" viewBox="0 0 {width} {height}"><image width="{width}" height="{height}" '
                'href="data:image/webp;base64,{encoded}"/></symbol>'
            ).format(name=name, width=width, height=height, encoded=encoded)
        )
        return Picture(name)


class FileAlbum(Album):
    """The same with each picture as a file of its own, named by its content and never by an id.

    Parameters
    ----------
    folder : Path
        Where the files go; it is there.
    longest : int
        Longest side in pixels.
    """

    def __init__(self, folder: Path, *, longest: int = 192) -> None:
        super().__init__(longest=longest)
        self._folder = folder
        self._files: dict[str, Picture] = {}

    def __len__(self) -> int:
        return len(self._files)

    def _embedded(self, small: bytes) -> Picture:
        content = hashlib.sha256(small).hexdigest()[:32]
        found = self._files.get(content)
        if found is None:
            width, height = _size_of(small)
            (self._folder / f"{content}.webp").write_bytes(small)
            self._ratios.append(width / height)
            found = self._files[content] = Picture(None, None, f"{content}.webp", (width, height))
        return found


def _size_of(small: bytes) -> tuple[int, int]:
    with Image.open(io.BytesIO(small)) as image:
        return image.size
