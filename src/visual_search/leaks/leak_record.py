"""A leak report read back from its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from visual_search.errors import FileFormatError, InputError, Problems
from visual_search.formats.image_places import is_sha256
from visual_search.formats.json_shapes import COUNT, FLAG, ID, NUMBER, TEXT, Each, There, check_shape, filled, whole
from visual_search.formats.results import ImageLocation
from visual_search.ids import Id
from visual_search.leaks.leak_report import LeakGroup, LeakPair, LeakReport, LeakSide, RoleCounts
from visual_search.leaks.picture_pairs import KIND_WORDS
from visual_search.leaks.roles import RoleName
from visual_search.leaks.shared_units import SharedUnit
from visual_search.leaks.thresholds import LeakThresholds

__all__ = ["LEAKS_FORMAT", "read_leak_record"]

LEAKS_FORMAT = "visual-search leaks"
_VERSION = 1

_SIDE = There(whole("role", "id", role=There(TEXT), id=There(ID), path=TEXT, member=TEXT, sha256=TEXT))
_PAIR = whole(
    *("kind", "first", "second", "group"),
    kind=There(TEXT),
    first=_SIDE,
    second=_SIDE,
    group=There(COUNT),
    bits64=COUNT,
    bits256=COUNT,
    detail=NUMBER,
    cosine=NUMBER,
)
_GROUP = whole(number=There(COUNT), pictures=There(COUNT), items=There(COUNT), complete=There(FLAG))
_ROLE = {"name": There(TEXT), **dict.fromkeys(("pictures", "left_out", "plain", "flagged"), There(COUNT))}
_UNIT = whole("kind", "counts", kind=There(TEXT), group=TEXT, view=TEXT, counts=There(Each(There(COUNT))))
_SHAPE = {
    "roles": There([There(whole(**_ROLE, ledger=There({"reasons": Each(There(COUNT))})))]),
    "thresholds": There(Each(NUMBER)),
    "mirrored": There(FLAG),
    "within": There(FLAG),
    "pairs_by_kind": There(Each(There(COUNT))),
    "groups": There([There(_GROUP)]),
    "shared": There([There(_UNIT)]),
    "flagged": There(Each(There([There(ID)]))),
    "pairs": There([There(_PAIR)]),
}


def read_leak_record(value: Any, subject: str) -> LeakReport:
    """Make the report of what `LeakReport.as_json` gave, pictures' places too.

    Parameters
    ----------
    value : Any
        A JSON value.
    subject : str
        What it was read from, for the error.

    Raises
    ------
    FileFormatError
        Not a leak report, of a newer version, or values of another kind; all of them are listed.
    """
    if not isinstance(value, Mapping) or value.get("format") != LEAKS_FORMAT:
        raise FileFormatError(f"{subject}: not a leak report; its format is not {LEAKS_FORMAT!r}")
    if value.get("format_version") != _VERSION:
        raise FileFormatError(
            f"{subject}: format_version {value.get('format_version')!r} of a leak report; this reads {_VERSION}"
        )
    problems = Problems(subject)
    for key in _SHAPE.keys() - value.keys():
        problems.add(f"{key}: missing")
    check_shape(dict(value), _SHAPE, subject, problems)
    problems.raise_if_any(FileFormatError)
    try:
        return _report(filled(dict(value), _SHAPE))
    except (InputError, KeyError, TypeError) as problem:
        raise FileFormatError(f"{subject}: not a whole leak report ({problem})") from problem


def _report(value: Mapping[str, Any]) -> LeakReport:
    _check_names(value)
    places: dict[RoleName, dict[Id, ImageLocation]] = {}
    for pair in value["pairs"]:
        for side in (pair["first"], pair["second"]):
            if side.get("path") is not None:
                places.setdefault(side["role"], {})[side["id"]] = _place(side)
    return LeakReport(
        tuple(_pair(pair) for pair in value["pairs"]),
        dict(value["pairs_by_kind"]),
        tuple(LeakGroup(*(one[key] for key in _GROUP)) for one in value["groups"]),
        tuple(SharedUnit(one["kind"], one["group"], one["view"], dict(one["counts"])) for one in value["shared"]),
        tuple(RoleCounts(**{key: one[key] for key in (*_ROLE, "ledger")}) for one in value["roles"]),
        LeakThresholds(**value["thresholds"]),
        value["mirrored"],
        value["within"],
        {role: tuple(ids) for role, ids in value["flagged"].items()},
        places,
    )


def _place(side: Mapping[str, Any]) -> ImageLocation:
    sha256 = side.get("sha256")
    if sha256 is not None and not is_sha256(sha256):
        raise InputError(
            f"{side['role']} {side['id']!r}: the SHA-256 of a file has 64 digits of 0-9 and a-f; got {sha256!r}"
        )
    return ImageLocation(Path(side["path"]), side.get("member"), sha256)


def _check_names(value: Mapping[str, Any]) -> None:
    """Roles and kinds that are not known would be told in no words."""
    roles = {side["role"] for pair in value["pairs"] for side in (pair["first"], pair["second"])}
    unknown = (roles | set(value["flagged"]) | {role["name"] for role in value["roles"]}) - set(get_args(RoleName))
    kinds = ({pair["kind"] for pair in value["pairs"]} | set(value["pairs_by_kind"])) - set(KIND_WORDS)
    if unknown or kinds:
        raise InputError(f"roles or kinds that are not known: {', '.join(sorted(map(repr, unknown | kinds)))}")


def _pair(pair: Mapping[str, Any]) -> LeakPair:
    sides = [LeakSide(one["role"], one["id"]) for one in (pair["first"], pair["second"])]
    measured = (pair.get(key) for key in ("bits64", "bits256", "detail", "cosine"))
    return LeakPair(pair["kind"], sides[0], sides[1], pair["group"], *measured)
