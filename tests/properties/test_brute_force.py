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
from visual_search.evaluation.ties import TieRule
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
    # An empty list is 0 of 0: 0, and counted.
    return lambda ranked, _judged: (Fraction(hits(ranked, k)), Fraction(max(min(k, len(ranked)), 1)))


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


def expected_reciprocal_rank(max_grade: int, k: int | None) -> Definition:
    def definition(ranked: Sequence[Grade], _judged: Sequence[float]) -> tuple[Number, Number]:
        going, value = Fraction(1), Fraction(0)
        for rank, grade in enumerate(ranked[:k], 1):
            stop = Fraction(2 ** int(grade) - 1, 2**max_grade) if grade is not None and grade > 0 else Fraction(0)
            value += going * stop / rank
            going *= 1 - stop
        return value, Fraction(1)

    return definition


def rank_biased_precision(p: Fraction, k: int | None) -> Definition:
    return lambda ranked, _judged: (
        (1 - p) * sum((p**place for place, grade in enumerate(ranked[:k]) if is_relevant(grade)), Fraction(0)),
        Fraction(1),
    )


def binary_preference(*, negative_judged: bool) -> Definition:
    def is_bad(grade: Grade) -> bool:
        return grade is not None and grade < 1 and (negative_judged or grade >= 0)

    def definition(ranked: Sequence[Grade], judged: Sequence[float]) -> tuple[Number, Number]:
        relevant, bad = total(judged), sum(map(is_bad, judged))
        value = Fraction(0)
        for place, grade in enumerate(ranked):
            if is_relevant(grade):
                above = sum(map(is_bad, ranked[:place]))
                value += 1 - (Fraction(min(above, relevant), min(bad, relevant)) if bad else 0)
        return value, Fraction(relevant)

    return definition


def f1(k: int) -> Definition:
    return lambda ranked, judged: (
        Fraction(2 * hits(ranked, k)),
        Fraction(k + total(judged) if total(judged) else 0),
    )


def inverse_negative_penalty(ranked: Sequence[Grade], judged: Sequence[float]) -> tuple[Number, Number]:
    ranks = [rank for rank, grade in enumerate(ranked, 1) if is_relevant(grade)]
    whole = bool(ranks) and len(ranks) == total(judged)
    return (Fraction(len(ranks), ranks[-1]) if whole else Fraction(0)), Fraction(total(judged) > 0)


def first_rank(ranked: Sequence[Grade], _judged: Sequence[float]) -> tuple[Number, Number]:
    ranks = [rank for rank, grade in enumerate(ranked, 1) if is_relevant(grade)]
    return Fraction(ranks[0] if ranks else 0), Fraction(bool(ranks))


def judged_share(k: int) -> Definition:
    return lambda ranked, _judged: (
        Fraction(sum(grade is not None for grade in ranked[:k])),
        Fraction(max(min(k, len(ranked)), 1)),
    )


def precision_down_to_last(k: int) -> Definition:
    def definition(ranked: Sequence[Grade], judged: Sequence[float]) -> tuple[Number, Number]:
        ranks = [rank for rank, grade in enumerate(ranked, 1) if is_relevant(grade)]
        last = ranks[-1] if ranks and len(ranks) == total(judged) else k
        return Fraction(hits(ranked, min(k, last)), min(k, last)), Fraction(1)

    return definition


def average_precision_where_found(k: int) -> Definition:
    return lambda ranked, _judged: (
        precisions(ranked, k) / max(hits(ranked, k), 1),
        Fraction(hits(ranked, k) > 0),
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
    "AP(denominator=found,unfound=undefined)@2": average_precision_where_found(2),
    "Precision(denominator=last)@1": precision_down_to_last(1),
    "Precision(denominator=last)@3": precision_down_to_last(3),
    "ERR(max_grade=3)": expected_reciprocal_rank(3, None),
    "ERR(max_grade=4)@2": expected_reciprocal_rank(4, 2),
    "RBP": rank_biased_precision(Fraction(4, 5), None),
    "RBP(p=0.5)@3": rank_biased_precision(Fraction(1, 2), 3),
    "Bpref": binary_preference(negative_judged=True),
    "Bpref(negative=unjudged)": binary_preference(negative_judged=False),
    "F1@2": f1(2),
    "INP": inverse_negative_penalty,
    "FirstRank": first_rank,
    "Judged@3": judged_share(3),
}


