import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile

import numpy as np
import numpy.typing as npt
import pytest

from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.indexing.engines import registry
from visual_search.testing.exact_answers import exact_by_brute_force
from visual_search.tuning.sweep_data import SweepData

Vectors = npt.NDArray[np.float32]


@pytest.fixture(scope="session")
def vectors() -> tuple[Vectors, Vectors]:
    rng = np.random.default_rng(7)
    centres = 3 * rng.normal(size=(12, 8))
    gallery = centres[rng.integers(0, 12, 600)] + rng.normal(size=(600, 8))
    return gallery.astype(np.float32), (centres[rng.integers(0, 12, 60)] + rng.normal(size=(60, 8))).astype(
        np.float32
    )


@pytest.fixture(scope="session")
def truth(vectors: tuple[Vectors, Vectors]) -> ExactNeighbors:
    return exact_by_brute_force(*vectors, 10)


@pytest.fixture(scope="session")
def data(vectors: tuple[Vectors, Vectors], truth: ExactNeighbors) -> SweepData:
    return SweepData.of(*vectors, k=10, truth=truth)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "sweep.jsonl"


@pytest.fixture
def sleepy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The engine of ``sleepy_engine.py``, installed as pip would; its folder."""
    folder = tmp_path / "plug-ins"
    metadata = folder / "sleepy-1.0.dist-info"
    metadata.mkdir(parents=True)
    copyfile(Path(__file__).with_name("sleepy_engine.py"), folder / "sleepy_engine.py")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: sleepy\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[visual_search.engines]\nsleepy = sleepy_engine:SleepyEngine\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "sleepy_engine", raising=False)
    registry._registered.cache_clear()
    yield folder
    monkeypatch.undo()
    registry._registered.cache_clear()
