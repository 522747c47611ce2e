"""Expectations over large tied groups against their sums in exact rationals, term by term."""

from collections.abc import Callable
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from visual_search import Ranking, Relevance, evaluate
from visual_search.evaluation.measures.draws import (
    first_relevant_chances,
    hit_count_chances,
    last_relevant_chances,
    later_than_chances,
    miss_chance,
)

# Groups of equal score down the list, as (size, relevant).
Groups = list[tuple[int, int]]
LISTS: list[Groups] = [
    [(60, 25)],
    [(7, 0), (40, 12), (30, 5)],
    [(1, 1), (50, 49), (20, 1)],
    [(30, 1), (45, 30)],
    [(3, 2), (35, 0), (64, 20), (5, 5)],
]
DEPTHS = [1, 10, 33, 500]


def measured(groups: Groups, text: str, missed: int = 0) -> float:
    scores, relevant = [], []
    for level, (size, count) in enumerate(groups):
        scores += [-float(level)] * size
        relevant += [1] * count + [0] * (size - count)
    grades = {row: 1 for row, flag in enumerate(relevant) if flag} | {-1 - n: 1 for n in range(missed)}
    ranking = Ranking.from_similarity([scores])
    relevance = Relevance.from_dict({0: grades})
    return evaluate(ranking, relevance, [text])[text].mean


def before(groups: Groups) -> list[tuple[int, int, int, int]]:
    """Each group as s, B, n, r."""
    rows, s, b = [], 0, 0
    for n, r in groups:
        rows.append((s, b, n, r))
        s, b = s + n, b + r
    return rows


def precision_sum(groups: Groups, k: int) -> Fraction:
    total = Fraction(0)
    for s, b, n, r in before(groups):
        for j in range(1, min(n, max(k - s, 0)) + 1):
            slope = Fraction((j - 1) * (r - 1), n - 1) if n > 1 else 0
            total += Fraction(r, n) * (b + 1 + slope) / (s + j)
    return total


def found(groups: Groups, k: int) -> Fraction:
    earlier, hits = Fraction(0), 0
    for place, (s, b, n, r) in enumerate(before(groups)):
        m = min(n, k - s)
        if m <= 0:
            break
        if m == n:
            earlier = precision_sum(groups[: place + 1], k)
            hits = b + r
            continue
        value = Fraction(0)
        for x in range(max(0, m - (n - r)), min(r, m) + 1):
            if b + x == 0:
                continue
            chance = Fraction(comb(r, x) * comb(n - r, m - x), comb(n, m))
            slope = Fraction(x - 1, m - 1) if m > 1 else Fraction(0)
            inside = Fraction(x, m) * sum(
                ((b + 1 + (j - 1) * slope) / (s + j) for j in range(1, m + 1)), Fraction(0)
            )
            value += chance * (earlier + inside) / (b + x)
        return value
    return earlier / hits if hits else Fraction(0)


def first_relevant(groups: Groups, k: int) -> Fraction:
    planned = [
        sum(
            (Fraction(comb(n - j, r - 1), comb(n, r)) / (s + j) for j in range(1, n - r + 2) if s + j <= k),
            Fraction(0),
        )
        for s, b, n, r in before(groups)
        if r and not b
    ]
    return planned[0] if planned else Fraction(0)


def first_relevant_items(groups: Groups, k: int) -> Fraction:
    t = min(k, sum(r for _, r in groups))
    total = Fraction(0)
    for s, b, n, r in before(groups):
        for j in range(1, min(r, max(0, t - b)) + 1):
            for p in range(j, n - r + j + 1):
                total += (b + j) * Fraction(comb(p - 1, j - 1) * comb(n - p, r - j), comb(n, r)) / (s + p)
    return total / t


def last_relevant(groups: Groups, _k: int) -> Fraction:
    s, b, n, r = [row for row in before(groups) if row[3]][-1]
    return (b + r) * sum((Fraction(comb(p - 1, r - 1), comb(n, r)) / (s + p) for p in range(r, n + 1)), Fraction(0))


def hit(groups: Groups, k: int) -> Fraction:
    for s, b, n, r in before(groups):
        if r and not b:
            m = min(n, max(k - s, 0))
            return 1 - Fraction(comb(n - r, m), comb(n, m))
    return Fraction(0)


FORMULAS: dict[str, Callable[[Groups, int], Fraction]] = {
    "AP(denominator=found)@{k}": found,
    "RR@{k}": first_relevant,
    "HitRate@{k}": hit,
    "AP(cut=relevant)@{k}": first_relevant_items,
    "INP": last_relevant,
    "AP@{k}": lambda groups, k: precision_sum(groups, k) / sum(r for _, r in groups),
}


@pytest.mark.parametrize("k", DEPTHS)
@pytest.mark.parametrize("groups", LISTS)
@pytest.mark.parametrize("form", FORMULAS)
def test_against_exact_sums(form: str, groups: Groups, k: int) -> None:
    text = form.format(k=k)
    assert measured(groups, text) == pytest.approx(float(FORMULAS[form](groups, k)), abs=1e-13)


@pytest.mark.parametrize(("n", "r"), [(1, 1), (5, 5), (40, 1), (40, 17), (300, 200)])
def test_chances_in_a_group(n: int, r: int) -> None:
    first, last = first_relevant_chances(n, r, n), last_relevant_chances(n, r, n)
    for p in (1, 2, n // 2, n):
        if not 1 <= p <= n:
            continue
        assert first[p - 1] == pytest.approx(float(Fraction(comb(n - p, r - 1), comb(n, r))), rel=1e-12, abs=1e-300)
        assert last[p - 1] == pytest.approx(float(Fraction(comb(p - 1, r - 1), comb(n, r))), rel=1e-12, abs=1e-300)
    for m in {1, n // 3, n}:
        if not 1 <= m <= n:
            continue
        low, chances = hit_count_chances(n, r, m)
        exact = [Fraction(comb(r, x) * comb(n - r, m - x), comb(n, m)) for x in range(low, low + len(chances))]
        assert sum(exact) == 1
        assert chances == pytest.approx([float(chance) for chance in exact], abs=1e-14)
        chance = miss_chance(np.array([n]), np.array([r]), np.array([m]))[0]
        assert chance == pytest.approx(float(Fraction(comb(n - r, m), comb(n, m))), rel=1e-12)
    for j in {1, (r + 1) // 2, r}:
        places = [Fraction(comb(t - 1, j - 1) * comb(n - t, r - j), comb(n, r)) for t in range(1, n + 1)]
        later = [float(sum(places[d:], Fraction(0))) for d in range(n + 1)]
        assert later_than_chances(n, r, j, n + 1) == pytest.approx(later, abs=1e-14)


def test_relevant_items_outside_the_list_stay_in_r() -> None:
    groups: Groups = [(10, 3)]
    assert measured(groups, "AP", missed=2) == pytest.approx(float(precision_sum(groups, 10) / 5))
    assert measured(groups, "INP", missed=1) == 0


def test_a_gallery_of_a_million_items_at_random() -> None:
    # The sum over ranks in longdouble, beside the closed form that is used.
    n, r = 1_000_000, 1_000
    ranks = np.arange(1, n + 1, dtype=np.longdouble)
    wanted = float(((1 + (ranks - 1) * (r - 1) / (n - 1)) / ranks).sum() / n)
    scores = np.zeros((1, n), dtype=np.float32)
    result = evaluate(Ranking.from_similarity(scores), Relevance.from_labels([0], np.arange(n) // r), ["AP"])
    assert result["AP"].mean == pytest.approx(wanted, rel=1e-12)
