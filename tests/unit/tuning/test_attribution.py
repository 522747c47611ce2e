"""Whose loss it is: the vectors' or the index's, and which step of the search made it."""

import json
from typing import Any

import numpy as np
import pytest

from visual_search import Relevance, exact_neighbors, neighbor_recall
from visual_search.errors import DepthError, FingerprintError, InputError, UnknownIdError
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.ground_truth.metric_names import metric_name
from visual_search.indexing.engines.contract import Metric
from visual_search.indexing.index_table import VectorIndex
from visual_search.reports.attribution_section import attribution_section
from visual_search.tuning.attribution import attribute_index, attribute_loss
from visual_search.tuning.search_stages import search_stages

RNG = np.random.default_rng(11)
GALLERY = RNG.normal(size=(3000, 16)).astype(np.float32)
OWN = RNG.choice(3000, size=80, replace=False)
QUERIES = (GALLERY[OWN] + 0.9 * RNG.normal(size=(80, 16))).astype(np.float32)
NAMES = [f"i{row}" for row in range(3000)]
ASKED = [f"q{row}" for row in range(80)]


@pytest.fixture(scope="module")
def truth() -> ExactNeighbors:
    return exact_neighbors(GALLERY, QUERIES, 20, gallery_ids=NAMES, query_ids=ASKED)


@pytest.fixture(scope="module")
def relevance() -> Relevance:
    return Relevance.from_dict({ASKED[row]: {NAMES[own]: 1} for row, own in enumerate(OWN.tolist())})


def packed(**settings: int) -> VectorIndex:
    index = VectorIndex(engine="faiss", metric="l2", settings={"factory": "IVF16,PQ4np", **settings})
    index.add(NAMES, GALLERY)
    return index


@pytest.fixture(scope="module")
def index() -> VectorIndex:
    return packed()


def test_columns_add_up_and_are_what_the_lists_say(
    index: VectorIndex, truth: ExactNeighbors, relevance: Relevance
) -> None:
    index.configure(nprobe=3, refine=2)
    found = attribute_index(index, QUERIES, truth, relevance)
    returned = index.search(QUERIES, 10, query_ids=ASKED)
    for k in (1, 10):
        row = found[k]
        exact = np.array([NAMES[own] in truth.ids[i, :k] for i, own in enumerate(OWN.tolist())])
        mine = np.array(
            [NAMES[own] in [i for i, _ in returned.listed(q)[:k]] for q, own in zip(ASKED, OWN, strict=True)]
        )
        assert np.array_equal(row.exact, exact)
        assert np.array_equal(row.index, mine)
        assert row.index.mean() + row.index_loss + row.representation_loss == pytest.approx(1)
        assert row.lost == tuple(q for q, a, b in zip(ASKED, exact, mine, strict=True) if a and not b)
        assert row.gained == tuple(q for q, a, b in zip(ASKED, exact, mine, strict=True) if b and not a)
        assert np.array_equal(row.overlap, neighbor_recall(returned, truth, k))
    assert found[10].lost
    assert 0 < found[10].index_loss < found[1].representation_loss


def test_the_steps_add_up_and_each_knob_moves_its_own(index: VectorIndex, truth: ExactNeighbors) -> None:
    lost = {}
    for name, settings in {
        "narrow": {"nprobe": 2, "refine": 0},
        "wide": {"nprobe": 16, "refine": 0},
        "one": {"nprobe": 16, "refine": 1},
        "refined": {"nprobe": 2, "refine": 20},
        "all": {"nprobe": 16, "refine": 300},
    }.items():
        index.configure(**settings)
        stages = lost[name] = search_stages(index, QUERIES, truth, 10)
        recall = neighbor_recall(index.search(QUERIES, 10, query_ids=ASKED), truth, 10)
        assert np.array_equal(stages.returned, recall)
        whole = stages.recall + stages.not_probed + stages.misordered + stages.reranked_away
        assert whole == pytest.approx(1)
        assert (stages.probed >= stages.candidates).all()
        assert (stages.candidates >= stages.returned).all()
    assert lost["wide"].not_probed == 0 < lost["narrow"].not_probed
    assert lost["narrow"].not_probed == lost["refined"].not_probed
    assert lost["refined"].misordered < lost["narrow"].misordered
    assert lost["narrow"].regained == 0 < lost["refined"].regained
    # Whole vectors choose the order of k candidates, not which they are.
    assert lost["one"].regained == 0
    assert lost["all"].recall == 1


