"""Images to an index: list, decode, embed, save; what a killed run had finished is taken up again."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import FileFormatError, InputError, first_few
from visual_search.formats.fingerprint import fingerprint_json
from visual_search.formats.journal import Journal
from visual_search.images.decoding import DecodingRules
from visual_search.images.image_source import ImageSource
from visual_search.images.ledger import Ledger, LedgerEntry
from visual_search.images.sources import list_images
from visual_search.indexing.embedders.contract import Embedder, EmbedderDescription, describe
from visual_search.indexing.embedders.registry import create_embedder
from visual_search.indexing.embedding import EmbeddedBatch, embed_sources
from visual_search.indexing.engines.contract import Metric
from visual_search.indexing.index_folder import IndexFolder
from visual_search.indexing.index_table import VectorIndex
from visual_search.indexing.item_images import attach_images, images_of, stamps_of
from visual_search.indexing.progress import Progress

__all__ = ["DEFAULT_EMBEDDER", "IndexingReport", "index_images", "journal_path"]

DEFAULT_EMBEDDER = "efficientnet-lite0"

Vectors: TypeAlias = npt.NDArray[np.float32]
Outcome: TypeAlias = tuple[LedgerEntry, Vectors | None]


@dataclass(frozen=True, slots=True)
class IndexingReport:
    """What one run of :func:`index_images` did.

    Attributes
    ----------
    index : VectorIndex
        The index as saved.
    path : Path
        Its folder.
    ledger : Ledger
        Every file seen: used, changed how, or left out why.
    embedded : int
        Images that went through the embedder in this run.
    resumed : int
        Files that an earlier, interrupted run had finished.
    unchanged : int
        Files that are as they were in the index that stood there; their vectors were taken over.
    replaced : str or None
        What stood there, in words.
    seconds : float
        Wall time.
    """

    index: VectorIndex
    path: Path
    ledger: Ledger
    embedded: int
    resumed: int
    unchanged: int
    replaced: str | None
    seconds: float

    def words(self) -> str:
        """What was done, in a sentence."""
        pace = f", {self.embedded / self.seconds:,.0f} images/s" if self.seconds > 0 and self.embedded else ""
        taken = [
            f"{self.resumed:,} finished by an earlier run" if self.resumed else "",
            f"{self.unchanged:,} unchanged since the last" if self.unchanged else "",
            f"in place of {self.replaced}" if self.replaced else "",
        ]
        said = "; ".join(words for words in taken if words)
        count = f"{len(self.index):,} image{'' if len(self.index) == 1 else 's'}"
        return f"{self.path}: {count} in {self.seconds:.1f} s{pace}{f' ({said})' if said else ''}"

    def as_json(self) -> dict[str, Any]:
        """Counts, the ledger's counts and what was left out, as a JSON object."""
        return {
            "index": str(self.path),
            "images": len(self.index),
            "embedded": self.embedded,
            "resumed": self.resumed,
            "unchanged": self.unchanged,
            "replaced": self.replaced,
            "seconds": round(self.seconds, 3),
            "ledger": self.ledger.as_json(),
            "left_out": {entry.id: entry.reason for entry in self.ledger.left_out},
        }


def index_images(
    images: Any,
    out: str | os.PathLike[str],
    *,
    embedder: str | Embedder = DEFAULT_EMBEDDER,
    metric: Metric = "cosine",
    engine: str = "flat",
    settings: Mapping[str, Any] | None = None,
    ids: Any = "relative",
    rules: DecodingRules | None = None,
    batch_size: int | None = None,
    progress: Progress | None = None,
) -> IndexingReport:
    """Index images.

    Every finished batch is on disk before the next begins; a run that was killed, started again with the same
    embedder and rules, embeds only what is missing, and the index comes out the same. Files that changed meanwhile
    (size or time) are embedded again. Where an index made in the same way stands already, the vectors of files that
    are as they were are taken over.

    Parameters
    ----------
    images : path, glob, archive, list or mapping
        As for :func:`visual_search.images.sources.list_images`.
    out : path
        Folder of the index. An index already there is replaced when the new one is whole, not before.
    embedder : str or Embedder
        Text form, such as ``"efficientnet-lite0"`` or ``"onnx:model.onnx"``, or the thing itself.
    metric : "cosine", "ip" or "l2"
    engine : str
        ``"flat"``, ``"hnsw"``, ``"ivf"``, ``"faiss"``, ``"hnswlib"``, ``"usearch"``, ``"pgvector"`` or a plug-in's.
    settings : mapping, optional
        The engine's settings.
    ids : "relative", "stem" or mapping
        What images are called.
    rules : DecodingRules, optional
        Limits and background colour.
    batch_size : int, optional
        Images a call of the embedder; its own choice where left out.
    progress : Progress, optional
        Told of every finished image.

    Returns
    -------
    IndexingReport

    Raises
    ------
    InputError
        No image could be used: the message has the reasons; or wrong arguments.
    """
    begun = time.monotonic()
    IndexFolder(out).check_free()
    if "hamming" in (metric, engine):
        raise InputError(
            f"metric {metric!r}, engine {engine!r}: images are indexed by their embedder's vectors, and hamming takes "
            "binary codes; make codes of the vectors by fit_hasher and add them to VectorIndex(metric='hamming')"
        )
    made = create_embedder(embedder) if isinstance(embedder, str) else embedder
    rules = rules or DecodingRules()
    sources = list_images(images, ids=ids)
    # Made before the work, so that a wrong metric, engine or setting is known now and not after it.
    index = VectorIndex(metric=metric, engine=engine, embedder=describe(made), settings=settings)
    with Journal(journal_path(out), key=_key(describe(made), rules)) as journal:
        finished = _finished(journal, sources, made.dimension)
        resumed = len(finished)
        stamps = {source.id: source.stamp for source in sources}
        old = _standing(out)
        if old is not None:
            finished = {**_unchanged(old, index, rules, sources, stamps), **finished}
        unchanged = len(finished) - resumed
        remaining = [source for source in sources if source.id not in finished]
        embedded = 0
        for batch in embed_sources(remaining, made, rules=rules, batch_size=batch_size, progress=progress):
            _record(journal, batch, stamps)
            embedded += len(batch.ids)
            finished.update(_paired(batch.entries, batch.vectors))
        outcome = [_with_direction(finished[source.id], metric) for source in sources]
        _fill(index, outcome)
        ledger = Ledger(entry for entry, _ in outcome)
        attach_images(index, ledger, rules, stamps)
        index.save(out)
        journal.discard()
    replaced = None if old is None else _described(old)
    return IndexingReport(
        index, Path(out), ledger, embedded, resumed, unchanged, replaced, time.monotonic() - begun
    )


