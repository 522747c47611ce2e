"""The demonstration's leak check: whether a photograph, or a copy of one, stands on both sides of its split."""

from __future__ import annotations

from pathlib import Path

from visual_search.datasets.orl_faces import OrlFaces
from visual_search.evaluation.protocols.sides import Side
from visual_search.evaluation.protocols.split import Split
from visual_search.formats.results import ImageLocation
from visual_search.images.image_source import ImageSource
from visual_search.images.ledger import Ledger
from visual_search.indexing.index_table import VectorIndex
from visual_search.leaks.finding import find_leaks
from visual_search.leaks.leak_report import LeakReport
from visual_search.leaks.roles import Role, RoleName
from visual_search.leaks.signing import SignedPictures, sign_pictures
from visual_search.leaks.thresholds import LeakThresholds

__all__ = ["SAME_COSINE", "check_split"]

# The most alike two of the 400, one person's mouth open and closed, have a cosine of .989.
SAME_COSINE = 0.995


def check_split(faces: OrlFaces, split: Split, index: VectorIndex) -> LeakReport:
    """Compare every two photographs: by pixels, by perceptual hashes and detail, and by an index's vectors.

    Parameters
    ----------
    faces : OrlFaces
    split : Split
        Of all of them: its queries and its gallery are the roles. Pairs within a role are looked for too, since other
        protocols divide the photographs otherwise.
    index : VectorIndex
        Of all photographs.
    """
    sources = [ImageSource(photograph.id, photograph.path) for photograph in faces.photographs]
    signed = sign_pictures(sources)
    roles = [_role("query", split.queries, signed, index), _role("gallery", split.gallery, signed, index)]
    return find_leaks(roles, thresholds=LeakThresholds(cosine=SAME_COSINE), within=True)


def _role(name: RoleName, side: Side, signed: SignedPictures, index: VectorIndex) -> Role:
    row_of = {entry.id: row for row, entry in enumerate(signed.ledger.used)}
    entries = [signed.ledger[str(item)] for item in side.ids]
    columns = (side.group, side.view)
    groups, views = (
        {} if column is None else dict(zip(side.ids, map(str, column.rows()), strict=True)) for column in columns
    )
    return Role(
        name,
        side.ids,
        signed.signatures[[row_of[entry.id] for entry in entries]],
        {entry.id: ImageLocation(Path(entry.path), entry.member, entry.sha256) for entry in entries},
        index.vectors(list(side.ids)),
        Ledger(entries),
        groups,
        views,
    )
