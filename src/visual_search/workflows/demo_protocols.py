"""How the demonstration chooses queries and gallery among its photographs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from visual_search.datasets.orl_faces import FacePhotograph, OrlFaces
from visual_search.evaluation.protocols.query_gallery import by_view
from visual_search.evaluation.protocols.split import Split

__all__ = ["BOTH_DIRECTIONS", "HALVES", "Protocol", "protocols_of", "view_split"]

BOTH_DIRECTIONS = "both directions"
HALVES = ("1 to 5", "6 to 10")
_HALF = 5


@dataclass(frozen=True, slots=True)
class Protocol:
    """How queries and gallery are chosen.

    Attributes
    ----------
    name, words : str
        For people.
    gallery, queries : tuple of FacePhotograph
    exclude_self : bool
        Whether the query itself is in the gallery, and to be left out.
    """

    name: str
    words: str
    gallery: tuple[FacePhotograph, ...]
    queries: tuple[FacePhotograph, ...]
    exclude_self: bool

    def dataset(self) -> dict[str, Any]:
        """As a JSON value: a query's right answers are the other photographs of the same person in the gallery."""
        return {
            "name": f"ORL faces, {self.name}",
            "queries": [
                {
                    "query_id": query.id,
                    "image_path": str(query.path),
                    "ground_truth": [
                        item.id for item in self.gallery if item.person == query.person and item.id != query.id
                    ],
                    "group": query.person,
                }
                for query in self.queries
            ],
        }


def protocols_of(faces: OrlFaces) -> tuple[Protocol, Protocol]:
    """Leave-one-out, and one gallery photograph a person against the other nine."""
    everyone = faces.photographs
    first = tuple(photograph for photograph in everyone if photograph.photo == 1)
    others = tuple(photograph for photograph in everyone if photograph.photo != 1)
    return (
        Protocol(
            "leave-one-out",
            "each of the 400 photographs asks for the other nine of the same person among all others",
            everyone,
            everyone,
            exclude_self=True,
        ),
        Protocol(
            "one photograph each",
            "the gallery has one photograph of each of the 40 people; their other nine ask for it",
            first,
            others,
            exclude_self=False,
        ),
    )


def view_split(faces: OrlFaces) -> Split:
    """Photographs 1 to 5 of each person as queries, 6 to 10 as the gallery; proven.

    Raises
    ------
    ProofError
        A photograph, or a half, on both sides, or a person on one side only.
    """
    table = {
        "photograph": [one.id for one in faces.photographs],
        "person": [one.person for one in faces.photographs],
        "photographs": [HALVES[one.photo > _HALF] for one in faces.photographs],
    }
    split = by_view(
        table, group="person", view="photographs", query=HALVES[0], gallery=HALVES[1], item="photograph"
    )
    words = f"photographs {HALVES[0]} of each person ask, {HALVES[1]} are searched"
    return replace(split, words=words).require()
