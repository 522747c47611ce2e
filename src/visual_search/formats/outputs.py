"""Outputs that would be written over what is read, refused before anything is done."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from visual_search.errors import InputError, Problems

__all__ = ["check_folder_takes", "check_output_file", "names_a_folder", "refuse_overwriting", "written_file"]

AnyPath: TypeAlias = "str | os.PathLike[str]"


def names_a_folder(path: AnyPath) -> bool:
    """Whether a text says folder: it ends in a slash, which ``Path`` would drop, or in a point that stands alone.

    >>> names_a_folder("sweeps/"), names_a_folder("sweeps"), names_a_folder("sweeps/.")
    (True, False, True)
    """
    return os.path.basename(os.fspath(path)) in ("", ".", "..")  # noqa: PTH119 - Path drops the slash


def refuse_overwriting(
    written: Mapping[str, AnyPath | None], read: Iterable[AnyPath | None], *, folders: bool = False
) -> None:
    """Refuse an output that is an input, or another output, under whatever name; or that no file can be written to.

    Parameters
    ----------
    written : mapping of option or argument to path
        None where it is not given.
    read : iterable of paths
        None where one is not given.
    folders : bool
        The outputs may be folders; else one, and a name that ends in a slash, is refused, and no file is written
        without it.

    Raises
    ------
    InputError
        All such outputs at once.

    Examples
    --------
    >>> refuse_overwriting({"--out": "split.json", "--dataset": None}, ["items.csv", None])
    """
    inputs = [path for path in read if path is not None]
    outputs = {name: path for name, path in written.items() if path is not None}
    problems = Problems("outputs")
    names = list(outputs)
    for place, name in enumerate(names):
        path = outputs[name]
        if not (folders and (names_a_folder(path) or os.path.isdir(path))):  # noqa: PTH112 - never raises
            try:
                written_file(path, name)
            except InputError as problem:
                problems.add(str(problem))
        if any(_same(path, one) for one in inputs):
            problems.add(f"{name}: {os.fspath(path)} would be written over what is read; give another name")
        for other in names[:place]:
            if _same(path, outputs[other]):
                problems.add(f"{name} and {other} are both {os.fspath(path)}; give two names")
    problems.raise_if_any(InputError)


def written_file(path: AnyPath, name: str = "") -> Path:
    """Where a file is really written: a link is followed, so that it stays a link to what is new.

    Parameters
    ----------
    path : path
    name : str
        Option or argument, for the error.

    Raises
    ------
    InputError
        A folder, or a name that ends in a slash; a device, a pipe or a socket, which a file would take the place of; or
        a link that leads nowhere or round in a circle.

    Examples
    --------
    >>> written_file("/tmp", "--out")
    Traceback (most recent call last):
    ...
    visual_search.errors.InputError: --out: /tmp is a folder; give a file
    """
    target = Path(path)
    said = f"{name}: {os.fspath(path)}" if name else os.fspath(path)
    if names_a_folder(path):
        raise InputError(f"{said} names a folder; give a file")
    # Unlike those of Path, these are False for text that can be no path.
    is_link = os.path.islink(path)  # noqa: PTH114
    if os.path.isdir(path):  # noqa: PTH112
        to = f", a link to {os.path.realpath(path)}," if is_link else ""
        raise InputError(f"{said}{to} is a folder; give a file")
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 - of a link what it leads to
        raise InputError(
            f"{said} is a device, pipe or socket, which a file would take the place of; give the name of a file"
        )
    if is_link:
        try:
            return target.resolve(strict=True)
        except (OSError, RuntimeError) as problem:
            raise InputError(
                f"{said} is a link that leads to no file ({os.path.realpath(path)} is not there); give a file, or mend "
                "the link"
            ) from problem
    return target


def check_output_file(path: AnyPath, name: str) -> Path:
    """Where a file is really written, as by `written_file`, once it is known that it can be.

    Parameters
    ----------
    path : path
    name : str
        Option or argument, for the error.

    Raises
    ------
    InputError
        As for `written_file`; or a folder that takes no new file.
    """
    target = written_file(path, name)
    check_folder_takes(target, name, path)
    return target


def check_folder_takes(target: Path, name: str, path: AnyPath) -> None:
    """Refuse a place that cannot be written before any work is done for it.

    Parameters
    ----------
    target : path
        What is to be made, under its real name.
    name : str
        Option or argument, for the error.
    path : path
        As it was given.

    Raises
    ------
    InputError
        The folder that it goes to, or the nearest above that is there, is read-only or not this user's to write in.
    """
    folder = next(one for one in target.absolute().parents if os.path.lexists(one))
    if not folder.is_dir():
        raise InputError(
            f"{name}: {os.fspath(path)} cannot be made, since {folder} is no folder; give another place"
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(
            f"{name}: {os.fspath(path)} cannot be written, since the folder {folder} is read-only or closed to this "
            "user; give another place"
        )


def _same(first: AnyPath, second: AnyPath) -> bool:
    one, other = Path(first), Path(second)
    if os.path.normpath(one.absolute()) == os.path.normpath(other.absolute()):
        return True
    # Unlike Path.exists, this one is False for text that can be no path.
    return os.path.exists(one) and os.path.exists(other) and one.samefile(other)  # noqa: PTH110
