"""Both histograms of distances by labels against each other and against looking at every pair."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from visual_search.kernels import _compiled, compiled, plain
from visual_search.kernels.joined import LABEL_RULES, LabelRule

Array = np.ndarray[Any, Any]
BOTH = pytest.mark.parametrize("kernels", [compiled, plain])


def looked_at(sides: list[Array], rule: LabelRule, own: Array, levels: int) -> Array:
    queries, gallery, mine, theirs = ([[int(word) for word in row] for row in side] for side in sides)
    into = np.zeros((len(queries), 64 * sides[1].shape[1] + 1, levels), dtype=np.int64)
    for q, (code, labels) in enumerate(zip(queries, mine, strict=True)):
        for g, (other, other_labels) in enumerate(zip(gallery, theirs, strict=True)):
            distance = sum((a ^ b).bit_count() for a, b in zip(code, other, strict=True))
            shared = sum((a & b).bit_count() for a, b in zip(labels, other_labels, strict=True))
            grade = {"any shared": int(shared > 0), "equal": int(labels == other_labels), "number shared": shared}
            into[q, distance, grade[rule]] += g != own[q]
    return into


@BOTH
@pytest.mark.parametrize("rule", LABEL_RULES)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_what_looking_at_every_pair_counts(kernels: ModuleType, rule: LabelRule, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    n, size = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 30))
    words, label_words = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 2))
    few = np.uint64(data.draw(st.sampled_from([1, 7, 2**64 - 1])))
    shapes = [(n, words), (size, words), (n, label_words), (size, label_words)]
    sides = [rng.integers(0, 2**64, shape, dtype=np.uint64) & few for shape in shapes]
    own = rng.integers(-1, size, n) if size else np.full(n, -1)
    levels = 64 * label_words + 1 if rule == "number shared" else 2
    found = kernels.count_labelled_codes(*sides, rule=rule, own=own, levels=levels)
    assert np.array_equal(found, looked_at(sides, rule, own, levels))


@pytest.mark.parametrize("size", [1023, 1024, 5000])
def test_parts_of_a_large_gallery(size: int) -> None:
    rng = np.random.default_rng(size)
    sides = [rng.integers(0, 2**64, (rows, 1), dtype=np.uint64) for rows in (200, size, 200, size)]
    own = rng.integers(-1, size, 200)
    found = compiled.count_labelled_codes(*sides, rule="any shared", own=own, levels=2, threads=3)
    assert np.array_equal(found, plain.count_labelled_codes(*sides, rule="any shared", own=own, levels=2))


@pytest.mark.parametrize("rule", LABEL_RULES)
@pytest.mark.parametrize(("rows", "size", "words"), [(3, 66_000, 1), (4, 4_300, 1), (3, 1_100, 2), (2, 1_100, 4)])
def test_queries_counted_two_at_once_and_long_codes(rule: LabelRule, rows: int, size: int, words: int) -> None:
    # From some 4,000 items on two queries are counted at once, and a third alone; beyond 65,535 items in two goes. All
    # items of one code would overflow the 16 bits of a sum that went on.
    rng = np.random.default_rng(size)
    shapes = [(rows, words), (size, words), (rows, 1), (size, 1)]
    sides = [rng.integers(0, 2**64, shape, dtype=np.uint64) for shape in shapes]
    sides[2:] = [side & np.uint64(7) for side in sides[2:]]
    own = rng.integers(-1, size, rows)
    levels = 65 if rule == "number shared" else 2
    for _ in range(2):
        found = compiled.count_labelled_codes(*sides, rule=rule, own=own, levels=levels, threads=1)
        assert np.array_equal(found, plain.count_labelled_codes(*sides, rule=rule, own=own, levels=levels))
        sides[1][:] = sides[1][0]
        sides[3][:] = sides[3][0]


@pytest.mark.parametrize("bits", [5, 16, 31, 64])
def test_words_of_few_bits_are_counted_alike(bits: int) -> None:
    rng = np.random.default_rng(bits)
    few = np.uint64(2**bits - 1)
    sides = [rng.integers(0, 2**64, (rows, 1), dtype=np.uint64) & few for rows in (5, 40, 5, 40)]
    for rule in LABEL_RULES:
        levels = 65 if rule == "number shared" else 2
        found = plain.count_labelled_codes(*sides, rule=rule, own=np.full(5, -1), levels=levels)
        assert np.array_equal(found, looked_at(sides, rule, np.full(5, -1), levels))


def test_what_does_not_fit_is_refused() -> None:
    one = np.zeros((1, 1), dtype=np.uint64)
    into = np.zeros((1, 65, 2), dtype=np.int64)
    for own, levels, rule in ((1, 2, 0), (-2, 2, 0), (0, 1, 0), (0, 2, 2), (0, 2, 3)):
        part = np.zeros((1, 65, levels), dtype=np.int64)
        with pytest.raises(ValueError, match="do not fit"):
            _compiled.count_labelled_codes(one, one, one, one, rule, np.array([own]), 0, 1, part)
    with pytest.raises(ValueError, match="do not fit"):
        _compiled.count_labelled_codes(one, one, one, one, 0, np.array([0]), 0, 2, into)
