"""Splits on disk: one JSON or Parquet file, written whole, proven again when it is read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeAlias, get_args, get_type_hints

import numpy as np

from visual_search.errors import FileFormatError, InputError, Problems, VisualSearchError
from visual_search.evaluation.protocols.conditions import CONDITIONS, Condition
from visual_search.evaluation.protocols.listed_pairs import ListedPairs
from visual_search.evaluation.protocols.partition import Partition, prove_parts
from visual_search.evaluation.protocols.proving import Promises, prove
from visual_search.evaluation.protocols.sides import Column, Side
from visual_search.evaluation.protocols.split import Split
from visual_search.evaluation.protocols.split_table import read_sides, write_sides
from visual_search.formats.atomic import write_json
from visual_search.formats.fingerprint import fingerprint_json
from visual_search.formats.plain_json import read_plain_json
from visual_search.ids import Ids

__all__ = ["check_is_split", "read_split", "write_split"]

FORMAT, VERSION = "visual-search split", 2
AnySplit: TypeAlias = "Split | Partition"
# Sides have their own fingerprints in the proof, whose words may differ; "kinds" is how a table writes the sides.
_NOT_IN_HEAD = ("sides", "kinds", "proof", "proof_words", "head_fingerprint")
_TYPES: Mapping[str, type] = {"kind": str, "protocol": str, "words": str, "options": dict, "proof": dict}


def write_split(split: AnySplit, path: str | os.PathLike[str]) -> None:
    """Write a split whole: Parquet where the name ends in ``.parquet``, else JSON."""
    target, head = Path(path), _head(split)
    sides = _sides_of(split)
    try:
        head["head_fingerprint"] = _head_fingerprint(head)
        if target.suffix == ".parquet":
            write_sides(target, sides, head)
        else:
            told = {name: _side_as_json(side) for name, side in sides.items()}
            write_json(target, head | {"sides": told}, indent=None)
    except UnicodeEncodeError as problem:
        raise InputError(
            f"{target.name}: {problem.object[max(problem.start - 8, 0) : problem.end + 8]!r} is not UTF-8 "
            "(half of a surrogate pair); rename that id, group or label"
        ) from None


def read_split(path: str | os.PathLike[str]) -> AnySplit:
    """Read a split and prove it again.

    Raises
    ------
    FileFormatError
        Not a split, cut off, of a newer version, or its proof is not that of its content.
    OSError
        It is not there or cannot be read.
    """
    source = Path(path)
    head, sides, parquet = _opened(source)
    try:
        if not parquet:
            sides = {name: _side_from_json(one) for name, one in head["sides"].items()}
        _check_head(head, source.name)
        found = _partition(head, sides) if head["kind"] == "partition" else _split(head, sides)
    except FileFormatError:
        raise
    except (VisualSearchError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as problem:
        raise FileFormatError(
            f"{source.name}: not a whole split ({type(problem).__name__}: {problem})"
        ) from problem
    found.proof.check_against(head["proof"], subject=source.name)
    _check_unchanged(head, source.name)
    return found


def check_is_split(path: str | os.PathLike[str]) -> None:
    """Refuse a file that is no split at all, whatever a proof would say.

    Raises
    ------
    FileFormatError
        Not a split, cut off, or of a newer version.
    """
    _opened(Path(path))


def _opened(source: Path) -> tuple[dict[str, Any], dict[str, Side], bool]:
    """What the file says of the split, the sides where it is a table, and whether it is one."""
    with source.open("rb") as stream:
        parquet = stream.read(4) == b"PAR1"
    if parquet:
        sides, head = read_sides(source)
    else:
        value = read_plain_json(source)
        head = value if isinstance(value, dict) else {}
        sides = {}
    if head.get("format") != FORMAT:
        raise FileFormatError(f"{source.name}: not a split; format is {head.get('format')!r}, not {FORMAT!r}")
    version = head.get("format_version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise FileFormatError(f"{source.name}: format_version {version!r}; this reads 1 to {VERSION}")
    return head, sides, parquet


def _head_fingerprint(head: Mapping[str, Any]) -> str:
    """Of all that the file says of the split beside its sides and the proof, which are looked at by themselves."""
    return fingerprint_json({key: value for key, value in head.items() if key not in _NOT_IN_HEAD})


def _check_head(head: Mapping[str, Any], name: str) -> None:
    """Look at the types of what the split says of itself."""
    problems = Problems(f"{name}: not a whole split")
    partition = head["kind"] == "partition"
    for key, kind in _TYPES.items():
        if not isinstance(head[key], kind):
            problems.add(f"{key}: {kind.__name__} is needed; got {head[key]!r}")
    for key in ("warnings", *(("allowed", "parts") if partition else ())):
        if not isinstance(head[key], list) or not all(isinstance(one, str) for one in head[key]):
            problems.add(f"{key}: a list of texts is needed; got {head[key]!r}")
    left_out = head["left_out"]
    if partition and (type(left_out) is not int or left_out < 0):
        problems.add(f"left_out: a whole number is needed; got {left_out!r}")
    if not partition and not (isinstance(left_out, list) and all(type(one) in (str, int) for one in left_out)):
        problems.add(f"left_out: a list of ids is needed; got {left_out!r}")
    problems.raise_if_any(FileFormatError)


def _check_unchanged(head: Mapping[str, Any], name: str) -> None:
    """Whether the split says of itself what was written; the first version kept no fingerprint of that."""
    if head["format_version"] > 1 and head.get("head_fingerprint") != _head_fingerprint(head):
        raise FileFormatError(
            f"{name}: what it says of itself (protocol, words, warnings, promises, options) was changed after it was "
            "written; make the split again"
        )


def _head(split: AnySplit) -> dict[str, Any]:
    head: dict[str, Any] = {
        "format": FORMAT,
        "format_version": VERSION,
        "kind": "partition" if isinstance(split, Partition) else "query-gallery",
        "protocol": split.protocol,
        "words": split.words,
        "warnings": list(split.warnings),
        "options": dict(split.options),
        "proof": split.proof.as_json(),
        "proof_words": split.proof.words(),
    }
    if isinstance(split, Partition):
        return head | {"left_out": split.left_out, "allowed": list(split.allowed), "parts": list(split.parts)}
    return head | {
        "left_out": list(split.left_out),
        "condition": split.condition.as_json(),
        "promises": {**asdict(split.promises), "allowed": list(split.promises.allowed)},
    }


def _sides_of(split: AnySplit) -> dict[str, Side]:
    if isinstance(split, Partition):
        return dict(split.parts)
    return {"queries": split.queries, "gallery": split.gallery}


def _split(head: Mapping[str, Any], sides: Mapping[str, Side]) -> Split:
    condition = _condition(head["condition"])
    promises = _promises(head["promises"])
    queries, gallery = sides["queries"], sides["gallery"]
    relevance = condition.relevance(queries, gallery, shared_ids=promises.shared_ids)
    return Split(
        protocol=str(head["protocol"]),
        words=str(head["words"]),
        queries=queries,
        gallery=gallery,
        condition=condition,
        relevance=relevance,
        promises=promises,
        proof=prove(queries, gallery, relevance, wanted=relevance, promises=promises),
        left_out=tuple(head["left_out"]),
        warnings=tuple(head["warnings"]),
        options=dict(head["options"]),
    )


def _partition(head: Mapping[str, Any], sides: Mapping[str, Side]) -> Partition:
    parts = {name: sides[name] for name in head["parts"]}
    allowed = tuple(head["allowed"])
    return Partition(
        protocol=str(head["protocol"]),
        words=str(head["words"]),
        parts=parts,
        proof=prove_parts(parts, allowed),
        allowed=allowed,
        left_out=int(head["left_out"]),
        warnings=tuple(head["warnings"]),
        options=dict(head["options"]),
    )


def _condition(value: Mapping[str, Any]) -> Condition:
    kinds: dict[str, type[Condition]] = {**CONDITIONS, ListedPairs.name: ListedPairs}
    kind = kinds.get(str(value["name"]))
    parameters = {key: tuple(inner) if isinstance(inner, list) else inner for key, inner in value.items()}
    del parameters["name"]
    if kind is None or set(parameters) != {field.name for field in fields(kind)}:
        raise InputError(f"condition: {value['name']!r} is not known, or has other parameters")
    return kind(**parameters)


def _promises(value: Mapping[str, Any]) -> Promises:
    hints = get_type_hints(Promises)
    allowed = {name: get_args(hints[name]) for name in ("items", "groups", "views")}
    wrong = [name for name, choices in allowed.items() if value[name] not in choices]
    if wrong:
        raise InputError(f"promises: {wrong[0]} is {value[wrong[0]]!r}; one of {', '.join(allowed[wrong[0]])}")
    return Promises(
        items=value["items"], groups=value["groups"], views=value["views"], allowed=tuple(value["allowed"])
    )


def _side_as_json(side: Side) -> dict[str, Any]:
    """A column is its distinct values and a code a row, which repeats no long name."""
    told: dict[str, Any] = {"ids": list(side.ids)}
    for name in ("group", "view", "label", "image"):
        column = getattr(side, name)
        if column is not None:
            fresh = Column.of(column.rows())
            told[name] = {"values": list(fresh.values), "codes": fresh.codes.tolist()}
    if side.places is not None:
        told["places"] = side.places.tolist()
    return told | ({"by_row": True} if side.by_row else {})


def _side_from_json(value: Mapping[str, Any]) -> Side:
    group, view, label, image = (
        _column_from_json(value[name], name) if name in value else None
        for name in ("group", "view", "label", "image")
    )
    places = None
    if "places" in value:
        places = np.array(value["places"], dtype=np.float64).reshape(-1, 2)
        if not np.isfinite(places).all():
            raise InputError("places: not finite")
    by_row = value.get("by_row", False)
    if not isinstance(by_row, bool):
        raise InputError(f"by_row: true or false is needed; got {by_row!r}")
    ids = Ids(value["ids"], what="ids")
    return Side(ids, group=group, view=view, label=label, places=places, image=image, by_row=by_row)


def _column_from_json(value: Mapping[str, Any], name: str) -> Column:
    values = tuple(Ids(value["values"], what=name))
    if not isinstance(value["codes"], list) or not all(type(code) is int for code in value["codes"]):
        raise InputError(f"{name}: codes are whole numbers")
    codes = np.array(value["codes"], dtype=np.int64)
    if len(codes) and not (codes.min() >= 0 and codes.max() < len(values)):
        raise InputError(f"{name}: codes must lie in 0..{len(values) - 1}")
    return Column(values, codes)
