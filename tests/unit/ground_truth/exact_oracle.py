"""Every distance of every pair, one by one and without a screen; integers and fractions where they are exact."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from visual_search.ground_truth.exact_answers import ExactAnswers

Array = np.ndarray[Any, Any]


def folded(terms: list[float]) -> float:
    """The one order of summation, written again: the upper half onto the lower half."""
    while len(terms) > 1:
        half = (len(terms) + 1) // 2
        terms = [terms[i] + terms[i + half] if i + half < len(terms) else terms[i] for i in range(half)]
    return terms[0]


def order_keys(gallery: Array, query: Array, metric: str) -> list[Any]:  # noqa: PLR0911 - one for each kind
    """Numbers that order the rows exactly as the distance does: whole numbers or fractions where there are such."""
    rows = [row.tolist() for row in gallery]
    asked = query.tolist()
    if metric in ("hamming", "jaccard"):
        own = [int.from_bytes(bytes(row), "little") for row in rows]
        mine = int.from_bytes(bytes(asked), "little")
        if metric == "hamming":
            return [(row ^ mine).bit_count() for row in own]
        return [Fraction((row ^ mine).bit_count(), max((row | mine).bit_count(), 1)) for row in own]
    products = [[x * q for x, q in zip(row, asked, strict=True)] for row in rows]
    if gallery.dtype.kind != "f":
        if metric == "l2":
            return [sum((x - q) ** 2 for x, q in zip(row, asked, strict=True)) for row in rows]
        dots = [sum(terms) for terms in products]
        if metric == "inner_product":
            return [-dot for dot in dots]
        return [-Fraction(dot * abs(dot), sum(x * x for x in row)) for dot, row in zip(dots, rows, strict=True)]
    if metric == "l2":
        return [math.sqrt(folded([(x - q) ** 2 for x, q in zip(row, asked, strict=True)])) for row in rows]
    dots = [folded(terms) for terms in products]
    if metric == "inner_product":
        return [-dot for dot in dots]
    length = math.sqrt(folded([q * q for q in asked]))
    lengths = [math.sqrt(folded([x * x for x in row])) for row in rows]
    return [-(dot / (own * length)) for dot, own in zip(dots, lengths, strict=True)]


def assert_exact(answers: ExactAnswers, gallery: Array, queries: Array, metric: str, tie_cap: int = 100) -> None:
    """The answers are those of comparing every pair, ties and caps included."""
    k = answers.positions.shape[1]
    assert answers.certified.all()
    for number, query in enumerate(queries):
        keys = order_keys(gallery, query, metric)
        order = sorted(range(len(keys)), key=lambda row, keys=keys: (keys[row], row))  # type: ignore[misc]
        assert answers.positions[number].tolist() == order[:k]
        tied = [row for row in order[k:] if keys[row] == keys[order[k - 1]]]
        assert answers.tied(number).tolist() == tied[:tie_cap]
        assert answers.ties_capped[number] == (len(tied) > tie_cap)
        assert (np.diff(answers.distances[number]) >= 0).all()


def assert_same(one: ExactAnswers, other: ExactAnswers, *, evaluations: bool = True) -> None:
    """Bit by bit."""
    for name in (
        "positions",
        "distances",
        "certified",
        "tie_offsets",
        "tie_positions",
        "ties_capped",
        "evaluations",
    ):
        if evaluations or name != "evaluations":
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
