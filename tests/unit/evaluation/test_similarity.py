"""Full rankings by similarity: as a ranking of the same similarities, in any blocks, on any number of threads."""

from typing import Any

import numpy as np
import pytest

from visual_search import Ranking, Relevance, evaluate, evaluate_similarity
from visual_search.errors import DimensionError, InputError, NonFiniteError, ZeroVectorError
from visual_search.evaluation import full_rankings, products
from visual_search.evaluation.products import METRICS, Metric, Products
from visual_search.evaluation.result import Result
from visual_search.ids import Ids
from visual_search.kernels import compiled, dispatch, plain
from visual_search.kernels.threads import one_blas_thread

MEASURES = ["AP", "AP(denominator=found)@5", "nDCG@10", "RR", "Precision@3", "HitRate@2", "INP", "AP@R", "Bpref"]
Array = np.ndarray[Any, Any]


@pytest.fixture(params=[compiled, plain], ids=["compiled", "plain"])
def twin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "_chosen", lambda: (request.param, None))


def same(one: Result, other: Result) -> None:
    assert list(one) == list(other)
    for name in one:
        assert np.array_equal(one[name].values, other[name].values, equal_nan=True), name
        assert one[name].mean == other[name].mean or (np.isnan(one[name].mean) and np.isnan(other[name].mean))
        assert one[name].undefined_queries == other[name].undefined_queries


def vectors(seed: int, n: int = 30, m: int = 90, d: int = 12) -> tuple[Array, Array]:
    """Few directions, so that many similarities are equal."""
    rng = np.random.default_rng(seed)
    return rng.integers(-2, 3, (n, d)) + 0.5, rng.integers(-1, 2, (m, d)) + 0.25


def similarities(queries: Array, gallery: Array, metric: Metric) -> Array:
    found = Products(
        queries, gallery, metric, query_ids=Ids(range(len(queries))), gallery_ids=Ids(range(len(gallery)))
    )
    with one_blas_thread():
        blocks = [
            found.block(np.arange(first, min(first + found.rows, len(queries))), found.buffer()).copy()
            for first in range(0, len(queries), found.rows)
        ]
    return np.concatenate(blocks)


@pytest.mark.usefixtures("twin")
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
def test_equals_the_ranking_of_its_similarities(metric: Metric, ties: Any) -> None:
    queries, gallery = vectors(1)
    rng = np.random.default_rng(2)
    judged = {
        query: dict(zip(rng.permutation(100)[:25].tolist(), rng.integers(-1, 3, 25).tolist(), strict=True))
        for query in range(-2, 28)
    }
    ignored = {
        query: [*[item for item in range(90, 100) if item not in judged[query]][:4], 200] for query in judged
    }
    relevance = Relevance.from_dict(judged, ignored=ignored)
    ids = list(range(5, 95))
    mine = evaluate_similarity(
        queries, gallery, relevance, MEASURES, metric=metric, ties=ties, gallery_ids=ids, block=7
    )
    ranking = Ranking.from_similarity(similarities(queries, gallery, metric), gallery_ids=ids)
    same(mine, evaluate(ranking, relevance, MEASURES, ties=ties))
    assert mine.missing_queries == (-2, -1)
    assert mine.unjudged_queries == (28, 29)
    assert any("not in the gallery" in note for note in mine.notes)
    assert (ranking.lengths == 90).all()


