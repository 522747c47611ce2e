"""The ledger: every image seen, exactly once, with what was done to it or why it was left out."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, get_args

from visual_search.counted import counted
from visual_search.errors import DuplicateIdError, FileFormatError, InputError, Problems, UnknownIdError, first_few
from visual_search.formats.atomic import atomic_write
from visual_search.images.decoding import DecodedImage
from visual_search.images.image_source import ImageSource

__all__ = ["Ledger", "LedgerEntry", "Status", "kind_of"]

Status: TypeAlias = Literal["used", "left_out"]


def kind_of(words: str) -> str:
    """What a change or reason is counted as: the words before its first colon, the detail left away.

    >>> kind_of("rotated: orientation 6")
    'rotated'
    """
    return words.partition(":")[0]


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What became of one image.

    Attributes
    ----------
    id : str
        Id of the image.
    path : str
        File on disk, or the archive.
    member : str or None
        Name inside the archive.
    status : {"used", "left_out"}
        Whether its pixels went on.
    changes : tuple of str
        What was done to them; empty when left out.
    reason : str or None
        Why it was left out; None when used.
    format, mode : str or None
        Format by content, and Pillow's mode in the file; None when left out.
    width, height : int or None
        Pixels of the upright picture; None when left out.
    size : int or None
        Length of the file; None where it was not read.
    sha256 : str or None
        SHA-256 of the file's bytes in hexadecimal, so that exact copies can be found; None where it was not read.
    """

    id: str
    path: str
    member: str | None
    status: Status
    changes: tuple[str, ...] = ()
    reason: str | None = None
    format: str | None = None
    mode: str | None = None
    width: int | None = None
    height: int | None = None
    size: int | None = None
    sha256: str | None = None

    def __post_init__(self) -> None:
        problems = Problems(f"ledger entry {self.id!r}")
        if not self.id:
            problems.add("id: give a non-empty string")
        if self.status not in get_args(Status):
            problems.add(f"status={self.status!r}: give 'used' or 'left_out'")
        if (self.status == "left_out") != bool(self.reason):
            problems.add("reason: give one when, and only when, the image is left out")
        if self.status == "used" and not (self.width and self.height and self.format and self.mode):
            problems.add("a used image has format, mode, width and height")
        if self.status == "left_out" and self.changes:
            problems.add("changes: an image that is left out has none")
        problems.raise_if_any(InputError)

    @classmethod
    def used(cls, source: ImageSource, data: bytes, decoded: DecodedImage) -> Self:
        """Note a picture that was decoded."""
        return cls(
            *_place(source),
            "used",
            decoded.changes,
            None,
            decoded.format,
            decoded.mode,
            decoded.width,
            decoded.height,
            len(data),
            hashlib.sha256(data).hexdigest(),
        )

    @classmethod
    def left_out(cls, source: ImageSource, reason: object, data: bytes | None = None) -> Self:
        """Note a file that was not used, with the reason (an error will do) and its bytes where they were read."""
        if data is None:
            return cls(*_place(source), "left_out", reason=str(reason))
        digest = hashlib.sha256(data).hexdigest()
        return cls(*_place(source), "left_out", reason=str(reason), size=len(data), sha256=digest)

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {**asdict(self), "changes": list(self.changes)}

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Check and take a JSON object that ``as_json`` made.

        Raises
        ------
        InputError
            A field is missing, unknown or of another type.
        """
        if not isinstance(value, Mapping):
            raise InputError(f"a ledger entry is an object; got {type(value).__name__}")
        problems = Problems("ledger entry")
        for name in {f.name for f in fields(cls)} ^ set(value):
            problems.add(f"{name}: {'unknown' if name in value else 'missing'}")
        problems.raise_if_any(InputError)
        for name, allowed in _TYPES.items():
            if not isinstance(value[name], allowed) or isinstance(value[name], bool):
                problems.add(f"{name}={value[name]!r}: a {type(value[name]).__name__} is not allowed")
        if isinstance(value["changes"], list) and not all(isinstance(change, str) for change in value["changes"]):
            problems.add("changes: give strings")
        problems.raise_if_any(InputError)
        return cls(**{**value, "changes": tuple(value["changes"])})


_OPTIONAL_TEXT: tuple[type, ...] = (str, type(None))
_OPTIONAL_COUNT: tuple[type, ...] = (int, type(None))
_TYPES: dict[str, tuple[type, ...]] = {
    "id": (str,),
    "path": (str,),
    "member": _OPTIONAL_TEXT,
    "status": (str,),
    "changes": (list,),
    "reason": _OPTIONAL_TEXT,
    "format": _OPTIONAL_TEXT,
    "mode": _OPTIONAL_TEXT,
    "width": _OPTIONAL_COUNT,
    "height": _OPTIONAL_COUNT,
    "size": _OPTIONAL_COUNT,
    "sha256": _OPTIONAL_TEXT,
}


def _place(source: ImageSource) -> tuple[str, str, str | None]:
    return source.id, str(source.path), source.member


class Ledger:
    """Accounts for every image seen.

    Parameters
    ----------
    entries : iterable of LedgerEntry, optional
        Entries to begin with.

    Raises
    ------
    DuplicateIdError
        An image would be there twice.

    Examples
    --------
    >>> ledger = Ledger()
    >>> rotated = ("rotated: orientation 6",)
    >>> ledger.append(LedgerEntry("a.jpg", "a.jpg", None, "used", rotated, None, "JPEG", "RGB", 2, 3))
    >>> ledger.append(LedgerEntry("b.jpg", "b.jpg", None, "left_out", reason="an empty file: 0 bytes"))
    >>> print(ledger.summary())
    2 images seen: 1 used (1 of them changed), 1 left out
      changed: 1 rotated
      left out: 1 an empty file
    >>> ledger.as_json()
    {'used': 1, 'changed': 1, 'left_out': 1, 'changes': {'rotated': 1}, 'reasons': {'an empty file': 1}}
    """

    def __init__(self, entries: Iterable[LedgerEntry] = ()) -> None:
        self._entries: dict[str, LedgerEntry] = {}
        for entry in entries:
            self.append(entry)

    def append(self, entry: LedgerEntry) -> None:
        """Add the entry of an image not seen before."""
        if entry.id in self._entries:
            raise DuplicateIdError(f"ledger: {entry.id!r} is there already; each image is entered once")
        self._entries[entry.id] = entry

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[LedgerEntry]:
        return iter(self._entries.values())

    def __contains__(self, image_id: object) -> bool:
        return image_id in self._entries

    def __getitem__(self, image_id: str) -> LedgerEntry:
        try:
            return self._entries[image_id]
        except KeyError:
            raise UnknownIdError(f"ledger: no image {image_id!r} among {len(self)}") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and self._entries == other._entries

    __hash__ = None  # type: ignore[assignment] # it grows

    def __repr__(self) -> str:
        counts = self.as_json()
        return f"Ledger({counts['used']} used, {counts['left_out']} left out)"

    @property
    def used(self) -> list[LedgerEntry]:
        """Entries of images that were used, in order."""
        return [entry for entry in self if entry.status == "used"]

    @property
    def left_out(self) -> list[LedgerEntry]:
        """Entries of images that were left out, in order."""
        return [entry for entry in self if entry.status == "left_out"]

    def of(self, ids: Iterable[str]) -> Ledger:
        """A ledger of some of the images, in the order given; UnknownIdError where one is not there."""
        return Ledger(self[image_id] for image_id in ids)

    def as_json(self) -> dict[str, Any]:
        """Counts: used, changed (a part of used), left_out, and how often each change and each reason occurs."""
        changes = Counter(kind for entry in self for kind in {kind_of(change) for change in entry.changes})
        reasons = Counter(kind_of(entry.reason) for entry in self if entry.reason)
        return {
            "used": len(self.used),
            "changed": sum(bool(entry.changes) for entry in self),
            "left_out": len(self.left_out),
            "changes": _by_frequency(changes),
            "reasons": _by_frequency(reasons),
        }

    def summary(self) -> str:
        """The counts in words, most frequent first."""
        counts = self.as_json()
        total = len(self)
        head = f"{total:,} image{'' if total == 1 else 's'} seen: {counts['used']:,} used"
        if counts["changed"]:
            head += f" ({counts['changed']:,} of them changed)"
        lines = [f"{head}, {counts['left_out']:,} left out"]
        for title, named in (("changed", counts["changes"]), ("left out", counts["reasons"])):
            if named:
                lines.append(f"  {title}: " + ", ".join(f"{count:,} {words}" for words, count in named.items()))
        return "\n".join(lines)

    def merge(self, other: Ledger, *, replace: bool = False) -> Ledger:
        """A new ledger with the entries of both, this one's first.

        Parameters
        ----------
        other : Ledger
            Of another part of the images, or of a later run.
        replace : bool
            Whether an entry of ``other`` takes the place of one with the same id; otherwise that is an error.

        Raises
        ------
        DuplicateIdError
            The same image in both, and ``replace`` is False.
        """
        both = [entry.id for entry in other if entry.id in self]
        if both and not replace:
            raise DuplicateIdError(
                f"ledger: {counted(len(both), 'image is', 'images are')} in both, first: {first_few(both)}; "
                "pass replace=True to let the later entry stand"
            )
        merged = Ledger()
        merged._entries = {**self._entries, **other._entries}
        return merged

    def to_bytes(self) -> bytes:
        """As JSON lines in UTF-8, one entry a line."""
        return b"".join(_line(entry.as_json()) for entry in self)

    @classmethod
    def from_bytes(cls, data: bytes, *, name: str = "ledger") -> Ledger:
        """Take what ``to_bytes`` gave; ``name`` stands in errors.

        Raises
        ------
        FileFormatError
            Lines that are no entries, or ids that repeat; all are listed.
        """
        ledger, problems = cls(), Problems(name)
        for number, line in enumerate(data.removesuffix(b"\n").split(b"\n") if data else [], 1):
            try:
                ledger.append(LedgerEntry.from_json(json.loads(line)))
            except (ValueError, RecursionError) as error:
                problems.add(f"line {number}: {error}")
        problems.raise_if_any(FileFormatError)
        return ledger

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write JSON lines, one entry a line, whole or not at all."""
        with atomic_write(path) as stream:
            stream.write(self.to_bytes())

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Ledger:
        """Read what ``write`` wrote; refuses as ``from_bytes`` does."""
        return cls.from_bytes(Path(path).read_bytes(), name=str(path))


def _by_frequency(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _line(value: dict[str, Any]) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False).encode("utf-8") + b"\n"
    except UnicodeEncodeError:  # a file name with bytes that are no text: written as escapes, read back the same
        return json.dumps(value).encode("ascii") + b"\n"
