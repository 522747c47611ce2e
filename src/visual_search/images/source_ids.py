"""What each source is called: its relative path, its stem, or what the caller says."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath, PurePosixPath
from typing import Literal, TypeAlias

from visual_search.counted import counted
from visual_search.errors import DuplicateIdError, InputError, first_few
from visual_search.images.id_texts import id_text, is_valid_text
from visual_search.images.image_source import ImageSource

__all__ = ["IdRule", "check_distinct", "with_ids"]

IdRule: TypeAlias = Literal["relative", "stem"] | Mapping[str, str | os.PathLike[str]] | Callable[[str], str]


def with_ids(sources: Sequence[ImageSource], rule: IdRule) -> list[ImageSource]:
    """Name sources, which come with their relative paths as ids, by a rule.

    Sources that are left out by name or kind keep their relative path, so that a folder's ``Thumbs.db`` takes no
    image's id.

    Raises
    ------
    InputError
        An unknown rule, a mapping that names files that are not there, or an id that is no non-empty string.
    DuplicateIdError
        Two sources would share an id.
    """
    if isinstance(rule, Mapping):
        named = _by_mapping(sources, rule)
    elif callable(rule):
        named = [_named(source, rule(source.id)) for source in sources]
    elif rule == "stem":
        named = _by_stem(sources)
    elif rule == "relative":
        named = list(sources)
    else:
        raise InputError(
            f"ids={rule!r}: give 'relative', 'stem', a mapping of id to path, or a function of the path"
        )
    check_distinct(named, rule if isinstance(rule, str) else "custom")
    return named


def check_distinct(sources: Sequence[ImageSource], rule: str) -> None:
    """Refuse repeated ids, naming the first with their files."""
    repeated = [name for name, count in Counter(source.id for source in sources).items() if count > 1]
    if not repeated:
        return
    where = defaultdict(list)
    for source in sources:
        where[source.id].append(source.member or str(source.path))
    shown = "; ".join(f"{name!r} for {first_few(where[name], 2)}" for name in repeated[:3])
    mend = "ids='relative' keeps them apart" if rule == "stem" else "give each file an id of its own, once"
    raise DuplicateIdError(
        f"images: {counted(len(repeated), 'id stands', 'ids stand')} for several files, first: {shown}; {mend}"
    )


def _named(source: ImageSource, name: object) -> ImageSource:
    if source.reason is not None:
        return source
    if not isinstance(name, str) or not name:
        raise InputError(f"ids: {name!r} for {source.id!r}; ids of images are non-empty strings")
    if not is_valid_text(name):
        raise InputError(f"ids: {name!r} for {source.id!r}; ids of images are valid Unicode")
    return replace(source, id=name)


def _by_stem(sources: Sequence[ImageSource]) -> list[ImageSource]:
    stems = {source: PurePosixPath(source.id).stem for source in sources if source.reason is None}
    shared = Counter(stems.values())
    named = []
    for source in sources:
        # Captions lie beside images under the same stem: where several files share one, only images take it.
        if source not in stems or (shared[stems[source]] > 1 and source.looks_like() is None):
            named.append(source)
        else:
            named.append(_named(source, stems[source]))
    return named


def _by_mapping(sources: Sequence[ImageSource], ids: Mapping[str, str | os.PathLike[str]]) -> list[ImageSource]:
    found = {source.id: source for source in sources}
    found.update({str(source.path.absolute()): source for source in sources if source.member is None})
    names: dict[ImageSource, str] = {}
    absent, twice = [], []
    for name, path in ids.items():
        source = found.get(id_text(PurePath(path).as_posix())) or found.get(str(Path(path)))
        source = source or found.get(PurePath(path).as_posix())  # as an earlier listing wrote it
        if source is None:
            absent.append(os.fspath(path))
        elif source in names:
            twice.append(f"{names[source]} and {name}")
        else:
            names[source] = name
    if absent:
        raise InputError(
            f"ids: {counted(len(absent), 'path is', 'paths are')} not among "
            f"{counted(len(sources), 'file', 'files')}, first: "
            f"{first_few(absent)}; give paths relative to the folder, such as {next(iter(found))!r}"
        )
    if twice:
        raise DuplicateIdError(
            f"ids: {counted(len(twice), 'file has', 'files have')} two ids, first: "
            f"{first_few(twice)}; give each file one"
        )
    return [
        _named(source, names[source])
        if source in names
        else replace(source, reason=source.reason or "not named by the ids given")
        for source in sources
    ]
