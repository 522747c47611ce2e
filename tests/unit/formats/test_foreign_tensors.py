"""Tensors that numpy has no form for: the message says what to call."""

from typing import Any

import pytest

from visual_search.errors import InputError
from visual_search.formats.arrays import as_numpy


class Tensor:
    """What a tensor of another library shows of itself."""

    def __init__(self, dtype: str, layout: str) -> None:
        self.dtype, self.layout, self.device = dtype, layout, "cpu"

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("unsupported")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("unsupported")


@pytest.mark.parametrize(
    ("dtype", "layout", "words"),
    [
        ("torch.bfloat16", "torch.strided", r"x: dtype bfloat16, which numpy does not have; give .float\(\)"),
        ("torch.float8_e4m3fn", "torch.strided", r"dtype float8_e4m3fn.*\.float\(\)"),
        ("torch.float32", "torch.sparse_coo", r"x: a sparse tensor; give its dense form \(.to_dense\(\)\)"),
        ("torch.float32", "torch.strided", "move it to the CPU"),
    ],
)
def test_what_to_call_is_told(dtype: str, layout: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        as_numpy(Tensor(dtype, layout), what="x")
