import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, KFold

from visual_search.errors import InputError
from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.evaluation.folds import split_folds

groups_of_queries = st.lists(st.none() | st.sampled_from("abcdefgh"), min_size=4, max_size=60)


@settings(deadline=None)
@given(groups_of_queries, st.integers(0, 5))
def test_folds_part_the_queries_and_never_a_group(groups: list[str | None], seed: int) -> None:
    count = len({g for g in groups if g}) + groups.count(None)
    if count < 2:
        with pytest.raises(InputError, match="independent group"):
            split_folds(groups, 2, seed)
        return
    folds = split_folds(groups, min(count, 4), seed)
    assert np.sort(np.concatenate([fold.test for fold in folds])).tolist() == list(range(len(groups)))
    for fold in folds:
        assert len(fold.test) > 0
        assert np.sort(np.concatenate((fold.train, fold.test))).tolist() == list(range(len(groups)))
        assert not {groups[row] for row in fold.test} & {groups[row] for row in fold.train} - {None}


def test_queries_alone_make_folds_whose_sizes_differ_by_one_at_most() -> None:
    sizes = [len(fold.test) for fold in split_folds([None] * 23, 5, seed=3)]
    assert sorted(sizes) == [4, 4, 5, 5, 5]


def test_the_seed_decides() -> None:
    first, again, other = (split_folds([None] * 40, 4, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(a.test, b.test) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a.test, b.test) for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize(("n_splits", "said"), [(1, "at least 2"), (4, "only 3 independent groups")])
def test_fold_counts_that_cannot_be(n_splits: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        split_folds(["a", "a", "b", None], n_splits)


def test_scikit_learn_splits_the_queries() -> None:
    dataset = EvaluationDataset.from_dict(
        {"queries": [{"query_id": f"q{n}", "ground_truth": ["x"], "group": f"g{n % 5}"} for n in range(20)]}
    )
    seen: list[object] = []
    for _, test in KFold(n_splits=5, shuffle=True, random_state=0).split(dataset.queries):
        seen += [query.query_id for query in dataset.subset(test).queries]
    assert sorted(map(str, seen)) == sorted(f"q{n}" for n in range(20))
    groups = [query.group for query in dataset.queries]
    for train, test in GroupKFold(n_splits=5).split(dataset.queries, groups=groups):
        assert not {groups[row] for row in train} & {groups[row] for row in test}
