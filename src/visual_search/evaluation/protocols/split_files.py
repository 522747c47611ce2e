"""Splits on disk: one JSON or Parquet file, written whole, proven again when it is read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeAlias, get_args, get_type_hints

import numpy as np

from visual_search.errors import FileFormatError, InputError, VisualSearchError
from visual_search.evaluation.protocols.conditions import CONDITIONS, Condition
from visual_search.evaluation.protocols.listed_pairs import ListedPairs
from visual_search.evaluation.protocols.partition import Partition, prove_parts
from visual_search.evaluation.protocols.proving import Promises, prove
from visual_search.evaluation.protocols.sides import Column, Side
from visual_search.evaluation.protocols.split import Split
from visual_search.evaluation.protocols.split_table import read_sides, write_sides
from visual_search.formats.atomic import write_json
from visual_search.formats.plain_json import read_plain_json
from visual_search.ids import Ids

__all__ = ["read_split", "write_split"]

FORMAT, VERSION = "visual-search split", 1
AnySplit: TypeAlias = "Split | Partition"


def write_split(split: AnySplit, path: str | os.PathLike[str]) -> None:
    """Write a split whole: Parquet where the name ends in ``.parquet``, else JSON."""
    target, head = Path(path), _head(split)
    sides = _sides_of(split)
    if target.suffix == ".parquet":
        write_sides(target, sides, head)
    else:
        write_json(
            target, head | {"sides": {name: _side_as_json(side) for name, side in sides.items()}}, indent=None
        )


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
    if head.get("format_version") != VERSION:
        raise FileFormatError(f"{source.name}: format_version {head.get('format_version')!r}; this reads {VERSION}")
    try:
        if not parquet:
            sides = {name: _side_from_json(one) for name, one in head["sides"].items()}
        found = _partition(head, sides) if head["kind"] == "partition" else _split(head, sides)
    except FileFormatError:
        raise
    except (VisualSearchError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as problem:
        raise FileFormatError(
            f"{source.name}: not a whole split ({type(problem).__name__}: {problem})"
        ) from problem
    found.proof.check_against(head["proof"], subject=source.name)
    return found


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
    for name in ("group", "view", "label"):
        column = getattr(side, name)
        if column is not None:
            fresh = Column.of(column.rows())
            told[name] = {"values": list(fresh.values), "codes": fresh.codes.tolist()}
    if side.places is not None:
        told["places"] = side.places.tolist()
    return told


def _side_from_json(value: Mapping[str, Any]) -> Side:
    group, view, label = (
        _column_from_json(value[name], name) if name in value else None for name in ("group", "view", "label")
    )
    places = None
    if "places" in value:
        places = np.array(value["places"], dtype=np.float64).reshape(-1, 2)
        if not np.isfinite(places).all():
            raise InputError("places: not finite")
    return Side(Ids(value["ids"], what="ids"), group=group, view=view, label=label, places=places)


def _column_from_json(value: Mapping[str, Any], name: str) -> Column:
    values = tuple(Ids(value["values"], what=name))
    codes = np.array(value["codes"], dtype=np.int64)
    if len(codes) and not (codes.min() >= 0 and codes.max() < len(values)):
        raise InputError(f"{name}: codes must lie in 0..{len(values) - 1}")
    return Column(values, codes)
