import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.errors import FileFormatError, InputError, MissingDependencyError
from visual_search.formats.vectors import read_vectors, write_vectors
from visual_search.formats.vectors_hdf5 import write_hdf5

SOME = np.arange(12, dtype=np.float32).reshape(4, 3)


def refused(path: Path, **options: Any) -> str:
    with pytest.raises(FileFormatError) as caught:
        read_vectors(path, **options)
    assert str(path) in str(caught.value)
    return str(caught.value)


# What is asked for.


def test_a_format_is_known_by_suffix_or_name(tmp_path: Path) -> None:
    write_vectors(tmp_path / "a.h5", SOME)
    assert read_vectors(tmp_path / "a.h5").format == "hdf5"
    write_vectors(tmp_path / "a.f16", SOME.astype(np.float16))
    assert read_vectors(str(tmp_path / "a.f16")).format == "f16bin"
    assert "format=" in refused(tmp_path / "a.vectors")
    with pytest.raises(InputError, match="did you mean 'fvecs'"):
        read_vectors(tmp_path / "a.f16", format="fvec")


def test_options_of_another_format_are_refused(tmp_path: Path) -> None:
    write_vectors(tmp_path / "a.npy", SOME)
    with pytest.raises(InputError, match=r"dataset belongs to hdf5.*id_column belongs to parquet"):
        read_vectors(tmp_path / "a.npy", dataset="test", id_column="name")


def test_absent_and_empty_files(tmp_path: Path) -> None:
    for name in ("npy", "fvecs", "fbin", "hdf5", "parquet"):
        assert "no such file" in refused(tmp_path / f"absent.{name}")
        (tmp_path / f"empty.{name}").touch()
        assert "empty file" in refused(tmp_path / f"empty.{name}")


@pytest.mark.parametrize("name", ["npy", "hdf5", "parquet"])
def test_a_file_of_another_kind(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"picture.{name}"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    assert "not a whole" in refused(path)


# What is written.


def test_types_are_not_converted(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"dtype float64, but fvecs holds float32; convert first"):
        write_vectors(tmp_path / "a.fvecs", SOME.astype(np.float64))
    for array in (SOME[0], SOME.astype(object), SOME.astype(complex), SOME > 3, SOME[:, :0]):
        with pytest.raises(InputError, match="array:"):
            write_vectors(tmp_path / "a.npy", array)
    assert list(tmp_path.iterdir()) == []


def test_what_a_format_would_lose_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="fbin keeps none"):
        write_vectors(tmp_path / "a.fbin", SOME, ids=range(4))
    with pytest.raises(InputError, match="npy keeps none"):
        write_vectors(tmp_path / "a.npy", SOME, metric="l2")
    with pytest.raises(InputError, match="3 ids for 4 vectors"):
        write_vectors(tmp_path / "a.parquet", SOME, ids=range(3))
    for name in ("fvecs", "parquet"):
        with pytest.raises(InputError, match="no rows"):
            write_vectors(tmp_path / f"a.{name}", SOME[:0])
    assert list(tmp_path.iterdir()) == []


def test_no_rows_keep_their_dimension_where_there_is_a_header(tmp_path: Path) -> None:
    for name in ("npy", "fbin", "hdf5"):
        write_vectors(tmp_path / f"none.{name}", SOME[:0])
        assert read_vectors(tmp_path / f"none.{name}").shape == (0, 3)


def test_a_map_is_written_in_blocks(tmp_path: Path) -> None:
    # Above the block of 16 MiB, so that more than one is written.
    large = np.memmap(tmp_path / "raw", dtype=np.uint8, mode="w+", shape=((1 << 18) + 5, 70))
    large[:] = np.arange(70, dtype=np.uint8)
    large[-1] = 255
    for name in ("u8bin", "bvecs", "npy", "hdf5"):
        write_vectors(tmp_path / f"a.{name}", large)
        read = read_vectors(tmp_path / f"a.{name}")
        assert read.mapped
        assert read.shape == large.shape
        assert np.array_equal(read.vectors[[0, 1 << 17, -1]], large[[0, 1 << 17, -1]])
        del read
        (tmp_path / f"a.{name}").unlink()


# npy.


def test_an_npy_of_objects_is_never_unpickled(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"

    class Bomb:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "exploded",))

    np.save(path, np.array([[Bomb()]], dtype=object), allow_pickle=True)
    assert "unpickling runs code" in refused(path)
    path.write_bytes(pickle.dumps(Bomb()))
    assert "not a whole npy file" in refused(path)
    assert not (tmp_path / "exploded").exists()


