"""Image models of Hugging Face Transformers by name, with a text tower where there is one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from visual_search.errors import InputError
from visual_search.indexing.embedders.arguments import needed_argument
from visual_search.indexing.embedders.hub_embedder import HubEmbedder
from visual_search.indexing.embedders.hub_packages import hub_package, loading, processor_in_words
from visual_search.indexing.embedders.torch_model import TorchModel

__all__ = ["TransformersEmbedder", "TransformersTextEmbedder"]


class TransformersEmbedder(HubEmbedder):
    """A Transformers model by name (transformers:google/siglip-base-patch16-224), L2-normalised.

    ``v = f / ||f||``, f the image features of a model with two towers, else the pooled output, else the first token
    of the last layer (or its spatial mean where that is a map).

    Parameters
    ----------
    model : str
        ``OWNER/NAME`` on the hub, with ``@REVISION`` where one is wanted, or a folder.

    Raises
    ------
    MissingDependencyError
        The ``hub`` extra is not installed.
    InputError
        No such model, or one that takes no images.

    Convention
    ----------
    Preprocessing is the model's own image processor. Code that comes with a model is never run. ``from_argument``
    gives a ``TransformersTextEmbedder`` where the model has a text tower.

    How to read it
    --------------
    Compare ``preprocessing`` and ``weights_hash`` between two runs before comparing their numbers.
    """

    def __init__(self, model: str) -> None:
        self._name = f"transformers:{model}"
        place, options = _place(model)
        transformers = hub_package("transformers", spec=self._name)
        with loading(self._name, known="names are OWNER/NAME as on the hub, or a folder"):
            network = transformers.AutoModel.from_pretrained(place, **options)
            self._processor = transformers.AutoImageProcessor.from_pretrained(place, **options)
        self._load_text(transformers, network, place, options)
        self._model = TorchModel(network, spec=self._name)
        self._dimension = int(self.embed(self.prepare(Image.new("RGB", (32, 32)))[None]).shape[1])

    @classmethod
    def from_argument(cls, argument: str) -> TransformersEmbedder:
        """Take the model's name; gives an embedder with text where the model has a text tower."""
        needed_argument(argument, "transformers", "transformers:google/siglip-base-patch16-224")
        place, options = _place(argument)
        transformers = hub_package("transformers", spec=f"transformers:{argument}")
        with loading(f"transformers:{argument}", known="names are OWNER/NAME as on the hub, or a folder"):
            config = transformers.AutoConfig.from_pretrained(place, **options)
        two_towers = hasattr(config, "text_config") and hasattr(config, "vision_config")
        return (TransformersTextEmbedder if two_towers else TransformersEmbedder)(argument)

    @property
    def preprocessing(self) -> str:
        """The image processor's settings in words."""
        return f"transformers image processor: {processor_in_words(self._processor)}; L2-normalised output"

    def prepare(self, image: Image.Image) -> npt.NDArray[Any]:
        """One image as the model's processor gives it, float32 of shape (3, height, width)."""
        pixels = self._processor(images=image, return_tensors="np").get("pixel_values")
        if pixels is None or pixels.ndim != 4 or len(pixels) != 1:
            raise InputError(
                f"{self._name}: its processor makes no single array of pixels; this model is not supported"
            )
        return np.ascontiguousarray(pixels[0], dtype=np.float32)

    def embed(self, batch: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Prepared images to unit vectors of shape (n, dimension)."""
        return self._model.unit_vectors(lambda: self._features(self._model.to_device(batch)))

    def _features(self, pixels: Any) -> Any:
        module = self._model.module
        if hasattr(module, "get_image_features"):
            return _pooled(module.get_image_features(pixel_values=pixels))
        output = module(pixel_values=pixels)
        if getattr(output, "pooler_output", None) is not None:
            return output.pooler_output.flatten(1)
        last = output.last_hidden_state
        return last.mean((2, 3)) if last.ndim == 4 else last[:, 0]

    def _load_text(self, transformers: Any, network: Any, place: str, options: dict[str, str]) -> None:
        """Nothing to load where there is no text tower."""


class TransformersTextEmbedder(TransformersEmbedder):
    """A Transformers model with two towers, so that text can be the query too."""

    def embed_text(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Texts to unit vectors of shape (n, dimension) in the images' space."""
        # SigLIP was trained on texts padded to the full length and is wrong on others; CLIP does not mind.
        tokens = self._tokenizer(
            texts, padding="max_length", max_length=self._longest_text, truncation=True, return_tensors="pt"
        )
        inputs = {name: self._model.to_device(value) for name, value in tokens.items()}
        return self._model.unit_vectors(lambda: _pooled(self._model.module.get_text_features(**inputs)))

    def _load_text(self, transformers: Any, network: Any, place: str, options: dict[str, str]) -> None:
        with loading(self._name, known="a model with a text tower needs its tokenizer"):
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(place, **options)
        self._longest_text = int(network.config.text_config.max_position_embeddings)


def _place(model: str) -> tuple[str, dict[str, str]]:
    """Name or folder, and the revision as the loaders take it."""
    place, _, revision = model.partition("@")
    return place, {"revision": revision} if revision else {}


def _pooled(features: Any) -> Any:
    """Features as a tensor: since Transformers 5 they come inside an output with ``pooler_output``."""
    return getattr(features, "pooler_output", features)
