"""Ways in which recall of an index goes wrong elsewhere, each with what is right here."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search import (
    IdLists,
    Ranking,
    Relevance,
    RunFile,
    evaluate,
    evaluate_similarity,
    neighbor_recall,
    neighbor_recall_table,
)
from visual_search.errors import DepthError, FingerprintError, InputError, NonFiniteError, UnknownIdError
from visual_search.evaluation.measures.neighbor_recall import LowNeighborRecall, NeighborRecall
from visual_search.evaluation.scoring import evaluate_presets
from visual_search.evaluation.statistics.measure_intervals import MeanBootstrap, with_intervals
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.ground_truth.truth_scope import TruthScope
from visual_search.testing.exact_answers import exact_by_brute_force

RNG = np.random.default_rng(3)
GALLERY = RNG.standard_normal((60, 4))
QUERIES = RNG.standard_normal((3, 4))


@pytest.fixture(scope="module")
def truth() -> ExactNeighbors:
    return exact_by_brute_force(GALLERY, QUERIES, 10)


def test_ten_copies_of_the_nearest_id_are_one_hit(truth: ExactNeighbors) -> None:
    copies = np.repeat(truth.ids[:, :1], 10, axis=1)
    for ties in ("exact", "strict", "ids"):
        assert neighbor_recall(copies, truth, 10, ties=ties).tolist() == [0.1] * 3
    table = neighbor_recall_table(copies, truth, 10)
    assert table.returned.tolist() == [1] * 3
    assert any("3 lists have repeated ids, which are misses" in note for note in table.notes)
    # Lists that are evaluated as they are say the same; a Ranking refuses them.
    assert evaluate(IdLists(copies), truth, ["NeighborRecall@10"])["NeighborRecall@10"].mean == pytest.approx(0.1)


def test_copies_of_an_item_that_ties_fill_one_place() -> None:
    truth = exact_by_brute_force(np.ones((5, 1)), np.zeros((1, 1)), 3)
    assert neighbor_recall([[4, 4, 4]], truth, 3).tolist() == [1 / 3]
    assert neighbor_recall([[4, 3, 0]], truth, 3).tolist() == [1]
    assert neighbor_recall([[4, 3, 0]], truth, 3, ties="ids").tolist() == [1 / 3]
    assert np.isnan(neighbor_recall([[4, 3, 0]], truth, 3, ties="strict")).all()


def test_empty_places_are_misses(truth: ExactNeighbors) -> None:
    found = truth.ids.copy()
    found[0] = -1
    found[1, 5:] = -1
    assert neighbor_recall(found, truth, 10).tolist() == [0, 0.5, 1]
    named = exact_by_brute_force(GALLERY, QUERIES, 10, gallery_ids=[f"i{row}" for row in range(60)])
    texts: list[list[Any]] = [[-1] * 10, [*named.ids[1, :5].tolist(), None, "", "-1"], named.ids[2].tolist()]
    assert neighbor_recall(texts, named, 10).tolist() == [0, 0.5, 1]
    table = neighbor_recall_table(found, truth, 10)
    assert any("2 lists have empty places (-1), which are misses: 0, 1" in note for note in table.notes)
    assert table.zero_recall_queries == (0,)


def test_short_and_long_lists_are_read_as_they_are(truth: ExactNeighbors) -> None:
    lists: list[Any] = [[], truth.ids[1, :3], truth.ids[2].tolist()]
    assert neighbor_recall(lists, truth, 10).tolist() == [0, 0.3, 1]
    longer = np.concatenate((truth.ids[:, ::-1], truth.ids), axis=1)[:, 2:]
    # What is beyond k is not read: it neither counts nor fails.
    assert neighbor_recall(longer, truth, 10).tolist() == neighbor_recall(longer[:, :10], truth, 10).tolist()
    table = neighbor_recall_table(longer, truth, 10)
    assert any("3 lists are longer than k = 10; what is beyond is not read" in note for note in table.notes)


def test_recall_deeper_than_the_truth_is_refused(truth: ExactNeighbors) -> None:
    everything = np.tile(np.arange(60), (3, 1))
    with pytest.raises(DepthError, match="needs the 50 nearest of each query, but the truth is 10 deep"):
        neighbor_recall(everything, truth, 50)
    with pytest.raises(DepthError, match="k=100, but the gallery has 60 items"):
        neighbor_recall(everything, truth, 100)
    with pytest.raises(DepthError, match="the truth is 10 deep"):
        evaluate(IdLists(everything), truth, ["DistanceRatio@11"])
    # The ten nearest among the first 50 is another question, with its own name.
    assert evaluate(IdLists(everything), truth, ["NeighborRecall(truth=10)@60"]).as_json()["measures"][
        "NeighborRecall(truth=10,ties=exact)@60"
    ]["mean"] == pytest.approx(1)
    for k in (0, -1, 2.5, True, "10"):
        with pytest.raises(InputError, match="k="):
            neighbor_recall(everything, truth, k)  # type: ignore[arg-type]


def test_recall_does_not_depend_on_the_scale_of_the_data(truth: ExactNeighbors) -> None:
    found = np.concatenate((truth.ids[:, :6], [[50, 51, 52, 53]] * 3), axis=1)
    plain = neighbor_recall(found, truth, 10)
    for scale in (1e-12, 1e-6, 1e6, 1e12):
        scaled = exact_by_brute_force(GALLERY * scale, QUERIES * scale, 10)
        assert neighbor_recall(found, scaled, 10).tolist() == plain.tolist()


def test_an_item_a_hair_farther_than_the_last_is_no_tie() -> None:
    truth = exact_by_brute_force([[0.0], [1.0], [1.0 + 2**-50]], [[0.0]], 2)
    assert neighbor_recall([[0, 2]], truth, 2).tolist() == [0.5]


def test_a_truth_of_other_data_with_as_many_rows_is_refused(truth: ExactNeighbors) -> None:
    other = exact_by_brute_force(GALLERY[::-1], QUERIES, 10)
    with pytest.raises(FingerprintError, match="gallery: fingerprint"):
        neighbor_recall(other.ids, truth, 10, gallery_fingerprint=other.gallery_fingerprint)
    with pytest.raises(FingerprintError, match="queries: fingerprint"):
        neighbor_recall(other.ids, truth, 10, queries_fingerprint="sha256:0")
    same = truth.gallery_fingerprint, truth.queries_fingerprint
    neighbor_recall(truth.ids, truth, 10, gallery_fingerprint=same[0], queries_fingerprint=same[1])


def test_lists_are_matched_by_query_and_not_by_row() -> None:
    truth = exact_by_brute_force(GALLERY, QUERIES, 10, query_ids=["a", "b", "c"])
    shuffled = truth.ids[[2, 0, 1]]
    assert neighbor_recall(shuffled, truth, 10, query_ids=["c", "a", "b"]).tolist() == [1, 1, 1]
    assert neighbor_recall(shuffled, truth, 10).mean() < 1
    with pytest.raises(InputError, match="2 problems") as found:
        neighbor_recall(shuffled, truth, 10, query_ids=["c", "a", "x"])
    assert "1 queries of the truth have no list: 'b'" in str(found.value)
    assert "1 lists of other queries: 'x'" in str(found.value)
    with pytest.raises(InputError, match="no query in common: 'x', 'y', 'z'"):
        neighbor_recall(shuffled, truth, 10, query_ids=["x", "y", "z"])
    with pytest.raises(InputError, match="query ids are str in the truth"):
        neighbor_recall(shuffled, truth, 10, query_ids=[0, 1, 2])
    with pytest.raises(InputError, match="2 lists for 3 queries"):
        neighbor_recall(shuffled[:2], truth, 10)
    with pytest.raises(InputError, match="4 ids for 3 lists"):
        neighbor_recall(shuffled, truth, 10, query_ids=["a", "b", "c", "d"])


def test_evaluate_names_missing_and_unknown_queries(truth: ExactNeighbors) -> None:
    ranking = Ranking.from_arrays(truth.ids[[2, 0]], query_ids=[2, 9])
    result = evaluate(ranking, truth, ["NeighborRecall@10"])
    assert result["NeighborRecall@10"].values.tolist() == [0, 0, 1]
    assert result.missing_queries == (0, 1)
    assert result.unjudged_queries == (9,)
    assert any("2 queries have no list and count as empty: 0, 1" in note for note in result.notes)
    assert any("the 10 nearest by l2 in the full gallery of 60 items" in note for note in result.notes)


def test_ids_that_are_not_row_numbers_are_compared_as_ids(truth: ExactNeighbors) -> None:
    numbered = exact_by_brute_force(GALLERY, QUERIES, 10, gallery_ids=np.arange(60) * 7 + 100)
    assert neighbor_recall(numbered.ids, numbered, 10).tolist() == [1, 1, 1]
    with pytest.raises(UnknownIdError, match="are not in the gallery of the truth") as found:
        neighbor_recall(truth.ids, numbered, 10)
    assert "the engine must hold what the truth was made of" in str(found.value)
    beyond = truth.ids.copy()
    beyond[1, 3] = 60
    with pytest.raises(UnknownIdError, match=r"1 are not in the gallery .*first \(query, id\): \(1, 60\);"):
        neighbor_recall(beyond, truth, 10)
    with pytest.raises(InputError, match="item ids are int in the truth"):
        neighbor_recall(truth.ids.astype(str), truth, 10)
    with pytest.raises(InputError, match="never float"):
        neighbor_recall(truth.ids.astype(float), truth, 10)
    with pytest.raises(InputError, match="one list of ids per query"):
        neighbor_recall(truth.ids[0], truth, 10)


def test_a_sample_is_never_the_gallery() -> None:
    truth = exact_by_brute_force(GALLERY, QUERIES, 5, scope=TruthScope.sample(of=10_000, seed=1))
    with pytest.raises(UnknownIdError, match="a sample of 60 items out of 10,000"):
        neighbor_recall([[0, 700], [1], [2]], truth, 5)  # the engine holds more than the sample
    table = neighbor_recall_table(truth.ids, truth, 5)
    assert "a sample of 60 items out of 10,000 (seed 1), not the full gallery" in table.text()
    assert table.as_json()["truth"]["kind"] == "sample"


def test_a_filter_that_leaves_fewer_than_k_asks_for_those() -> None:
    truth = exact_by_brute_force(GALLERY, QUERIES, 5, allowed=[[3, 9], list(range(30)), []])
    assert truth.lengths.tolist() == [2, 5, 0]
    lists: list[Any] = [[9, 40, 3], truth.ids[1], [5]]  # 40 does not pass the filter and is a miss
    for ties in ("exact", "strict", "ids"):
        values = neighbor_recall(lists, truth, 5, ties=ties)
        assert values[:2].tolist() == [1, 1]
        assert np.isnan(values[2])  # nothing to find is not 0
    assert neighbor_recall([[9], [], []], truth, 5)[0] == 0.5
    # A list padded with -1 matches no padding of the truth.
    assert neighbor_recall([[-1] * 5] * 3, truth, 5)[:2].tolist() == [0, 0]
    table = neighbor_recall_table(lists, truth, 5)
    assert any("filters of 2 queries leave fewer than 5 items" in note for note in table.notes)
    assert table.mean == 1
    assert len(table.worst(10)) == 2
    ratio = evaluate(Ranking.from_arrays([[9, 3], [], []], [[-0.5, -2.5], [], []]), truth, ["DistanceRatio@5"])
    assert ratio["DistanceRatio@5"].undefined_queries == (2,)


def test_ties_that_were_not_kept_are_said_to_matter() -> None:
    truth = exact_by_brute_force(np.ones((9, 1)), np.zeros((2, 1)), 2, tie_cap=1)
    with pytest.warns(UserWarning, match=r"1 query is a lower bound.*: 0; make the truth with a higher cap"):
        assert neighbor_recall([[8, 7], [1, 0]], truth, 2).tolist() == [0, 1]
    result = evaluate(IdLists([[8, 7], [1, 0]]), truth, ["NeighborRecall@2", "NeighborRecall(average=minimum)@2"])
    assert sum("lower bound" in note for note in result.notes) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert neighbor_recall([[1, 0], [0, 2]], truth, 2).tolist() == [1, 1]  # what is kept decides
        neighbor_recall([[8, 7], [1, 0]], truth, 2, ties="ids")
    # At a smaller k of the same truth the answer's own items show the tie, but not all of them.
    with pytest.warns(UserWarning, match="lower bound"):
        neighbor_recall([[8], [1]], truth, 1)


def test_an_uncertified_truth_is_said_to_be(truth: ExactNeighbors) -> None:
    from dataclasses import replace

    doubted = replace(truth, answers=replace(truth.answers, certified=np.array([True, False, True])))
    assert any(
        "1 query is not certified: 1" in note for note in neighbor_recall_table(truth.ids, doubted, 10).notes
    )


def test_relevance_and_neighbours_are_not_taken_for_each_other(truth: ExactNeighbors) -> None:
    ranking = Ranking.from_arrays(truth.ids, -truth.distances)
    people = Relevance.from_dict({0: {1: 1}, 1: {2: 1}, 2: {3: 1}})
    for form in ("NeighborRecall@10", "LowNeighborRecall@10", "DistanceRatio@10"):
        with pytest.raises(InputError, match="people's relevance does not say what is nearest"):
            evaluate(ranking, people, [form])
    for form in ("AP@10", "HitRate@1", "nDCG@10"):
        with pytest.raises(InputError, match="not a measure of exact neighbours"):
            evaluate(ranking, truth, ["NeighborRecall@10", form])
    with pytest.raises(InputError, match="preset ann compares an index with the exact neighbours"):
        evaluate(ranking, people, ["HitRate@1"], preset="ann")
    with pytest.raises(InputError, match="not a measure of exact neighbours"):
        evaluate(ranking, truth, preset="guide")
    with pytest.raises(InputError, match="exact neighbours are needed"):
        neighbor_recall(truth.ids, people, 10)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="ties='listed' is about items a system scored alike"):
        evaluate(ranking, truth, ["NeighborRecall@10"], ties="listed")
    with pytest.raises(InputError, match="the ranking comes first"):
        evaluate(truth, truth, ["NeighborRecall@10"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="ties='loose': one of exact, strict, ids"):
        neighbor_recall(truth.ids, truth, 10, ties="loose")  # type: ignore[arg-type]
    assert set(evaluate_presets(ranking, truth)) == {"ann"}
    assert "ann" not in evaluate_presets(ranking, people, k_values=[5])
    with pytest.raises(InputError, match="preset ann compares an index with the exact neighbours"):
        evaluate_similarity(QUERIES, GALLERY, people, ["HitRate@1"], preset="ann")
    with pytest.raises(InputError, match="people's relevance does not say what is nearest"):
        evaluate_similarity(QUERIES, GALLERY, people, ["NeighborRecall@1"])


def test_the_preset_shows_mean_minimum_and_share_below(truth: ExactNeighbors) -> None:
    found = truth.ids.copy()
    found[1, :5] = -1
    result = evaluate(IdLists(found), truth, preset="ann")
    assert list(result) == [
        "NeighborRecall(ties=exact)@10",
        "NeighborRecall(average=minimum,ties=exact)@10",
        "LowNeighborRecall(below=0.9,ties=exact)@10",
    ]
    assert [one.mean for one in result.values()] == pytest.approx([2.5 / 3, 0.5, 1 / 3])
    assert result.ties == "exact"
    assert result.notes[0].startswith("preset ann: ")
    assert "items as far as the last neighbour count alike" in result["NeighborRecall@10"].words
    json.dumps(result.as_json(), allow_nan=False)
    measured = with_intervals(result)
    assert measured["NeighborRecall@10"].interval is not None
    assert measured["NeighborRecall(average=minimum)@10"].interval is None
    direct = evaluate(IdLists(found), truth, preset="ann", interval=MeanBootstrap(), groups=[1, 1, 2])
    assert direct["NeighborRecall(average=minimum)@10"].interval is None


def test_every_form_of_a_ranking_is_taken(truth: ExactNeighbors, tmp_path: Path) -> None:
    scores = -truth.distances
    named = exact_by_brute_force(
        GALLERY, QUERIES, 10, gallery_ids=[f"i{row}" for row in range(60)], query_ids="abc"
    )
    run = {
        query: dict(zip(named.ids[row].tolist(), scores[row].tolist(), strict=True))
        for row, query in enumerate("abc")
    }
    path = tmp_path / "run.txt"
    path.write_text("".join(f"{q} Q0 {i} 1 {s!r} x\n" for q, found in run.items() for i, s in found.items()))
    forms = ["NeighborRecall@10", "DistanceRatio@10"]
    for ranking, against in (
        (Ranking.from_arrays(truth.ids, scores), truth),
        (IdLists(truth.ids, scores), truth),
        (run, named),
        (RunFile(path), named),
    ):
        result = evaluate(ranking, against, forms)
        assert [result[form].mean for form in forms] == [1, 1]
        assert neighbor_recall(ranking, against, 10).tolist() == [1, 1, 1]


def ratio(truth: ExactNeighbors, ids: Any, scores: Any, k: int) -> float:
    text = f"DistanceRatio@{k}"
    return evaluate(Ranking.from_arrays(ids, scores), truth, [text])[text].mean


def test_distance_ratio_by_hand() -> None:
    truth = exact_by_brute_force([[0.0], [3.0], [5.0], [12.0]], [[0.0]], 3)
    assert ratio(truth, [[0, 2, 3]], [[0.0, -5.0, -12.0]], 3) == pytest.approx((1 + 3 / 5 + 5 / 12) / 3)
    assert ratio(truth, [[0, 2]], [[0.0, -5.0]], 3) == pytest.approx((1 + 3 / 5) / 3)  # a missing place counts 0
    assert ratio(truth, [[1, 2]], [[-3.0, -5.0]], 2) == 0 / 2 + 3 / 5 / 2  # exact 0, returned 3
    copies = IdLists([[0, 0, 1]], [[0.0, 0.0, -3.0]])
    assert evaluate(copies, truth, ["DistanceRatio@3"])["DistanceRatio@3"].mean == pytest.approx(2 / 3)


def test_distance_ratio_needs_distances(truth: ExactNeighbors) -> None:
    with pytest.raises(InputError, match="the lists have no scores"):
        ratio(truth, truth.ids, None, 10)
    with pytest.raises(InputError, match="the lists have no scores"):
        evaluate(IdLists(truth.ids), truth, ["DistanceRatio@10"])
    with pytest.raises(InputError, match="are the squares of the exact ones"):
        ratio(truth, truth.ids, -(truth.distances**2), 10)
    inner = exact_by_brute_force(GALLERY, QUERIES, 10, metric="ip")
    with pytest.raises(InputError, match="a truth by ip has no distances"):
        ratio(inner, inner.ids, -inner.distances, 10)
    assert neighbor_recall(inner.ids, inner, 10).tolist() == [1, 1, 1]
    with pytest.raises(NonFiniteError, match="NaN or infinite"):
        evaluate(IdLists(truth.ids, np.full((3, 10), np.nan)), truth, ["DistanceRatio@10"])


def test_distance_ratio_says_when_distances_are_not_the_truth_s(truth: ExactNeighbors) -> None:
    result = evaluate(Ranking.from_arrays(truth.ids, -truth.distances * 1.1), truth, ["DistanceRatio@10"])
    assert result["DistanceRatio@10"].mean == pytest.approx(1 / 1.1)
    assert any("30 of 30 known neighbours came with a distance more than 1 %" in note for note in result.notes)
    exact = evaluate(
        Ranking.from_arrays(truth.ids, -truth.distances.astype(np.float32)), truth, ["DistanceRatio@10"]
    )
    assert exact["DistanceRatio@10"].mean == pytest.approx(1, abs=1e-6)
    assert not any("1 %" in note for note in exact.notes)


def test_cosine_distances_are_one_less_the_cosine() -> None:
    gallery = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    truth = exact_by_brute_force(gallery, [[1.0, 0.2]], 2, metric="cosine")
    cosines = gallery @ [1, 0.2] / np.linalg.norm(gallery, axis=1) / np.hypot(1, 0.2)
    got = ratio(truth, [[1, 2]], [[cosines[1], cosines[2]]], 2)
    assert got == pytest.approx(((1 - cosines[0]) / (1 - cosines[1]) + (1 - cosines[1]) / (1 - cosines[2])) / 2)
    near = exact_by_brute_force([[1.0, 1e-5], [1.0, 3e-5]], [[1.0, 0.0]], 2, metric="cosine")
    scores = np.array([[1, 1]], dtype=np.float32)
    result = evaluate(Ranking.from_arrays(near.ids, scores), near, ["DistanceRatio@2"])
    assert any("nearer than the returned cosines can tell" in note for note in result.notes)


def test_measures_refuse_what_says_nothing() -> None:
    with pytest.raises(InputError, match="truth=20 neighbours cannot all be among k=10"):
        NeighborRecall(truth=20, k=10)
    assert NeighborRecall(truth=10, k=10) == NeighborRecall(k=10)
    with pytest.raises(InputError, match="k must be given"):
        NeighborRecall()
    with pytest.raises(InputError, match="below"):
        LowNeighborRecall(below=1.5, k=10)
    with pytest.raises(InputError, match="ties"):
        NeighborRecall(ties="expected", k=10)


def test_the_table_says_who_missed_what() -> None:
    truth = exact_by_brute_force([[0.0], [1.0], [2.0], [9.0]], [[0.0], [9.0], [2.0]], 2, query_ids=["x", "y", "z"])
    table = neighbor_recall_table([[0, 1], [0, 1], [2, 3]], truth, 2)
    assert table.recall.tolist() == [1, 0, 0.5]
    assert [one.query for one in table.worst(2)] == ["y", "z"]
    assert table.worst(1)[0].missing == ((3, 1), (2, 2))
    assert table[2].missing == ((1, 2),)
    assert table.zero_recall_queries == ("y",)
    assert table.quantiles([0, 0.5, 1]) == {0: 0, 0.5: 0.5, 1: 1}
    assert table.share_below(0.5) == pytest.approx(1 / 3)
    assert (table.mean, table.minimum, table.mean_missed) == (0.5, 0, 1)
    text = table.text()
    assert "NeighborRecall(ties=exact)@2 = 0.500 over 3 queries, 1.000 neighbours missed a query" in text
    assert "3 (rank 1), 2 (rank 2)" in text
    assert "share of queries below 0.9: 0.667" in text
    told = json.loads(json.dumps(table.as_json(), allow_nan=False))
    assert told["worst"][0] == {
        "latency": None,
        "dimension": None,
        "contrast": None,
        "query": "y",
        "recall": 0,
        "returned": 2,
        "tied": 0,
        "missed": 2,
        "missing": [{"id": 3, "rank": 1}, {"id": 2, "rank": 2}],
        "lower_bound": False,
    }
    assert told["truth"]["fingerprint"] == truth.fingerprint
    with pytest.raises(InputError, match="shares from 0 to 1"):
        table.quantiles([2])
