"""Small pictures to index."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Twenty-four distinct pictures in two folders."""
    folder = tmp_path / "pictures"
    rng = np.random.default_rng(5)
    for number in range(24):
        place = folder / ("even" if number % 2 == 0 else "odd") / f"{number:02}.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (12, 16, 3), dtype=np.uint8)).save(place)
    return folder
