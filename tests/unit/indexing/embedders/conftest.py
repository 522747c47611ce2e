"""Small ONNX models, made here: none is stored."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

SaveModel = Callable[..., Path]


@pytest.fixture
def save_model(tmp_path: Path) -> SaveModel:
    """Save a graph of the nodes given: ``save_model(nodes, inputs, outputs, weights)``; says where."""

    def save(
        nodes: Sequence[onnx.NodeProto],
        inputs: Sequence[tuple[str, int, Sequence[Any]]],
        outputs: Sequence[tuple[str, int, Sequence[Any]]],
        weights: dict[str, Any] | None = None,
        *,
        name: str = "model.onnx",
        **options: Any,
    ) -> Path:
        graph = helper.make_graph(
            list(nodes),
            "graph",
            [helper.make_tensor_value_info(*one) for one in inputs],
            [helper.make_tensor_value_info(*one) for one in outputs],
            [numpy_helper.from_array(np.asarray(value), key) for key, value in (weights or {}).items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        onnx.save(model, tmp_path / name, **options)
        return tmp_path / name

    return save


@pytest.fixture
def mean_colour(save_model: SaveModel) -> SaveModel:
    """Save a model whose vector is the mean of each channel: preprocessing can be read off it."""

    def save(shape: Sequence[Any] = ("n", 3, 8, 8), kind: int = TensorProto.FLOAT, **options: Any) -> Path:
        channels_first = shape[1] in (1, 3)
        axes = [2, 3] if channels_first else [1, 2]
        nodes = [helper.make_node("ReduceMean", ["image"], ["vector"], axes=axes, keepdims=0)]
        if kind == TensorProto.UINT8:
            nodes = [
                helper.make_node("Cast", ["image"], ["numbers"], to=TensorProto.FLOAT),
                helper.make_node("ReduceMean", ["numbers"], ["vector"], axes=axes, keepdims=0),
            ]
        given = TensorProto.FLOAT16 if kind == TensorProto.FLOAT16 else TensorProto.FLOAT
        channels = shape[1] if channels_first else shape[3]
        return save_model(nodes, [("image", kind, shape)], [("vector", given, [shape[0], channels])], **options)

    return save
