"""Small ONNX models, made here and never stored, and as much of torch as the hub embedders touch.

The hub embedders are run against the real libraries by tools/check_hub_embedders.py.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
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


class FakeTensor:
    """As much of ``torch.Tensor`` as the embedders touch, over a NumPy array, with torch's own refusals."""

    def __init__(self, array: Any, device: str = "cpu", *, needs_grad: bool = False) -> None:
        self.array = np.asarray(array)
        self.device = device
        self.needs_grad = needs_grad

    @property
    def ndim(self) -> int:
        return self.array.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def dtype(self) -> str:
        return f"torch.{self.array.dtype}"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def __getitem__(self, place: Any) -> "FakeTensor":
        return self._like(self.array[place])

    def _like(self, array: Any) -> "FakeTensor":
        return FakeTensor(array, self.device, needs_grad=self.needs_grad and not FakeTorch.inference)

    def detach(self) -> "FakeTensor":
        return FakeTensor(self.array, self.device)

    def cpu(self) -> "FakeTensor":
        return FakeTensor(self.array, needs_grad=self.needs_grad)

    def to(self, device: str) -> "FakeTensor":
        return FakeTensor(self.array, device, needs_grad=self.needs_grad)

    def contiguous(self) -> "FakeTensor":
        return self._like(np.ascontiguousarray(self.array))

    def float(self) -> "FakeTensor":
        return self._like(self.array.astype(np.float32))

    def flatten(self, start: int) -> "FakeTensor":
        return self._like(self.array.reshape(*self.array.shape[:start], -1))

    def mean(self, axes: tuple[int, ...]) -> "FakeTensor":
        return self._like(self.array.mean(axes))

    def reshape(self, *shape: int) -> "FakeTensor":
        return self._like(self.array.reshape(*shape))

    def view(self, dtype: Any) -> "FakeTensor":
        return self._like(self.array.view(dtype))

    def numel(self) -> int:
        return self.array.size

    def numpy(self) -> np.ndarray:
        if self.device != "cpu":
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        if self.needs_grad:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
            )
        return self.array


class FakeModule:
    """As much of ``torch.nn.Module`` as the embedders touch: weights that grow a gradient, a device, a mode."""

    def __init__(self, seed: int, rows: int, columns: int) -> None:
        values = np.random.default_rng(seed).normal(size=(rows, columns)).astype(np.float32)
        self.weights = FakeTensor(values, needs_grad=True)
        self.training = True

    def state_dict(self) -> dict[str, FakeTensor]:
        return {"weights": self.weights.detach(), "step": FakeTensor(np.int64(3))}

    def to(self, device: str) -> "FakeModule":
        self.weights = self.weights.to(device)
        return self

    def eval(self) -> "FakeModule":
        self.training = False
        return self

    def project(self, rows: FakeTensor) -> FakeTensor:
        """Rows of numbers through the weights, as a layer would."""
        assert not self.training, "a network in training mode gives other vectors"
        if rows.device != self.weights.device:
            raise RuntimeError("Expected all tensors to be on the same device")
        flat = rows.array.reshape(len(rows.array), -1).astype(np.float32)
        product = flat @ self.weights.array[: flat.shape[1]]
        return FakeTensor(product, rows.device, needs_grad=not FakeTorch.inference)


class FakeTorch(ModuleType):
    """As much of ``torch`` as the embedders touch."""

    Tensor = FakeTensor
    uint8 = np.uint8
    inference = False

    def __init__(self, *, cuda: bool = False) -> None:
        super().__init__("torch")
        self.cuda = SimpleNamespace(is_available=lambda: cuda)

    @staticmethod
    def from_numpy(array: np.ndarray) -> FakeTensor:
        return FakeTensor(array)

    @staticmethod
    @contextmanager
    def inference_mode() -> Iterator[None]:
        FakeTorch.inference = True
        try:
            yield
        finally:
            FakeTorch.inference = False


Fakes = SimpleNamespace(Tensor=FakeTensor, Module=FakeModule, Torch=FakeTorch)


@pytest.fixture
def fakes() -> SimpleNamespace:
    """The classes above, for tests to build their hubs from."""
    return Fakes


@pytest.fixture(params=["cpu", "cuda"])
def torch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> FakeTorch:
    """A torch without and with a GPU, in place of whatever is installed."""
    module = FakeTorch(cuda=request.param == "cuda")
    monkeypatch.setitem(sys.modules, "torch", module)
    return module
