"""The pages on conventions: their tables are what the code says, and no measure or choice is missing from them."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from visual_search import parse_measure
from visual_search.evaluation.measures.parameters import declared
from visual_search.evaluation.measures.registry import BUILT_IN, measure_class
from visual_search.evaluation.protocols.presets import PRESETS
from visual_search.evaluation.ties import TIE_RULES

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "explanation" / "conventions").glob("*.md"))


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("convention_tables", ROOT / "tools" / "convention_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tables_are_what_the_code_says(page: Path, tables: ModuleType) -> None:
    text = page.read_text("utf-8")
    assert "<!-- table:" in text
    assert tables.renewed(text) == text, "run python tools/convention_tables.py"


def test_every_family_choice_preset_and_rule_is_told() -> None:
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    for name in BUILT_IN:
        assert re.search(rf"^#+ .*\b{name}\b", text, re.MULTILINE), f"no heading for {name}"
        for key, (_, parameter) in declared(measure_class(name)).items():
            assert f"`{key}`" in text, f"{name}: nothing on {key}"
            for choice in parameter.choices:
                assert choice in text, f"{name}: nothing on {key}={choice}"
    for word in (*PRESETS, *TIE_RULES):
        assert f"`{word}`" in text, f"nothing on {word}"


def test_forms_written_in_the_pages_read() -> None:
    written = {
        form
        for page in PAGES
        for form in re.findall(r"`([A-Z][A-Za-z0-9]+(?:\([a-z_0-9=., ]*\))?@\d+)`", page.read_text("utf-8"))
    }
    assert len(written) > 25
    for form in written:
        parse_measure(form)
