"""Parts and folds that keep each group whole."""

from typing import Any

import numpy as np
import pytest

from visual_search.errors import InputError, ProofError
from visual_search.evaluation.protocols.group_parts import (
    group_folds,
    parts_by_column,
    parts_by_group,
    parts_of_random_images,
)

Table = dict[str, list[Any]]


def test_parts_have_about_their_shares_and_whole_groups() -> None:
    rng = np.random.default_rng(0)
    table = {"scene": [f"s{one}" for one in rng.integers(0, 200, 2000)]}
    partition = parts_by_group(table, group="scene", shares={"train": 0.7, "val": 0.1, "test": 0.2}, seed=4)
    assert partition.proof.holds
    sizes = [len(partition.ids(part)) for part in ("train", "val", "test")]
    assert sum(sizes) == 2000
    assert sizes == pytest.approx([1400, 200, 400], abs=15)
    again = parts_by_group(table, group="scene", shares={"train": 0.7, "val": 0.1, "test": 0.2}, seed=4)
    assert again.proof.fingerprints == partition.proof.fingerprints
    other = parts_by_group(table, group="scene", shares={"train": 0.7, "val": 0.1, "test": 0.2}, seed=5)
    assert other.proof.fingerprints != partition.proof.fingerprints


def test_no_part_is_empty_even_with_few_groups() -> None:
    partition = parts_by_group({"g": ["a"] * 50 + ["b", "c"]}, group="g", shares={"x": 0.98, "y": 0.01, "z": 0.01})
    assert partition.proof.holds
    assert min(map(len, partition.parts.values())) == 1
    with pytest.raises(InputError, match="2 groups for 3 parts"):
        parts_by_group({"g": ["a", "b", "b"]}, group="g")


@pytest.mark.parametrize("shares", [{"a": 1.0}, {"a": 0.5, "b": 0.4}, {"a": 1.5, "b": -0.5}])
def test_shares_must_sum_to_one(table: Table, shares: dict[str, float]) -> None:
    with pytest.raises(InputError, match="they sum to"):
        parts_by_group(table, group="scene_id", shares=shares)


def test_a_column_of_parts_is_proven_or_not(table: Table) -> None:
    good = parts_by_column(table, group="scene_id", part="split", item="index")
    assert good.proof.holds
    assert good.ids("test") == list(range(112, 124))
    assert good.groups_where()["G0-0006"] == {"test": 2}
    torn = parts_by_column(table, group="scene_id", part="view_id")
    assert torn.proof.failed == ("groups",)
    assert torn.groups_where()["G0-0006"] == {"0": 1, "1": 1}
    assert torn.proof["groups"].counts == {"distinct": 12, "shared": 12}
    with pytest.raises(ProofError, match="12 groups are in two parts, first 'G0-0000 in 0 and 1'"):
        torn.require()
    with pytest.raises(InputError, match="there are 0, 1"):
        torn.ids("train")


def test_folds_test_every_item_once(table: Table) -> None:
    folds = group_folds(table, group="scene_id", n_splits=4, item="index")
    assert all(fold.proof.holds for fold in folds)
    tested = [item for fold in folds for item in fold.ids("test")]
    assert sorted(tested) == table["index"]


def test_random_images_are_refused_or_marked(table: Table) -> None:
    with pytest.raises(ProofError, match=r"refused: .* groups are in two parts, first"):
        parts_of_random_images(table, group="scene_id")
    marked = parts_of_random_images(table, group="scene_id", allow_shared_groups=True)
    assert marked.proof.holds
    assert marked.record()["proof"]["allowed"] == ["groups"]
    assert [len(marked.ids(part)) for part in ("train", "validation", "test")] == [14, 5, 5]
