from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from visual_search.errors import FileFormatError
from visual_search.indexing.embedders.onnx_external_data import external_data_files

Save = Callable[..., Path]


def far(name: str, location: str) -> TensorProto:
    """A tensor whose values lie in another file."""
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    for key, value in (("offset", "0"), ("location", location), ("length", "8")):
        tensor.external_data.add(key=key, value=value)
    return tensor


def test_a_model_in_one_file_has_none(mean_colour: Save) -> None:
    assert external_data_files(mean_colour()) == []


def test_the_shipped_network_has_none() -> None:
    from visual_search.indexing import embedders

    assert external_data_files(Path(embedders.__file__).parent / "weights" / "efficientnet_lite0.onnx") == []


def test_tensors_are_found_wherever_a_model_may_hold_them(tmp_path: Path) -> None:
    inner = helper.make_graph([], "inner", [], [], [far("w", "in a subgraph")])
    sparse = onnx.SparseTensorProto(values=far("v", "sparse values"), indices=far("i", "sparse indices"), dims=[9])
    nodes = [
        helper.make_node("Constant", [], ["c"], value=far("c", "in an attribute")),
        helper.make_node("If", ["c"], ["d"], then_branch=inner, else_branch=inner),
    ]
    graph = helper.make_graph(nodes, "outer", [], [], [far("a", "twice"), far("b", "twice")])
    graph.sparse_initializer.append(sparse)
    graph.initializer.append(numpy_helper.from_array(np.zeros(1000, np.float32), "near"))
    function = helper.make_function(
        "local", "F", [], ["e"], [helper.make_node("Constant", [], ["e"], value=far("e", "in a function"))], []
    )
    model = helper.make_model(graph, functions=[function])
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    assert external_data_files(tmp_path / "model.onnx") == [
        "in a function",
        "in a subgraph",
        "in an attribute",
        "sparse indices",
        "sparse values",
        "twice",
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "an empty file: 0 bytes"),
        (b"\x3a\x7f", "a field of 127 bytes at byte 2 ends beyond the 2 there are"),
        (b"\x3a", "the bytes end inside a number at byte 1"),
        (b"\x08" + b"\xff" * 10 + b"\x01", "a number of more than 10 bytes"),
        (b"\x0f", "no field has the kind 7"),
        (b"\x00\x01", "no field has the number 0"),
        (b"\x09\x01", "a field of 8 bytes at byte 1 ends beyond"),
        (b"\x3a\x02\x0a\x05", "a field of 5 bytes at byte 4 ends beyond the 4 there are"),
    ],
)
def test_bytes_that_are_no_message_are_refused_with_the_place(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=reason):
        external_data_files(path)


@given(st.binary(min_size=1, max_size=200))
def test_any_bytes_are_a_message_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.onnx"
    path.write_bytes(content)
    try:
        found = external_data_files(path)
    except FileFormatError:
        return
    assert all(isinstance(name, str) for name in found)