def test_probed_lists_are_those_of_the_nearest_centres(truth: ExactNeighbors) -> None:
    flat = VectorIndex(engine="faiss", metric="l2", factory="IVF16,Flat", nprobe=1)
    flat.add(NAMES, GALLERY)
    stages = search_stages(flat, QUERIES, truth, 10)
    # Whole vectors in the lists: what is probed is found.
    assert np.array_equal(stages.probed, stages.returned)
    assert stages.misordered == 0
    rotated = VectorIndex(engine="faiss", metric="l2", factory="OPQ4,IVF16,Flat", nprobe=2)
    rotated.add(NAMES, GALLERY)
    stages = search_stages(rotated, QUERIES, truth, 10)
    assert np.array_equal(stages.probed, stages.returned)
    codes = VectorIndex(engine="faiss", metric="l2", factory="PQ4np", refine=0)
    codes.add(NAMES, GALLERY)
    assert search_stages(codes, QUERIES, truth, 10).not_probed == 0


def test_removed_and_ties_count_as_recall_counts_them() -> None:
    gallery = RNG.integers(0, 3, size=(1200, 8)).astype(np.float32)  # many equal distances
    queries = gallery[:30] + np.float32(0)
    index = VectorIndex(engine="faiss", metric="l2", factory="IVF8,PQ4x4np", nprobe=3, refine=3)
    index.add(range(1200), gallery)
    index.remove(range(100, 140))
    kept = [row for row in range(1200) if not 100 <= row < 140]
    truth = exact_neighbors(gallery[kept], queries, 10, gallery_ids=kept, tie_cap=1200)
    stages = search_stages(index, queries, truth, 7)
    assert np.array_equal(stages.returned, neighbor_recall(index.search(queries, 7), truth, 7))


def test_an_index_of_other_items_or_by_another_metric_is_refused(
    truth: ExactNeighbors, relevance: Relevance, index: VectorIndex
) -> None:
    angular = VectorIndex(metric="cosine")
    angular.add(NAMES, GALLERY)
    with pytest.raises(FingerprintError, match="metric: 'cosine' here and 'l2' in the truth"):
        attribute_index(angular, QUERIES, truth, relevance)
    fewer = VectorIndex(metric="l2")
    fewer.add(NAMES[:2999], GALLERY[:2999])
    with pytest.raises(FingerprintError, match="2,999 ids here and 3,000 in the truth"):
        attribute_index(fewer, QUERIES, truth, relevance)
    with pytest.raises(UnknownIdError, match="must hold what the truth was made of"):
        attribute_loss({"q0": {"stranger": 1.0}}, truth, relevance, index="x")
    with pytest.raises(DepthError):
        attribute_index(index, QUERIES, truth, relevance, k=(1, 21))
    with pytest.raises(InputError, match="no query in common"):
        attribute_loss({"q0": {"i0": 1.0}}, truth, Relevance.from_dict({"other": {"i0": 1}}), index="x")
    with pytest.raises(FingerprintError, match="79 vectors"):
        search_stages(index, QUERIES[:79], truth, 10)
    graph = VectorIndex(metric="l2", engine="hnsw")
    graph.add(NAMES, GALLERY)
    with pytest.raises(InputError, match="not a graph"):
        search_stages(graph, QUERIES, truth, 10)
    assert attribute_index(graph, QUERIES, truth, relevance).stages is None


def test_ties_in_the_exact_answer_count_by_expectation() -> None:
    truth = exact_neighbors([[1.0], [1.0], [1.0], [1.0]], [[0.0]], 1)
    found = attribute_loss({0: {3: 1.0}}, truth, Relevance.from_dict({0: {3: 1}}), k=[1], index="a lucky one")
    assert found[1].exact.tolist() == [0.25]
    assert found[1].gained == (0,)
    assert found[1].overlap.tolist() == [1]


