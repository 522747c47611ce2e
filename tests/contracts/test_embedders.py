"""The embedders of this package keep the contract."""

from pathlib import Path
from typing import ClassVar

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from visual_search.testing.embedder_contract import EmbedderContract


class TestPixels(EmbedderContract):
    spec: ClassVar[str] = "pixels"


class TestPixelsOfAnotherSide(EmbedderContract):
    spec: ClassVar[str] = "pixels:5"


class TestHistogram(EmbedderContract):
    spec: ClassVar[str] = "histogram"


class TestPerceptualHash(EmbedderContract):
    spec: ClassVar[str] = "phash"


class TestShortPerceptualHash(EmbedderContract):
    spec: ClassVar[str] = "phash:64"


class TestEfficientNetLite0(EmbedderContract):
    spec: ClassVar[str] = "efficientnet-lite0"


@pytest.fixture(scope="module")
def small_network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One convolution and its spatial mean, seeded: enough of a network for the plumbing around it."""
    weights = np.random.default_rng(1).normal(size=(6, 3, 4, 4)).astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["image", "weights"], ["map"], strides=[4, 4]),
            helper.make_node("Tanh", ["map"], ["squashed"]),
            helper.make_node("ReduceMean", ["squashed"], ["vector"], axes=[2, 3], keepdims=0),
        ],
        "small",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 3, 16, 24])],
        [helper.make_tensor_value_info("vector", TensorProto.FLOAT, ["n", 6])],
        [numpy_helper.from_array(weights, "weights")],
    )
    path = tmp_path_factory.mktemp("onnx") / "small.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


class TestOnnx(EmbedderContract):
    @pytest.fixture(autouse=True)
    def _spec(self, small_network: Path) -> None:
        type(self).spec = f"onnx:{small_network}?resize=shorter-side&normalize=l2"


class TestOnnxAsTheGraphSays(EmbedderContract):
    @pytest.fixture(autouse=True)
    def _spec(self, small_network: Path) -> None:
        type(self).spec = f"onnx:{small_network}"