def test_a_zip_of_arrays_is_no_npy(tmp_path: Path) -> None:
    with (tmp_path / "a.npy").open("wb") as stream:
        np.savez(stream, a=SOME)
    assert "not a whole npy file" in refused(tmp_path / "a.npy")


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (SOME[0], "vector[None, :]"),
        (SOME[None], "shape (1, 4, 3)"),
        (SOME.astype(complex), "dtype complex128"),
        (SOME > 2, "dtype bool"),
        (np.array([["a", "b"]]), "dtype <U1"),
        (np.zeros((2, 2), dtype=[("x", "f4")]), "dtype"),
        (SOME[:, :0], "dimension 0"),
    ],
)
def test_arrays_that_are_no_vectors(array: Any, words: str, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", array)
    assert words in refused(tmp_path / "a.npy")


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ("(5, 3)", "truncated by 12"),
        ("(3, 3)", "12 too many"),
        ("(-4, 3)", "shape (-4, 3)"),
        ("(True, 12)", "shape (True, 12)"),
        ("((4, 3)", "not a whole npy file"),
        ("(4, 30)", "truncated"),
    ],
)
def test_an_npy_header_that_lies(shape: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, SOME)
    blank = "(4, 3), }" + " " * 4
    assert blank.encode() in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(blank.encode(), f"{shape}, }}".ljust(len(blank)).encode()))
    assert words in refused(path)


def test_fortran_order_is_right_and_told(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.asfortranarray(SOME))
    read = read_vectors(tmp_path / "a.npy")
    assert read.mapped
    assert np.array_equal(read.vectors, SOME)
    assert "Fortran" in read.notes[0]
    whole = read_vectors(tmp_path / "a.npy", mmap=False)
    assert whole.vectors.flags.c_contiguous
    assert np.array_equal(whole.vectors, SOME)
    assert whole.notes == ()


def test_the_other_byte_order_is_right_and_told(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", SOME.astype(">f4"))
    write_hdf5(tmp_path / "a.hdf5", train=SOME.astype(">f4"), metric="l2")
    for name in ("npy", "hdf5"):
        read = read_vectors(tmp_path / f"a.{name}")
        assert read.dtype == np.float32
        assert read.dtype.isnative
        assert np.array_equal(read.vectors, SOME)
        assert "byte order" in read.notes[0]


# fvecs, bvecs, ivecs.


def test_mixed_dimensions_name_the_first_rows(tmp_path: Path) -> None:
    def row(dimension: int) -> bytes:
        return dimension.to_bytes(4, "little", signed=True) + bytes(4 * dimension)

    path = tmp_path / "a.fvecs"
    path.write_bytes(b"".join(map(row, [3, 3, 2, 3, 5, 3, 2, 2, 2, 2])))
    words = refused(path)
    assert "row 2 has 2, row 4 has 5, row 6 has 2, row 7 has 2, row 8 has 2;" in words
    path.write_bytes(row(3) * 2 + b"\xff\xff\xff\xff" + bytes(12))
    assert "row 2 has -1" in refused(path)


def test_every_row_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "a.bvecs"
    rows = np.zeros((200_000, 5), dtype=np.uint8)
    rows[:, 0] = 1
    rows[150_000, 0] = 9
    path.write_bytes(rows.tobytes())
    assert "row 150000 has 9" in refused(path)


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"\0\0\0\0", "dimension 0"),
        (b"\xff\xff\xff\xff", "dimension -1"),
        (b"\0\0\0\x80", "big-endian it would be 128"),
        (b"\xff\xff\xff\x7f", "dimension 2147483647"),
        (b"\x03\0", "2 bytes"),
    ],
)
def test_impossible_dimensions(head: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "a.fvecs").write_bytes(head + (bytes(512) if len(head) == 4 else b""))
    assert words in refused(tmp_path / "a.fvecs")


def test_truncated_in_a_row(tmp_path: Path) -> None:
    path = tmp_path / "a.fvecs"
    write_vectors(path, SOME)
    path.write_bytes(path.read_bytes()[:-1])
    assert "after 3 whole rows 15 bytes are left" in refused(path)
    path.write_bytes(path.read_bytes()[:10])
    assert "after 0 whole rows" in refused(path)


def test_bytes_read_as_floats_are_seen(tmp_path: Path) -> None:
    write_vectors(tmp_path / "a.bvecs", np.full((40, 16), 7, dtype=np.uint8))
    assert "rows of different dimension" in refused(tmp_path / "a.bvecs", format="fvecs")


# fbin and its family.


def test_a_crop_that_kept_the_larger_header(tmp_path: Path) -> None:
    path = tmp_path / "a.fbin"
    write_vectors(path, SOME)
    path.write_bytes((1_000_000_000).to_bytes(4, "little") + path.read_bytes()[4:])
    words = refused(path)
    assert "1,000,000,000 x 3 float32" in words
    assert "room for 4 rows" in words


def test_negative_rows_and_another_component(tmp_path: Path) -> None:
    path = tmp_path / "a.fbin"
    write_vectors(path, SOME)
    path.write_bytes(b"\xff\xff\xff\xff" + path.read_bytes()[4:])
    assert "read as signed would be -1" in refused(path)
    write_vectors(tmp_path / "b.u8bin", SOME.astype(np.uint8))
    assert "fits format='u8bin'" in refused(tmp_path / "b.u8bin", format="fbin")
    path.write_bytes(bytes(5))
    assert "the header alone" in refused(path)
    path.write_bytes(b"\x01\0\0\0\0\0\0\x80" + bytes(512))
    assert "big-endian it would be 128" in refused(path)


