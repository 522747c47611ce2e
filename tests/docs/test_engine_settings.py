"""The page on engines tells every setting of every engine, with its default and its meaning."""

from pathlib import Path
from typing import Any

import pytest

from visual_search.indexing.engines.registry import engine_class, engine_names

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "choose-an-engine.md"
BUILT_IN = {"faiss", "flat", "hamming", "hnsw", "hnswlib", "ivf", "pgvector", "usearch"}


def rows(name: str) -> list[str]:
    engine: Any = engine_class(name)
    return [
        f"| `{name}` | `{setting.name}` | {default_in_words(setting.default)} | {setting.when} | {setting.meaning} |"
        for setting in engine.SETTINGS
    ]


def default_in_words(default: int | str) -> str:
    if isinstance(default, int):
        return str(default)
    return f"`{default}`" if default else "empty"


def test_the_built_in_engines_are_those_told_of() -> None:
    assert set(engine_names()) >= BUILT_IN


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_every_setting_is_told(name: str) -> None:
    text = PAGE.read_text("utf-8")
    assert f"`{name}`" in text
    missing = [row for row in rows(name) if row not in text]
    assert not missing, "\n".join(["docs/how-to/choose-an-engine.md lacks:", *missing])
