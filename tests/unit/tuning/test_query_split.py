"""Queries without groups are split as if each were a group of its own."""

import pytest

from visual_search.tuning.query_split import validation_and_test


@pytest.mark.parametrize("count", [2, 3, 5, 10, 97, 1000])
@pytest.mark.parametrize("share", [0.001, 0.05, 0.2, 0.25, 0.5, 0.95, 0.999])
def test_without_groups_as_with_a_group_for_each(count: int, share: float) -> None:
    alone = validation_and_test(count, test_share=share, seed=3)
    grouped = validation_and_test(count, test_share=share, seed=3, groups=[None] * count)
    assert [side.tolist() for side in alone] == [side.tolist() for side in grouped]
