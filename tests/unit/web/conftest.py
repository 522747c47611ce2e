"""An explorer over a small index and a few results, asked without a network."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

from visual_search.testing.sample_results import sample_results
from visual_search.web.app import create_app
from visual_search.web.settings import ExplorerSettings
from visual_search.workflows.index_images import index_images

ADDRESS = "http://127.0.0.1:8000"


@pytest.fixture(scope="session")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve pictures of one colour each, in two folders."""
    folder = tmp_path_factory.mktemp("photos")
    shades = np.random.default_rng(7).integers(0, 256, (12, 3))
    for number, shade in enumerate(shades.tolist()):
        place = folder / f"set-{number % 2}" / f"{number}.png"
        place.parent.mkdir(exist_ok=True)
        Image.new("RGB", (40, 30), tuple(shade)).save(place)
    return folder


@pytest.fixture(scope="session")
def photo_index(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    index = tmp_path_factory.mktemp("index") / "photos.index"
    index_images(photos, index, embedder="histogram")
    return index


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of two systems under two protocols, with their pictures; read only."""
    folder = tmp_path_factory.mktemp("made")
    sample_results(folder, objects=5, views=3)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of them to change."""
    shutil.copytree(made, tmp_path / "results")
    return tmp_path / "results"


@pytest.fixture
def explore() -> Iterator[Callable[..., TestClient]]:
    """Makes a client of an explorer with the settings given."""
    with ExitStack() as stack:

        def explored(address: str = ADDRESS, **settings: Any) -> TestClient:
            app = create_app(ExplorerSettings(**settings))
            stack.callback(app.state.explorer.close)
            return stack.enter_context(TestClient(app, base_url=address, follow_redirects=False))

        yield explored