@pytest.mark.parametrize("metric", METRICS)
def test_blocks_and_threads_change_no_bit(metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    queries, gallery = rng.normal(size=(70, 33)), rng.normal(size=(900, 33))
    labels = rng.integers(0, 9, 70), rng.integers(0, 9, 900)
    relevance = Relevance.from_labels(*labels)
    results = []
    for block, threads, pairs in ((1, "1", 1), (7, "3", 500), (256, "2", 1 << 17)):
        monkeypatch.setenv("VISUAL_SEARCH_THREADS", threads)
        monkeypatch.setattr(full_rankings, "_PAIRS", pairs)
        results.append(evaluate_similarity(queries, gallery, relevance, MEASURES, metric=metric, block=block))
    same(results[0], results[1])
    same(results[0], results[2])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dimension", [1, 3, 17, 64, 513])
def test_equal_vectors_tie_wherever_they_stand(metric: Metric, dimension: int) -> None:
    rng = np.random.default_rng(dimension)
    few = rng.normal(size=(40, dimension)) + 3
    which = rng.integers(0, 40, 5000)
    queries = np.repeat(rng.normal(size=(3, dimension)) + 3, 100, axis=0)
    found = similarities(queries, few[which], metric)
    for vector in range(40):
        assert (found[:, which == vector] == found[:, which == vector][:, :1]).all()
    assert (found[:100] == found[0]).all()
    assert (found[100:200] == found[100]).all()


def test_order_of_gallery_and_queries_changes_no_bit() -> None:
    rng = np.random.default_rng(4)
    queries, gallery = rng.normal(size=(300, 40)), rng.normal(size=(4500, 40))
    found = similarities(queries, gallery, "cosine")
    order, others = rng.permutation(300), rng.permutation(4500)
    assert np.array_equal(similarities(queries[order], gallery[others], "cosine"), found[order][:, others])
    assert np.array_equal(similarities(queries[:5], gallery[:4100], "cosine"), found[:5, :4100])


@pytest.mark.parametrize("metric", METRICS)
def test_similarities_are_right(metric: Metric) -> None:
    rng = np.random.default_rng(5)
    queries, gallery = rng.normal(size=(20, 30)), rng.normal(size=(50, 30))
    product = queries @ gallery.T
    if metric == "cosine":
        product /= np.linalg.norm(queries, axis=1)[:, None] * np.linalg.norm(gallery, axis=1)
    found = similarities(queries, gallery, metric)
    if metric == "l2":
        distance = np.linalg.norm(queries[:, None] - gallery, axis=2)
        assert np.array_equal(np.argsort(-found, axis=1), np.argsort(distance, axis=1))
    else:
        assert np.allclose(found, product, atol=1e-5)


def test_distances_survive_a_large_offset() -> None:
    """Without centring, float32 keeps nothing of differences of .01 at 1000."""
    rng = np.random.default_rng(6)
    gallery = 1000 + rng.normal(size=(400, 16)) * 0.01
    queries = gallery[:50] + rng.normal(size=(50, 16)) * 1e-4
    relevance = Relevance.from_dict({query: {query: 1} for query in range(50)})
    result = evaluate_similarity(queries, gallery, relevance, ["HitRate@1"], metric="l2")
    assert result["HitRate@1"].mean == 1


def test_values_by_hand() -> None:
    gallery = np.array([[3.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    relevance = Relevance.from_dict({"q": {"b": 1, "d": 1}})
    options: dict[str, Any] = {"query_ids": ["q"], "gallery_ids": ["a", "b", "c", "d"]}
    measured = {
        metric: evaluate_similarity([[1.0, 0.2]], gallery, relevance, ["AP"], metric=metric, **options)["AP"].mean
        for metric in METRICS
    }
    # cosine: a and d tie, then c, b; ip: a, c, d, b; l2: d, c, b, a
    assert measured["cosine"] == pytest.approx(((1 + 1 / 2) / 2 + 2 / 4) / 2)
    assert measured["ip"] == pytest.approx((1 / 3 + 2 / 4) / 2)
    assert measured["l2"] == pytest.approx((1 / 1 + 2 / 3) / 2)


def test_a_preset_and_its_rules() -> None:
    queries, gallery = vectors(7)
    rng = np.random.default_rng(8)
    relevance = Relevance.from_labels(rng.integers(0, 4, 30), rng.integers(0, 3, 90))
    mine = evaluate_similarity(queries, gallery, relevance, preset="metric-learning")
    ranking = Ranking.from_similarity(similarities(queries, gallery, "cosine"))
    theirs = evaluate(ranking, relevance, preset="metric-learning")
    same(mine, theirs)
    assert mine.preset == "metric-learning"
    assert mine.notes == theirs.notes


def test_long_rows_are_taken_fewer_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "_BLOCK_BYTES", 20_000)
    queries, gallery = vectors(9)
    relevance = Relevance.from_labels(np.arange(30) % 5, np.arange(90) % 5)
    found = Products(queries, gallery, "ip", query_ids=Ids(range(30)), gallery_ids=Ids(range(90)))
    assert found.rows == 32
    same(
        evaluate_similarity(queries, gallery, relevance, MEASURES, metric="ip"),
        evaluate(Ranking.from_similarity(similarities(queries, gallery, "ip")), relevance, MEASURES),
    )


RELEVANCE = Relevance.from_dict({0: {0: 1}})


@pytest.mark.parametrize(
    ("queries", "gallery", "options", "error", "words"),
    [
        ([[1.0, 2.0]], [[1.0, 2.0, 3.0]], {}, DimensionError, "have 2 dimensions and gallery_vectors 3"),
        ([[1.0, np.nan]], [[1.0, 2.0]], {}, NonFiniteError, "query_vectors: 1 vector holds NaN or infinity"),
        ([[1.0, 1.0]], [[1.0, 2.0], [1e39, 0.0]], {}, NonFiniteError, "gallery_vectors: 1 vector .* first 1"),
        ([[1.0, 1.0]], [[0.0, 0.0]], {}, ZeroVectorError, "gallery_vectors: 1 zero vectors"),
        ([[1e20, 1.0]], [[1e20, 0.0]], {"metric": "ip"}, NonFiniteError, "float32 cannot hold"),
        ([[1.0, 1.0]], [[1.0, 0.0]], {"metric": "dot"}, InputError, "metric='dot': one of cosine, ip, l2"),
        ([[1.0, 1.0]], [[1.0, 0.0]], {"ties": "listed"}, InputError, "ties='listed': a full ranking of a gallery"),
        ([[1.0, 1.0]], [[1.0, 0.0]], {"block": 0}, InputError, "block=0"),
        ([1.0, 1.0], [[1.0, 0.0]], {}, InputError, "query_vectors: shape"),
        ([["a", "b"]], [[1.0, 0.0]], {}, InputError, "query_vectors: dtype"),
        ([[1.0, 1.0]], [[1.0, 0.0]], {"query_ids": ["q"]}, InputError, "query_ids are str"),
        ([[1.0, 1.0]], [[1.0, 0.0]], {"query_ids": [5]}, InputError, "no query in common"),
        ([[1.0, 1.0]], [[1.0, 0.0]], {"gallery_ids": ["a"]}, InputError, "gallery_ids are str"),
        ([[1.0, 1.0]], [[1.0, 0.0]], {"gallery_ids": [1, 2]}, InputError, "gallery_ids: 2 ids for 1 row"),
    ],
)
def test_refusals(queries: Any, gallery: Any, options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        evaluate_similarity(queries, gallery, RELEVANCE, ["AP"], **options)


def test_measures_of_their_own_tie_rule_are_refused_where_it_reads_an_order() -> None:
    with pytest.raises(InputError, match="ties='id_desc'"):
        evaluate_similarity([[1.0]], [[1.0]], RELEVANCE, ["AP(ties=id_desc)"])


def test_no_judged_item_in_the_gallery_is_noted() -> None:
    result = evaluate_similarity([[1.0]], [[1.0]], RELEVANCE, ["AP"], gallery_ids=[9])
    assert "none is, so check that both name the items alike" in result.notes[0]
    assert result["AP"].mean == 0


@pytest.mark.parametrize("seed", range(40))
def test_distances_of_small_whole_numbers_tie_where_they_are_equal(seed: int) -> None:
    """Centring must not part what is equally far: expected values as from exact integer distances."""
    rng = np.random.default_rng(seed)
    size, dimension = int(rng.integers(2, 30)), int(rng.integers(1, 9))
    gallery = rng.integers(-3, 4, (size, dimension))
    query = rng.integers(-3, 4, (1, dimension))
    squared = ((gallery - query) ** 2).sum(axis=1)
    relevant = int(rng.integers(size))
    truth = Relevance.from_dict({0: {relevant: 1}})
    found = evaluate_similarity(query.astype(np.float32), gallery.astype(np.float32), truth, ["RR"], metric="l2")[
        "RR"
    ].mean
    higher, tied = int((squared < squared[relevant]).sum()), int((squared == squared[relevant]).sum())
    assert found == pytest.approx(np.mean([1 / (higher + place) for place in range(1, tied + 1)]), abs=1e-12)
