"""The places that were given for roles, to roles with signatures."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from visual_search.errors import FileFormatError, FingerprintError, InputError, first_few
from visual_search.formats.plain_json import read_plain_json
from visual_search.formats.results import ImageLocation
from visual_search.ids import Id, Ids
from visual_search.images.image_source import ImageSource
from visual_search.images.ledger import Ledger
from visual_search.images.ledger_sources import sources_of
from visual_search.images.sources import list_images
from visual_search.indexing.index_table import VectorIndex
from visual_search.indexing.item_images import images_of
from visual_search.indexing.manifest import MANIFEST_NAME
from visual_search.indexing.progress import Progress
from visual_search.leaks.roles import Role, RoleName
from visual_search.leaks.signatures import SIGNATURE
from visual_search.leaks.signing import SignedPictures, sign_pictures
from visual_search.workflows.leak_metadata import PictureMetadata

__all__ = ["GivenRole", "given_roles", "signed_roles"]


@dataclass(frozen=True, slots=True, eq=False)
class GivenRole:
    """A role before its pictures are read.

    Attributes
    ----------
    name : str
    sources : list of ImageSource, or None
        None for an index of vectors alone.
    index : VectorIndex or None
    """

    name: RoleName
    sources: list[ImageSource] | None
    index: VectorIndex | None


def given_roles(places: Mapping[RoleName, Any], *, cosine: bool) -> list[GivenRole]:
    """List what is in each place; nothing is decoded.

    Raises
    ------
    InputError
        No pictures there; or cosines asked for, and a place is no index.
    FingerprintError
        Cosines asked for of indexes made by different embedders.
    """
    given = [_given(name, place) for name, place in places.items()]
    bare = [role.name for role in given if role.sources is None]
    if bare and not cosine:
        raise InputError(f"roles: {first_few(bare)} have vectors but no pictures; give a cosine, or their pictures")
    if cosine:
        folders = [role.name for role in given if role.index is None]
        if folders:
            raise InputError(f"cosine: {first_few(folders)}: no index, so no vectors; index the pictures first")
        coded = [role.name for role in given if role.index is not None and role.index.metric == "hamming"]
        if coded:
            raise InputError(
                f"cosine: {first_few(coded)}: an index of binary codes; index the embeddings themselves"
            )
        makers = {role.name: role.index.embedder for role in given if role.index is not None}
        if len({str(maker) for maker in makers.values()}) > 1:
            named = {name: None if maker is None else maker.name for name, maker in makers.items()}
            raise FingerprintError(f"cosine: vectors of different embedders: {named}; index all roles with one")
    return given


def _given(name: RoleName, place: Any) -> GivenRole:
    if not isinstance(place, str | os.PathLike) or not _is_index(Path(place)):
        return GivenRole(name, list_images(place), None)
    index = VectorIndex.open(place)
    images = images_of(index)
    if images is None:
        return GivenRole(name, None, index)
    # What the index left out is looked at again: it is in the ledger of this check as well.
    return GivenRole(name, sources_of(images.ledger), index)


def _is_index(folder: Path) -> bool:
    """Whether a folder has an index's manifest, and not another file of that name among pictures."""
    manifest = folder / MANIFEST_NAME
    if not manifest.is_file():
        return False
    try:
        value = read_plain_json(manifest)
    except FileFormatError:
        return False
    return isinstance(value, dict) and str(value.get("format", "")).startswith("visual-search")


def signed_roles(
    given: Sequence[GivenRole],
    metadata: PictureMetadata | None = None,
    *,
    journal: Path | None = None,
    progress: Progress | None = None,
) -> tuple[list[Role], int]:
    """Read all pictures, each file once however many roles it has.

    Returns
    -------
    roles : list of Role
    resumed : int
        Files that an earlier, interrupted run had finished.
    """
    numbered: dict[tuple[str, str | None], ImageSource] = {}
    for role in given:
        for source in role.sources or ():
            numbered.setdefault(_file(source), replace(source, id=f"file {len(numbered)}"))
    signed = sign_pictures(list(numbered.values()), journal=journal, progress=progress)
    row_of = {entry.id: row for row, entry in enumerate(signed.ledger.used)}
    return [_role(role, numbered, signed, row_of, metadata) for role in given], signed.resumed


def _file(source: ImageSource) -> tuple[str, str | None]:
    return os.path.realpath(source.path), source.member


def _role(
    given: GivenRole,
    numbered: Mapping[tuple[str, str | None], ImageSource],
    signed: SignedPictures,
    row_of: Mapping[str, int],
    metadata: PictureMetadata | None,
) -> Role:
    ids: Ids
    ledger = Ledger()
    signatures = None
    places: dict[Id, ImageLocation] = {}
    if given.sources is None:
        assert given.index is not None
        ids = given.index.ids
    else:
        rows = []
        for source in given.sources:
            number = numbered[_file(source)].id
            ledger.append(replace(signed.ledger[number], id=source.id, path=str(source.path), member=source.member))
            if number in row_of and (given.index is None or source.id in given.index):
                rows.append(row_of[number])
                places[source.id] = ImageLocation(source.path, source.member, signed.ledger[number].sha256)
        ids = Ids(list(places), what=given.name)
        signatures = signed.signatures[rows] if rows else np.zeros(0, dtype=SIGNATURE)
    return Role(
        given.name,
        ids,
        signatures,
        places,
        None if given.index is None else given.index.vectors(ids),
        ledger,
        {} if metadata is None else metadata.groups(ids),
        {} if metadata is None else metadata.views(ids),
    )
