"""Where an index's images are and what was done to them: its ledger, attached to it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from visual_search.errors import FileFormatError
from visual_search.formats.results import ImageLocation
from visual_search.ids import Id
from visual_search.images.decoding import DecodingRules
from visual_search.images.ledger import Ledger, LedgerEntry
from visual_search.indexing.index_table import VectorIndex

__all__ = ["ItemImages", "attach_images", "images_of", "stamps_of"]

_LEDGER = "ledger.jsonl"
_STAMPS = "stamps.json"
_NAMED = 1000  # files left out that go into a result by name


class ItemImages:
    """The images behind an index's items.

    Attributes
    ----------
    ledger : Ledger
        Every file seen when the index was made, those left out as well.
    rules : DecodingRules
        How they were decoded; queries are decoded alike.
    """

    def __init__(self, ledger: Ledger, rules: DecodingRules) -> None:
        self.ledger = ledger
        self.rules = rules

    def places(self) -> dict[str, Any]:
        """Where the items' files are: ``{"root": folder, "paths": {id: path below it, or archive and member}}``."""
        used = self.ledger.used
        folders = {os.path.dirname(entry.path) for entry in used}  # noqa: PTH120 - text, a hundred thousand times
        root = os.path.commonpath(folders) if folders else ""
        return {"root": root, "paths": {entry.id: _below(root, entry) for entry in used}}

    def location(self, item: Id) -> ImageLocation | None:
        """Where one item's file is, and what it was; None for an id that the ledger does not have."""
        if item not in self.ledger:
            return None
        entry = self.ledger[str(item)]
        return ImageLocation(Path(entry.path), entry.member, entry.sha256)

    def hashes(self) -> dict[Id, str]:
        """SHA-256 of each item's file: ``{id: hexadecimal digest}``."""
        return {entry.id: str(entry.sha256) for entry in self.ledger.used}

    def counts(self) -> dict[str, Any]:
        """How many files were used, changed and left out, and why; ``left_out_files`` names the first thousand."""
        gone = self.ledger.left_out
        named = [{"id": entry.id, "reason": entry.reason} for entry in gone[:_NAMED]]
        return {**self.ledger.as_json(), **({"left_out_files": named} if named else {})}


def attach_images(
    index: VectorIndex, ledger: Ledger, rules: DecodingRules, stamps: Mapping[str, str] | None = None
) -> None:
    """Attach a ledger, with absolute paths, and the decoding rules to an index.

    ``stamps`` (id to what changes with a file) let a later run see which files are as they were.
    """
    if stamps is not None:
        index.attachments[_STAMPS] = json.dumps(dict(stamps), ensure_ascii=True).encode()
    absolute = (replace(entry, path=os.path.abspath(entry.path)) for entry in ledger)  # noqa: PTH100
    index.attachments[_LEDGER] = Ledger(absolute).to_bytes()
    index.extra["decoding_rules"] = rules.as_json()


def stamps_of(index: VectorIndex) -> dict[str, str]:
    """Stamps attached to an index; empty where there are none."""
    stamps: dict[str, str] = json.loads(index.attachments.get(_STAMPS, b"{}"))
    return stamps


def images_of(index: VectorIndex) -> ItemImages | None:
    """What was attached; None for an index that was not made from images.

    Raises
    ------
    FileFormatError
        The rules or the ledger are not what this version writes.
    """
    if _LEDGER not in index.attachments:
        return None
    ledger = Ledger.from_bytes(index.attachments[_LEDGER], name="the index's ledger")
    return ItemImages(ledger, _rules_from(index.extra.get("decoding_rules")))


def _rules_from(value: Any) -> DecodingRules:
    if not isinstance(value, Mapping):
        raise FileFormatError(f"the index's decoding_rules: {value!r}; must be an object; index the images again")
    wanted = {name: value[name] for name in ("background", "max_pixels", "max_bytes") if name in value}
    if "background" in wanted:
        wanted["background"] = tuple(wanted["background"])
    rules = DecodingRules(**wanted)
    if rules.as_json() != dict(value):
        raise FileFormatError(
            f"the index's decoding_rules: {json.dumps(value)}; this version decodes by "
            f"{json.dumps(rules.as_json())}, so queries would not be decoded as the images were; index the images again"
        )
    return rules


def _below(root: str, entry: LedgerEntry) -> str | dict[str, str]:
    path = os.path.relpath(entry.path, root).replace(os.sep, "/")
    return path if entry.member is None else {"archive": path, "member": entry.member}
