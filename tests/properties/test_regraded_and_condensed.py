"""Regrading equals joining anew, and condensed lists equal lists written without the unjudged items."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from visual_search import Ranking, Relevance, evaluate
from visual_search.evaluation.judged_only import evaluate_judged_only
from visual_search.evaluation.measures.parsing import parse_measures
from visual_search.evaluation.regraded import Regraded
from visual_search.evaluation.ties import TIE_RULES, TieRule
from visual_search.testing.strategies import Case, cases

MEASURES = ["nDCG@3", "AP", "RR", "Bpref", "Judged@2", "Recall@2", "ERR(max_grade=4)@3"]


@settings(max_examples=60)
@given(cases(), st.sampled_from(TIE_RULES), st.integers(0, 2**32))
def test_regrading_equals_joining_anew(case: Case, ties: TieRule, seed: int) -> None:
    ranking, relevance = case.ranking, case.relevance
    grades = np.random.default_rng(seed).integers(-1, 4, len(relevance.rows)).astype(np.float64)
    anew = Relevance(
        relevance.queries, relevance.items, relevance.offsets, relevance.rows, grades, relevance.ignored
    )
    positions = Regraded(ranking, relevance).graded(grades)
    theirs = evaluate(ranking, anew, MEASURES, ties=ties)
    for measure in parse_measures(MEASURES):
        np.testing.assert_array_equal(measure.values(positions, ties).value, theirs[measure].values)


@settings(max_examples=60)
@given(cases(), st.sampled_from(TIE_RULES))
def test_condensed_lists_are_those_written_without_unjudged_items(case: Case, ties: TieRule) -> None:
    shorter = {
        query: {
            item: score
            for item, score in listed.items()
            if query not in case.grades or item in case.grades[query] or item in case.ignored.get(query, [])
        }
        for query, listed in case.run.items()
    }
    ours = evaluate_judged_only(case.ranking, case.relevance, MEASURES, ties=ties)
    theirs = evaluate(Ranking.from_dict(shorter), case.relevance, MEASURES, ties=ties)
    for text in MEASURES:
        np.testing.assert_array_equal(ours[text].values, theirs[text].values)
    assert ours["Judged@2"].values.tolist() == [
        float(any(item in known for item in case.run.get(query, {}))) for query, known in case.grades.items()
    ]
