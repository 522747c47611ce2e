"""Where images come from: folders, patterns, archives, lists and mappings, as one list of sources."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import TypeAlias

from visual_search.counted import counted
from visual_search.errors import InputError, first_few
from visual_search.images.archives import list_members
from visual_search.images.folders import FoundFile, find_by_pattern, is_pattern, walk_folder
from visual_search.images.id_texts import id_text, is_valid_text
from visual_search.images.image_source import ImageSource
from visual_search.images.path_lists import ListedPath, read_path_list
from visual_search.images.reading import why_unreadable
from visual_search.images.signatures import archive_format, image_format, what_it_is
from visual_search.images.source_ids import IdRule, check_distinct, with_ids

__all__ = ["IdRule", "ImageSource", "Images", "list_images"]

AnyPath: TypeAlias = str | os.PathLike[str]
Images: TypeAlias = AnyPath | Iterable[AnyPath] | Mapping[str, AnyPath]

_MISSING = "no such file"
# Names that promise a picture; a list of paths would not be called so.
_IMAGE_SUFFIXES = (
    *(".jpg", ".jpeg", ".png", ".webp", ".gif", ".tif", ".tiff", ".bmp"),
    *(".ppm", ".pgm", ".pbm", ".pnm", ".avif", ".heic", ".heif"),
)
_HEAD = 512  # a tar shows itself at byte 257


def list_images(images: Images, *, ids: IdRule = "relative") -> list[ImageSource]:
    r"""List every file that may be an image, without decoding any.

    Content decides what is an image, not a name, so every regular file is listed; what is none lands in the ledger
    with its reason when it is read and decoded. Hidden files, systems' side files, pipes, devices, links to folders
    and members that lead out of their archive are listed too, with ``reason`` set.

    Parameters
    ----------
    images : path, iterable of paths, or mapping of id to path
        ==========================  =========================================================================
        given                       listed
        ==========================  =========================================================================
        a folder                    every file below it; links to files are followed, links to folders not
        a pattern (``a/**/*.jpg``)  the files it matches
        a zip or tar archive        its members; tars may be packed by gzip, bzip2 or xz; told by content
        an image                    itself
        a list file                 what it lists: text, CSV, TSV or JSON (see ``path_lists``), paths relative to it
        several paths               each, and every file below those that are folders
        a mapping of id to path     each path under its id
        ==========================  =========================================================================

        An archive inside a folder is not opened: it is left out, with the advice to list it by itself.
    ids : {"relative", "stem"}, mapping or callable, optional
        ``"relative"``: the POSIX path relative to the folder, the pattern's fixed part or the archive's root, or
        the path as written in a list; ``"stem"``: the name without folder and suffix; a mapping of id to such a
        path (files it does not name are left out); or a function from that path to the id. A mapping or a list
        that has ids of its own takes none from here.

    Returns
    -------
    list of ImageSource
        Sorted by relative path, code point by code point; lists and mappings in their own order. Bytes of names
        that are no UTF-8 stand in ids as ``\xE9`` and the like (see ``id_texts``); ``path`` keeps the name itself.

    Raises
    ------
    InputError
        Nothing there, nothing in it, or a list none of whose files exists.
    DuplicateIdError
        Two files would share an id.
    FileFormatError
        An archive or list file that cannot be read as one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "b.jpg").write_bytes(b""), Path(folder, ".hidden").write_bytes(b"")
    ...     [(source.id, source.reason) for source in list_images(folder)]
    [('.hidden', 'hidden'), ('b.jpg', None)]
    """
    if isinstance(images, Mapping):
        return _own_ids(
            [ListedPath(name, _text(path)) for name, path in images.items()], Path(), ids, "the mapping"
        )
    if isinstance(images, str | os.PathLike):
        return _from_place(_text(images), ids)
    if not isinstance(images, Iterable):
        raise InputError(
            f"images={images!r}: give a folder, a pattern, an archive, a list file, paths or a mapping of id to path; "
            f"got {type(images).__name__}"
        )
    return _from_list([ListedPath(None, _text(path)) for path in images], Path(), ids, "the list of paths")


def _text(path: object) -> str:
    if isinstance(path, str | os.PathLike):
        return os.fsdecode(path)
    raise InputError(f"images: paths are strings or path objects; got {path!r} of type {type(path).__name__}")


def _from_place(text: str, ids: IdRule) -> list[ImageSource]:
    if not text:
        raise InputError("images='': give a folder, a pattern, an archive, a list file or a path")
    path = Path(text)
    if is_pattern(text) and not os.path.lexists(path):
        return _from_found(*find_by_pattern(text), ids, text)
    try:
        if path.is_dir():
            return _from_found(path, walk_folder(path), ids, text)
        if not path.exists():
            raise InputError(f"images={text!r}: no such file or folder (looked for {path.absolute()})")
        if not path.is_file():
            raise InputError(f"images={text!r}: neither a folder nor a regular file")
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError as error:
        raise InputError(f"images={text!r}: {why_unreadable(error)}") from error
    if archive := archive_format(head):
        sources = [ImageSource(m.id, path, m.name, m.reason, m) for m in list_members(path, archive)]
        return with_ids(sorted(_some(sources, text), key=lambda source: source.id), ids)
    if image_format(head):
        return with_ids([ImageSource(id_text(path.name), path)], ids)
    if path.suffix.lower() in _IMAGE_SUFFIXES:
        raise InputError(f"images={text!r}: not an image: {what_it_is(head)}")
    return _from_list(read_path_list(path), path.parent, ids, text)


def _from_found(root: Path, found: Iterable[FoundFile], ids: IdRule, given: str) -> list[ImageSource]:
    try:
        sources = [ImageSource(id_text(f.relative), root / f.relative, None, f.reason) for f in found]
    except OSError as error:
        raise InputError(f"images={given!r}: {root} {why_unreadable(error)}") from error
    return with_ids(sorted(_some(sources, given), key=lambda source: source.id), ids)


def _from_list(listed: list[ListedPath], base: Path, ids: IdRule, given: str) -> list[ImageSource]:
    if any(entry.id is not None for entry in listed):
        return _own_ids(listed, base, ids, given)
    sources = []
    for entry in listed:
        written = id_text(PurePath(entry.path).as_posix())
        path = base / entry.path
        try:
            below = sorted(walk_folder(path)) if path.is_dir() else None
        except OSError as error:
            sources.append(ImageSource(written, path, None, why_unreadable(error)))
            continue
        if below is None:
            sources.append(ImageSource(written, path, None, _reason(path)))
        else:
            sources += [
                ImageSource(f"{written}/{id_text(f.relative)}", path / f.relative, None, f.reason) for f in below
            ]
    return with_ids(_present(_some(sources, given), given), ids)


def _own_ids(listed: list[ListedPath], base: Path, ids: IdRule, given: str) -> list[ImageSource]:
    if ids != "relative":
        raise InputError(f"ids={ids!r}: {given} has ids of its own; leave ids out")
    nameless = [entry.path for entry in listed if not isinstance(entry.id, str) or not entry.id]
    if nameless:
        raise InputError(f"{given}: ids of images are non-empty strings; there is none for {first_few(nameless)}")
    broken = [entry.id for entry in listed if not is_valid_text(str(entry.id))]
    if broken:
        raise InputError(
            f"{given}: ids of images are valid Unicode; not so {first_few(broken)}; save the list as UTF-8"
        )
    sources = [ImageSource(str(e.id), base / e.path, None, _reason(base / e.path)) for e in listed]
    check_distinct(sources, "own")
    return _present(_some(sources, given), given)


def _reason(path: Path) -> str | None:
    try:
        if path.is_file():
            return None
        if path.is_dir():
            return "a folder; a list with ids names files"
        return "not a regular file" if path.exists() else _MISSING
    except OSError as error:  # a name longer than the system's, a folder that may not be entered
        return why_unreadable(error)


def _some(sources: list[ImageSource], given: str) -> list[ImageSource]:
    if not sources:
        raise InputError(f"images={given!r}: no file there")
    return sources


def _present(sources: list[ImageSource], given: str) -> list[ImageSource]:
    """Single missing files are the ledger's matter; if all are, the paths start from another folder."""
    if all(source.reason == _MISSING for source in sources):
        raise InputError(
            f"images={given!r}: none of its {counted(len(sources), 'file', 'files')} exists, first: "
            f"{first_few([str(source.path) for source in sources], 3)}; relative paths start from the list file's "
            "folder, or from the working directory"
        )
    return sources
