"""In which order pairs are judged."""

import numpy as np
import pytest

from visual_search.errors import InputError
from visual_search.judging.order import QueryOrder
from visual_search.judging.pool import Source
from visual_search.judging.task import ORDERS, Order


def lists(*systems: str) -> tuple[list[list[Source]], str]:
    """Sources of one-letter items, and the items in order of first appearance."""
    items = "".join(dict.fromkeys("".join(systems)))
    sources = [
        [
            Source("ranked", str(number), listed.index(item) + 1)
            for number, listed in enumerate(systems)
            if item in listed
        ]
        for item in items
    ]
    return sources, items


def judged_in_order(systems: tuple[str, ...], relevant: str, method: Order) -> str:
    sources, items = lists(*systems)
    order = QueryOrder(sources, [place / 100 for place in range(len(items))], method)
    judged: dict[int, bool | None] = {}
    seen = ""
    while left := order.remaining(judged):
        seen += items[left[0]]
        judged[left[0]] = items[left[0]] in relevant
    return seen


def test_move_to_front_by_hand() -> None:
    # a is not relevant: the first system falls behind, and the second is read to its first wrong one, z; now both
    # have one, and the better rank goes first: b, which is right; c is wrong, and w is what is left.
    assert judged_in_order(("abc", "xyzw"), "xyb", "move_to_front") == "axyzbcw"


def test_max_mean_follows_the_better_system() -> None:
    seen = judged_in_order(("abcdefgh", "stuvwxyz"), "stuvwxyz", "max_mean")
    assert seen[:9] == "astuvwxyz"


def test_fixed_goes_by_rank_and_learns_nothing() -> None:
    assert judged_in_order(("abc", "xyz"), "xyz", "fixed") == "axbycz"


def test_shuffled_goes_by_the_ties_alone() -> None:
    sources, _ = lists("abc")
    assert QueryOrder(sources, [0.3, 0.1, 0.2], "shuffled").remaining({}) == [1, 2, 0]


@pytest.mark.parametrize("method", ORDERS)
def test_the_order_depends_on_what_was_judged_and_not_on_when(method: Order) -> None:
    rng = np.random.default_rng(3)
    systems = tuple("".join(rng.permutation(list("abcdefghijklmnop"))[:9]) for _ in range(4))
    sources, items = lists(*systems)
    order = QueryOrder(sources, rng.random(len(items)).tolist(), method)
    marks = [(int(place), bool(rng.random() < 0.4)) for place in rng.permutation(len(items))[:6]]
    assert order.remaining(dict(marks)) == order.remaining(dict(reversed(marks)))
    assert sorted(order.remaining(dict(marks))) == sorted(set(range(len(items))) - dict(marks).keys())


def test_cannot_tell_is_no_evidence() -> None:
    sources, _ = lists("abc", "xyz")
    order = QueryOrder(sources, [place / 100 for place in range(6)], "max_mean")
    assert order.remaining({0: None}) == [place for place in order.remaining({}) if place]


def test_candidates_of_other_kinds_are_arms_of_their_own() -> None:
    sources, items = lists("abcd")
    more = [Source("near_duplicate", rank=rank, near="a", likeness=0.9) for rank in (1, 2, 3)]
    order = QueryOrder([*sources, *([one] for one in more)], [place / 100 for place in range(7)])
    assert order.remaining({0: False, 4: True})[:2] == [5, 6]  # near-duplicates find, the system does not
    assert len(items) == 4


def test_what_is_asked_for_is_named() -> None:
    with pytest.raises(InputError, match="move_to_front, max_mean, fixed, shuffled"):
        QueryOrder([], [], "hedge")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="1 for 0 pairs"):
        QueryOrder([], [0.5])


def test_early_judgements_find_most_of_what_is_relevant() -> None:
    """On simulated systems a third of the pool, judged adaptively, holds far more relevant items than by rank."""
    rng = np.random.default_rng(11)
    found = dict.fromkeys(ORDERS, 0)
    for _ in range(20):
        relevant = rng.random(120) < 0.25
        systems = [np.argsort(-(relevant * skill + rng.normal(size=120)))[:40] for skill in (0.0, 0.5, 1.0, 2.5)]
        pooled = sorted({int(item) for listed in systems for item in listed})
        sources = [
            [
                Source("ranked", str(number), int(np.flatnonzero(listed == item)[0]) + 1)
                for number, listed in enumerate(systems)
                if item in listed
            ]
            for item in pooled
        ]
        ties = rng.random(len(pooled)).tolist()
        for method in ORDERS:
            order = QueryOrder(sources, ties, method)
            judged: dict[int, bool | None] = {}
            for _ in range(len(pooled) // 3):
                place = order.remaining(judged)[0]
                judged[place] = bool(relevant[pooled[place]])
            found[method] += sum(map(bool, judged.values()))
    assert found["max_mean"] > 1.15 * found["fixed"] > 1.15 * found["shuffled"] * 0.9
    assert found["move_to_front"] > 1.1 * found["fixed"]
