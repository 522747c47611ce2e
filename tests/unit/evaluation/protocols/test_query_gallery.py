"""Queries and gallery by view, one a group, leave-one-out, at random, or as given."""

from typing import Any

import numpy as np
import pytest

from visual_search.errors import InputError, ProofError, UnknownNameError
from visual_search.evaluation.protocols.conditions import SharedLabel
from visual_search.evaluation.protocols.proving import Promises
from visual_search.evaluation.protocols.query_gallery import (
    by_view,
    given_split,
    leave_one_out,
    one_query_per_group,
)
from visual_search.evaluation.protocols.random_images import random_images

Table = dict[str, list[Any]]
VIEWS: dict[str, Any] = {"group": "scene_id", "view": "view_id", "item": "index"}


def test_by_view_has_its_pairs_on_the_diagonal_whatever_the_order_of_rows(table: Table) -> None:
    order = np.random.default_rng(3).permutation(24)
    shuffled = {name: [values[row] for row in order] for name, values in table.items()}
    split = by_view(shuffled, **VIEWS, query=0, gallery=1, where={"split": "test"})
    assert split.proof.holds
    assert not split.proof.marked
    assert split.relevance.rows.tolist() == list(range(6))
    assert split.groups == sorted(split.groups or [])
    assert {claim.name for claim in split.proof.claims} == {
        "counts", "items", "groups", "views", "answers", "relevance",
    }  # fmt: skip
    assert split.proof["answers"].counts == {"without": 0, "least": 1, "most": 1}
    assert split.groups_where() == dict.fromkeys(split.groups or [], (1, 1))


def test_a_scene_without_its_other_view_fails_the_proof_or_is_left_out_by_name(table: Table) -> None:
    cut = {name: values[:-1] for name, values in table.items()}
    split = by_view(cut, **VIEWS, query=0, gallery=1)
    assert split.proof.failed == ("groups", "answers")
    with pytest.raises(ProofError, match="1 of 12 queries have no right answer in the gallery, first 122"):
        split.require()
    left = by_view(cut, **VIEWS, query=0, gallery=1, unanswered="leave out")
    assert left.proof.holds
    assert left.left_out == (122,)
    assert len(left.queries) == 11
    assert "1 query without an answer left out" in left.record()["words"]
    assert "first 122" in left.summary()
    other = by_view(cut, **VIEWS, query=1, gallery=0, unanswered="leave out")
    assert other.proof.holds
    assert other.left_out == ()


def test_one_view_against_itself_is_refused_with_its_reason(table: Table) -> None:
    with pytest.raises(ProofError, match=r"R@1 = 1 whatever the model"):
        by_view(table, **VIEWS, query=0, gallery=0)
    with pytest.raises(ProofError, match=r"each finds itself at rank 1(.|\n)*that of a classifier"):
        by_view(table, **VIEWS, query=0, gallery=0, label="label", relevant="shared-label")


def test_one_view_of_other_scenes_with_class_labels_is_refused_with_its_reason(table: Table) -> None:
    with pytest.raises(ProofError, match="to recognise the class is enough") as refused:
        by_view(table, **VIEWS, query=0, gallery=0, label="label", relevant="same-class-other-group")
    assert "rank 1" not in str(refused.value)
    zero = [row for row, view in zip(table["index"], table["view_id"], strict=True) if view == 0]
    with pytest.raises(ProofError, match="to recognise the class is enough"):
        given_split(table, zero[:6], zero[6:], **VIEWS, label="label", relevant="shared-label")


def test_another_view_of_another_scene_of_the_class_is_a_condition_with_a_warning(table: Table) -> None:
    split = by_view(table, **VIEWS, query=0, gallery=1, label="label", relevant="same-class-other-group")
    assert split.proof.holds
    assert split.relevance.ignored.sum() == 12  # the own scene, which is no wrong answer
    assert all(len(split.relevance.judged(query)) == 3 for query in split.query_ids)
    assert any("stands in for the instance" in warning for warning in split.warnings)


