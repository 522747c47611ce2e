"""What a user may say about an ONNX model: ``model.onnx?size=224&mean=0.5&std=0.5``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, Self, TypeAlias, get_args
from urllib.parse import parse_qsl, quote

from visual_search.errors import Problems
from visual_search.indexing.embedders.resizing import Filter, ResizeRule

__all__ = ["Layout", "OnnxOptions", "Pool"]

Layout: TypeAlias = Literal["nchw", "nhwc"]
Pool: TypeAlias = Literal["mean", "first"]
_Order: TypeAlias = Literal["rgb", "bgr"]
_Norm: TypeAlias = Literal["none", "l2"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "resize": get_args(ResizeRule),
    "filter": get_args(Filter),
    "order": get_args(_Order),
    "layout": get_args(Layout),
    "pool": get_args(Pool),
    "normalize": get_args(_Norm),
}


@dataclass(frozen=True, slots=True)
class OnnxOptions:
    """Preprocessing, input and output of an ONNX model; None means as the graph says.

    Parameters
    ----------
    size : tuple of int, optional
        Height and width in pixels; in text ``size=224`` or ``size=224x160``. From the graph where it is fixed
        there, else 224 x 224.
    resize : {"stretch", "shorter-side"}, default "stretch"
        See ``Resize``; so too ``filter`` and ``crop``.
    scale : float, default 1/255
        Factor on the 8-bit values, before ``mean`` and ``std``: ``(value * scale - mean) / std``.
    mean, std : tuple of float, optional
        Per channel in the model's order of channels, or one for all. ImageNet's (.485, .456, .406) and
        (.229, .224, .225) for colour, their means .449 and .226 for one channel. An 8-bit input takes the values as
        they are, and neither of these nor ``scale``.
    order : {"rgb", "bgr"}, default "rgb"
        Order of the channels.
    layout : {"nchw", "nhwc"}, optional
        Where the channels stand. From the graph where 1 or 3 channels stand there.
    input, output : str, optional
        Names. The only input of 4 axes; the first output of 2 axes, else the first of 4 or 3.
    pool : {"mean", "first"}, optional
        How an output of 3 axes (batch, tokens, values) becomes a vector: the mean of the tokens or the first. An
        output of 4 axes always gives its spatial mean.
    normalize : {"none", "l2"}, default "none"
        Whether vectors are divided by their length.

    Examples
    --------
    >>> options = OnnxOptions.from_text("size=160&std=0.5&mean=0.5", what="onnx:model.onnx")
    >>> options.size, options.mean
    ((160, 160), (0.5,))
    >>> options.as_text()
    'size=160&mean=0.5&std=0.5'
    """

    size: tuple[int, int] | None = None
    resize: ResizeRule = "stretch"
    filter: Filter = "bilinear"
    crop: float = 0.875
    scale: float = 1 / 255
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None
    order: _Order = "rgb"
    layout: Layout | None = None
    input: str | None = None
    output: str | None = None
    pool: Pool | None = None
    normalize: _Norm = "none"

    def __post_init__(self) -> None:
        problems = Problems("onnx parameters")
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in allowed:
                problems.add(f"{name}={value!r} is not one of {', '.join(allowed)}")
        if self.size is not None and (min(self.size) < 1):
            problems.add(f"size={self.size!r}: give height and width, at least 1 pixel each")
        if self.std is not None and any(value == 0 for value in self.std):
            problems.add(f"std={self.std!r}: no channel's std may be 0")
        problems.raise_if_any()

    @classmethod
    def from_text(cls, text: str, *, what: str) -> Self:
        """Read ``name=value`` pairs joined by ``&``, percent-encoded where needed; all problems at once."""
        known = {field.name for field in fields(cls)}
        problems = Problems(what)
        values: dict[str, Any] = {}
        for name, value in _pairs(text, problems):
            if name not in known:
                problems.add(f"parameter {name!r} is unknown; known are {', '.join(sorted(known))}")
            elif name in values:
                problems.add(f"parameter {name!r} is given twice; give it once")
            else:
                try:
                    values[name] = _READERS.get(name, str)(value)
                except ValueError:
                    problems.add(f"{name}={value!r} cannot be read; {_EXPECTED[name]}")
        problems.raise_if_any()
        return cls(**values)

    def as_text(self) -> str:
        """All values that are not the default, in a fixed order: equal options have equal texts."""
        parts = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                parts.append(f"{field.name}={quote(_written(field.name, value), safe=',')}")
        return "&".join(parts)


def _pairs(text: str, problems: Problems) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True, strict_parsing=True) if text else []
    except ValueError:
        problems.add(f"{text!r} is not a list of name=value joined by '&', such as 'size=224&mean=0.5'")
        return []


def _read_size(text: str) -> tuple[int, int]:
    height, cross, width = text.partition("x")
    return (int(height), int(width) if cross else int(height))


def _read_number(text: str) -> float:
    """Read 0.5 or 1/255."""
    top, slash, bottom = text.partition("/")
    try:
        value = float(top) / float(bottom) if slash else float(top)
    except ZeroDivisionError:
        raise ValueError(text) from None
    if not abs(value) < float("inf"):
        raise ValueError(text)
    return value


def _read_numbers(text: str) -> tuple[float, ...]:
    return tuple(_read_number(part) for part in text.split(","))


_READERS = {
    "size": _read_size,
    "crop": _read_number,
    "scale": _read_number,
    "mean": _read_numbers,
    "std": _read_numbers,
}
_EXPECTED = {
    "size": "give 224, or height and width as 224x160",
    "crop": "give a number such as 0.875",
    "scale": "give a number or a fraction such as 1/255",
    "mean": "give one number for all channels, or one for each: 0.485,0.456,0.406",
    "std": "give one number for all channels, or one for each: 0.229,0.224,0.225",
}


def _written(name: str, value: Any) -> str:
    if name == "size":
        height, width = value
        return str(height) if height == width else f"{height}x{width}"
    if isinstance(value, tuple):
        return ",".join(repr(part) for part in value)
    return str(value)
