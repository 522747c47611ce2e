"""From a text to an embedder: ``pixels``, ``onnx:model.onnx``, ``timm:resnet50``.

Embedders are entry points of the group ``visual_search.embedders``, those of this package and of any plug-in alike;
only the one asked for is imported. A text is ``NAME`` or ``NAME:ARGUMENT``, split at the first colon; what the
argument means is the embedder's own affair.
"""

from __future__ import annotations

import ast
from difflib import get_close_matches
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from visual_search.errors import FingerprintError, InputError, UnknownNameError
from visual_search.indexing.embedders.contract import Embedder, EmbedderDescription, describe

__all__ = ["GROUP", "WELL_KNOWN", "available_embedders", "create_embedder", "load_embedder"]

GROUP = "visual_search.embedders"

# Bare model names that the field uses as if they were embedders, and where they come from.
WELL_KNOWN = {name: f"sentence-transformers:{name}" for name in ("clip-ViT-B-32", "clip-ViT-B-16", "clip-ViT-L-14")}


def create_embedder(spec: str) -> Embedder:
    """Make an embedder from its text form.

    Parameters
    ----------
    spec : str
        ``NAME`` or ``NAME:ARGUMENT``: ``pixels``, ``histogram``, ``phash``, ``efficientnet-lite0``,
        ``onnx:FILE?size=224&...``, ``open_clip:MODEL/WEIGHTS``, ``timm:MODEL``, ``transformers:MODEL``,
        ``sentence-transformers:MODEL``, one of the bare names in ``WELL_KNOWN``, or a plug-in's.

    Returns
    -------
    Embedder
        Loaded and ready.

    Raises
    ------
    UnknownNameError
        Nobody registered the name; the message lists the known ones and near matches.
    InputError
        An argument that the embedder does not take, or a name that two packages claim.
    MissingDependencyError
        The embedder needs an extra that is not installed.

    Examples
    --------
    >>> create_embedder("histogram").dimension
    512
    >>> create_embedder("histogramm")
    Traceback (most recent call last):
    ...
    visual_search.errors.UnknownNameError: embedder 'histogramm': nobody registered that name; did you mean
    'histogram'? Known: ...
    """
    name, _, argument = WELL_KNOWN.get(spec, spec).partition(":")
    registered = _registered()
    if name not in registered:
        raise UnknownNameError(_unknown(spec, name, sorted({*registered, *WELL_KNOWN})))
    factory: Any = registered[name].load()
    embedder = factory.from_argument(argument)
    if not isinstance(embedder, Embedder):
        raise InputError(
            f"embedder {spec!r}: {registered[name].value} made a {type(embedder).__name__}, which lacks "
            f"{', '.join(_lacking(embedder))}; see docs/how-to/add-an-embedder.md"
        )
    return embedder


def load_embedder(description: EmbedderDescription, *, spec: str | None = None) -> Embedder:
    """Make the embedder that a manifest describes, and check that it is the same.

    Parameters
    ----------
    description : EmbedderDescription
        As kept by ``describe``.
    spec : str, optional
        Text form to use in place of the description's name, for a model file that has moved. Everything else is
        still checked.

    Returns
    -------
    Embedder
        One whose vectors belong with those made before.

    Raises
    ------
    FingerprintError
        Dimension, preprocessing or weights differ; the message says which and how.

    Examples
    --------
    >>> load_embedder(describe(create_embedder("pixels"))).name
    'pixels'
    """
    embedder = create_embedder(spec or description.name)
    now = describe(embedder)
    differing = [
        f"{part.replace('_', ' ')} was {getattr(description, part)!r}, is {getattr(now, part)!r}"
        for part in ("dimension", "preprocessing", "weights_hash")
        if getattr(description, part) != getattr(now, part)
    ]
    if differing:
        raise FingerprintError(
            f"embedder {spec or description.name!r} is not the one that made the vectors: {'; '.join(differing)}; "
            "use the model and version that made them, or make the vectors again"
        )
    return embedder


def available_embedders() -> dict[str, str]:
    """Name of every registered embedder with one line on each, without importing any of them.

    Returns
    -------
    dict of str to str
        Sorted by name. The line is the first of the docstring, read from the source; for a plug-in without one
        (or without source) its package's summary.

    Examples
    --------
    >>> available_embedders()["histogram"]
    'Joint HSV histogram with 16 x 4 x 8 = 512 bins, L2-normalised.'
    """
    lines = {name: _one_line(entry) for name, entry in _registered().items()}
    lines |= {name: f"Short for {spec}." for name, spec in WELL_KNOWN.items() if name not in lines}
    return dict(sorted(lines.items()))


def _registered() -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        known = found.setdefault(entry.name, entry)
        if known.value != entry.value:
            raise InputError(
                f"embedder {entry.name!r} is claimed by {_package(known)} ({known.value}) and by {_package(entry)} "
                f"({entry.value}); uninstall one of the packages"
            )
    return found


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "an unknown package"


def _unknown(spec: str, name: str, known: list[str]) -> str:
    near = get_close_matches(name.lower(), known, n=3)
    meant = f"did you mean {' or '.join(repr(one) for one in near)}? " if near else ""
    return (
        f"embedder {spec!r}: nobody registered that name; {meant}Known: {', '.join(known)}. "
        "A hub's model is named by its hub: timm:resnet50"
    )


def _lacking(made: object) -> list[str]:
    parts = ("name", "dimension", "preprocessing", "weights_hash", "batch_size", "decode_size", "prepare", "embed")
    return [part for part in parts if not hasattr(made, part)]


def _one_line(entry: EntryPoint) -> str:
    source = _source_of(entry.module)
    if source is not None:
        for node in ast.parse(source.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name == entry.attr:
                documented = ast.get_docstring(node)
                if documented:
                    return documented.partition("\n")[0]
    summary = entry.dist.metadata["Summary"] if entry.dist else None
    return summary or f"By {_package(entry)}."


def _source_of(module: str) -> Path | None:
    """Where a module's source lies; asking for a dotted name's spec would import its parents, so walk by hand."""
    top, *rest = module.split(".")
    spec = find_spec(top)
    for depth, _ in enumerate(rest, start=1):
        if spec is None or spec.submodule_search_locations is None:
            return None
        name = ".".join([top, *rest[:depth]])
        spec = PathFinder.find_spec(name, list(spec.submodule_search_locations))
    return Path(spec.origin) if spec is not None and spec.origin and spec.origin.endswith(".py") else None