def _standing(out: str | os.PathLike[str]) -> VectorIndex | None:
    """The index that stands where the new one will; None where there is none, or none that can be read."""
    try:
        return VectorIndex.open(out)
    except FileFormatError:
        return None


def _described(index: VectorIndex) -> str:
    maker = "" if index.embedder is None else f" by {index.embedder.name}"
    return f"an index of {len(index):,} image{'' if len(index) == 1 else 's'}{maker}"


def _unchanged(
    old: VectorIndex,
    new: VectorIndex,
    rules: DecodingRules,
    sources: Iterable[ImageSource],
    stamps: Mapping[str, str],
) -> dict[str, Outcome]:
    """What an index that stands there has of the same files, made in the same way: id to ledger entry and vector."""
    images = images_of(old)
    if images is None or images.rules != rules or old.embedder != new.embedder or old.metric != new.metric:
        return {}
    before = stamps_of(old)
    kept = {}
    for source in sources:
        if source.id not in old or before.get(source.id) != stamps[source.id] or stamps[source.id] == "unreadable":
            continue
        entry = images.ledger[source.id]
        if (os.path.abspath(source.path), source.member) == (entry.path, entry.member):  # noqa: PTH100 - as stored
            kept[source.id] = replace(entry, path=str(source.path))
    vectors = old.vectors(kept) if kept else ()
    return {image_id: (entry, vector) for (image_id, entry), vector in zip(kept.items(), vectors, strict=True)}


def journal_path(out: str | os.PathLike[str]) -> Path:
    """Where the finished batches of an interrupted run wait, beside the index."""
    target = Path(os.path.abspath(out))  # noqa: PTH100 - "." and ".." have no name, and links stay links
    return target.with_name(f".{target.name}.unfinished")


def _key(embedder: EmbedderDescription, rules: DecodingRules) -> str:
    return fingerprint_json({"embedder": embedder.as_json(), "rules": rules.as_json()})


def _record(journal: Journal, batch: EmbeddedBatch, stamps: Mapping[str, str]) -> None:
    noted = [{"stamp": stamps[entry.id], "entry": entry.as_json()} for entry in batch.entries]
    journal.append(noted, np.ascontiguousarray(batch.vectors, dtype="<f4").tobytes())


def _finished(journal: Journal, sources: Iterable[ImageSource], dimension: int) -> dict[str, Outcome]:
    """What an earlier run finished and what has not changed since: id to ledger entry and vector."""
    by_id = {source.id: source for source in sources}
    finished: dict[str, Outcome] = {}
    for noted, payload in journal.records():
        entries = [LedgerEntry.from_json(one["entry"]) for one in noted]
        vectors = np.frombuffer(payload, dtype="<f4").reshape(-1, dimension).astype(np.float32, copy=False)
        for one, outcome in zip(noted, _paired(entries, vectors).items(), strict=True):
            source = by_id.get(outcome[0])
            entry = outcome[1][0]
            same_place = source is not None and (str(source.path), source.member) == (entry.path, entry.member)
            # What was left out is tried again: a permission, a plug-in or memory may be there by now.
            used = entry.status == "used"
            if source is not None and same_place and used and source.stamp == one["stamp"]:
                finished[outcome[0]] = outcome[1]
    return finished


def _paired(entries: Iterable[LedgerEntry], vectors: Vectors) -> dict[str, Outcome]:
    """Each entry with its vector; those left out have none."""
    rows = iter(vectors)
    return {entry.id: (entry, next(rows) if entry.status == "used" else None) for entry in entries}


def _with_direction(outcome: Outcome, metric: Metric) -> Outcome:
    """Leave an image out whose vector cosine knows nothing of, so that one image does not end the run."""
    entry, vector = outcome
    if metric != "cosine" or vector is None or vector.any():
        return outcome
    reason = "zero vector: the embedder found nothing in it, and under cosine a zero vector has no direction"
    gone = LedgerEntry(
        entry.id, entry.path, entry.member, "left_out", reason=reason, size=entry.size, sha256=entry.sha256
    )
    return gone, None


def _fill(index: VectorIndex, outcome: list[Outcome]) -> None:
    used = [(entry.id, vector) for entry, vector in outcome if vector is not None]
    if not used:
        ledger = Ledger(entry for entry, _ in outcome)
        first = first_few([f"{entry.id}: {entry.reason}" for entry in ledger.left_out], 3)
        raise InputError(f"images: none of {counted(len(ledger), 'file', 'files')} could be used; first: {first}")
    index.add([image_id for image_id, _ in used], np.stack([vector for _, vector in used]))
