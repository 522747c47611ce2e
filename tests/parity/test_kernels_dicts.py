"""Both counters of ranks in dictionaries against each other and against comparing every pair."""

from collections import OrderedDict, UserDict
from collections.abc import Mapping
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from visual_search.kernels import compiled, plain, plain_dicts

BOTH = pytest.mark.parametrize("kernels", [compiled, plain])
Lists = list[dict[str, Any]]

names = st.sampled_from("abcdefgh")
few = st.sampled_from([0.0, -0.0, 1, 1.0, 2, -3, 1e-300, True])
anything = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)


def counted(lists: Lists, offsets: list[int], items: list[str]) -> tuple[list[Any], ...]:
    rows = [row for row in range(len(lists)) for _ in range(offsets[row], offsets[row + 1])]
    score = [lists[row].get(item) for row, item in zip(rows, items, strict=True)]
    pairs = list(zip(rows, score, strict=True))
    above = [0 if s is None else sum(other > s for other in lists[row].values()) for row, s in pairs]
    tied = [0 if s is None else sum(other == s for other in lists[row].values()) for row, s in pairs]
    shared = [len(mine) > 1 and list(mine.values()).count(min(mine.values())) > 1 for mine in lists]
    return score, above, tied, shared


@st.composite
def questions(draw: st.DrawFn) -> tuple[Lists, list[int], list[str]]:
    scores = draw(st.sampled_from([few, anything]))
    lists = draw(st.lists(st.dictionaries(names, scores, max_size=8), max_size=4))
    if draw(st.booleans()):
        lists = [dict(sorted(mine.items(), key=lambda pair: -pair[1])) for mine in lists]
    asked = [draw(st.lists(names, max_size=4)) for _ in lists]
    offsets = [sum(map(len, asked[:row])) for row in range(len(lists) + 1)]
    return lists, offsets, [item for some in asked for item in some]


@BOTH
@pytest.mark.parametrize("block", [1, 5, 1 << 22])
@settings(max_examples=100, deadline=None)
@given(question=questions())
def test_what_comparing_every_pair_counts(
    kernels: ModuleType, block: int, question: tuple[Lists, list[int], list[str]]
) -> None:
    lists, offsets, items = question
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_dicts, "_BLOCK_SCORES", block)
        found = kernels.count_in_dicts(lists, np.array(offsets, dtype=np.int64), items, texts=True)
    score, above, tied, shared = counted(lists, offsets, items)
    assert [None if np.isnan(value) else value for value in found.score.tolist()] == score
    assert found.above.tolist() == above
    assert found.tied.tolist() == tied
    assert found.ends_tied.tolist() == shared
    assert (found.score.dtype, found.above.dtype, found.ends_tied.dtype) == (np.float64, np.int64, np.bool_)


@BOTH
@pytest.mark.parametrize(
    "mine",
    [
        OrderedDict(a=2.0, b=1.0),
        UserDict(a=2.0, b=1.0),
        {"a": np.float32(2), "b": np.int64(1)},
        {"a": Fraction(2), "b": Fraction(1)},
    ],
    ids=["ordered", "no dictionary", "numpy numbers", "fractions"],
)
def test_other_mappings_and_numbers(kernels: ModuleType, mine: Mapping[str, Any]) -> None:
    found = kernels.count_in_dicts([mine], np.array([0, 2]), ["b", "x"], texts=True)
    assert (found.above.tolist(), found.tied.tolist(), found.score[0]) == ([1, 0], [1, 0], 1)


@BOTH
@pytest.mark.parametrize("wrong", ["1", None, float("nan"), float("inf"), 10**400, b"1", 1j])
def test_scores_that_are_none(kernels: ModuleType, wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError)):
        kernels.count_in_dicts([{"a": 1.0, "b": wrong}], np.array([0, 1]), ["a"], texts=True)


def test_offsets_that_do_not_fit() -> None:
    for offsets in ([0], [0, 2], [1, 1], [0, -1]):
        with pytest.raises(ValueError, match="do not fit"):
            compiled.count_in_dicts([{"a": 1.0}], np.array(offsets), ["a"], texts=True)


@BOTH
@pytest.mark.parametrize("texts", [True, False])
@pytest.mark.parametrize(
    "mine", [{"a": 1.0, 1: 1.0}, {True: 1.0}, {1.0: 1.0}, {"": 1.0}, {None: 1.0}, {"a": 2**53 + 1}, {1: 2**53 + 1}]
)
def test_ids_of_another_kind(kernels: ModuleType, texts: bool, mine: dict[Any, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        kernels.count_in_dicts([{}, mine], np.array([0, 0, 0]), [], texts=texts)


@BOTH
def test_ids_of_the_kind_asked_for(kernels: ModuleType) -> None:
    for texts, mine in ((True, {"a": 2**60, np.str_("b"): 1}), (False, {0: 2**60, np.int8(1): 1})):
        found = kernels.count_in_dicts([mine], np.array([0, 2]), list(mine), texts=texts)
        assert found.above.tolist() == [0, 1]
