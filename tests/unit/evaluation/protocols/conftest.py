"""A small table of scenes with two views, as the retrieval chapter has them."""

from typing import Any

import pytest

LABELS = ("vertical", "horizontal", "diagonal")


def scenes_table(scenes: int = 12, test: int = 6) -> dict[str, list[Any]]:
    rows = [(scene, view) for scene in range(scenes) for view in (0, 1)]
    return {
        "index": list(range(100, 100 + len(rows))),
        "scene_id": [f"G{scene % 3}-{scene:04d}" for scene, _ in rows],
        "view_id": [view for _, view in rows],
        "split": ["test" if scene >= scenes - test else "train" for scene, _ in rows],
        "label": [LABELS[scene % 3] for scene, _ in rows],
    }


@pytest.fixture
def table() -> dict[str, list[Any]]:
    return scenes_table()
