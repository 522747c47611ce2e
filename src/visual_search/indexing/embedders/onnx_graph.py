"""Which input of an ONNX model is the image, which output the vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from visual_search.counted import counted
from visual_search.errors import InputError
from visual_search.indexing.embedders.onnx_options import Layout, OnnxOptions, Pool

__all__ = ["ImageInput", "VectorOutput", "image_input", "vector_output"]

_TYPES: dict[str, type[np.generic]] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(uint8)": np.uint8,
}
_DEFAULT_SIDE = 224


@dataclass(frozen=True, slots=True)
class ImageInput:
    """The input that takes images.

    Attributes
    ----------
    name : str
    dtype : numpy type
        float32, float16 or uint8.
    layout : {"nchw", "nhwc"}
    channels : int
        1 or 3.
    height, width : int
    batch : int or None
        Images per inference where the graph fixes it.
    """

    name: str
    dtype: type[np.generic]
    layout: Layout
    channels: int
    height: int
    width: int
    batch: int | None


@dataclass(frozen=True, slots=True)
class VectorOutput:
    """The output that becomes the vector, with its number of axes and how those beyond two are averaged."""

    name: str
    axes: int
    pool: Pool


def image_input(inputs: Sequence[Any], options: OnnxOptions, *, what: str) -> ImageInput:
    """Find the image input among a session's inputs; options fill what the graph leaves open.

    Raises
    ------
    InputError
        No input, or several, could take an image; or the options contradict the graph.
    """
    chosen = _chosen_input(inputs, options, what)
    dtype = _TYPES.get(chosen.type)
    if dtype is None:
        raise InputError(f"{what}: input {chosen.name!r} takes {chosen.type}; known are {', '.join(_TYPES)}")
    others = [one.name for one in inputs if one.name != chosen.name]
    if others:
        raise InputError(
            f"{what}: besides the image {chosen.name!r} the model needs {', '.join(map(repr, others))}; export the "
            "image tower alone"
        )
    shape = [side if isinstance(side, int) and side > 0 else None for side in chosen.shape]
    layout = options.layout or _layout(shape, chosen, what)
    batch, *rest = shape
    channels, height, width = rest if layout == "nchw" else (rest[2], *rest[:2])
    if channels not in (None, 1, 3):
        raise InputError(
            f"{what}: input {chosen.name!r} has shape {chosen.shape}; as {layout} that is "
            f"{counted(channels, 'channel', 'channels')}"
        )
    return ImageInput(
        chosen.name,
        dtype,
        layout,
        channels or 3,
        _side(height, options.size and options.size[0], "height", chosen, what),
        _side(width, options.size and options.size[1], "width", chosen, what),
        batch,
    )


def vector_output(outputs: Sequence[Any], options: OnnxOptions, *, what: str) -> VectorOutput:
    """Find the output that holds one vector an image.

    Raises
    ------
    InputError
        The output asked for is not there, has no fitting shape, or needs ``pool``.
    """
    listed = ", ".join(f"{one.name!r} {one.type} {one.shape}" for one in outputs)
    if options.output is not None:
        named = [one for one in outputs if one.name == options.output]
        if not named:
            raise InputError(f"{what}: there is no output {options.output!r}; the model has {listed}")
    else:
        named = [one for axes in (2, 4, 3) for one in outputs if len(one.shape) == axes]
    if not named or len(named[0].shape) not in (2, 3, 4):
        raise InputError(f"{what}: an output of 2, 3 or 4 axes is needed; the model has {listed}")
    chosen = named[0]
    if chosen.type not in ("tensor(float)", "tensor(float16)", "tensor(double)"):
        raise InputError(
            f"{what}: output {chosen.name!r} gives {chosen.type}, not numbers with a fraction; choose "
            f"another with output=; the model has {listed}"
        )
    axes = len(chosen.shape)
    if axes == 3 and options.pool is None:
        raise InputError(
            f"{what}: output {chosen.name!r} has shape {chosen.shape}, one vector a token; say pool=first (a class "
            "token) or pool=mean"
        )
    return VectorOutput(chosen.name, axes, options.pool or "mean")


def _chosen_input(inputs: Sequence[Any], options: OnnxOptions, what: str) -> Any:
    listed = ", ".join(f"{one.name!r} {one.type} {one.shape}" for one in inputs) or "none"
    if options.input is not None:
        named = [one for one in inputs if one.name == options.input]
        if not named:
            raise InputError(f"{what}: there is no input {options.input!r}; the model has {listed}")
        if len(named[0].shape) != 4:
            raise InputError(f"{what}: input {options.input!r} has shape {named[0].shape}; an image needs 4 axes")
        return named[0]
    images = [one for one in inputs if len(one.shape) == 4]
    if not images:
        raise InputError(f"{what}: no input takes an image (4 axes); the model has {listed}")
    if len(images) > 1:
        raise InputError(
            f"{what}: several inputs could take an image; choose one with input=; the model has {listed}"
        )
    return images[0]


def _layout(shape: Sequence[int | None], chosen: Any, what: str) -> Layout:
    first, last = shape[1] in (1, 3), shape[3] in (1, 3)
    if first != last:
        return "nchw" if first else "nhwc"
    raise InputError(
        f"{what}: input {chosen.name!r} has shape {chosen.shape}, which does not tell where the channels stand; "
        "say layout=nchw or layout=nhwc"
    )


def _side(fixed: int | None, said: int | None, name: str, chosen: Any, what: str) -> int:
    if fixed is not None and said is not None and fixed != said:
        raise InputError(
            f"{what}: size says a {name} of {said}, but input {chosen.name!r} has shape {chosen.shape}; leave size "
            f"out or give {fixed}"
        )
    return fixed or said or _DEFAULT_SIDE
