"""Every measure under every tie rule equals its definition, read literally, over all orders of the tied groups.

The oracle below works on one ranked list of grades (None for unjudged) in exact rationals, and shares nothing with
the package: expected is the mean over all permutations within groups, best and worst their extremes.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import groupby, permutations, product

import pytest
from hypothesis import HealthCheck, given, settings

from visual_search import evaluate, parse_measure
from visual_search.testing.strategies import Case, cases

Grade = float | None
Number = Fraction | float
# A definition: grades down the list, all judged grades -> numerator and denominator; 0 below means undefined.
Definition = Callable[[Sequence[Grade], Sequence[float]], tuple[Number, Number]]


def is_relevant(grade: Grade, rel: float = 1) -> bool:
    return grade is not None and grade >= rel


def hits(ranked: Sequence[Grade], k: int | None = None, rel: float = 1) -> int:
    return sum(is_relevant(grade, rel) for grade in ranked[:k])


def total(judged: Sequence[float], rel: float = 1) -> int:
    return sum(is_relevant(grade, rel) for grade in judged)


def precision_at(ranked: Sequence[Grade], rank: int) -> Fraction:
    return Fraction(hits(ranked, rank), rank)


def precisions(ranked: Sequence[Grade], k: int | None = None) -> Fraction:
    return sum(
        (precision_at(ranked, rank) for rank, grade in enumerate(ranked[:k], 1) if is_relevant(grade)), Fraction(0)
    )


def hit_rate(k: int, rel: float = 1) -> Definition:
    return lambda ranked, _judged: (Fraction(hits(ranked, k, rel) > 0), Fraction(1))


def recall(k: int | None, *, capped: bool = False, rel: float = 1) -> Definition:
    def definition(ranked: Sequence[Grade], judged: Sequence[float]) -> tuple[Number, Number]:
        below = total(judged, rel)
        return Fraction(hits(ranked, k, rel)), Fraction(min(below, k) if capped and k else below)

    return definition


def precision(k: int) -> Definition:
    return lambda ranked, _judged: (Fraction(hits(ranked, k)), Fraction(k))


def precision_of_retrieved(k: int) -> Definition:
    return lambda ranked, _judged: (Fraction(hits(ranked, k)), Fraction(min(k, len(ranked))))


def r_precision(ranked: Sequence[Grade], judged: Sequence[float]) -> tuple[Number, Number]:
    return Fraction(hits(ranked, total(judged))), Fraction(total(judged))


def average_precision(k: int | None, *, capped: bool = False) -> Definition:
    def definition(ranked: Sequence[Grade], judged: Sequence[float]) -> tuple[Number, Number]:
        below = total(judged)
        return precisions(ranked, k), Fraction(min(below, k) if capped and k else below)

    return definition


def average_precision_at_r(ranked: Sequence[Grade], judged: Sequence[float]) -> tuple[Number, Number]:
    return precisions(ranked, total(judged)), Fraction(total(judged))


def average_precision_of_found(k: int | None) -> Definition:
    def definition(ranked: Sequence[Grade], judged: Sequence[float]) -> tuple[Number, Number]:
        found = hits(ranked, k)
        return (precisions(ranked, k) / found if found else Fraction(0)), Fraction(total(judged) > 0)

    return definition


def average_precision_of_first_relevant(k: int | None) -> Definition:
    def definition(ranked: Sequence[Grade], judged: Sequence[float]) -> tuple[Number, Number]:
        wanted = total(judged) if k is None else min(k, total(judged))
        ranks = [rank for rank, grade in enumerate(ranked, 1) if is_relevant(grade)][:wanted]
        return sum((Fraction(j, rank) for j, rank in enumerate(ranks, 1)), Fraction(0)), Fraction(max(wanted, 1))

    return definition


def trapezoid(ranked: Sequence[Grade], judged: Sequence[float]) -> tuple[Number, Number]:
    area = Fraction(0)
    for rank, grade in enumerate(ranked, 1):
        if is_relevant(grade):
            before = precision_at(ranked, rank - 1) if rank > 1 else Fraction(1)
            area += (before + precision_at(ranked, rank)) / 2
    return area, Fraction(total(judged))


def reciprocal_rank(k: int | None, rel: float = 1) -> Definition:
    def definition(ranked: Sequence[Grade], judged: Sequence[float]) -> tuple[Number, Number]:
        ranks = [rank for rank, grade in enumerate(ranked[:k], 1) if is_relevant(grade, rel)]
        return (Fraction(1, ranks[0]) if ranks else Fraction(0)), Fraction(total(judged, rel) > 0)

    return definition


def gain_of(grade: Grade, gain: str) -> float:
    if grade is None or grade <= 0:
        return 0.0
    return {"linear": grade, "exponential": 2**grade - 1, "binary": float(grade >= 1)}[gain]


def discounted(grades: Sequence[Grade], gain: str) -> float:
    return math.fsum(gain_of(grade, gain) / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


def dcg(gain: str, k: int | None) -> Definition:
    return lambda ranked, _judged: (discounted(ranked[:k], gain), 1.0)


def ndcg(gain: str, k: int | None) -> Definition:
    return lambda ranked, judged: (
        discounted(ranked[:k], gain),
        discounted(sorted(judged, reverse=True)[:k], gain),
    )


DEFINITIONS: dict[str, Definition] = {
    "HitRate@1": hit_rate(1),
    "HitRate@3": hit_rate(3),
    "HitRate(rel=2)@2": hit_rate(2, rel=2),
    "Recall@2": recall(2),
    "Recall": recall(None),
    "Recall(rel=2)@3": recall(3, rel=2),
    "Recall(denominator=min)@2": recall(2, capped=True),
    "Precision@2": precision(2),
    "Precision@9": precision(9),
    "Precision(denominator=retrieved)@4": precision_of_retrieved(4),
    "RPrecision": r_precision,
    "AP": average_precision(None),
    "AP@3": average_precision(3),
    "AP(denominator=min)@2": average_precision(2, capped=True),
    "AP@R": average_precision_at_r,
    "AP(denominator=found)": average_precision_of_found(None),
    "AP(denominator=found)@2": average_precision_of_found(2),
    "AP(denominator=found)@3": average_precision_of_found(3),
    "AP(cut=relevant)": average_precision_of_first_relevant(None),
    "AP(cut=relevant)@1": average_precision_of_first_relevant(1),
    "AP(cut=relevant)@2": average_precision_of_first_relevant(2),
    "AP(interpolation=trapezoid)": trapezoid,
    "RR": reciprocal_rank(None),
    "RR@2": reciprocal_rank(2),
    "RR(rel=3)@4": reciprocal_rank(4, rel=3),
    "DCG@3": dcg("linear", 3),
    "DCG(gain=exponential)": dcg("exponential", None),
    "nDCG": ndcg("linear", None),
    "nDCG@2": ndcg("linear", 2),
    "nDCG(gain=exponential)@3": ndcg("exponential", 3),
    "nDCG(gain=binary)@4": ndcg("binary", 4),
}


def orders(ranked: Sequence[tuple[float, Grade]]) -> Iterator[list[Grade]]:
    """All orders of a list of (score, grade) that a sort by score can give, as often as permutations make it."""
    groups = [[grade for _, grade in group] for _, group in groupby(ranked, key=lambda pair: pair[0])]
    for choice in product(*(permutations(group) for group in groups)):
        yield [grade for group in choice for grade in group]


def scored_grades(case: Case, query: str) -> list[tuple[float, Grade]]:
    dropped = set(case.ignored[query])
    return [(s, case.grades[query].get(i)) for i, s in case.run.get(query, {}).items() if i not in dropped]


def brute_force(definition: Definition, case: Case, query: str, rule: str) -> float | None:
    """The value of one query; None where it is undefined."""
    judged = list(case.grades[query].values())
    pairs = [definition(order, judged) for order in orders(scored_grades(case, query))]
    if rule == "expected":
        count = len(pairs)
        if isinstance(pairs[0][0], Fraction):
            above: Number = sum((Fraction(pair[0]) for pair in pairs), Fraction(0)) / count
            below: Number = sum((Fraction(pair[1]) for pair in pairs), Fraction(0)) / count
        else:
            above, below = (math.fsum(float(pair[side]) for pair in pairs) / count for side in (0, 1))
        return float(above / below) if below else None
    values = [above / below for above, below in pairs if below]
    if not values:
        return None
    return float(max(values) if rule == "best" else min(values))


@pytest.mark.parametrize("text", DEFINITIONS)
@pytest.mark.parametrize("rule", ["expected", "best", "worst"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_equals_all_permutations(text: str, rule: str, case: Case) -> None:
    result = evaluate(case.ranking, case.relevance, [text], ties=rule) if case.run else None  # type: ignore[arg-type]
    assert result is not None
    for query, value in zip(result.queries, result[text].values.tolist(), strict=True):
        wanted = brute_force(DEFINITIONS[text], case, str(query), rule)
        if wanted is None:
            assert math.isnan(value)
        else:
            assert value == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("text", DEFINITIONS)
@settings(max_examples=30, deadline=None)
@given(case=cases())
def test_listed_and_id_orders_are_one_permutation(text: str, case: Case) -> None:
    for rule, key in (
        ("listed", None),
        ("id_desc", lambda pair: (pair[1], pair[0])),
        ("id_asc", lambda pair: (pair[1], tuple(-ord(letter) for letter in pair[0]))),
    ):
        result = evaluate(case.ranking, case.relevance, [text], ties=rule)  # type: ignore[arg-type]
        for query, value in zip(result.queries, result[text].values.tolist(), strict=True):
            listed = list(case.run.get(str(query), {}).items())
            ranked = listed if key is None else sorted(listed, key=key, reverse=True)
            grades = case.grades[str(query)]
            order = [grades.get(item) for item, _ in ranked if item not in case.ignored[str(query)]]
            above, below = DEFINITIONS[text](order, list(grades.values()))
            assert math.isnan(value) if not below else value == pytest.approx(float(above / below), abs=1e-12)


@pytest.mark.parametrize("text", DEFINITIONS)
def test_text_form_reads_back(text: str) -> None:
    measure = parse_measure(text)
    assert parse_measure(str(measure)) == measure
