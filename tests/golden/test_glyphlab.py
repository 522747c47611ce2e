"""GlyphLab's figures: those the retrieval chapter prints, and what this generator's bytes and rankings are."""

import importlib.util
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from visual_search import Relevance, evaluate_similarity
from visual_search.datasets.glyphlab import SEED, SEVERITIES, GlyphLab, corrupt, generate_glyphlab
from visual_search.formats.fingerprint import fingerprint_array, fingerprint_file
from visual_search.workflows.glyphlab_lab import PRECISION, LabReport, run_lab

# SHA-256 of what the shipped seed writes, taken when the generator was first complete.
FILES = {
    "images.npy": "sha256:1ec7741ef5300f41f8331c131b68a79d70c9aa52c87d75bd3b2526da515ffc99",
    "corrupted_test.npy": "sha256:4b83132a6c1e949ffe143bac08025da23ff131ec6cd419bee63052b34b77589b",
    "metadata.csv": "sha256:9df480e896f607c18da3cf1927ec42a291ba6a6bfd403031efce7f6494442238",
}
IMAGES = "sha256:8487bcde35d95fd821a1ae10d59d3e38fb70b16bc81599fad495c35a8847fadf"


@pytest.fixture(scope="module")
def data() -> GlyphLab:
    return generate_glyphlab()


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> LabReport:
    return run_lab(tmp_path_factory.mktemp("lab") / "data")


