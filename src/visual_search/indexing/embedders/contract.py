"""What an embedder is: a batch of decoded images to float32 vectors."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from PIL.Image import Image

__all__ = ["Embedder", "EmbedderDescription", "TextEmbedder", "describe"]

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

    def prepare(self, image: Image) -> npt.NDArray[Any]:
        """One decoded RGB image to the array the model takes (without the batch axis). Thread-safe."""
        ...

    def embed(self, batch: npt.NDArray[Any]) -> Vectors:
        """Prepared images stacked on axis 0 to float32 vectors of shape (n, dimension), all finite."""
        ...


@runtime_checkable
class TextEmbedder(Embedder, Protocol):
    """An embedder whose model also takes text into the same space."""

    def embed_text(self, texts: list[str]) -> Vectors:
        """Texts to float32 vectors of shape (n, dimension)."""
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


def describe(embedder: Embedder) -> EmbedderDescription:
    """What to remember of an embedder."""
    return EmbedderDescription(embedder.name, embedder.dimension, embedder.preprocessing, embedder.weights_hash)
