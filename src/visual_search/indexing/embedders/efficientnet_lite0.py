"""The pretrained network that comes with the package."""

from __future__ import annotations

from importlib.resources import files
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from PIL.Image import Image

from visual_search.errors import FingerprintError
from visual_search.formats.fingerprint import fingerprint_bytes
from visual_search.indexing.embedders.arguments import no_argument
from visual_search.indexing.embedders.normalization import unit_rows
from visual_search.indexing.embedders.onnx_session import open_session, run
from visual_search.indexing.embedders.resizing import Resize

__all__ = ["EfficientNetLite0Embedder"]

_RESIZE = Resize(224, 224, rule="stretch", filter="bilinear")


class EfficientNetLite0Embedder:
    """EfficientNet-Lite0 trained on ImageNet, mean of the last feature map: 1280 values, L2-normalised.

    ``v = f / ||f||``, ``f_c = mean over y, x of F_c(y, x)`` with F the last feature map (7 x 7 x 1280, after its
    ReLU6) of the network without its classifier.

    Parameters
    ----------
    threads : int, optional
        Threads that share one inference; all cores this process may use when None. Does not change the vectors
        beyond float32 rounding.

    Raises
    ------
    FingerprintError
        The weights in the installed package are not the published ones.

    Convention
    ----------
    The whole image is stretched to 224 x 224: what lies near the border is part of the picture, and on face
    photographs centre crops lost up to .135 of mAP (docs/explanation/embedders.md). Activations are >= 0, so
    cosines lie in [0, 1]; a feature map without any activation would take the uniform direction.

    How to read it
    --------------
    Knows the 1,000 classes of ImageNet and the textures and parts they are made of. Two views of one scene have
    cosines near .85, unrelated photographs near .2. It has no text tower and knows no faces or brands by name.

    References
    ----------
    M. Tan and Q. V. Le, EfficientNet: Rethinking model scaling for convolutional neural networks, ICML 2019; the
    Lite variants and their weights are by the TensorFlow authors (Apache License 2.0, see NOTICE).

    Examples
    --------
    >>> from PIL import Image
    >>> embedder = EfficientNetLite0Embedder(threads=1)
    >>> prepared = embedder.prepare(Image.new("RGB", (640, 480), "olive"))
    >>> prepared.shape, embedder.embed(prepared[None]).shape
    ((3, 224, 224), (1, 1280))
    """

    name = "efficientnet-lite0"
    dimension = 1280
    decode_size = (_RESIZE.width, _RESIZE.height)
    preprocessing = (
        f"JPEG decoded at no less than twice the size, RGB, {_RESIZE.words}, (value - 127) / 128, "
        "L2-normalised output"
    )
    weights_hash = "sha256:f74e213348be74ebc86946a3ff169f35beb290c6adcebf9127a30c702710fa04"
    batch_size = 4  # larger ones leave the cache and cost more processor time an image

    def __init__(self, *, threads: int | None = None) -> None:
        weights = (
            files("visual_search.indexing.embedders").joinpath("weights", "efficientnet_lite0.onnx").read_bytes()
        )
        found = fingerprint_bytes(weights)
        if found != self.weights_hash:
            raise FingerprintError(
                f"{self.name}: the installed weights have {found}, the published ones {self.weights_hash}; "
                "install visual-search again"
            )
        self._session = open_session(weights, what=self.name, threads=threads)

    @classmethod
    def from_argument(cls, argument: str) -> Self:
        """Take no argument."""
        no_argument(argument, cls.name)
        return cls()

    def prepare(self, image: Image) -> npt.NDArray[Any]:
        """One image as float32 of shape (3, 224, 224), about -1 to 1."""
        planes = np.asarray(_RESIZE(image)).transpose(2, 0, 1)
        # One pass over bytes and one in place, nine times faster than over float32; every step is exact in float32.
        prepared = np.empty(planes.shape, dtype=np.float32)
        np.multiply(planes, np.float32(1 / 128), out=prepared)
        prepared -= np.float32(127 / 128)
        return prepared

    def embed(self, batch: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Prepared images, shape (n, 3, 224, 224), to unit vectors of shape (n, 1280)."""
        return unit_rows(run(self._session, "embedding", {"image": batch}, what=self.name))