# HDF5.


def test_the_benchmark_layout(tmp_path: Path) -> None:
    path = tmp_path / "a.hdf5"
    write_hdf5(
        path, train=SOME, test=SOME[:2], neighbors=[[0, 1], [1, 0]], distances=[[0.0, 1.0]] * 2, metric="cosine"
    )
    train = read_vectors(path)
    assert (train.metric, train.mapped, train.notes) == ("cosine", True, ())
    assert np.array_equal(train.vectors, SOME)
    assert np.array_equal(read_vectors(path, dataset="test").vectors, SOME[:2])
    assert "there are distances, neighbors, test, train" in refused(path, dataset="tests")


def test_packed_and_unknown(tmp_path: Path) -> None:
    import h5py

    path = tmp_path / "a.hdf5"
    with h5py.File(path, "w") as file:
        file.create_dataset("train", data=SOME, compression="gzip")
        file.create_dataset("flat", data=SOME.ravel())
        file.attrs["distance"] = "chebyshev"
    read = read_vectors(path)
    assert not read.mapped
    assert np.array_equal(read.vectors, SOME)
    assert (read.metric, len(read.notes)) == (None, 2)
    assert "'chebyshev'" in read.notes[0]
    assert "size_train" in refused(path, dataset="flat")


def test_truncated_hdf5(tmp_path: Path) -> None:
    path = tmp_path / "a.hdf5"
    write_hdf5(path, train=SOME)
    path.write_bytes(path.read_bytes()[:-8])
    refused(path)


def test_values_in_other_files_are_not_fetched(tmp_path: Path) -> None:
    import h5py

    write_hdf5(tmp_path / "other.hdf5", train=SOME)
    path = tmp_path / "a.hdf5"
    with h5py.File(path, "w") as file:
        file["train"] = h5py.ExternalLink(str(tmp_path / "other.hdf5"), "train")
        (tmp_path / "raw").write_bytes(SOME.tobytes())
        file.create_dataset("raw", SOME.shape, "f4", external=str(tmp_path / "raw"))
        layout = h5py.VirtualLayout(SOME.shape, "f4")
        layout[:] = h5py.VirtualSource(tmp_path / "other.hdf5", "train", SOME.shape)
        file.create_virtual_dataset("virtual", layout)
    for name in ("train", "raw", "virtual"):
        assert "lies in other files" in refused(path, dataset=name)


def test_data_sets_that_do_not_belong_together(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"test has dimension 2, train 3; neighbors.*of 1 queries, test 4"):
        write_hdf5(tmp_path / "a.hdf5", train=SOME, test=SOME[:, :2], neighbors=[[1]])
    with pytest.raises(InputError, match="metric: got 'l1'"):
        write_hdf5(tmp_path / "a.hdf5", train=SOME, metric="l1")
    assert list(tmp_path.iterdir()) == []


def test_without_h5py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    (tmp_path / "a.hdf5").write_bytes(b"x")
    for act in (lambda: read_vectors(tmp_path / "a.hdf5"), lambda: write_vectors(tmp_path / "b.hdf5", SOME)):
        with pytest.raises(MissingDependencyError, match=r"pip install 'visual-search\[formats\]'"):
            act()


# Parquet.


def test_parquet_columns(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"name": ["a", "b"], "one": [[1.0, 2.0], [3.0, 4.0]], "two": [[1], [2]]}), path)
    assert "2 columns of lists (one, two)" in refused(path)
    read = read_vectors(path, vector_column="one", id_column="name")
    assert read.vectors.tolist() == [[1, 2], [3, 4]]
    assert list(read.ids or ()) == ["a", "b"]
    wrong: list[dict[str, Any]] = [{"vector_column": "name"}, {"vector_column": "one", "id_column": "id"}]
    for options in wrong:
        with pytest.raises(InputError, match="there are"):
            read_vectors(path, **options)


@pytest.mark.parametrize(
    ("lists", "words"),
    [
        ([[1.0, 2.0], [3.0], [1.0, 2.0], []], "row 1 has 1, row 3 has 0"),
        ([[1.0, 2.0], None], "row 1 has 0"),
        ([[1.0, 2.0], [None, 1.0]], "empty components in 1 rows: 1"),
        ([[], []], "row 0 has dimension 0"),
        ([["a"], ["b"]], "dtype object"),
        ([], "no rows"),
    ],
)
def test_parquet_rows_that_are_no_vectors(lists: list[Any], words: str, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kind = pa.list_(pa.string() if lists[:1] == [["a"]] else pa.float32())
    pq.write_table(pa.table({"vector": pa.array(lists, kind)}), tmp_path / "a.parquet")
    assert words in refused(tmp_path / "a.parquet")


def test_parquet_ids_that_are_missing_or_twice(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["a", None], "vector": [[1.0], [2.0]]}), path)
    assert "column 'id' is empty in 1 rows: 1" in refused(path)
    pq.write_table(pa.table({"id": ["a", "a"], "vector": [[1.0], [2.0]]}), path)
    with pytest.raises(InputError, match="'a'"):
        read_vectors(path)
