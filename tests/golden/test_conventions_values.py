"""Numbers that must come out, each with where it comes from."""

from typing import Any

import numpy as np
import pytest

from visual_search import Ranking, Relevance, evaluate, recall_at_k
from visual_search.evaluation.measures.average_precision import AP
from visual_search.evaluation.positions import all_tied

# The retrieval chapter's hand-worked example: dot products of two-dimensional embeddings; the relevant pairs are on
# the diagonal, each third in its row.
CHAPTER_SIMILARITY = [[1.0, 3.4, 1.6], [3.4, 1.1, 1.8], [2.2, 2.25, 1.7]]

# The retrieval chapter's exercises 2 and 3: four queries, five gallery items.
CHAPTER_RANKS = np.array([[2, 0, 1, 3, 4], [1, 4, 0, 2, 3], [3, 2, 0, 1, 4], [0, 1, 2, 3, 4]])
CHAPTER_RELEVANCE = np.array([[0, 1, 0, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0]])

# The cross-modal hashing note's codes of +1 and -1, and which of the six shares the query's label.
HASH_QUERY = np.array([1, -1, 1, 1])
HASH_CODES = np.array(
    [[1, -1, 1, -1], [-1, -1, 1, -1], [-1, -1, 1, -1], [1, 1, -1, -1], [-1, 1, -1, -1], [1, 1, -1, 1]]
)
HASH_RELEVANT = [1, 1, 0, 0, 1, 0]


def mean(ranking: Ranking, relevance: Relevance, text: str, **options: Any) -> float:
    return evaluate(ranking, relevance, [text], **options)[text].mean


def of_relevant_ranks(ranks: list[int], *, length: int, total: int | None = None) -> tuple[Ranking, Relevance]:
    """One query whose relevant items stand at these ranks; ``total`` counts those that are not in the list too."""
    items = [f"d{rank}" for rank in range(1, length + 1)]
    missed = [f"missed{number}" for number in range((total or len(ranks)) - len(ranks))]
    relevance = {f"d{rank}": 1 for rank in ranks} | dict.fromkeys(missed, 1)
    return Ranking.from_arrays([items]), Relevance.from_dict({0: relevance})


def test_chapter_similarity() -> None:
    ranking = Ranking.from_similarity(CHAPTER_SIMILARITY)
    relevance = Relevance.from_matrix(np.eye(3, dtype=int))
    assert [mean(ranking, relevance, f"HitRate@{k}") for k in (1, 2, 3, 5)] == [0, 0, 1, 1]
    assert mean(ranking, relevance, "AP(denominator=min)@2") == 0
    result = evaluate(ranking, relevance, ["AP(denominator=min)@5"])
    assert result["AP(denominator=min)@5"].mean == pytest.approx(1 / 3, abs=1e-15)
    assert "k = 5 exceeds the gallery of 3 items: values at 5 are those of the full ranking" in result.notes


def test_chapter_ranks() -> None:
    ranking = Ranking.from_rank_matrix(CHAPTER_RANKS)
    relevance = Relevance.from_matrix(CHAPTER_RELEVANCE)
    assert [mean(ranking, relevance, f"HitRate@{k}") for k in (1, 2, 3)] == [0.25, 0.25, 0.75]
    # Item-level, over the four relevant pairs there are. The chapter's table counts hits 1, 1, 3 of 4.
    assert [mean(ranking, relevance, f"Recall(average=micro)@{k}") for k in (1, 2, 3)] == [0.25, 0.25, 0.75]
    ap = evaluate(ranking, relevance, ["AP"])["AP"]
    assert (ap.counted, ap.undefined, ap.undefined_queries) == (3, 1, (3,))


def test_chapter_recall_at_k_and_its_three_checks() -> None:
    assert [recall_at_k(CHAPTER_RANKS, CHAPTER_RELEVANCE, k) for k in (1, 2, 3)] == [0.25, 0.25, 0.75]
    assert recall_at_k(CHAPTER_RANKS, np.zeros_like(CHAPTER_RELEVANCE), 3) == 0
    perfect = np.zeros_like(CHAPTER_RELEVANCE)
    perfect[np.arange(4), CHAPTER_RANKS[:, 0]] = 1
    assert recall_at_k(CHAPTER_RANKS, perfect, 1) == 1


def test_one_relevant_item_at_rank_two_and_at_rank_five() -> None:
    for rank, ap in ((2, 0.5), (5, 0.2)):
        ranking, relevance = of_relevant_ranks([rank], length=10)
        assert mean(ranking, relevance, "AP@5") == ap
        assert mean(ranking, relevance, "AP(denominator=min)@5") == ap
        assert mean(ranking, relevance, "Recall@5") == 1


def test_hash_codes_with_their_ties() -> None:
    # The note's printed order is no sort of these distances; what follows from them is these three numbers.
    hamming = (4 - HASH_CODES @ HASH_QUERY) / 2
    assert hamming.tolist() == [1, 2, 2, 3, 4, 2]
    ranking = Ranking.from_similarity(-hamming[None])
    relevance = Relevance.from_matrix([HASH_RELEVANT])
    assert mean(ranking, relevance, "AP") == pytest.approx(20 / 27, abs=1e-15)
    assert mean(ranking, relevance, "AP", ties="best") == pytest.approx(5 / 6, abs=1e-15)
    assert mean(ranking, relevance, "AP", ties="worst") == pytest.approx(2 / 3, abs=1e-15)


