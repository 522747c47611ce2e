"""A role: the pictures that are queries, the gallery, or what a model was trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from visual_search.errors import DimensionError, InputError, NonFiniteError, Problems, first_few
from visual_search.formats.results import ImageLocation
from visual_search.ids import Id, Ids
from visual_search.images.ledger import Ledger
from visual_search.leaks.signatures import SIGNATURE, Signatures

__all__ = ["Role", "RoleName", "check_roles"]

RoleName: TypeAlias = Literal["query", "gallery", "train"]
Vectors: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Role:
    """Pictures under one role.

    Parameters
    ----------
    name : {"query", "gallery", "train"}
    ids : Ids
        One a picture, shape (n,). What could not be decoded is not among them, but in ``ledger``.
    signatures : array of shape (n,) and dtype ``SIGNATURE``, optional
        None where there are only vectors.
    places : mapping of id to ImageLocation
        Where the files are, as far as known, with the hashes of what was compared; one file in two roles is a
        self-match.
    vectors : float32 array of shape (n, d), optional
        Embeddings, for the comparison by cosine.
    ledger : Ledger
        Every file seen, with those left out and why.
    groups, views : mapping of id to value
        The independent unit (scene, identity) and the view (camera, side) of a picture, as far as known.

    Raises
    ------
    InputError
        An unknown role, neither signatures nor vectors, or not one of each a picture; all problems at once.
    NonFiniteError
        NaN or infinity in the vectors.
    """

    name: RoleName
    ids: Ids
    signatures: Signatures | None = None
    places: Mapping[Id, ImageLocation] = field(default_factory=dict)
    vectors: Vectors | None = None
    ledger: Ledger = field(default_factory=Ledger)
    groups: Mapping[Id, str] = field(default_factory=dict)
    views: Mapping[Id, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problems = Problems(f"role {self.name!r}")
        if self.name not in get_args(RoleName):
            problems.add("name: give query, gallery or train")
        if self.signatures is None and self.vectors is None:
            problems.add("give signatures, vectors, or both")
        if self.signatures is not None and (
            self.signatures.dtype != SIGNATURE or self.signatures.shape != (len(self.ids),)
        ):
            problems.add(
                f"signatures: {self.signatures.shape} of {self.signatures.dtype}; {len(self.ids)} ids need one each"
            )
        if self.vectors is not None and (self.vectors.ndim != 2 or len(self.vectors) != len(self.ids)):
            problems.add(f"vectors: shape {self.vectors.shape}; {len(self.ids)} ids need a row each")
        problems.raise_if_any(InputError)
        if self.vectors is not None and not np.isfinite(self.vectors).all():
            wrong = self.ids.take(np.flatnonzero(~np.isfinite(self.vectors).all(axis=1)).tolist())
            raise NonFiniteError(f"role {self.name!r}: NaN or infinity in the vectors of {first_few(wrong)}")

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Role({self.name}, {len(self)} pictures)"


def check_roles(roles: list[Role], *, within: bool, cosine: bool) -> None:
    """Refuse roles that cannot be compared.

    Raises
    ------
    InputError
        No pictures, one role alone without ``within``, a role twice, or nothing that all of them have.
    DimensionError
        Vectors of different dimensions.
    """
    names = [role.name for role in roles]
    if not roles or not any(len(role) for role in roles):
        raise InputError("roles: no pictures; give at least a query and a gallery role")
    if len(set(names)) < len(names):
        raise InputError(f"roles: {first_few(names)}; each role may be given once")
    if len(roles) == 1 and not within:
        raise InputError(f"roles: only {names[0]}; give a second role, or within=True to compare it with itself")
    bare = [role.name for role in roles if role.signatures is None]
    if bare and not cosine:
        raise InputError(f"roles: {first_few(bare)} have vectors but no pictures; give thresholds with a cosine")
    if cosine:
        lacking = [role.name for role in roles if role.vectors is None]
        if lacking:
            raise InputError(f"cosine: no vectors for {first_few(lacking)}; give indexes, or leave cosine out")
        sizes = {role.name: int(role.vectors.shape[1]) for role in roles if role.vectors is not None}
        if len(set(sizes.values())) > 1:
            raise DimensionError(
                f"cosine: vectors of different dimensions: {sizes}; use one embedder for all roles"
            )