def test_words_json_and_section_say_for_what_it_holds(
    index: VectorIndex, truth: ExactNeighbors, relevance: Relevance
) -> None:
    index.configure(nprobe=3, refine=2)
    found = attribute_index(index, QUERIES, truth, relevance)
    told = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert [row["k"] for row in told["rows"]] == [1, 10]
    assert told["stages"]["settings"]["nprobe"] == 3
    text = found.text()
    section = attribution_section(found)
    for words in ("faiss(factory=IVF16,PQ4np", "nprobe=3", "the full gallery of 3,000 items", "80 queries"):
        assert words in found.validity
        assert words in text
        assert words in section.body
    for column in ("R@k exact", "R@k index", "overlap@k"):
        assert column in text
        assert column in section.body


@pytest.mark.parametrize("engine", ["flat", "hnsw", "faiss"])
@pytest.mark.parametrize("metric", ["l2", "ip", "cosine"])
def test_other_vectors_under_the_same_ids_are_refused(engine: str, metric: Metric, relevance: Relevance) -> None:
    own = exact_neighbors(GALLERY, QUERIES, 10, metric_name(metric), gallery_ids=NAMES, query_ids=ASKED)
    settings = {"factory": "IVF16,PQ4np"} if engine == "faiss" else {}
    held = VectorIndex(engine=engine, metric=metric, settings=settings)
    held.add(NAMES, GALLERY)
    assert len(attribute_index(held, QUERIES, own, relevance, stages=False).rows) == 2
    for vectors, asked in ((GALLERY[::-1], QUERIES), (GALLERY, QUERIES[::-1])):
        other = VectorIndex(engine=engine, metric=metric, settings=settings)
        other.add(NAMES, vectors)
        with pytest.raises(FingerprintError, match="in another order under the same ids"):
            attribute_index(other, asked, own, relevance, stages=False)
    with pytest.raises(FingerprintError, match="79 vectors, and the truth has 80"):
        attribute_index(held, QUERIES[:-1], own, relevance)


def test_codes_of_another_order_and_a_filtered_truth_are_refused(relevance: Relevance) -> None:
    codes = RNG.integers(0, 256, size=(300, 8), dtype=np.uint8)
    own = exact_neighbors(codes, codes[:20], 5, "hamming")
    right = Relevance.from_dict({query: {query: 1} for query in range(20)})
    for stored, fits in ((codes, True), (codes[::-1], False)):
        index = VectorIndex(metric="hamming", dimension=64)
        index.add(range(300), np.ascontiguousarray(stored))
        if fits:
            assert attribute_index(index, codes[:20], own, right, k=[1])[1].index_loss == 0
            continue
        with pytest.raises(FingerprintError, match="not those of the truth"):
            attribute_index(index, codes[:20], own, right, k=[1])
    part = exact_neighbors(GALLERY, QUERIES, 5, gallery_ids=NAMES, query_ids=ASKED, allowed=[NAMES[:9]] * 80)
    with pytest.raises(InputError, match="a subset for each query"):
        attribute_index(packed(), QUERIES, part, relevance, k=[5])
    with pytest.raises(InputError, match="a subset for each query"):
        search_stages(packed(), QUERIES, part, 5)


@pytest.mark.parametrize("k", [[], None, 0, [0, 1], True, [1.0], "10"])
def test_depths_that_are_none_are_refused(
    index: VectorIndex, truth: ExactNeighbors, relevance: Relevance, k: Any
) -> None:
    with pytest.raises(InputError, match="k: got .*must be one or more whole numbers of at least 1"):
        attribute_index(index, QUERIES, truth, relevance, k=k)
    with pytest.raises(InputError, match="k: got .*must be one or more whole numbers of at least 1"):
        attribute_loss({}, truth, relevance, k=k, index="none")


def test_one_depth_alone_is_one(index: VectorIndex, truth: ExactNeighbors, relevance: Relevance) -> None:
    alone: list[Any] = [5, [np.int64(5)]]
    one, listed = (attribute_index(index, QUERIES, truth, relevance, k=k) for k in alone)
    assert one.as_json() == listed.as_json()


@pytest.mark.parametrize("k", [True, 2.0, "3", None])
def test_stages_of_a_depth_that_is_none_are_refused(index: VectorIndex, truth: ExactNeighbors, k: Any) -> None:
    with pytest.raises(InputError, match=r"k: got .*; must be a whole number in 1\.\.20"):
        search_stages(index, QUERIES, truth, k)
