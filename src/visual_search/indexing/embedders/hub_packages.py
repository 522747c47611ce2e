"""The packages of the ``hub`` extra, imported when a model is asked for and never before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from importlib import import_module
from typing import Any

from visual_search.errors import InputError, MissingDependencyError

__all__ = ["hub_package", "loading", "processor_in_words", "settings_in_words"]

# Of an image processor's many attributes, those that change pixels.
_TELLING = (
    "crop_size",
    "do_center_crop",
    "do_convert_rgb",
    "do_normalize",
    "do_pad",
    "do_rescale",
    "do_resize",
    "image_mean",
    "image_std",
    "resample",
    "rescale_factor",
    "size",
)


def hub_package(name: str, *, spec: str) -> Any:
    """Import a package of the extra.

    Raises
    ------
    MissingDependencyError
        It, or something it needs, is not installed; the message has the command.
    """
    try:
        return import_module(name)
    except ImportError as problem:
        raise MissingDependencyError(
            f"embedder {spec!r} needs {name}, which cannot be imported ({problem}); "
            "run: pip install 'visual-search[hub]'"
        ) from problem


@contextmanager
def loading(spec: str, *, known: str) -> Iterator[None]:
    """Turn what a hub's loader raises about a name into an InputError that says where names come from.

    The hubs share no error class: an unknown model is an OSError in one, a RuntimeError in the next.
    """
    try:
        yield
    except (OSError, RuntimeError, ValueError, KeyError) as problem:
        reason = " ".join(str(problem).split())[:400]
        raise InputError(
            f"embedder {spec!r} cannot be loaded: {reason or type(problem).__name__}; {known}; weights come over "
            "the network the first time and from the hub's cache after that"
        ) from problem


def settings_in_words(settings: Mapping[str, Any]) -> str:
    """Settings of a model's own transform, sorted, in one line.

    >>> settings_in_words({"size": {"height": 8, "width": 8}, "mean": (0.5, 0.25), "crop": True})
    'crop=true, mean=[0.5, 0.25], size={height=8, width=8}'
    """
    return ", ".join(f"{name}={_plain(settings[name])}" for name in sorted(settings))


def processor_in_words(processor: Any) -> str:
    """What an image processor of Transformers (or the one inside a processor of several kinds) does to pixels."""
    images = getattr(processor, "image_processor", processor)
    settings = {name: value for name in _TELLING if (value := getattr(images, name, None)) is not None}
    return settings_in_words({"processor": type(images).__name__, **settings})


def _plain(value: Any) -> str:
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)  # a size, since Transformers 5
    if isinstance(value, Mapping):
        return f"{{{settings_in_words({name: part for name, part in value.items() if part is not None})}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_plain, value))}]"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "none"}[value]
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(getattr(value, "value", value))  # an enumeration's value outlives its spelling
