"""CLIP models of open_clip by name, with their text towers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from PIL.Image import Image

from visual_search.errors import InputError
from visual_search.indexing.embedders.arguments import needed_argument
from visual_search.indexing.embedders.hub_embedder import HubEmbedder
from visual_search.indexing.embedders.hub_packages import hub_package, loading, settings_in_words
from visual_search.indexing.embedders.torch_model import TorchModel

__all__ = ["OpenClipEmbedder"]

_EXAMPLE = "open_clip:ViT-B-32/laion2b_s34b_b79k"


class OpenClipEmbedder(HubEmbedder):
    """An open_clip model by name and weights (open_clip:ViT-B-32/laion2b_s34b_b79k), for images and text.

    ``v = f / ||f||``, f the image's or the text's feature in the space both share.

    Parameters
    ----------
    model : str
        Architecture, or ``hf-hub:OWNER/NAME`` for one with weights of its own.
    weights : str, optional
        Tag of the published weights, or a file. None leaves them at random values unless the model is from a hub,
        for tests of the plumbing.

    Raises
    ------
    MissingDependencyError
        The ``hub`` extra is not installed.
    InputError
        open_clip knows no such model or weights, or cannot get them.

    Convention
    ----------
    Preprocessing is the model's own for evaluation. In a text form the weights stand after the first slash.

    How to read it
    --------------
    Cosines between two images and between image and text live on different scales (near .6 and near .25 for related
    pairs is usual); rank within one kind of query, never across.
    """

    def __init__(self, model: str, weights: str | None = None) -> None:
        self._name = f"open_clip:{model}" + (f"/{weights}" if weights else "")
        open_clip = hub_package("open_clip", spec=self._name)
        with loading(self._name, known="open_clip.list_pretrained() lists pairs of model and weights"):
            network, _, self._transform = open_clip.create_model_and_transforms(model, pretrained=weights)
            self._tokenize = open_clip.get_tokenizer(model)
        self._config: dict[str, Any] = dict(open_clip.get_model_preprocess_cfg(network))
        self._model = TorchModel(network, spec=self._name)
        self._dimension = int(self.embed(self._blank(network))[0].size)

    @classmethod
    def from_argument(cls, argument: str) -> Self:
        """Take ``MODEL/WEIGHTS`` or ``hf-hub:OWNER/NAME``."""
        needed_argument(argument, "open_clip", _EXAMPLE)
        if argument.startswith(("hf-hub:", "local-dir:")):
            return cls(argument)
        model, slash, weights = argument.partition("/")
        if not slash or not weights:
            raise InputError(
                f"open_clip:{argument}: the weights are missing; write MODEL/WEIGHTS, as in {_EXAMPLE!r}"
            )
        return cls(model, weights)

    @property
    def preprocessing(self) -> str:
        """The model's preprocessing configuration in words."""
        return f"open_clip evaluation transform: {settings_in_words(self._config)}; L2-normalised output"

    def prepare(self, image: Image) -> npt.NDArray[Any]:
        """One image as the model's transform gives it, float32 of shape (3, height, width)."""
        return np.asarray(self._transform(image))

    def embed(self, batch: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Prepared images to unit vectors of shape (n, dimension)."""
        return self._model.unit_vectors(lambda: self._model.module.encode_image(self._model.to_device(batch)))

    def embed_text(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Texts to unit vectors of shape (n, dimension) in the same space."""
        tokens = self._model.to_device(self._tokenize(texts))
        return self._model.unit_vectors(lambda: self._model.module.encode_text(tokens))

    def _blank(self, network: Any) -> npt.NDArray[np.float32]:
        size = network.visual.image_size
        height, width = size if isinstance(size, tuple | list) else (size, size)
        return np.zeros((1, 3, height, width), dtype=np.float32)
