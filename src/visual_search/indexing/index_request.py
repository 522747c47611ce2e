"""What a caller asks of a new index, checked before an engine is made and again when a file is loaded."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from visual_search.errors import DimensionError, InputError, first_few
from visual_search.indexing.embedders.contract import EmbedderDescription
from visual_search.indexing.engines.contract import Engine, Metric
from visual_search.indexing.vector_checks import Findings

__all__ = ["IndexRequest", "index_request"]


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """What was asked of an index; None where nobody said.

    Attributes
    ----------
    dimension : int or None
        The embedder's where there is one.
    metric, engine : str or None
    embedder : EmbedderDescription or None
    settings : mapping
        Those that were given, without the engine's defaults.
    """

    dimension: int | None
    metric: Metric | None
    engine: str | None
    embedder: EmbedderDescription | None
    settings: Mapping[str, Any]

    def check(self, engine: Engine, embedder: EmbedderDescription | None, path: str | os.PathLike[str]) -> None:
        """Refuse what a file holds where something else was asked for.

        Raises
        ------
        DimensionError, InputError
            With all differences listed; a DimensionError where that is the only kind.
        """
        findings = Findings(str(path))
        compared: list[tuple[str, Any, Any]] = [
            ("dimension", engine.dimension, self.dimension),
            ("metric", engine.metric, self.metric),
            ("engine", engine.name, self.engine),
            ("embedder", embedder, self.embedder),
        ]
        compared += [(name, engine.settings.get(name), asked) for name, asked in self.settings.items()]
        for name, held, asked in compared:
            if asked is not None and held != asked:
                findings.add(
                    DimensionError if name == "dimension" else InputError,
                    f"{name}: {held!r} in the file, but this index was made with {asked!r}; leave "
                    f"{name} out to take the file's, or load another file",
                )
        findings.raise_if_any()


def index_request(
    dimension: int | None,
    metric: Metric | None,
    engine: str | None,
    *,
    embedder: EmbedderDescription | None,
    settings: Mapping[str, Any] | None,
    more: Mapping[str, Any],
) -> IndexRequest:
    """Check what can be checked without an engine; ``more`` are settings given as keywords.

    Raises
    ------
    InputError
        A name that is no text, an embedder that is no description, or settings that cannot be read.
    DimensionError
        The embedder makes vectors of another dimension.
    """
    _check_named("engine", engine)
    _check_named("metric", metric)
    _check_described(embedder)
    asked = _joined_settings(settings, more)
    if embedder is not None and dimension is not None and embedder.dimension != dimension:
        raise DimensionError(
            f"dimension: got {dimension}, but embedder {embedder.name!r} makes vectors of {embedder.dimension}"
        )
    dimension = embedder.dimension if embedder is not None else dimension
    return IndexRequest(dimension, metric, engine, embedder, asked)


def _check_named(argument: str, value: Any) -> None:
    """Refuse what is no name; whether a name is known is the registry's to say."""
    if value is not None and not isinstance(value, str):
        raise InputError(f"{argument}: got {value!r} ({type(value).__name__}); give one name as text")


def _check_described(embedder: Any) -> None:
    """Refuse what does not describe an embedder, such as the embedder itself."""
    if embedder is not None and not isinstance(embedder, EmbedderDescription):
        raise InputError(
            f"embedder: got {type(embedder).__name__}; give an EmbedderDescription, as describe(embedder) makes it"
        )


def _joined_settings(settings: Any, more: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a mapping and of keywords together; which of them exist is the engine's to say.

    >>> _joined_settings({"m": 16}, {"ef_search": 128})
    {'m': 16, 'ef_search': 128}
    """
    if settings is None:
        return dict(more)
    if not isinstance(settings, Mapping):
        raise InputError(f"settings: got {type(settings).__name__}; give a dict, such as {{'ef_search': 128}}")
    odd = [name for name in settings if not isinstance(name, str)]
    if odd:
        raise InputError(f"settings: names are text, and these are not: {first_few(odd)}")
    twice = sorted(settings.keys() & more.keys())
    if twice:
        raise InputError(f"settings: given both in settings and as keywords: {first_few(twice)}; give each once")
    return {**settings, **more}
