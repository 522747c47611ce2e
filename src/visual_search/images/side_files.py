"""Files that systems leave beside images: hidden ones, previews, forks; left out by name, each with its reason."""

from __future__ import annotations

__all__ = ["side_file_reason"]

_SYSTEM_FILES = frozenset({"thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r"})
_SYSTEM_FOLDERS = frozenset({"__macosx", "@eadir", "$recycle.bin", "system volume information", "lost+found"})


def side_file_reason(path: str) -> str | None:
    """Why a relative POSIX path is left out whatever it contains, or None where its content decides.

    Examples
    --------
    >>> side_file_reason("a/.trash/b.jpg"), side_file_reason("a/Thumbs.db"), side_file_reason("a/b.jpg")
    ('hidden', "a system's side file", None)
    """
    parts = path.split("/")
    if any(part.startswith("._") or part.lower() in _SYSTEM_FOLDERS for part in parts):
        return "a system's side file"
    if any(part.startswith(".") and part not in (".", "..") for part in parts):
        return "hidden"
    return "a system's side file" if parts[-1].lower() in _SYSTEM_FILES else None
