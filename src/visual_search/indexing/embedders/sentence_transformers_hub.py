"""Models of Sentence Transformers by name, ``clip-ViT-B-32`` first of all."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from visual_search.errors import InputError
from visual_search.indexing.embedders.arguments import needed_argument
from visual_search.indexing.embedders.hub_embedder import HubEmbedder
from visual_search.indexing.embedders.hub_packages import hub_package, loading, processor_in_words
from visual_search.indexing.embedders.normalization import unit_rows
from visual_search.indexing.embedders.torch_model import TorchModel

__all__ = ["SentenceTransformersEmbedder", "SentenceTransformersTextEmbedder"]

_PIXELS = "pixel_values"


class SentenceTransformersEmbedder(HubEmbedder):
    """A Sentence Transformers model by name (sentence-transformers:clip-ViT-B-32), L2-normalised.

    ``v = f / ||f||``, f the model's ``sentence_embedding`` of the image.

    Parameters
    ----------
    model : str
        Name on the hub, or a folder.
    loaded : SentenceTransformer, optional
        The model itself, where it has been loaded already.

    Raises
    ------
    MissingDependencyError
        The ``hub`` extra is not installed.
    InputError
        No such model, or one that takes no images.

    Convention
    ----------
    Preprocessing is the model's own. ``from_argument`` gives a ``SentenceTransformersTextEmbedder`` where the model
    takes text, as CLIP does. Code that comes with a model is never run.

    How to read it
    --------------
    ``clip-ViT-B-32`` gives 512 values. Cosines of unrelated photographs are near .5, not near 0; those between a
    text and a picture that fits it near .3. Compare ranks, never cosines of two kinds of query.
    """

    def __init__(self, model: str, *, loaded: Any = None) -> None:
        self._name = f"sentence-transformers:{model}"
        network = _load(model) if loaded is None else loaded
        if not _takes(network, "image"):
            raise InputError(f"embedder {self._name!r} takes no images; choose a model with an image tower")
        # Until version 5.3 images went through ``tokenize``.
        self._preprocess = getattr(network, "preprocess", None) or network.tokenize
        self._model = TorchModel(network, spec=self._name)
        blank = self._preprocess([Image.new("RGB", (32, 32))])
        if _PIXELS not in blank or blank[_PIXELS].ndim != 4:
            raise InputError(f"embedder {self._name!r}: its processor makes no single array of pixels for an image")
        self._beside = {name: value for name, value in blank.items() if name != _PIXELS}
        self._dimension = int(self.embed(np.asarray(blank[_PIXELS])).shape[1])

    @classmethod
    def from_argument(cls, argument: str) -> SentenceTransformersEmbedder:
        """Take the model's name; gives an embedder with text where the model takes text."""
        network = _load(needed_argument(argument, "sentence-transformers", "sentence-transformers:clip-ViT-B-32"))
        made = SentenceTransformersTextEmbedder if _takes(network, "text") else SentenceTransformersEmbedder
        return made(argument, loaded=network)

    @property
    def preprocessing(self) -> str:
        """The image processor's settings in words."""
        processor = getattr(self._model.module[0], "processor", None)
        return f"sentence-transformers image processor: {processor_in_words(processor)}; L2-normalised output"

    def prepare(self, image: Image.Image) -> npt.NDArray[Any]:
        """One image as the model's processor gives it, float32 of shape (3, height, width)."""
        return np.asarray(self._preprocess([image])[_PIXELS][0], dtype=np.float32)

    def embed(self, batch: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Prepared images to unit vectors of shape (n, dimension)."""
        # Whatever else the processor says of one image (its kind, its place in a mixed list) holds for each.
        beside = {
            name: value * len(batch) if isinstance(value, list) else value for name, value in self._beside.items()
        }
        features = {_PIXELS: self._model.to_device(batch), **beside}
        return self._model.unit_vectors(lambda: self._model.module(features)["sentence_embedding"])


class SentenceTransformersTextEmbedder(SentenceTransformersEmbedder):
    """A Sentence Transformers model that takes images and text."""

    def embed_text(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Texts to unit vectors of shape (n, dimension) in the images' space."""
        vectors = self._model.module.encode(texts, convert_to_numpy=True, show_progress_bar=False)
        return unit_rows(np.asarray(vectors, dtype=np.float32))


def _load(model: str) -> Any:
    spec = f"sentence-transformers:{model}"
    package = hub_package("sentence_transformers", spec=spec)
    with loading(spec, known="names are as on the hub (clip-ViT-B-32, OWNER/NAME), or a folder"):
        return package.SentenceTransformer(model)


def _takes(network: Any, kind: str) -> bool:
    supports = getattr(network, "supports", None)
    if supports is not None:
        return bool(supports(kind))
    # Before version 5.4 only the CLIP module took images, and it took text too.
    return kind == "text" or type(network[0]).__name__ == "CLIPModel"
