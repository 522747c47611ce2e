"""From an index in memory to its folder and back."""

from __future__ import annotations

import hashlib
import json
import platform
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from visual_search.errors import FileFormatError, InputError, Problems
from visual_search.formats.fingerprint import fingerprint_bytes
from visual_search.indexing.embedders.contract import EmbedderDescription
from visual_search.indexing.engines.contract import Engine
from visual_search.indexing.engines.registry import engine_class
from visual_search.indexing.id_table import IdTable
from visual_search.indexing.index_folder import IndexFolder
from visual_search.indexing.manifest import REQUIRED_ROLES, Manifest, attachment_pattern

__all__ = ["IndexParts", "check_attachments", "check_extra", "contents_fingerprint", "load_parts", "save_parts"]

_BLOCK_BYTES = 1 << 24


class IndexParts(NamedTuple):
    """What an index is made of."""

    engine: Engine
    table: IdTable
    embedder: EmbedderDescription | None
    extra: dict[str, Any]
    attachments: dict[str, bytes]
    created: str | None
    fingerprint: str | None


def contents_fingerprint(engine: Engine, table: IdTable) -> str:
    """Fingerprint of ids and stored vectors in row order, in bounded memory.

    The same as ``formats.fingerprint.fingerprint_vectors(ids, vectors)`` of the whole; of packed codes under
    ``hamming``.
    """
    rows = table.live_rows()
    kind, width = ("|u1", -(-engine.dimension // 8)) if engine.metric == "hamming" else ("<f4", engine.dimension)
    digest = hashlib.sha256(f"{kind}{(len(rows), width)}\n".encode())
    step = max(1, _BLOCK_BYTES // (4 * width))
    for start in range(0, len(rows), step):
        block = engine.vectors(rows[start : start + step]).astype(kind, copy=False)
        digest.update(np.ascontiguousarray(block).reshape(-1).view(np.uint8).data)
    return fingerprint_bytes(f"{table.ids.fingerprint()}\nsha256:{digest.hexdigest()}".encode())


def check_extra(extra: Any) -> None:
    """Refuse an ``extra`` that JSON cannot hold, before anything is written."""
    if not isinstance(extra, dict):
        raise InputError(f"extra: got {type(extra).__name__}; must be a dict of what JSON can hold")
    try:
        json.dumps(extra, allow_nan=False, ensure_ascii=False).encode()
    except RecursionError:
        raise InputError(
            "extra: nested too deeply, or holding itself; it is kept in the manifest as JSON"
        ) from None
    except UnicodeEncodeError as error:
        odd = str(error.object)[error.start : error.end]
        raise InputError(
            f"extra: the lone surrogate {odd!r} is no text that a file can hold; take it out or escape it"
        ) from error
    except (TypeError, ValueError) as error:
        raise InputError(f"extra: {error}; it is kept in the manifest, so it must be what JSON can hold") from error


def check_attachments(attachments: Any) -> None:
    """Refuse attachments that are not bytes under a plain file name, before anything is written."""
    if not isinstance(attachments, dict):
        raise InputError(f"attachments: got {type(attachments).__name__}; must be a dict of file names to bytes")
    problems = Problems("attachments")
    for name, content in attachments.items():
        if not isinstance(name, str) or not attachment_pattern.fullmatch(name):
            problems.add(f"{name!r}: a name is lower-case letters and a suffix, such as 'ledger.jsonl'")
        if not isinstance(content, bytes):
            problems.add(f"{name!r}: got {type(content).__name__}; must be bytes")
    problems.raise_if_any(InputError)


def save_parts(path: Path, parts: IndexParts) -> Manifest:
    """Write an index into its folder, whole or not at all."""
    check_extra(parts.extra)
    check_attachments(parts.attachments)
    engine, table = parts.engine, parts.table
    folder = IndexFolder(path)
    with folder.saving():
        files = {
            "vectors": folder.store("vectors", engine.file_suffix, engine.save),
            "ids": folder.store("ids", "json", table.save),
        }
        for name, content in parts.attachments.items():
            stem, _, suffix = name.partition(".")
            files[name] = folder.store(f"attached-{stem}", suffix, partial(_write, content=content))
        manifest = Manifest(
            metric=engine.metric,
            engine=engine.name,
            settings=dict(engine.settings),
            dimension=engine.dimension,
            count=len(engine),
            tombstones=engine.tombstones,
            fingerprint=parts.fingerprint or contents_fingerprint(engine, table),
            created=parts.created or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            versions=_versions(engine),
            files=files,
            embedder=parts.embedder,
            extra=parts.extra,
        )
        folder.publish(manifest)
    return manifest


def load_parts(path: Path) -> IndexParts:
    """Read an index from its folder, each file checked against the manifest."""
    folder = IndexFolder(path)
    manifest = folder.read_manifest()
    while True:
        try:
            return _load(folder, manifest)
        except (FileFormatError, FileNotFoundError) as error:
            # Another process may have saved meanwhile, which takes away the files that the old manifest names.
            current = folder.read_manifest()
            if current.files == manifest.files:
                if isinstance(error, FileNotFoundError):
                    raise FileFormatError(f"{path}: {error.filename} went away while it was read") from error
                raise
            manifest = current


def _load(folder: IndexFolder, manifest: Manifest) -> IndexParts:
    paths = folder.check_companions(manifest)
    made: Any = engine_class(manifest.engine)
    if manifest.metric not in made.metrics:
        raise FileFormatError(
            f"{folder.path}: metric {manifest.metric!r} in the manifest, but engine {manifest.engine!r} takes "
            f"{', '.join(made.metrics)}"
        )
    engine: Engine = made.load(paths["vectors"], metric=manifest.metric, settings=manifest.settings)
    table = IdTable.load(paths["ids"])
    found = {"dimension": engine.dimension, "vectors": len(engine), "ids": len(table)}
    stated = {"dimension": manifest.dimension, "vectors": manifest.count, "ids": manifest.count}
    if found != stated:
        raise FileFormatError(f"{folder.path}: its files hold {found}, but its manifest says {stated}")
    attachments = {role: path.read_bytes() for role, path in paths.items() if role not in REQUIRED_ROLES}
    return IndexParts(
        engine,
        table,
        manifest.embedder,
        manifest.extra,
        attachments,
        manifest.created,
        manifest.fingerprint,
    )


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _versions(engine: Engine) -> dict[str, str]:
    library, _, number = engine.library.partition(" ")
    return {
        "visual_search": version("visual-search"),
        library: number,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
