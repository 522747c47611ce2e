import pytest

from visual_search.evaluation.near_ids import NearIds
from visual_search.ids import Id


@pytest.mark.parametrize(
    ("wanted", "there", "near"),
    [
        ("img_001", ["img_001.jpg", "img_002.jpg"], ["img_001.jpg"]),
        ("img_001.png", ["img_001.jpg"], ["img_001.jpg"]),
        ("IMG_001.JPG", ["img_001.jpg"], ["img_001.jpg"]),
        ("img_001", ["cats/img_001.jpg", "dogs/img_001.jpg"], ["cats/img_001.jpg", "dogs/img_001.jpg"]),
        ("data/cats/img_001.jpg", ["img_001.jpg"], ["img_001.jpg"]),
        ("cats\\img_001.jpg", ["cats/img_001.jpg"], ["cats/img_001.jpg"]),
        ("img_1", ["img_001.jpg", "img_010.jpg"], ["img_001.jpg"]),
        ("img-001", ["img_001.jpg"], ["img_001.jpg"]),
        ("7", [5, 7], [7]),
        (7, ["7", "17"], ["7"]),
        ("portrait", ["portrait_of_ann.jpg"], ["portrait_of_ann.jpg"]),
        ("img_001_crop", ["img_001.jpg", "other.jpg"], ["img_001.jpg"]),
        ("potrait_of_ann", ["portrait_of_ann.jpg", "zebra.jpg"], ["portrait_of_ann.jpg"]),
        ("xortrait_of_ann", ["portrait_of_ann.jpg", "zebra.jpg"], ["portrait_of_ann.jpg"]),
        ("zebra", ["img_001.jpg"], []),
        ("x", [], []),
    ],
)
def test_what_was_probably_meant(wanted: Id, there: list[Id], near: list[Id]) -> None:
    assert NearIds(there).of(wanted) == near


def test_at_most_as_many_as_asked() -> None:
    near = NearIds([f"folder{n}/a.jpg" for n in range(10)])
    assert near.of("a", limit=2) == ["folder0/a.jpg", "folder1/a.jpg"]


def test_a_slip_is_found_among_many_ids_that_sort_around_it() -> None:
    there = [f"IMG_{n:06d}.jpg" for n in range(5000)]
    assert NearIds(there).of("1MG_004711.jpg")[0] == "IMG_004711.jpg"
