"""A tenth of the pooled pairs, judged in the adaptive order, orders eight systems nearly as full relevance does."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from visual_search.judging.task import Order
from visual_search.testing.simulated_pools import judged_in_order, kendall_tau, simulated_pool, system_means


@pytest.mark.parametrize("order", ["max_mean", "move_to_front"])
def test_a_tenth_of_the_pairs_orders_the_systems(order: Order) -> None:
    taus: dict[str, list[float]] = {order: [], "shuffled": []}
    methods: tuple[Order, ...] = (order, "shuffled")
    for seed in range(4):
        pool = simulated_pool(queries=25, step=0.2, seed=seed)
        full = system_means(pool)
        for method in methods:
            judged = judged_in_order(pool, method, 0.1, seed=seed)
            pooled = sum(len(pool.pooled(query)[0]) for query in range(25))
            assert abs(len(judged.rows) - pooled / 10) <= 12  # rounded query by query
            taus[method].append(kendall_tau(full, system_means(pool, judged)))
    assert np.mean(taus[order]) >= 0.9
    assert np.mean(taus["shuffled"]) < np.mean(taus[order])


def test_all_pairs_judged_give_the_order_and_the_scores_of_full_pools() -> None:
    pool = simulated_pool(queries=5, items=60, depth=60, seed=1)
    judged = judged_in_order(pool, "fixed", 1.0)
    assert system_means(pool, judged) == pytest.approx(system_means(pool))


def test_tau_is_scipys() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 8))
    assert kendall_tau(first, second) == pytest.approx(kendalltau(first, second).statistic)
