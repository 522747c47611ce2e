"""Re-identification, landmarks, places, images with captions."""

from typing import Any

import numpy as np
import pytest

from visual_search import Relevance, evaluate
from visual_search.errors import DuplicateIdError, InputError
from visual_search.evaluation.protocols.geographic import within_radius
from visual_search.evaluation.protocols.image_text import image_text
from visual_search.evaluation.protocols.landmarks import landmark_difficulty
from visual_search.evaluation.protocols.measured import evaluate_split
from visual_search.evaluation.protocols.near_places import EARTH_RADIUS, distances, pairs_within
from visual_search.evaluation.protocols.reidentification import reidentification

STREET: dict[str, list[Any]] = {
    "person": [1, 2, 3, 1, 1, 2, 3, -1, 0],
    "camera": [1, 1, 2, 1, 2, 3, 2, 1, 1],
    "part": ["query"] * 3 + ["gallery"] * 6,
}
ROLES: dict[str, Any] = {"identity": "person", "camera": "camera", "role": "part"}


def test_the_own_camera_and_nobody_count_neither_way() -> None:
    split = reidentification(STREET, **ROLES)
    assert split.proof.holds
    assert split.left_out == (2,)  # only its own camera saw person 3
    wanted = Relevance.from_groups(
        [1, 2], [1, 1, 2, 3, -1, 0], query_views=[1, 1], gallery_views=[1, 2, 3, 2, 1, 1],
        query_ids=[0, 1], gallery_ids=range(3, 9), ignore_groups=[-1], shared_ids=False,
    )  # fmt: skip
    for name in ("offsets", "rows", "grades", "ignored"):
        assert np.array_equal(getattr(split.relevance, name), getattr(wanted, name)), name
    assert reidentification(STREET, **ROLES, unanswered="fail").proof.failed == ("answers",)


def test_an_image_that_is_in_both_parts_is_ignored_for_itself() -> None:
    ranking = {0: {3: 0.9, 4: 0.8, 7: 0.7}, 1: {8: 0.9, 5: 0.8}}
    result = evaluate_split(reidentification(STREET, **ROLES), ranking, preset="market1501")
    assert result["HitRate@1"].values.tolist() == [1, 0]


def test_wrong_columns_of_re_identification_are_named() -> None:
    strangers = STREET | {"person": [1, 2, 3, 4, 5, 6, 7, -1, 0]}
    with pytest.raises(InputError, match=r"column 'person': all query identities do not appear in gallery"):
        reidentification(strangers, **ROLES)
    with pytest.raises(InputError, match=r"column 'camera': one camera id only, 4"):
        reidentification(STREET | {"camera": [4] * 9}, **ROLES)
    with pytest.raises(InputError, match=r"no column 'cam'; there are 'person', 'camera', 'part'"):
        reidentification(STREET, identity="person", camera="cam", role="part")


PAIRS = {
    "query": ["q1"] * 4 + ["q2"] * 2,
    "item": [0, 1, 2, 3, 0, 4],
    "difficulty": ["easy", "hard", "junk", "easy", "easy", "junk"],
}


@pytest.mark.parametrize(
    ("level", "right", "ignored", "left_out"),
    [
        ("easy", {"q1": {0, 3}, "q2": {0}}, {"q1": {1, 2}, "q2": {4}}, ()),
        ("medium", {"q1": {0, 1, 3}, "q2": {0}}, {"q1": {2}, "q2": {4}}, ()),
        ("hard", {"q1": {1}}, {"q1": {0, 2, 3}}, ("q2",)),
    ],
)
def test_landmarks_by_difficulty(level: Any, right: Any, ignored: Any, left_out: Any) -> None:
    split = landmark_difficulty(PAIRS, level=level, gallery=range(10))
    assert split.proof.holds
    assert split.left_out == left_out
    relevance = split.relevance
    assert {query: set(relevance.judged(query)) for query in relevance.queries} == right
    owner = relevance.query_of_entry()[relevance.ignored]
    skipped = relevance.items.take(relevance.rows[relevance.ignored].tolist())
    found: dict[Any, set[Any]] = {}
    for row, item in zip(owner.tolist(), skipped, strict=True):
        found.setdefault(relevance.queries[row], set()).add(item)
    assert found == ignored
    ranking = {query: {item: -float(item) for item in range(10)} for query in relevance.queries}
    by_hand = Relevance.from_dict(
        {query: dict.fromkeys(items, 1) for query, items in right.items()},
        ignored={query: sorted(items) for query, items in ignored.items()},
    )
    preset = split.options["preset"]
    one, other = evaluate_split(split, ranking, preset=preset), evaluate(ranking, by_hand, preset=preset)
    assert [one[text].mean for text in one] == [other[text].mean for text in other]


