"""Signatures of picture files: decoded in threads, each finished batch on disk before the next."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from visual_search.errors import UndecodableImageError
from visual_search.formats.fingerprint import fingerprint_json
from visual_search.formats.journal import Journal
from visual_search.images.decoding import DecodingRules, decode
from visual_search.images.image_source import ImageSource
from visual_search.images.ledger import Ledger, LedgerEntry
from visual_search.indexing.embedders.cores import available_cores
from visual_search.indexing.progress import Progress
from visual_search.leaks.signatures import SIGNATURE, SIGNATURE_VERSION, Signatures, signature_of

__all__ = ["SignedPictures", "sign_pictures"]

_BATCH = 256


@dataclass(frozen=True, slots=True, eq=False)
class SignedPictures:
    """Signatures of the pictures that could be decoded.

    Attributes
    ----------
    ledger : Ledger
        Every file, used or left out and why, in the order of the sources.
    signatures : array of shape (len(ledger.used),) and dtype ``SIGNATURE``
        In the order of ``ledger.used``.
    resumed : int
        Files that an earlier, interrupted run had finished.
    """

    ledger: Ledger
    signatures: Signatures
    resumed: int


def sign_pictures(
    sources: Sequence[ImageSource],
    *,
    rules: DecodingRules | None = None,
    journal: Path | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> SignedPictures:
    """Decode picture files and take their signatures.

    Parameters
    ----------
    sources : sequence of ImageSource
        With distinct ids.
    rules : DecodingRules, optional
        How pictures are decoded, and what is refused.
    journal : Path, optional
        Where finished batches wait; a killed run started again decodes only what is missing or has changed. The file
        stays, for the caller to remove when the whole work is done.
    threads : int, optional
        One for each core this process may use when None.
    progress : Progress, optional
        Told of every finished file.

    Returns
    -------
    SignedPictures

    Convention
    ----------
    Pictures are decoded in full, upright and in sRGB. A file that cannot be read or decoded is left out with its
    reason. Memory: 1,840 bytes a picture, and the decoded pictures that the threads are at.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from PIL import Image
    >>> with TemporaryDirectory() as folder:
    ...     Image.new("RGB", (8, 8), "teal").save(Path(folder, "teal.png"))
    ...     signed = sign_pictures([ImageSource(name, Path(folder, name)) for name in ("gone.png", "teal.png")])
    >>> len(signed.signatures), [entry.reason for entry in signed.ledger]
    (1, ['no such file', None])
    """
    rule = rules or DecodingRules()
    if progress is not None:
        progress.start(len(sources))
    if journal is None:
        return _signed(sources, rule, None, threads, progress)
    key = fingerprint_json({"signature": SIGNATURE_VERSION, "rules": rule.as_json()})
    with Journal(journal, key=key) as opened:
        return _signed(sources, rule, opened, threads, progress)


def _signed(
    sources: Sequence[ImageSource],
    rules: DecodingRules,
    journal: Journal | None,
    threads: int | None,
    progress: Progress | None,
) -> SignedPictures:
    finished = {} if journal is None else _finished(journal, sources)
    if progress is not None and finished:
        progress.advance(len(finished))
    resumed = len(finished)
    remaining = [source for source in sources if source.id not in finished]
    work = _in_order(remaining, rules, threads or available_cores())
    while batch := list(islice(work, _BATCH)):
        if journal is not None:
            _record(journal, batch)
        finished.update({one.entry.id: one for one in batch})
        if progress is not None:
            progress.advance(len(batch))
    outcome = [finished[source.id] for source in sources]
    used = [one.signature for one in outcome if one.signature is not None]
    signatures = np.zeros(len(used), dtype=SIGNATURE)
    for row, signature in enumerate(used):
        signatures[row] = signature
    return SignedPictures(Ledger(one.entry for one in outcome), signatures, resumed)


@dataclass(frozen=True, slots=True, eq=False)
class _Signed:
    entry: LedgerEntry
    signature: Signatures | None
    stamp: str


def _sign(source: ImageSource, rules: DecodingRules) -> _Signed:
    stamp = source.stamp
    data: bytes | None = None
    try:
        data = source.read(rules.max_bytes)
        decoded = decode(data, rules)
    except UndecodableImageError as reason:
        return _Signed(LedgerEntry.left_out(source, reason, data), None, stamp)
    return _Signed(LedgerEntry.used(source, data, decoded), signature_of(decoded.pixels), stamp)


def _in_order(sources: Iterable[ImageSource], rules: DecodingRules, threads: int) -> Iterator[_Signed]:
    """Sign in threads, a few ahead of what was taken; in the order of the sources."""
    waiting: deque[Future[_Signed]] = deque()
    remaining = iter(sources)
    pool = ThreadPoolExecutor(threads, thread_name_prefix="sign")
    try:
        waiting.extend(pool.submit(_sign, source, rules) for source in islice(remaining, 16 * threads))
        while waiting:
            signed = waiting.popleft().result()
            waiting.extend(pool.submit(_sign, source, rules) for source in islice(remaining, 1))
            yield signed
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _record(journal: Journal, batch: Sequence[_Signed]) -> None:
    used = [one.signature for one in batch if one.signature is not None]
    noted = [{"stamp": one.stamp, "entry": one.entry.as_json()} for one in batch]
    journal.append(noted, b"".join(signature.tobytes() for signature in used))


def _finished(journal: Journal, sources: Iterable[ImageSource]) -> dict[str, _Signed]:
    """What an earlier run finished and what has not changed since; what was left out is tried again."""
    by_place = {(str(source.path), source.member): source for source in sources}
    finished: dict[str, _Signed] = {}
    for noted, payload in journal.records():
        rows = iter(np.frombuffer(payload, dtype=SIGNATURE))
        for one in noted:
            entry = LedgerEntry.from_json(one["entry"])
            signature = next(rows) if entry.status == "used" else None
            source = by_place.get((entry.path, entry.member))
            if source is not None and signature is not None and source.stamp == one["stamp"]:
                finished[source.id] = _Signed(replace(entry, id=source.id), signature, one["stamp"])
    return finished