def test_conditions_by_name_and_what_they_need(table: Table) -> None:
    with pytest.raises(UnknownNameError, match="same-group, same-class-other-group, shared-label"):
        by_view(table, **VIEWS, query=0, gallery=1, relevant="same-scene")
    with pytest.raises(InputError, match="label: the condition shared-label needs it"):
        by_view(table, **VIEWS, query=0, gallery=1, relevant="shared-label")


def test_several_labels_of_one_item() -> None:
    tags = {"tags": ["cat|indoors", "dog | outdoors", "indoors|dog", "outdoors"], "part": [0, 0, 1, 1]}
    split = given_split(tags, [0, 1], [2, 3], label="tags", relevant=SharedLabel("|"))
    assert [split.relevance.judged(query) for query in (0, 1)] == [{2: 1.0}, {2: 1.0, 3: 1.0}]


def test_leave_one_out_ignores_each_query_for_itself(table: Table) -> None:
    split = leave_one_out(table, group="scene_id", item="index")
    assert split.proof.holds
    assert split.relevance.ignored.sum() == 24
    assert split.relevance.judged(100) == {101: 1.0}
    assert split.proof["items"].counts["shared"] == 24
    alone = leave_one_out({"person": ["a", "a", "b"]}, group="person")
    assert alone.proof.failed == ("answers",)


def test_leave_one_out_by_class_warns(table: Table) -> None:
    split = leave_one_out(table, item="index", label="label", relevant="shared-label")
    assert split.proof.holds
    assert "stands in for the instance" in split.warnings[0]
    assert "no group of the queries is known" in split.warnings[1]
    assert len(leave_one_out(table, group="scene_id", item="index").warnings) == 0
    assert all(len(split.relevance.judged(query)) == 7 for query in split.query_ids)


def test_one_query_per_group_by_row_or_drawn(table: Table) -> None:
    first = one_query_per_group(table, group="scene_id", item="index")
    assert list(first.query_ids) == sorted(first.query_ids, key=lambda one: table["scene_id"][int(one) - 100])
    drawn = [one_query_per_group(table, group="scene_id", item="index", seed=seed) for seed in (1, 1, 2)]
    assert list(drawn[0].query_ids) == list(drawn[1].query_ids) != list(drawn[2].query_ids)
    for split in (first, *drawn):
        assert split.proof.holds
        assert len(split.queries) == len(split.gallery) == 12


def test_random_images_are_refused_with_what_the_draw_breaks(table: Table) -> None:
    options: dict[str, Any] = {"queries": 12, "seed": 42, "where": None}
    with pytest.raises(
        ProofError, match=r"answers: \d+ of 12 queries have no right answer(.|\n)*allow_shared_groups"
    ):
        random_images(table, **VIEWS, **options)
    split = random_images(table, **VIEWS, **options, allow_shared_groups=True)
    assert split.proof.holds
    assert set(split.proof.marked) == {"groups", "views", "answers"}
    assert split.record()["proof"]["allowed"] == ["groups", "views", "answers"]
    assert "ALLOWED BY NAME" in split.proof.words()


def test_given_ids_must_be_in_the_table(table: Table) -> None:
    with pytest.raises(
        InputError, match=r"gallery: 2 of 2 ids are not in the table, first 7, 8; the table has 100"
    ):
        given_split(table, [100], [7, 8], **VIEWS)


def test_promised_disjoint_groups_are_proven(table: Table) -> None:
    promises = Promises(groups="disjoint")
    options: dict[str, Any] = {"group": "scene_id", "item": "index", "label": "label", "promises": promises}
    apart = given_split(table, range(100, 112), range(112, 124), **options, relevant="shared-label")
    assert apart.proof.holds
    mixed = given_split(table, range(100, 113), range(113, 124), **options, relevant="shared-label")
    assert mixed.proof.failed == ("groups",)
    assert mixed.proof["groups"].examples == ("G0-0006",)


def test_reversed_twice_is_the_split(table: Table) -> None:
    split = by_view(table, **VIEWS, query=0, gallery=1)
    back = split.reversed()
    assert list(back.query_ids) == list(split.gallery_ids)
    assert back.proof.holds
    assert back.reversed().proof.fingerprints == split.proof.fingerprints
