"""From sources of images to vectors, decoding some while others are embedded."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL.Image import Image

from visual_search.counted import counted
from visual_search.errors import DimensionError, InputError, NonFiniteError, UndecodableImageError, first_few
from visual_search.images.decoding import DecodedImage, DecodingRules, decode
from visual_search.images.image_source import ImageSource
from visual_search.images.ledger import LedgerEntry
from visual_search.indexing.embedders.contract import Embedder
from visual_search.indexing.embedders.cores import available_cores
from visual_search.indexing.progress import Progress

__all__ = ["EmbeddedBatch", "embed_images", "embed_sources"]

Vectors: TypeAlias = npt.NDArray[np.float32]
Decoded: TypeAlias = Callable[[ImageSource, DecodedImage], None]

_LONGEST_WAIT = 8  # batches' worth of sources without a full batch, as in a folder of other things than images


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedBatch:
    """What one call of the embedder gave.

    Attributes
    ----------
    ids : tuple of str
        Images embedded, in the order of the sources.
    vectors : float32 array of shape (len(ids), dimension)
        Finite; row i belongs to ``ids[i]``.
    entries : tuple of LedgerEntry
        Every source since the batch before, used or left out, in order. The entries of all batches are all sources.
    """

    ids: tuple[str, ...]
    vectors: Vectors
    entries: tuple[LedgerEntry, ...]


def embed_sources(
    sources: Iterable[ImageSource],
    embedder: Embedder,
    *,
    rules: DecodingRules | None = None,
    batch_size: int | None = None,
    decode_threads: int | None = None,
    on_decoded: Decoded | None = None,
    progress: Progress | None = None,
) -> Iterator[EmbeddedBatch]:
    """Read, decode and embed images; give the vectors batch by batch.

    Threads read, decode and ``prepare``; the caller's thread runs ``embed`` on full batches while they go on.

    Parameters
    ----------
    sources : iterable of ImageSource
        Taken as needed, never all at once.
    embedder : Embedder
        Its ``decode_size`` is what JPEGs may be decoded for.
    rules : DecodingRules, optional
        How images are decoded, and what is refused.
    batch_size : int, optional
        Images per call of ``embed``; the embedder's own when None.
    decode_threads : int, optional
        Threads that read, decode and prepare; one for each core this process may use when None.
    on_decoded : callable, optional
        Called with each source and its decoded image, in the thread that decoded it and in no order: for thumbnails
        and whatever else needs the pixels, which are gone afterwards. What it raises ends the run.
    progress : Progress, optional
        Told after each batch.

    Yields
    ------
    EmbeddedBatch
        In the order of the sources, whatever the threads; each of ``batch_size`` vectors but the last, and but
        those that end early because eight times as many sources were seen, nearly all of them left out.

    Raises
    ------
    InputError
        ``batch_size`` or ``decode_threads`` below 1, or an embedder that breaks its contract.
    NonFiniteError
        A vector holds NaN or infinity; the images are named.
    Exception
        Whatever else ``prepare``, ``embed`` or ``on_decoded`` raise, with the image's id in its notes.

    Convention
    ----------
    An image that cannot be read or decoded is left out, and its entry says why; nothing else is. Memory: at most
    ``decode_threads`` decoded images and ``3 * batch_size + decode_threads`` prepared ones at a time. Closing the
    iterator, an error or an interrupt waits for the images being decoded, no others.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from PIL import Image
    >>> from visual_search.indexing.embedders.pixels import PixelEmbedder
    >>> with TemporaryDirectory() as folder:
    ...     Image.new("RGB", (8, 8), "teal").save(Path(folder, "teal.png"))
    ...     sources = [ImageSource(name, Path(folder, name)) for name in ("gone.png", "teal.png")]
    ...     batches = list(embed_sources(sources, PixelEmbedder(side=1)))
    >>> [(batch.ids, batch.vectors.shape, [entry.reason for entry in batch.entries]) for batch in batches]
    [(('teal.png',), (1, 3), ['no such file', None])]
    """
    size = _at_least_one("batch_size", batch_size, embedder.batch_size)
    threads = _at_least_one("decode_threads", decode_threads, available_cores())
    work = _Preparation(embedder, rules or DecodingRules(), on_decoded)
    return _batches(sources, embedder, work, size=size, threads=threads, progress=progress)


def embed_images(images: Sequence[Image], embedder: Embedder) -> Vectors:
    """Embed decoded RGB images at once, as queries are.

    Returns
    -------
    float32 array of shape (len(images), embedder.dimension)

    Raises
    ------
    NonFiniteError
        A vector holds NaN or infinity; the places in ``images`` are named.
    """
    batch = _Batch(embedder, max(1, min(embedder.batch_size, len(images))))
    parts = [np.empty((0, embedder.dimension), dtype=np.float32)]
    for place, image in enumerate(images):
        batch.add(str(place), embedder.prepare(image))
        if batch.full:
            parts.append(batch.embedded()[1])
    if batch.ids:
        parts.append(batch.embedded()[1])
    return np.concatenate(parts)


def _batches(
    sources: Iterable[ImageSource],
    embedder: Embedder,
    work: _Preparation,
    *,
    size: int,
    threads: int,
    progress: Progress | None,
) -> Iterator[EmbeddedBatch]:
    if progress is not None:
        progress.start(len(sources) if isinstance(sources, Sequence) else None)
    batch = _Batch(embedder, size)
    entries: list[LedgerEntry] = []

    def finished() -> EmbeddedBatch:
        ids, vectors = batch.embedded()
        done = EmbeddedBatch(ids, vectors, tuple(entries))
        entries.clear()
        return done

    # While a batch is embedded, threads prepare the next one and are never idle for want of room.
    for prepared in _in_order(sources, work, threads=threads, ahead=2 * size + threads):
        entries.append(prepared.entry)
        if prepared.array is not None:
            batch.add(prepared.entry.id, prepared.array)
        if batch.full or len(entries) >= _LONGEST_WAIT * size:
            done = finished()
            _tell(progress, done)
            yield done
    if entries:
        done = finished()
        _tell(progress, done)
        yield done


def _tell(progress: Progress | None, done: EmbeddedBatch) -> None:
    if progress is not None:
        progress.advance(len(done.entries))


@dataclass(frozen=True, slots=True)
class _Prepared:
    entry: LedgerEntry
    array: npt.NDArray[Any] | None


@dataclass(frozen=True, slots=True)
class _Preparation:
    """The work of one image: what threads do side by side."""

    embedder: Embedder
    rules: DecodingRules
    on_decoded: Decoded | None

    def __call__(self, source: ImageSource) -> _Prepared:
        data: bytes | None = None
        try:
            data = source.read(self.rules.max_bytes)
            decoded = decode(data, self.rules, target_size=self.embedder.decode_size)
        except UndecodableImageError as reason:
            return _Prepared(LedgerEntry.left_out(source, reason, data), None)
        with _naming(source.id):
            if self.on_decoded is not None:
                self.on_decoded(source, decoded)
            array = self.embedder.prepare(decoded.pixels)
        return _Prepared(LedgerEntry.used(source, data, decoded), array)


def _in_order(
    sources: Iterable[ImageSource], work: _Preparation, *, threads: int, ahead: int
) -> Iterator[_Prepared]:
    """Map over the sources in threads, at most ``ahead`` begun and not yet taken; results as the sources came."""
    waiting: deque[Future[_Prepared]] = deque()
    remaining = iter(sources)
    pool = ThreadPoolExecutor(threads, thread_name_prefix="decode")
    try:
        waiting.extend(pool.submit(work, source) for source in islice(remaining, ahead))
        while waiting:
            prepared = waiting.popleft().result()
            waiting.extend(pool.submit(work, source) for source in islice(remaining, 1))
            yield prepared
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class _Batch:
    """Prepared images side by side in memory that is used again and again."""

    def __init__(self, embedder: Embedder, size: int) -> None:
        self._embedder = embedder
        self._size = size
        self._memory: npt.NDArray[Any] | None = None
        self.ids: list[str] = []

    @property
    def full(self) -> bool:
        return len(self.ids) == self._size

    def add(self, image_id: str, array: npt.NDArray[Any]) -> None:
        if self._memory is None:
            self._memory = np.empty((self._size, *array.shape), dtype=array.dtype)
        if array.shape != self._memory.shape[1:] or array.dtype != self._memory.dtype:
            raise InputError(
                f"embedder {self._embedder.name!r}: prepared {image_id!r} as {array.dtype} {array.shape}, images "
                f"before it as {self._memory.dtype} {self._memory.shape[1:]}; prepare must give one shape"
            )
        self._memory[len(self.ids)] = array
        self.ids.append(image_id)

    def embedded(self) -> tuple[tuple[str, ...], Vectors]:
        """Embed what is there and begin anew."""
        ids = tuple(self.ids)
        self.ids.clear()
        if self._memory is None or not ids:
            return ids, np.empty((0, self._embedder.dimension), dtype=np.float32)
        with _naming(f"{ids[0]} to {ids[-1]}"):
            vectors = self._embedder.embed(self._memory[: len(ids)])
        _check(vectors, ids, self._embedder)
        return ids, vectors


def _check(vectors: Vectors, ids: Sequence[str], embedder: Embedder) -> None:
    if vectors.dtype != np.float32 or vectors.shape != (len(ids), embedder.dimension):
        raise DimensionError(
            f"embedder {embedder.name!r}: gave {vectors.dtype} {vectors.shape} for "
            f"{counted(len(ids), 'image', 'images')}; float32 "
            f"({len(ids)}, {embedder.dimension}) was agreed on"
        )
    wrong = [ids[int(row)] for row in np.flatnonzero(~np.isfinite(vectors).all(axis=1))]
    if wrong:
        raise NonFiniteError(
            f"embedder {embedder.name!r}: NaN or infinity in the vectors of "
            f"{counted(len(wrong), 'image', 'images')}, first: "
            f"{first_few(wrong)}; leave these images out, or mend the model or its preprocessing"
        )


@contextmanager
def _naming(what: str) -> Iterator[None]:
    """Note on whatever is raised which image it was about."""
    try:
        yield
    except Exception as problem:
        problem.add_note(f"while embedding {what}")
        raise


def _at_least_one(name: str, given: int | None, default: int) -> int:
    if given is None:
        return default
    if given < 1:
        raise InputError(f"{name} {given} is not allowed; give at least 1, or None for the default of {default}")
    return given