def orders(ranked: Sequence[tuple[float, Grade]]) -> Iterator[list[Grade]]:
    """All orders of a list of (score, grade) that a sort by score can give, as often as permutations make it."""
    groups = [[grade for _, grade in group] for _, group in groupby(ranked, key=lambda pair: pair[0])]
    for choice in product(*(permutations(group) for group in groups)):
        yield [grade for group in choice for grade in group]


def scored_grades(case: Case, query: str) -> list[tuple[float, Grade]]:
    dropped = set(case.ignored[query])
    return [(s, case.grades[query].get(i)) for i, s in case.run.get(query, {}).items() if i not in dropped]


def brute_force(
    definition: Definition, rankings: list[list[Grade]], judged: list[float], rule: str, *, higher_is_better: bool
) -> float | None:
    """The value over all orders of one query's list; None where it is undefined."""
    pairs = [definition(order, judged) for order in rankings]
    if rule == "expected":
        if isinstance(pairs[0][0], Fraction):
            above: Number = sum((Fraction(pair[0]) for pair in pairs), Fraction(0)) / len(pairs)
            below: Number = sum((Fraction(pair[1]) for pair in pairs), Fraction(0)) / len(pairs)
        else:
            above, below = (math.fsum(float(pair[side]) for pair in pairs) / len(pairs) for side in (0, 1))
        return float(above / below) if below else None
    values = [above / below for above, below in pairs if below]
    if not values:
        return None
    return float(max(values) if (rule == "best") == higher_is_better else min(values))


def same(value: float, wanted: float | None) -> bool:
    return math.isnan(value) if wanted is None else value == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("rule", ["expected", "best", "worst"])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_equals_all_permutations(rule: TieRule, case: Case) -> None:
    result = evaluate(case.ranking, case.relevance, DEFINITIONS, ties=rule)
    for row, query in enumerate(map(str, result.queries)):
        rankings = list(orders(scored_grades(case, query)))
        judged = list(case.grades[query].values())
        for text, definition in DEFINITIONS.items():
            better = parse_measure(text).higher_is_better
            wanted = brute_force(definition, rankings, judged, rule, higher_is_better=better)
            assert same(result[text].values[row], wanted), (text, query, result[text].values[row], wanted)


ORDERS: dict[TieRule, Callable[[list[tuple[str, float]]], list[tuple[str, float]]]] = {
    "listed": list,
    "id_desc": lambda listed: sorted(listed, key=lambda pair: (pair[1], pair[0]), reverse=True),
    "id_asc": lambda listed: sorted(sorted(listed), key=lambda pair: -pair[1]),
}


@pytest.mark.parametrize("rule", ORDERS)
@settings(max_examples=150, deadline=None)
@given(case=cases(max_items=8))
def test_rules_that_name_an_order_take_it(rule: TieRule, case: Case) -> None:
    result = evaluate(case.ranking, case.relevance, DEFINITIONS, ties=rule)
    for row, query in enumerate(map(str, result.queries)):
        ranked = ORDERS[rule](list(case.run.get(query, {}).items()))
        grades = case.grades[query]
        order = [grades.get(item) for item, _ in ranked if item not in case.ignored[query]]
        for text, definition in DEFINITIONS.items():
            above, below = definition(order, list(grades.values()))
            assert same(result[text].values[row], float(above / below) if below else None), (text, query)


@pytest.mark.parametrize("text", DEFINITIONS)
def test_text_form_reads_back(text: str) -> None:
    measure = parse_measure(text)
    assert parse_measure(str(measure)) == measure