def test_cross_modal_note_worked_examples() -> None:
    ranking, relevance = of_relevant_ranks([3, 4, 5], length=6)
    assert mean(ranking, relevance, "AP") == pytest.approx(0.477778, abs=5e-7)
    ranking, relevance = of_relevant_ranks([1, 3, 4], length=5)
    # The note prints .9167 here, which belongs to ranks 1, 2, 4.
    assert mean(ranking, relevance, "AP") == pytest.approx(0.805556, abs=5e-7)
    assert mean(ranking, relevance, "AP(cut=relevant)@2") == pytest.approx(0.833333, abs=5e-7)
    assert mean(ranking, relevance, "AP(denominator=min)@2") == 0.5
    assert mean(ranking, relevance, "AP@2") == pytest.approx(1 / 3, abs=1e-15)
    ranking, relevance = of_relevant_ranks([1, 2, 4], length=5)
    assert mean(ranking, relevance, "AP") == pytest.approx(0.9167, abs=5e-5)


def test_evaluation_guide_worked_examples() -> None:
    ranking = Ranking.from_arrays([["i1", "i4", "i2", "i5", "i6"]])
    relevance = Relevance.from_dict({0: {"i1": 1, "i2": 1, "i3": 1}})
    assert mean(ranking, relevance, "Recall@5") == pytest.approx(2 / 3, abs=1e-15)
    assert mean(ranking, relevance, "Precision@5") == 0.4
    assert mean(ranking, relevance, "AP@5") == pytest.approx(5 / 9, abs=1e-15)
    ranking = Ranking.from_arrays([["a", "b", "c"], ["x", "y", "z"]])
    relevance = Relevance.from_dict({0: {"a": 1}, 1: {"z": 1}})
    assert mean(ranking, relevance, "RR") == pytest.approx(2 / 3, abs=1e-15)


def test_graded_list_in_rank_order() -> None:
    # Grades 0, 5, 1, 4, 2 down the list: 5/log2(3) + 1/2 + 4/log2(5) + 2/log2(6) over the same grades sorted.
    ranking = Ranking.from_arrays([["a", "b", "c", "d", "e"]])
    relevance = Relevance.from_dict({0: {"a": 0, "b": 5, "c": 1, "d": 4, "e": 2}})
    dcg = mean(ranking, relevance, "DCG@5")
    assert dcg == pytest.approx(6.151, abs=5e-4)
    ideal = mean(Ranking.from_arrays([["b", "d", "e", "c", "a"]]), relevance, "DCG@5")
    assert ideal == pytest.approx(8.954, abs=5e-4)
    assert mean(ranking, relevance, "nDCG@5") == pytest.approx(0.687, abs=5e-4)
    assert mean(ranking, relevance, "nDCG@5") == pytest.approx(dcg / ideal, abs=1e-15)


def test_one_relevant_of_four_all_tied() -> None:
    # (1 + 1/2 + 1/3 + 1/4) / 4
    ranking = Ranking.from_similarity([[0.5, 0.5, 0.5, 0.5]])
    relevance = Relevance.from_matrix([[0, 0, 1, 0]])
    assert mean(ranking, relevance, "AP") == pytest.approx(25 / 48, abs=1e-15)
    assert mean(ranking, relevance, "AP", ties="best") == 1
    assert mean(ranking, relevance, "AP", ties="worst") == 0.25


@pytest.mark.parametrize(("n", "wanted"), [(20, 0.22305), (100, 0.13807), (1_000, 0.10584), (10_000, 0.10079)])
def test_collapsed_codes_score_as_random_retrieval_whatever_the_order(n: int, wanted: float) -> None:
    # Ten equal classes, the query in none of the gallery's places. The closed form is the mean over ranks r of
    # (1 + (r - 1)(R - 1)/(n - 1)) / r.
    relevant = n // 10
    ranks = np.arange(1, n + 1)
    closed = float(((1 + (ranks - 1) * (relevant - 1) / (n - 1)) / ranks).mean())
    for order in (np.arange(n), np.random.default_rng(0).permutation(n)):
        classes = (np.arange(n) * 10 // n)[order]
        relevance = Relevance.from_labels([0], classes)
        ranking = Ranking.from_similarity(np.zeros((1, n)))
        assert mean(ranking, relevance, "AP") == pytest.approx(wanted, abs=5e-6)
        assert mean(ranking, relevance, "AP") == pytest.approx(closed, abs=1e-12)
        random = AP().values(all_tied(relevance, n)).value[0]
        assert random == pytest.approx(closed, abs=1e-12)


def test_where_each_query_has_one_relevant_item_two_pairs_of_measures_agree() -> None:
    rng = np.random.default_rng(0)
    similarity = rng.integers(0, 8, (40, 30)) / 4
    ranking = Ranking.from_similarity(similarity)
    relevance = Relevance.from_matrix(np.eye(30, dtype=int)[rng.integers(0, 30, 40)])
    for ties in ("expected", "best", "worst", "listed", "id_desc", "id_asc"):
        for k in (1, 3, 10):
            hit, recall = (
                mean(ranking, relevance, f"{form}@{k}", ties=ties) for form in ("HitRate", "Recall(average=micro)")
            )
            assert hit == pytest.approx(recall, abs=1e-14)
            ap, rr = (mean(ranking, relevance, f"{form}@{k}", ties=ties) for form in ("AP", "RR"))
            assert ap == pytest.approx(rr, abs=1e-14)


def test_a_gallery_of_three_under_k_five() -> None:
    # One of two views against the other's three: found at the last place, with the note that k exceeds the gallery.
    ranking, relevance = of_relevant_ranks([3], length=3)
    result = evaluate(ranking, relevance, ["AP(denominator=min)@5"])
    assert result["AP(denominator=min)@5"].mean == pytest.approx(1 / 3, abs=1e-15)
    assert any("k = 5 exceeds the gallery of 3 items" in note for note in result.notes)
