"""A result's name may be as long as a file system takes; its companions are told apart all the same."""

from pathlib import Path

import pytest

from visual_search.errors import InputError
from visual_search.formats.results import StoredResult, read_result, write_result
from visual_search.testing.sample_results import sample_results


def again(stored: StoredResult, out: Path) -> StoredResult:
    record = {key: value for key, value in stored.record.items() if not key.startswith("file")}
    queries = stored.queries().to_pydict()
    return write_result(out, record, ranking=stored.ranking().to_pydict(), queries=queries, items=None)


@pytest.mark.parametrize("name", ["x" * 250 + ".json", "é" * 125 + ".json", "x" * 226 + ".json"])
def test_names_up_to_255_bytes_are_written_read_and_replaced(tmp_path: Path, name: str) -> None:
    stored = sample_results(tmp_path / "sample", objects=2, views=2)[0]
    folder = tmp_path / "out"
    folder.mkdir()
    for _ in range(2):
        again(stored, folder / name)
        found = read_result(folder / name)
        assert found.ranking().equals(stored.ranking())
        assert found.queries().num_rows == 4
    assert len(list(folder.iterdir())) == 3
    other = folder / f"y{name[1:]}"
    again(stored, other)
    assert read_result(folder / name).ranking().num_rows == read_result(other).ranking().num_rows
    assert len(list(folder.iterdir())) == 6


def test_longer_ones_are_refused(tmp_path: Path) -> None:
    stored = sample_results(tmp_path / "sample", objects=2, views=2)[0]
    with pytest.raises(InputError, match="a name of 256 bytes"):
        again(stored, tmp_path / ("x" * 251 + ".json"))