@pytest.fixture(scope="module")
def seed_finder() -> ModuleType:
    path = Path(__file__).parents[2] / "tools" / "find_glyphlab_seed.py"
    spec = importlib.util.spec_from_file_location("find_glyphlab_seed", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_files_are_the_same_bytes_everywhere(data: GlyphLab, tmp_path: Path) -> None:
    written = {path.name: fingerprint_file(path) for path in data.write(tmp_path)}
    assert written == FILES
    assert np.array_equal(np.load(tmp_path / "images.npy", allow_pickle=False), data.images)
    # Of the values alone, whatever npy's header says.
    assert fingerprint_array(data.images) == IMAGES


def test_the_chapters_report_of_the_clean_views(data: GlyphLab) -> None:
    # The chapter prints R@1, R@3, R@5, R@10 and mAP@5 = 1.0000 for view 0 -> view 1, back, and both together.
    first, second = data.rows("test", 0), data.rows("test", 1)
    forms = ["HitRate@1", "HitRate@3", "HitRate@5", "HitRate@10", "AP(denominator=min)@5"]
    for queries, gallery in ((first, second), (second, first)):
        for relevance in (
            Relevance.from_groups(data.scene_ids[queries], data.scene_ids[gallery]),
            Relevance.from_labels(data.scene_ids[queries], data.scene_ids[gallery]),
        ):
            result = evaluate_similarity(
                data.images[queries].reshape(30, -1), data.images[gallery].reshape(30, -1), relevance, forms
            )
            assert [found.mean for found in result.values()] == [1.0] * 5
            assert all(found.counted == 30 for found in result.values())


def test_the_chapters_figures_of_the_corrupted_view(data: GlyphLab) -> None:
    # R@1 = .967 and mAP@5 = .983 for view 0 of corrupted_test.npy against the clean view 1.
    first, second = data.rows("test", 0), data.rows("test", 1)
    relevance = Relevance.from_groups(data.scene_ids[first], data.scene_ids[second])
    result = evaluate_similarity(
        data.corrupted_test[0::2].reshape(30, -1),
        data.images[second].reshape(30, -1),
        relevance,
        ["HitRate@1", "AP(denominator=min)@5"],
    )
    assert result["HitRate@1"].mean == 29 / 30
    assert result["AP(denominator=min)@5"].mean == pytest.approx(29.5 / 30, abs=1e-15)


def test_the_lab_gives_the_same_in_one_table(lab: LabReport) -> None:
    hits = {row.condition: round(row.result["HitRate@1"].values.sum()) for row in lab.rows}
    assert hits == {
        "view 0 -> view 1": 30,
        "view 1 -> view 0": 30,
        "both directions": 60,
        "view 0 at severity 1 -> view 1": 30,
        "view 0 at severity 2 -> view 1": 29,
        "view 0 at severity 3 -> view 1": 27,
        "view 0 at severity 4 -> view 1": 19,
        "view 0 at severity 5 -> view 1": 10,
        "another scene of the class, both": 44,
    }
    precision = {row.condition: row.result[PRECISION].mean for row in lab.rows}
    assert precision["both directions"] == 1
    assert precision["view 0 at severity 2 -> view 1"] == pytest.approx(29.5 / 30, abs=1e-15)
    falling = [precision[f"view 0 at severity {severity} -> view 1"] for severity in SEVERITIES[1:]]
    assert falling == sorted(falling, reverse=True)
    assert precision["another scene of the class, both"] == pytest.approx(0.2283, abs=5e-5)


def test_chance_is_in_closed_form(lab: LabReport) -> None:
    for row in lab.rows[:-1]:
        assert row.random["HitRate@1"].mean == pytest.approx(1 / 30, abs=1e-15)
        assert row.random[PRECISION].mean == pytest.approx(sum(1 / rank for rank in range(1, 6)) / 30, abs=1e-15)
    # Nine of 29: at rank r the expected precision at a hit is (1 + (r - 1) 8/28) / r.
    hard = lab.rows[-1].random
    assert hard["HitRate@1"].mean == pytest.approx(9 / 29, abs=1e-15)
    expected = sum(9 / 29 * (1 + (rank - 1) * 8 / 28) / rank for rank in range(1, 6)) / 5
    assert hard[PRECISION].mean == pytest.approx(expected, abs=1e-12)


def test_every_figure_equals_a_recount_in_whole_numbers(data: GlyphLab, lab: LabReport) -> None:
    """Cosines compared exactly: for one query, a/|g| is ordered as a^2/|g|^2, a ratio of whole numbers."""
    test = data.rows("test")
    clean = levels(data.images[test])
    asked = {"view 0 -> view 1": clean, "view 1 -> view 0": clean, "both directions": clean}
    asked["another scene of the class, both"] = clean
    for severity in SEVERITIES[1:]:
        asked[f"view 0 at severity {severity} -> view 1"] = levels(corrupt(data.images[test], severity))
    for row in lab.rows:
        by_class = row.condition.startswith("another scene")
        for query, hit, precision in zip(
            row.result.queries, row.result["HitRate@1"].values, row.result[PRECISION].values, strict=True
        ):
            place = test.tolist().index(int(query))
            right = exact_list(data, place, asked[row.condition][place], clean, by_class=by_class)
            assert hit == right[0]
            total = sum(right)
            summed = sum(Fraction(sum(right[:rank]), rank) for rank in range(1, 6) if right[rank - 1])
            assert precision == pytest.approx(float(summed / min(total, 5)), abs=1e-12)


def exact_list(data: GlyphLab, place: int, query: Any, gallery: Any, *, by_class: bool) -> list[bool]:
    """Whether each item of a query's ranking is right, best first."""
    test = data.rows("test").tolist()
    own = test[place]
    items = [
        (row, image)
        for row, image in zip(test, gallery, strict=True)
        if data.view_ids[row] != data.view_ids[own]
        and not (by_class and data.scene_ids[row] == data.scene_ids[own])
    ]
    kind = data.labels if by_class else data.scene_ids
    scored = [
        (Fraction(int(query @ image) ** 2, int(image @ image)), kind[row] == kind[own]) for row, image in items
    ]
    assert len({score for score, _ in scored}) == len(scored)
    return [bool(right) for _, right in sorted(scored, key=lambda pair: -pair[0])]


def levels(images: Any) -> Any:
    return np.rint(images.astype(np.float64) * 255).astype(np.int64).reshape(len(images), -1)


def test_the_shipped_seed_is_the_smallest_that_the_search_accepts(seed_finder: ModuleType) -> None:
    assert [seed_finder.accepted(generate_glyphlab(seed)) for seed in range(SEED + 1)] == [False] * SEED + [True]


def test_every_deciding_similarity_is_far_from_the_next(seed_finder: ModuleType, data: GlyphLab) -> None:
    found = seed_finder.conditions(data)
    margins = {name: condition.margin() for name, condition in found.items()}
    assert min(margins["0 -> 1"], margins["1 -> 0"]) > 0.02
    assert margins["severity 2"] > 0.001
    assert min(margins.values()) > 1e-5