def test_landmark_tables_that_are_wrong() -> None:
    with pytest.raises(InputError, match=r"column 'difficulty': 'tough'; each is one of easy, hard, junk"):
        landmark_difficulty(PAIRS | {"difficulty": ["tough"] * 6}, level="easy")
    with pytest.raises(InputError, match=r"1 items are not in the gallery, first 4"):
        landmark_difficulty(PAIRS, level="easy", gallery=range(4))
    with pytest.raises(DuplicateIdError, match="listed twice"):
        landmark_difficulty(PAIRS | {"item": [0, 0, 2, 3, 0, 4]}, level="easy")


def test_places_in_degrees_and_in_metres() -> None:
    metres = {
        "part": ["query", "gallery", "gallery", "gallery"],
        "east": [0.0, 25.0, 25.001, -15.0],
        "north": [0.0, 0.0, 0.0, 20.0],
    }
    split = within_radius(metres, places=("east", "north"), role="part", coordinates="metres")
    assert split.relevance.judged(0) == {1: 1.0, 3: 1.0}  # 25 m exactly counts, and 15-20-25
    assert "within 25 m" in split.condition.words
    with pytest.raises(InputError, match="no latitude and longitude"):
        within_radius(metres | {"east": [0.0, 500_000.0, 0.0, 0.0]}, places=("east", "north"), role="part")
    far = metres | {"east": [9e3, 0.0, 0.0, 0.0]}
    lonely = within_radius(far, places=("east", "north"), role="part", coordinates="metres")
    assert lonely.proof.failed == ("answers",)


def test_the_date_line_and_the_poles_are_no_edges() -> None:
    step = float(np.degrees(10 / EARTH_RADIUS))  # 10 m along a meridian, or along the equator
    first = np.array([[0.0, 180.0 - step / 2], [90.0, 0.0]])
    second = np.array([[0.0, -180.0 + step / 2], [90.0 - step, 123.0], [0.0, 0.0]])
    query, item = pairs_within(first, second, 10.01, "degrees")
    assert list(zip(query.tolist(), item.tolist(), strict=True)) == [(0, 0), (1, 1)]
    assert distances(first, second[:2], "degrees") == pytest.approx([10, 10], abs=1e-6)


def test_images_have_as_many_captions_as_they_have() -> None:
    captions = {"image": ["a", "b", "a", "a", "c"], "caption": [7, 8, 9, 10, 11]}
    split = image_text(captions, image="image", caption="caption")
    assert split.proof.holds
    assert [len(split.relevance.judged(query)) for query in split.query_ids] == [3, 1, 1]
    back = split.reversed()
    assert back.proof.holds
    assert back.groups == ["a", "b", "a", "a", "c"]
    other = image_text(captions, image="image", caption="caption", direction="text to image")
    assert other.proof.fingerprints == back.proof.fingerprints


def test_captions_and_images_may_have_the_same_ids() -> None:
    split = image_text({"image": [1, 2, 2]}, image="image")  # captions 0, 1, 2
    assert split.proof.holds
    assert not split.relevance.ignored.any()
    assert split.relevance.judged(1) == {0: 1.0}
