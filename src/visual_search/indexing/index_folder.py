"""An index on disk: companions named by their content, then the manifest that names them.

Saving writes new companions under new names, flushes them, and only then lets the new manifest take the old one's
place in one rename; the old companions go last. Killed at any moment, the folder holds the old index or the new
one, and at most some files that no manifest names, which the next save clears away.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from visual_search.errors import FileFormatError, InputError, Problems, first_few
from visual_search.formats.atomic import fsync_folder, write_json
from visual_search.formats.fingerprint import fingerprint_file
from visual_search.indexing.manifest import MANIFEST_NAME, Companion, Manifest, companion_pattern

__all__ = ["IndexFolder"]

_LOCK_NAME = ".lock"


class IndexFolder:
    """One folder with one index.

    Parameters
    ----------
    path : str or path
        The folder; made on the first save.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def read_manifest(self) -> Manifest:
        """Read the manifest; refuse what is not an index folder, saying what is there instead."""
        manifest = self.path / MANIFEST_NAME
        if manifest.is_file():
            return Manifest.read(manifest)
        if self.path.is_dir():
            raise FileFormatError(f"{self.path}: a folder without {MANIFEST_NAME}; give the folder that save wrote")
        foreign = [
            self.path,
            *(self.path.with_name(self.path.name + suffix) for suffix in (".faiss", ".index", ".bin")),
        ]
        there = [str(candidate) for candidate in foreign if candidate.is_file()]
        mend = (
            f"{there[0]} is a file: if it is a FAISS index, use VectorIndex.from_faiss({there[0]!r}, ids=...)"
            if there
            else "make it first (visual-search index, or VectorIndex.save), or look at the path"
        )
        raise FileFormatError(f"{self.path}: no index folder there; {mend}")

    def check_companions(self, manifest: Manifest) -> dict[str, Path]:
        """Paths of the companions, each present and with the size and SHA-256 the manifest states."""
        problems = Problems(str(self.path))
        for role, companion in manifest.files.items():
            path = self.path / companion.name
            if not path.is_file():
                problems.add(f"{companion.name}: missing; it holds the {role}")
            elif path.stat().st_size != companion.bytes:
                problems.add(
                    f"{companion.name}: {path.stat().st_size:,} bytes, but the manifest says {companion.bytes:,}; "
                    "it was cut short or replaced"
                )
            elif fingerprint_file(path) != companion.sha256:
                problems.add(f"{companion.name}: its SHA-256 is not the manifest's; its content was changed")
        problems.raise_if_any(FileFormatError)
        return {role: self.path / companion.name for role, companion in manifest.files.items()}

    def check_free(self) -> None:
        """Refuse a path that holds something else than an index, before anything is done for it."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"path: {self.path} is a file; an index is a folder, give another path")
        self._refuse_foreign_folder()

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Hold the folder for one saver, check that it may be written to, and clear away what no manifest names."""
        self.check_free()
        self.path.mkdir(parents=True, exist_ok=True)
        with _only_saver(self.path / _LOCK_NAME):
            yield

    def store(self, role: str, suffix: str, write: Callable[[Path], None]) -> Companion:
        """Write one companion, flush it, and give it the name of its content."""
        temporary = self.path / f".{role}-{os.getpid()}-{secrets.token_hex(4)}.tmp"
        try:
            write(temporary)
            with temporary.open("rb+") as stream:
                os.fsync(stream.fileno())
            sha256 = fingerprint_file(temporary)
            name = self._free_name(role, suffix, sha256)
            size = temporary.stat().st_size
            temporary.replace(self.path / name)
        finally:
            temporary.unlink(missing_ok=True)
        return Companion(name, sha256, size)

    def publish(self, manifest: Manifest) -> None:
        """Let a manifest whose companions are stored take effect, then clear away the others."""
        fsync_folder(self.path)  # the companions' names must last before a manifest relies on them
        write_json(self.path / MANIFEST_NAME, manifest.as_json())
        self._clear({companion.name for companion in manifest.files.values()})

    def _free_name(self, role: str, suffix: str, sha256: str) -> str:
        digest = sha256.removeprefix("sha256:")
        for length in (8, 16, 64):
            name = f"{role}-{digest[:length]}.{suffix}"
            there = self.path / name
            # A file of that name with other content may belong to the index in force: never write over it.
            if not there.exists() or fingerprint_file(there) == sha256:
                return name
        raise FileFormatError(
            f"{self.path / name}: has the name of other content; delete it, nothing can rely on it"
        )

    def _clear(self, kept: set[str]) -> None:
        for path in self.path.iterdir():
            if path.name not in kept and _is_ours(path.name):
                path.unlink(missing_ok=True)

    def _refuse_foreign_folder(self) -> None:
        """Never write into, or clear, a folder that holds something else."""
        if not self.path.is_dir():
            return
        names = sorted(path.name for path in self.path.iterdir())
        if MANIFEST_NAME in names:
            self.read_manifest()
            return
        foreign = [name for name in names if not _is_ours(name) and name != _LOCK_NAME]
        if foreign:
            raise InputError(
                f"path: {self.path} holds other things ({first_few(foreign, 3)}); an index needs its own folder"
            )


def _is_ours(name: str) -> bool:
    unfinished = name.endswith(".tmp") and name.startswith(
        (".vectors-", ".ids-", ".attached-", f".{MANIFEST_NAME}.")
    )
    return unfinished or companion_pattern.fullmatch(name) is not None


@contextmanager
def _only_saver(path: Path) -> Iterator[None]:
    """Refuse a second saver; the system lets go of the lock when a process dies."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system: two savers at once are the caller's to avoid
        yield
        return
    try:
        # Opened as it is, never emptied: whatever stands under that name keeps its content.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if path.is_symlink():
            raise InputError(f"path: {path} is a link, and a lock file is none; delete the link") from error
        raise
    with os.fdopen(descriptor, "rb+", buffering=0) as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"path: {path.parent} is being saved to by another process or thread; wait for it"
            ) from None
        yield
