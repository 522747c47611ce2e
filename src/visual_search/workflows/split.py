"""A metadata table to a proven split, by the protocol's name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from visual_search.errors import InputError, UnknownNameError
from visual_search.evaluation.protocols.conditions import SharedLabel
from visual_search.evaluation.protocols.geographic import within_radius
from visual_search.evaluation.protocols.group_parts import (
    group_folds,
    parts_by_column,
    parts_by_group,
    parts_of_random_images,
)
from visual_search.evaluation.protocols.image_text import image_text
from visual_search.evaluation.protocols.landmarks import landmark_difficulty
from visual_search.evaluation.protocols.metadata import Metadata
from visual_search.evaluation.protocols.partition import Partition
from visual_search.evaluation.protocols.query_gallery import by_view, leave_one_out, one_query_per_group
from visual_search.evaluation.protocols.random_images import random_images
from visual_search.evaluation.protocols.reidentification import reidentification
from visual_search.evaluation.protocols.split import Split
from visual_search.evaluation.protocols.split_dataset import dataset_of_split
from visual_search.formats.outputs import refuse_overwriting
from visual_search.ids import Id

__all__ = ["PROTOCOLS", "AnySplit", "make_splits", "save_splits", "write_dataset"]

AnySplit: TypeAlias = "Split | Partition"


@dataclass(frozen=True, slots=True)
class Maker:
    """A protocol's function, the options it must have, those it may have, and its own names for some.

    Attributes
    ----------
    make : callable
    needed, taken : tuple of str
        Options of the command line.
    called : mapping
        The function's name for an option, where it is another.
    """

    make: Callable[..., AnySplit | list[Partition]]
    needed: tuple[str, ...]
    taken: tuple[str, ...] = ()
    called: Mapping[str, str] | None = None


_USUAL = ("item", "where", "unanswered")
_CONDITION = ("label", "relevant")
PROTOCOLS: Mapping[str, Maker] = {
    "by-view": Maker(by_view, ("group", "view", "query", "gallery"), (*_USUAL, *_CONDITION)),
    "leave-one-out": Maker(leave_one_out, (), ("group", "view", *_USUAL, *_CONDITION)),
    "one-query-per-group": Maker(one_query_per_group, ("group",), ("view", "seed", *_USUAL, *_CONDITION)),
    "re-identification": Maker(
        reidentification,
        ("group", "view", "partition"),
        ("query", "gallery", "junk", *_USUAL),
        {"group": "identity", "view": "camera", "partition": "role"},
    ),
    "landmarks": Maker(
        landmark_difficulty,
        ("level",),
        ("query_column", "item", "difficulty", "unanswered"),
        {"query_column": "query"},
    ),
    "within-radius": Maker(
        within_radius,
        ("places", "partition"),
        ("query", "gallery", "metres", "coordinates", "group", *_USUAL),
        {"partition": "role"},
    ),
    "image-text": Maker(image_text, ("group",), _USUAL, {"group": "image", "item": "caption"}),
    "random-images": Maker(
        random_images,
        ("group", "queries", "seed"),
        ("view", "item", "where", "allow_shared_groups", *_CONDITION),
    ),
    "parts-by-group": Maker(parts_by_group, ("group",), ("shares", "seed", "item", "where")),
    "parts-by-column": Maker(parts_by_column, ("group", "partition"), ("item", "where"), {"partition": "part"}),
    "parts-of-random-images": Maker(
        parts_of_random_images, ("group",), ("shares", "seed", "item", "where", "allow_shared_groups")
    ),
    "group-folds": Maker(group_folds, ("group",), ("folds", "seed", "item", "where"), {"folds": "n_splits"}),
}


def make_splits(
    table: str | os.PathLike[str], protocol: str, options: Mapping[str, Any], *, image: str | None = None
) -> list[AnySplit]:
    """Make the split of a protocol, or its folds.

    Parameters
    ----------
    table : path
        CSV or Parquet, one row an item (a caption, or a pair, where the protocol says so).
    protocol : str
        A name of `PROTOCOLS`.
    options : mapping
        As on the command line, with underscores; None where not given.
    image : str, optional
        Column of image paths, by which items are told apart as well.

    Returns
    -------
    list of Split or Partition
        One, or several folds.

    Raises
    ------
    UnknownNameError, InputError
        No such protocol; options that it needs and has not, or has and does not take.
    ProofError
        The protocol refuses the split; the message says why.
    """
    if protocol not in PROTOCOLS:
        raise UnknownNameError(f"--protocol {protocol}: there are {', '.join(PROTOCOLS)}")
    maker = PROTOCOLS[protocol]
    given = {name: value for name, value in options.items() if value is not None}
    separator = given.pop("label_separator", None)
    lacking = [name for name in maker.needed if name not in given]
    foreign = [name for name in given if name not in (*maker.needed, *maker.taken)]
    if separator is not None and given.get("relevant") != "shared-label":
        foreign.append("label_separator")
    problems = [f"needs {_option(name)}" for name in lacking] + [f"takes no {_option(name)}" for name in foreign]
    if problems:
        raise InputError(f"--protocol {protocol} {' and '.join(problems)}")
    if separator is not None:
        given["relevant"] = SharedLabel(separator)
    called = maker.called or {}
    made = maker.make(
        Metadata(table, image=image), **{called.get(name, name): value for name, value in given.items()}
    )
    return list(made) if isinstance(made, list) else [made]


def save_splits(
    splits: list[AnySplit], out: str | os.PathLike[str], table: str | os.PathLike[str] | None = None
) -> list[Path]:
    """Write each split; of several, each with its number before the suffix; none over the table they were made from."""
    target = Path(out)
    if target.is_dir():
        raise InputError(f"--out: {target} is a folder; give a file, such as split.json or split.parquet")
    paths = [target]
    if len(splits) > 1:
        paths = [target.with_name(f"{target.stem}-{number}{target.suffix}") for number in range(1, len(splits) + 1)]
    refuse_overwriting({f"--out ({path.name})": path for path in paths}, [table])
    for split, path in zip(splits, paths, strict=True):
        split.save(path)
    return paths


def write_dataset(
    splits: list[AnySplit],
    out: str | os.PathLike[str],
    table: str | os.PathLike[str] | None = None,
    item: str | None = None,
    image: str | None = None,
) -> Path:
    """Write the split's queries and right answers as an evaluation dataset.

    Parameters
    ----------
    splits : list
        One split of queries and gallery.
    out : path
    table, item, image : optional
        Where the query images are: the metadata table, its columns of ids and of paths.

    Returns
    -------
    Path
    """
    split = splits[0]
    if len(splits) != 1 or isinstance(split, Partition):
        raise InputError("--dataset: parts and folds have no queries; it is for a split of queries and gallery")
    paths: dict[Id, str] = {}
    if image is not None:
        if table is None:
            raise InputError("--image: needs the metadata table, which 'check' does not read")
        metadata = Metadata(table)
        paths = dict(zip(metadata.ids(item), map(str, metadata.column(image).rows()), strict=True))
    dataset_of_split(split, image_paths=paths, name=split.protocol).to_json(out)
    return Path(out)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
