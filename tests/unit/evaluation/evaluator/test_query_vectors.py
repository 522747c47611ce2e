from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.errors import DimensionError, InputError, UndecodableImageError
from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.evaluation.query_vectors import checked_embeddings, embed_queries
from visual_search.ids import Id


class Embeds:
    """Embeds a file as its size and the length of its name."""

    def __init__(self, scale: Any = 1.0) -> None:
        self.scale = scale

    def embed_images(self, paths: Sequence[Path]) -> Any:
        return np.array([[path.stat().st_size, len(path.name)] for path in paths], dtype=np.float32) * self.scale


def dataset(folder: Path | None = None, **paths: str | None) -> EvaluationDataset:
    queries = [
        {"query_id": query, "ground_truth": ["x"]} | ({} if path is None else {"image_path": path})
        for query, path in paths.items()
    ]
    return EvaluationDataset.from_dict({"queries": queries}, folder=folder)


def test_vectors_come_in_the_order_of_the_queries_as_float32() -> None:
    given: dict[Id, Any] = {"b": np.array([3.0, 4.0]), "a": [1, 2], "c": np.array([[5, 6]]), "unused": "no vector"}
    found = checked_embeddings(given, ["a", "b", "c"], 2)
    assert found.dtype == np.float32
    assert found.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_an_array_is_not_taken_by_position() -> None:
    given: Any = np.eye(3)
    with pytest.raises(InputError, match="is ndarray; give a mapping of query id to vector"):
        checked_embeddings(given, [2, 1, 0], 3)


def test_everything_wrong_with_given_vectors_is_told_at_once() -> None:
    given: dict[Id, Any] = {
        "a": [1, 2],
        "b": [1, 2, 3],
        "c": [np.nan, 0],
        "d": [[1, 2], [3, 4]],
        "e": "words",
        "f": [1e300, 0],
        "g": [],
        "h": 5.0,
    }
    with pytest.raises(InputError) as caught:
        checked_embeddings(given, [*"abcdefgh", "missing"], None)
    said = str(caught.value)
    assert (
        "1 of 9 queries have no vector, first 'missing'; the keys must be the dataset's query ids (given: 'a'"
        in said
    )
    assert "1 vector is not of dimension 2, which most have; first 'b: 3'" in said
    assert "2 vectors hold NaN or infinity (as float32), first 'c', 'f'" in said
    assert "'d': an array of shape (2, 2); a vector has shape (d,)" in said
    assert "'e': not a vector of numbers" in said
    assert "'g': an array of shape (0,)" in said
    assert "'h': an array of shape ()" in said


def test_the_index_says_which_dimension_is_wanted() -> None:
    with pytest.raises(InputError, match="2 vectors are not of dimension 512, which the index takes"):
        checked_embeddings({"a": [1, 2], "b": [3, 4]}, ["a", "b"], 512)


def test_query_images_are_embedded_in_order(tmp_path: Path) -> None:
    (tmp_path / "one.jpg").write_bytes(b"1")
    (tmp_path / "three.jpg").write_bytes(b"333")
    found = embed_queries(Embeds(), dataset(tmp_path, a="three.jpg", b="one.jpg"))
    assert found.tolist() == [[3, 9], [1, 7]]


def test_all_missing_files_and_paths_are_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.jpg").write_bytes(b"1")
    with pytest.raises(InputError) as caught:
        embed_queries(Embeds(), dataset(tmp_path, a="gone.jpg", b="there.jpg", c=None, d=str(tmp_path / "far.jpg")))
    said = str(caught.value)
    assert "1 of 4 queries have no image_path, first 'c'; give one or pass precomputed_embeddings" in said
    assert f"'a': no file 'gone.jpg' (looked in {tmp_path})" in said
    assert f"'d': no file '{tmp_path / 'far.jpg'}'" in said
    assert "'b'" not in said


def test_both_folders_are_told_where_they_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "now").mkdir()
    monkeypatch.chdir(tmp_path / "now")
    with pytest.raises(InputError, match="no file 'gone.jpg'") as caught:
        embed_queries(Embeds(), dataset(tmp_path, a="gone.jpg"))
    assert f"(looked in {tmp_path} and in {tmp_path / 'now'})" in str(caught.value)


class Decodes(Embeds):
    """Refuses empty files in the manner given: all of them named, or the first without a name."""

    def __init__(self, *, names: bool) -> None:
        super().__init__()
        self.names = names

    def embed_images(self, paths: Sequence[Path]) -> Any:
        empty = [path for path in paths if not path.stat().st_size]
        if empty and self.names:
            lines = [f"  - {path}: an empty file: 0 bytes" for path in empty]
            raise UndecodableImageError("\n".join([f"images: {len(empty)} problems", *lines]))
        if empty:
            raise OSError("image file is truncated")
        return super().embed_images(paths)


@pytest.mark.parametrize(
    ("names", "reason"), [(True, "an empty file: 0 bytes"), (False, "image file is truncated")]
)
def test_unreadable_images_are_told_with_their_queries_all_at_once(
    tmp_path: Path, names: bool, reason: str
) -> None:
    for name, data in {"a": b"", "b": b"1", "c": b""}.items():
        (tmp_path / f"{name}.jpg").write_bytes(data)
    with pytest.raises(UndecodableImageError) as caught:
        embed_queries(Decodes(names=names), dataset(tmp_path, q1="a.jpg", q2="b.jpg", q3="c.jpg"))
    assert str(caught.value).splitlines() == [
        "query images: 2 problems",
        f"  - 'q1': {str(tmp_path / 'a.jpg')!r} cannot be read: {reason}",
        f"  - 'q3': {str(tmp_path / 'c.jpg')!r} cannot be read: {reason}",
    ]


def test_vectors_that_are_no_mapping_are_refused() -> None:
    with pytest.raises(InputError, match="precomputed_embeddings is list; give a mapping of query id to vector"):
        checked_embeddings([[1, 2]], ["a"], 2)  # type: ignore[arg-type]


def test_a_service_that_embeds_no_images_says_what_to_do() -> None:
    with pytest.raises(InputError, match=r"\(object\) has no embed_images; pass precomputed_embeddings"):
        embed_queries(object(), dataset(a="x.jpg"))


def test_what_the_embedder_gave_is_checked(tmp_path: Path) -> None:
    (tmp_path / "one.jpg").write_bytes(b"1")
    with pytest.raises(InputError, match="embed_images: 1 problem"):
        embed_queries(Embeds(np.nan), dataset(tmp_path, a="one.jpg"))
    with pytest.raises(DimensionError, match=r"shape \(1, 1, 2\) for 1 image"):
        embed_queries(Embeds(np.ones((1, 1, 1))), dataset(tmp_path, a="one.jpg"))
