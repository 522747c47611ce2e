"""Every file below a folder, or those a pattern names, without following links to folders."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from visual_search.images.reading import why_unreadable
from visual_search.images.side_files import side_file_reason

__all__ = ["FoundFile", "find_by_pattern", "is_pattern", "walk_folder"]


class FoundFile(NamedTuple):
    """A file below a root, and why it is left out where its name or kind already tells."""

    relative: str
    reason: str | None


def walk_folder(root: Path, *, into_hidden: bool = False, depth: int | None = None) -> Iterator[FoundFile]:
    """Find every file below a folder, in no order; folders appear only where they are not entered.

    Links to files are followed; links to folders are not, so a circle of links ends at once. Pipes, devices, dead
    links and unreadable folders are found with their reason.

    Parameters
    ----------
    root : Path
        The folder.
    into_hidden : bool
        Enter and report hidden and system folders as any other.
    depth : int, optional
        Levels to go down; 1 is the folder itself alone.
    """
    start = f"{root}/" if str(root) != "/" else "/"
    waiting = [("", 1)]
    while waiting:
        prefix, level = waiting.pop()
        try:
            with os.scandir(f"{start}{prefix}") as entries:
                for entry in entries:
                    relative = prefix + entry.name
                    reason = None if into_hidden else side_file_reason(entry.name)
                    if entry.is_dir(follow_symlinks=False):
                        if reason is not None:
                            yield FoundFile(relative + "/", f"a folder that is {reason}")
                        elif depth is None or level < depth:
                            waiting.append((relative + "/", level + 1))
                    else:
                        yield FoundFile(relative, reason or _kind_reason(entry))
        except OSError as error:
            if not prefix:
                raise
            yield FoundFile(prefix, f"a folder, not entered: {why_unreadable(error)}")


def _kind_reason(entry: os.DirEntry[str]) -> str | None:
    try:
        if entry.is_file():
            return None
        if not entry.is_symlink():
            return "not a regular file"
        return "a link to a folder, not followed" if entry.is_dir() else "a link to nothing that can be read"
    except OSError as error:
        return why_unreadable(error)


def is_pattern(text: str) -> bool:
    """Whether a text has the signs of a glob pattern."""
    return any(sign in text for sign in "*?[")


def find_by_pattern(pattern: str) -> tuple[Path, Iterator[FoundFile]]:
    """Split a glob pattern into its fixed root and the files below it that match.

    ``*``, ``?`` and ``[...]`` stay within one level and skip names that begin with a dot unless the pattern's part
    does too; ``**`` spans any number of levels. Folders that match are not entered: end the pattern with ``/**``.
    """
    parts = pattern.replace(os.sep, "/").split("/")
    fixed = next(place for place, part in enumerate(parts) if is_pattern(part))
    root, wanted = Path("/".join(parts[:fixed]) + "/" if fixed else "."), parts[fixed:]
    depth = None if "**" in wanted else len(wanted)
    into_hidden = any(part.startswith(".") for part in wanted)
    return root, (
        FoundFile(found.relative, found.reason or (None if into_hidden else side_file_reason(found.relative)))
        for found in walk_folder(root, into_hidden=into_hidden, depth=depth)
        if _matches(found.relative.split("/"), wanted) or _is_unreadable_folder(found)
    )


def _is_unreadable_folder(found: FoundFile) -> bool:
    # What it holds might have matched.
    return found.relative.endswith("/") and side_file_reason(found.relative[:-1]) is None


def _matches(names: list[str], wanted: list[str]) -> bool:
    """Whether names match a pattern's parts, in time of the product of their numbers however many ``**`` there are."""
    # reached[i]: the parts so far match the first i names.
    reached = [True] + [False] * len(names)
    for place, part in enumerate(wanted):
        before, reached = reached, [False] * (len(names) + 1)
        if part != "**":
            for i, name in enumerate(names):
                reached[i + 1] = before[i] and _matches_part(name, part)
            continue
        # At the end something below is meant, not the folder that the parts before have named.
        last = place == len(wanted) - 1
        passing = False
        for i, here in enumerate(before):
            passing = passing and not names[i - 1].startswith(".")
            reached[i] = passing if last else passing or here
            passing = passing or here
    return reached[-1]


def _matches_part(name: str, part: str) -> bool:
    return fnmatch.fnmatchcase(name, part) and (not name.startswith(".") or part.startswith("."))
