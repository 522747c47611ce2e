"""What an embedder is: a batch of decoded images to float32 vectors."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt
from PIL.Image import Image

from visual_search.errors import InputError, Problems

__all__ = ["Embedder", "EmbedderDescription", "EmbedderFactory", "TextEmbedder", "describe"]

Vectors = npt.NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Turns decoded RGB images into float32 vectors.

    The work of one image (resizing, scaling) is ``prepare``, which threads run side by side; the work of a batch is
    ``embed``, which one thread runs while others decode. ``embed(stack of prepare(image))`` is the vector; nothing
    else may matter (not the batch it was in, beyond float32 rounding).

    Attributes
    ----------
    name : str
        The text that makes this embedder again: ``"histogram"``, ``"onnx:model.onnx"``.
    dimension : int
        Length of a vector.
    preprocessing : str
        What is done to the pixels before the model, in words.
    weights_hash : str or None
        ``"sha256:..."`` of the weights; None where there are none.
    batch_size : int
        Images per call of ``embed`` that suits this embedder.
    decode_size : tuple of int or None
        Width and height that ``prepare`` shrinks to, where a JPEG may be decoded at a fraction of its size, never
        below twice these sides (``images.decoding``): several times faster for large photographs, and told in
        ``preprocessing``. None asks for every pixel.
    """

    @property
    def name(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def preprocessing(self) -> str: ...
    @property
    def weights_hash(self) -> str | None: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def decode_size(self) -> tuple[int, int] | None: ...

    def prepare(self, image: Image) -> npt.NDArray[Any]:
        """One decoded RGB image to the array the model takes (without the batch axis). Thread-safe."""
        ...

    def embed(self, batch: npt.NDArray[Any]) -> Vectors:
        """Prepared images stacked on axis 0 to float32 vectors of shape (n, dimension), all finite.

        n is 1 to ``batch_size``. The batch's memory is used again for the next one: neither keep it nor return a
        view of it.
        """
        ...


@runtime_checkable
class TextEmbedder(Embedder, Protocol):
    """An embedder whose model also takes text into the same space."""

    def embed_text(self, texts: list[str]) -> Vectors:
        """Texts to float32 vectors of shape (n, dimension)."""
        ...


class EmbedderFactory(Protocol):
    """What an entry point of the group ``visual_search.embedders`` names: usually the embedder's class."""

    def from_argument(self, argument: str) -> Embedder:
        """Make the embedder from what stands behind the colon of its text form; ``""`` where there is no colon."""
        ...


@dataclass(frozen=True, slots=True)
class EmbedderDescription:
    """What an index remembers of its embedder, enough to make it again and to tell whether it is the same."""

    name: str
    dimension: int
    preprocessing: str
    weights_hash: str | None

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Any, *, what: str = "embedder") -> Self:
        """Take the JSON object of ``as_json`` back; everything wrong with it is told at once.

        >>> EmbedderDescription.from_json({"name": "pixels", "dimension": 0, "preprocessing": ""})
        Traceback (most recent call last):
        ...
        visual_search.errors.InputError: embedder: 2 problems
          - dimension is 0; a whole number of at least 1 is needed
          - weights_hash is missing; text, or null for an embedder without weights
        """
        problems = Problems(what)
        if not isinstance(value, dict):
            raise InputError(f"{what}: a JSON object is needed, not {type(value).__name__}")
        for part in ("name", "preprocessing"):
            if not isinstance(value.get(part), str):
                problems.add(f"{part} is {value.get(part)!r}; text is needed")
        dimension = value.get("dimension")
        if not isinstance(dimension, int) or isinstance(dimension, bool) or dimension < 1:
            problems.add(f"dimension is {dimension!r}; a whole number of at least 1 is needed")
        if "weights_hash" not in value:
            problems.add("weights_hash is missing; text, or null for an embedder without weights")
        elif not isinstance(value["weights_hash"], str | None):
            problems.add(f"weights_hash is {value['weights_hash']!r}; text or null is needed")
        problems.raise_if_any()
        return cls(value["name"], value["dimension"], value["preprocessing"], value["weights_hash"])


def describe(embedder: Embedder) -> EmbedderDescription:
    """What to remember of an embedder."""
    return EmbedderDescription(embedder.name, embedder.dimension, embedder.preprocessing, embedder.weights_hash)
