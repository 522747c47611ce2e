import pytest

from visual_search.errors import DatasetError
from visual_search.evaluation.absent_items import find_absent_items
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id, Ids


def relevance(**truth: list[Id]) -> Relevance:
    return Relevance.from_dict({query: dict.fromkeys(items, 1.0) for query, items in truth.items()})


def test_absent_items_are_named_with_the_nearest_and_counted() -> None:
    absent = find_absent_items(
        relevance(q1=["img_001", "img_002.jpg"], q2=["img_001", "zebra"], q3=["img_002.jpg"]),
        Ids(["img_001.jpg", "img_002.jpg"]),
    )
    assert absent.nearest == {"img_001": ["img_001.jpg"], "zebra": []}
    assert (absent.queries, absent.pairs, absent.relevant) == (2, 3, 5)
    [said] = absent.warnings()
    assert "'img_001' (nearest: 'img_001.jpg'), 'zebra'" in said


def test_nothing_is_said_when_all_are_there() -> None:
    absent = find_absent_items(relevance(q=["a"]), Ids("ab"))
    assert len(absent) == 0
    assert absent.warnings() == []


def test_items_judged_not_relevant_or_ignored_may_be_absent() -> None:
    judged = Relevance.from_dict({"q": {"a": 1, "gone": 0}}, ignored={"q": ["gone too"]})
    assert len(find_absent_items(judged, Ids("ab"))) == 0


@pytest.mark.parametrize(
    ("truth", "gallery", "mend"),
    [
        (["img_001", "img_002"], ["img_001.jpg", "img_002.jpg"], "Write the ids with '.jpg' after"),
        (["a.jpg"], ["data/a.jpg"], "Write the ids with 'data/' before"),
        (["a"], ["data/a.jpg"], "Write the ids with 'data/' before and '.jpg' after"),
        ([7], ["7", "8"], "Write the ids of the ground truth as strings"),
        (["7"], [7, 8], "Write the ids of the ground truth as integers"),
        (["A.JPG"], ["a.jpg"], "exactly as the index has them"),
        (["zebra"], ["a.jpg"], "exactly as the index has them"),
    ],
)
def test_none_there_at_all_is_an_error_that_says_how_to_mend_it(
    truth: list[Id], gallery: list[Id], mend: str
) -> None:
    with pytest.raises(DatasetError) as caught:
        find_absent_items(relevance(q=truth), Ids(gallery))
    several = f"none of the {len(truth)} ground-truth ids is in the index of {len(gallery)} items"
    said = "the only ground-truth id is not in the index of" if len(truth) == 1 else several
    assert said in str(caught.value)
    assert mend in str(caught.value)


def test_a_truth_without_any_relevant_item_is_not_that_error() -> None:
    assert len(find_absent_items(relevance(q=[]), Ids("a"))) == 0
