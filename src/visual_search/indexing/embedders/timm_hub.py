"""Image models of timm by name."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from PIL.Image import Image

from visual_search.indexing.embedders.arguments import needed_argument
from visual_search.indexing.embedders.hub_embedder import HubEmbedder
from visual_search.indexing.embedders.hub_packages import hub_package, loading, settings_in_words
from visual_search.indexing.embedders.torch_model import TorchModel

__all__ = ["TimmEmbedder"]


class TimmEmbedder(HubEmbedder):
    """A timm model by name (timm:resnet50), pooled features before the classifier, L2-normalised.

    ``v = f / ||f||``, f what the model gives with ``num_classes=0``.

    Parameters
    ----------
    model : str
        Name as timm lists it, with a tag where wanted (``resnet50.a1_in1k``), or ``hf-hub:OWNER/NAME``, or
        ``local-dir:FOLDER``.
    pretrained : bool, default True
        False leaves the weights at random values, for tests of the plumbing.

    Raises
    ------
    MissingDependencyError
        The ``hub`` extra is not installed.
    InputError
        timm knows no such model, or cannot get its weights.

    Convention
    ----------
    Preprocessing is the one timm builds for evaluation from the model's own data configuration. There is no text
    tower.

    How to read it
    --------------
    Cosines of features after a ReLU lie in [0, 1] and crowd near its upper end for some models; compare ranks, not
    cosines, between models.
    """

    def __init__(self, model: str, *, pretrained: bool = True) -> None:
        self._name = f"timm:{model}"
        timm = hub_package("timm", spec=self._name)
        data = hub_package("timm.data", spec=self._name)
        with loading(self._name, known="timm.list_models(pretrained=True) lists the names"):
            network = timm.create_model(model, pretrained=pretrained, num_classes=0)
        self._model = TorchModel(network, spec=self._name)
        self._config: dict[str, Any] = data.resolve_model_data_config(network)
        self._transform = data.create_transform(**self._config, is_training=False)
        self._dimension = int(network.num_features)

    @classmethod
    def from_argument(cls, argument: str) -> Self:
        """Take the model's name."""
        return cls(needed_argument(argument, "timm", "timm:resnet50"))

    @property
    def preprocessing(self) -> str:
        """The model's data configuration in words."""
        return f"timm evaluation transform: {settings_in_words(self._config)}; L2-normalised output"

    def prepare(self, image: Image) -> npt.NDArray[Any]:
        """One image as the model's transform gives it, float32 of shape (3, height, width)."""
        return np.asarray(self._transform(image))

    def embed(self, batch: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Prepared images to unit vectors of shape (n, dimension)."""
        return self._model.unit_vectors(lambda: self._model.module(self._model.to_device(batch)))
