import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from visual_search.evaluation.item_states import item_states, ranking_columns
from visual_search.ground_truth.relevance import Relevance
from visual_search.rankings.ranking import Ranking

items = st.sampled_from("abcdefgh")


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), st.lists(items, unique=True)),
    st.dictionaries(st.sampled_from(["q1", "q2", "q4"]), st.dictionaries(items, st.sampled_from([-1, 0, 1, 2]))),
    st.dictionaries(st.sampled_from(["q1", "q2", "q4"]), st.sets(items)),
    st.booleans(),
)
def test_each_item_has_the_state_a_look_up_gives(
    lists: dict[str, list[str]], judged: dict[str, dict[str, int]], junk: dict[str, set[str]], complete: bool
) -> None:
    ranking = Ranking.from_dict(
        {q: {item: -float(rank) for rank, item in enumerate(ids)} for q, ids in lists.items()}
    )
    ignored = {q: sorted(junk.get(q, set()) - set(grades)) for q, grades in judged.items()}
    relevance = Relevance.from_dict(judged, ignored=ignored)
    columns = ranking_columns(ranking, relevance, None, complete=complete)
    expected = []
    for query, ids in lists.items():
        counting = 0
        for position, item in enumerate(ids, start=1):
            grade = judged.get(query, {}).get(item)
            unlisted = "not_relevant" if complete else "unjudged"
            state = unlisted if grade is None else "relevant" if grade >= 1 else "not_relevant"
            state = "ignored" if item in ignored.get(query, []) else state
            counting += state != "ignored"
            rank = None if state == "ignored" else counting
            expected.append((query, position, rank, item, state, grade))
    grades = [None if np.isnan(grade) else grade for grade in columns["grade"]]
    named = [columns[name] for name in ("query", "position", "rank", "item", "state")]
    found = zip(*named, grades, strict=True)
    assert list(found) == expected
    assert np.isnan(item_states(ranking, relevance).grades).sum() == grades.count(None)


def test_distance_is_told_for_l2_alone() -> None:
    ranking = Ranking.from_dict({"q": {"a": -0.0, "b": -2.5}})
    relevance = Relevance.from_dict({"q": {}})
    for metric in ("l2", "hamming"):
        assert ranking_columns(ranking, relevance, metric, complete=True)["distance"].tolist() == [0.0, 2.5]
    assert np.isnan(ranking_columns(ranking, relevance, "cosine", complete=True)["distance"]).all()
