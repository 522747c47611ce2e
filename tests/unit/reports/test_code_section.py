"""Codes in a report: curves against bits, the band of ties, chance and the float embedding beside it."""

from pathlib import Path

import numpy as np
import pytest

from visual_search import SharedLabels, evaluate_similarity
from visual_search.errors import InputError
from visual_search.evaluation.code_study import CodeStudy, study_codes
from visual_search.indexing.hashing import fit_hasher
from visual_search.reports.code_section import code_section, write_code_page
from visual_search.reports.wording import value


def vectors() -> tuple[np.ndarray[tuple[int, int], np.dtype[np.float32]], SharedLabels]:
    rng = np.random.default_rng(0)
    classes = np.arange(60) % 4
    made = rng.standard_normal((4, 12))[classes] * 2 + rng.standard_normal((60, 12))
    return made.astype(np.float32), SharedLabels.of(classes)


@pytest.fixture(scope="module")
def studies() -> dict[str, CodeStudy]:
    made, truth = vectors()
    found = {}
    for bits in (4, 12):
        codes = fit_hasher("itq", made, bits=bits).codes(made)
        found[f"itq <{bits}>"] = study_codes(codes, codes, truth, ["AP", "HitRate@1"], k_values=[5])
    return found


def test_a_section_has_the_numbers_and_escapes_names(studies: dict[str, CodeStudy]) -> None:
    made, truth = vectors()
    floats = evaluate_similarity(made, made, truth.relevance(), ["AP", "HitRate@1"])
    body = str(code_section(studies, vectors=floats).body)
    assert "<4>" not in body
    for study in studies.values():
        for result in (study.band.expected, study.band.best, study.band.worst, study.chance):
            assert value(result["AP"].mean) in body
    assert value(floats["AP"].mean) in body
    assert "against bits" in body
    assert "a tool that sorts could have printed anything" in body
    assert body.count('class="figure"') == 3
    assert "left out of the mean" in body


def test_one_length_has_no_curve_against_bits(studies: dict[str, CodeStudy], tmp_path: Path) -> None:
    name = next(iter(studies))
    section = code_section({name: studies[name]})
    assert "against bits" not in str(section.body)
    page = write_code_page([section], tmp_path / "codes.html").read_text("utf-8")
    assert str(section.body) in page
    assert "<script" not in page


def test_collapsed_codes_are_told() -> None:
    codes = np.ones((20, 8))
    body = str(code_section({"dead": study_codes(codes, codes, SharedLabels.of(np.arange(20) % 2), ["AP"])}).body)
    assert "exactly that of random retrieval" in body


def test_a_section_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="studies: none given"):
        code_section({})
