"""What goes into a file of vectors comes out of it, and what was cut off or added is seen."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from visual_search.errors import FileFormatError
from visual_search.formats.vectors import VECTOR_FORMATS, read_vectors, write_vectors
from visual_search.formats.vectors_bin import BIN_TYPES
from visual_search.formats.vectors_vecs import VECS_TYPES

ANY = ["float16", "float32", "float64", "int8", "uint8", "int32", "int64"]


@st.composite
def matrices(draw: st.DrawFn, name: str) -> npt.NDArray[Any]:
    dtype = {**VECS_TYPES, **BIN_TYPES}.get(name) or draw(st.sampled_from(ANY))
    shape = (draw(st.integers(1, 6)), draw(st.integers(1, 5)))
    return draw(arrays.arrays(dtype, shape))


@pytest.mark.parametrize("name", VECTOR_FORMATS)
@given(data=st.data(), mmap=st.booleans(), order=st.sampled_from("CF"))
@settings(max_examples=10, deadline=None)
def test_round_trip_is_bit_for_bit(name: str, data: st.DataObject, mmap: bool, order: Any) -> None:
    values = np.array(data.draw(matrices(name)), order=order)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors"
        write_vectors(path, values, format=name)
        read = read_vectors(path, format=name, mmap=mmap)
        assert read.dtype == values.dtype
        assert np.ascontiguousarray(read.vectors).tobytes() == np.ascontiguousarray(values).tobytes()
        if read.mapped:
            assert mmap
            with pytest.raises(ValueError, match="read-only"):
                read.vectors[0, 0] = 1
        del read


@pytest.mark.parametrize("name", [name for name in VECTOR_FORMATS if name != "hdf5"])
@given(data=st.data())
@settings(max_examples=10, deadline=None)
def test_any_cut_or_addition_is_refused(name: str, data: st.DataObject) -> None:
    values = data.draw(matrices(name))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors"
        write_vectors(path, values, format=name)
        whole = path.read_bytes()
        # A whole number of rows fewer is a whole file of its own in a layout without a count.
        row = len(whole) // len(values)
        cuts = [cut for cut in range(1, len(whole)) if name not in VECS_TYPES or (len(whole) - cut) % row]
        path.write_bytes(whole[: -data.draw(st.sampled_from(cuts))])
        with pytest.raises(FileFormatError, match="vectors"):
            read_vectors(path, format=name)
        path.write_bytes(whole + b"\0")
        with pytest.raises(FileFormatError, match="vectors"):
            read_vectors(path, format=name)


@given(
    ids=st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=5, unique=True)
    | st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5, unique=True)
)
@settings(max_examples=40, deadline=None)
def test_ids_come_back_from_parquet(ids: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.parquet"
        write_vectors(path, np.ones((len(ids), 3), dtype=np.float32), ids)
        read = read_vectors(path)
        assert read.ids is not None
        assert list(read.ids) == ids
