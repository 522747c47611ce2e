"""What a caller asks of a new index, checked before an engine is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from visual_search.errors import InputError, first_few
from visual_search.indexing.embedders.contract import EmbedderDescription

__all__ = ["check_described", "check_named", "joined_settings"]


def check_named(argument: str, value: Any) -> None:
    """Refuse what is no name; whether a name is known is the registry's to say."""
    if value is not None and not isinstance(value, str):
        raise InputError(f"{argument}: got {value!r} ({type(value).__name__}); give one name as text")


def check_described(embedder: Any) -> None:
    """Refuse what does not describe an embedder, such as the embedder itself."""
    if embedder is not None and not isinstance(embedder, EmbedderDescription):
        raise InputError(
            f"embedder: got {type(embedder).__name__}; give an EmbedderDescription, as describe(embedder) makes it"
        )


def joined_settings(settings: Any, more: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a mapping and of keywords together; which of them exist is the engine's to say.

    >>> joined_settings({"m": 16}, {"ef_search": 128})
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
