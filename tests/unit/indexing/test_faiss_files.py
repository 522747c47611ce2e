"""Writing a FAISS structure takes nothing from it, and reading many files harms nothing."""

import gc
from pathlib import Path

import faiss
import numpy as np
import pytest

from visual_search.indexing.engines.faiss_files import read_faiss, unwrapped, write_with_rows
from visual_search.indexing.engines.registry import create_engine
from visual_search.indexing.index_table import VectorIndex


def test_a_written_structure_is_still_owned_and_freed_by_python(tmp_path: Path) -> None:
    structure = faiss.IndexFlatIP(4)
    structure.add(np.ones((3, 4), dtype=np.float32))
    write_with_rows(structure, np.array([5, 6, 9]), tmp_path / "x.faiss")
    assert structure.thisown
    assert structure.ntotal == 3
    back, rows = unwrapped(read_faiss(tmp_path / "x.faiss"))
    assert rows is not None
    assert rows.tolist() == [5, 6, 9]
    assert back.ntotal == 3


def test_an_index_opened_and_saved_many_times_in_one_process(tmp_path: Path) -> None:
    index = VectorIndex()
    index.add(["a", "b"], [[1.0, 2.0], [2.0, 1.0]])
    for _ in range(50):
        index.save(tmp_path / "index")
        index = VectorIndex.open(tmp_path / "index")
        gc.collect()
        assert index.search([[1.0, 2.0]], 1).listed(0)[0][0] == "a"


@pytest.mark.parametrize("count", [50, 50_000])
@pytest.mark.parametrize("name", ["flat", "ivf"])
def test_a_full_disk_is_the_systems_error(name: str, count: int) -> None:
    engine = create_engine(name, 2, "ip")
    vectors = np.ones((count, 2), dtype=np.float32)
    engine.train(vectors)
    engine.add(np.arange(count), vectors)
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        engine.save(Path("/dev/full"))


def test_a_folder_that_is_not_there_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="gone"):
        create_engine("flat", 2, "ip").save(tmp_path / "gone" / "vectors.faiss")
