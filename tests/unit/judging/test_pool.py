"""Pools: the union of lists, blind to systems, kept whole in files."""

import json
from pathlib import Path

import numpy as np
import pytest

from visual_search.errors import FileFormatError, InputError
from visual_search.formats.results import ImageLocation
from visual_search.ids import Ids
from visual_search.judging.pool import Pool, PooledSystem, PoolQuery, Source
from visual_search.judging.pool_growth import pool_growth
from visual_search.judging.pooling import (
    ItemVectors,
    near_duplicate_candidates,
    pool_of_rankings,
    random_candidates,
)
from visual_search.judging.task import Grade, JudgingTask
from visual_search.rankings.ranking import Ranking

ONE = Ranking.from_arrays([["a", "b", "c"], ["d", "e", "f"]], query_ids=["q1", "q2"])
TWO = Ranking.from_arrays([["c", "x", "a"], ["y", "d", "z"]], query_ids=["q1", "q2"])


def test_a_pool_is_the_union_to_a_depth_with_every_rank() -> None:
    pool = pool_of_rankings({"one": ONE, "two": TWO}, 2)
    assert set(pool.sources) == {("q1", i) for i in "abcx"} | {("q2", i) for i in "dey"}
    assert pool.sources["q2", "d"] == (Source("ranked", "one", 1), Source("ranked", "two", 2))
    assert pool.systems == {"one": PooledSystem(2), "two": PooledSystem(2)}


def test_ignored_items_stay_out_and_do_not_count_in_ranks() -> None:
    pool = pool_of_rankings({"one": ONE}, 2, ignored={"q1": ["a"]})
    assert pool.sources["q1", "b"] == (Source("ranked", "one", 1),)
    assert ("q1", "c") in pool
    assert ("q1", "a") not in pool


def test_the_order_of_pairs_tells_nothing_of_ranks_or_of_how_the_pool_came_about() -> None:
    ranking = Ranking.from_arrays([[f"i{number}" for number in range(400)]], query_ids=["q"])
    pool = pool_of_rankings({"one": ranking}, 400)
    ranks = [pool.sources[pair][0].rank or 0 for pair in pool.pairs()]
    # Kendall's tau of 400 places in no order has a standard deviation of 0.033.
    signs = np.sign(np.subtract.outer(ranks, ranks))[np.triu_indices(400, 1)]
    assert abs(signs.mean()) < 0.12
    backwards = Pool(pool.queries, dict(list(pool.sources.items())[::-1]))
    assert list(backwards.pairs()) == list(pool.pairs())
    other = Pool(pool.queries, pool.sources, task=JudgingTask(seed=1))
    assert list(other.pairs()) != list(pool.pairs())


def test_random_candidates_are_new_and_even() -> None:
    gallery = Ids([f"g{number}" for number in range(30)] + list("abcdefxyz"))
    pool = pool_of_rankings({"one": ONE, "two": TWO}, 3)
    drawn = list(random_candidates(pool, gallery, 5, seed=4, ignored={"q1": ["g0"]}))
    assert len(drawn) == len({pair for pair, _ in drawn}) == 10
    assert not {pair for pair, _ in drawn} & (set(pool.sources) | {("q1", "g0")})
    assert drawn == list(random_candidates(pool, gallery, 5, seed=4, ignored={"q1": ["g0"]}))
    counts = dict.fromkeys(gallery, 0)
    for seed in range(600):
        for (query, item), _ in random_candidates(pool, gallery, 2, seed=seed):
            counts[item] += query == "q1"
    free = [count for item, count in counts.items() if ("q1", item) not in pool]
    assert len(free) == 35
    assert all(counts[item] == 0 for item in "abcx")
    assert 12 < min(free) < max(free) < 64  # 34 expected, standard deviation 5.7
    whole = pool.with_pairs(random_candidates(pool, gallery, 1000))
    assert len(whole) == 2 * len(gallery)


def test_near_duplicates_of_relevant_items_are_found_by_cosine() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(50, 8))
    vectors[7] = vectors[3] * 2 + 0.01  # a scaled copy
    vectors[9] = vectors[3] + 0.3 * rng.normal(size=8)
    held = ItemVectors(Ids(list(range(50))), vectors)
    pool = pool_of_rankings({"one": Ranking.from_arrays([[3, 1]], query_ids=["q"])}, 2)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine = unit @ unit[3]
    found = list(near_duplicate_candidates(pool, {"q": [3]}, held, per_query=10, at_least=0.5))
    expected = [int(i) for i in np.argsort(-cosine) if cosine[i] >= 0.5 and i not in (1, 3)]
    assert [item for (_, item), _ in found] == expected
    assert found[0][0] == ("q", 7)
    assert found[0][1].near == 3
    assert found[0][1].likeness == pytest.approx(cosine[7], abs=1e-12)
    assert [source.rank for _, source in found] == list(range(1, len(found) + 1))
    assert len(list(near_duplicate_candidates(pool, {"q": [3]}, held, per_query=1, at_least=-1))) == 1


def test_merging_adds_reasons_and_refuses_what_contradicts() -> None:
    one = pool_of_rankings({"one": ONE}, 2, fingerprints={"one": "sha256:a"})
    both = one.merged(pool_of_rankings({"two": TWO}, 3))
    assert [source.system for source in both.sources["q1", "a"]] == ["one", "two"]
    assert both.merged(one).sources == both.sources
    with pytest.raises(InputError, match="'one' is two rankings of different content"):
        one.merged(pool_of_rankings({"one": TWO}, 2, fingerprints={"one": "sha256:b"}))
    red, blue = (Pool({"q1": PoolQuery("q1", text=text)}, {}) for text in ("red", "blue"))
    with pytest.raises(InputError, match="'red' and 'blue'"):
        red.merged(blue)


def test_growth_says_what_is_new_and_what_was_judged() -> None:
    old = pool_of_rankings({"one": ONE}, 2)
    new = pool_of_rankings({"two": TWO, "three": TWO}, 3)
    grown = pool_growth(old, new, {("q1", "a"), ("q1", "c"), ("q2", "d")}, [1, 2, 3, 50])
    assert grown.pairs == 4  # c, x; y, z
    assert grown.queries == {"q1": 2, "q2": 2}
    assert (grown.systems["two"].new, grown.systems["two"].only) == (4, 0)
    assert grown.systems["two"].judged_at == {1: 0.5, 2: 0.5, 3: pytest.approx(0.5)}


def test_a_pool_comes_back_from_its_files(tmp_path: Path) -> None:
    task = JudgingTask("Mark what shows the same thing.", (Grade(0, "no"), Grade(1, "yes")), overlap=0.5, seed=3)
    queries = [PoolQuery("q1", ImageLocation(tmp_path / "é" / "q.png")), PoolQuery("q2", text="ein “Wort”")]
    items = {"a": ImageLocation(tmp_path / "a.zip", "in/a.png"), "d": ImageLocation(Path("/elsewhere/d.png"))}
    pool = pool_of_rankings({"one": ONE, "two": TWO}, 2, queries=queries, items=items, task=task)
    pool = pool.with_pairs([(("q1", "n"), Source("near_duplicate", rank=1, near="a", likeness=0.1 + 0.2))])
    path = tmp_path / "pool.json"
    pool.save(path)
    back = Pool.load(path)
    assert back.task == pool.task
    assert back.queries == pool.queries
    assert back.sources == pool.sources
    assert back.systems == pool.systems
    assert {item: place for item, place in back.items.items() if place} == items
    assert back.fingerprint() == pool.fingerprint()
    (tmp_path / "moved").mkdir()
    for file in tmp_path.glob("pool*"):
        file.rename(tmp_path / "moved" / file.name)
    moved = Pool.load(tmp_path / "moved" / "pool.json").queries["q1"].image
    assert moved is not None
    assert moved.path == tmp_path / "moved" / "é" / "q.png"


def test_whole_numbers_as_ids_come_back_as_such(tmp_path: Path) -> None:
    pool = pool_of_rankings({"one": Ranking.from_arrays([[5, -3]], query_ids=[7])}, 2)
    pool.save(tmp_path / "pool.json")
    assert Pool.load(tmp_path / "pool.json").sources == pool.sources


def test_written_over_the_old_companions_go_and_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "pool.json"
    (tmp_path / "pool.txt").write_text("mine")
    pool_of_rankings({"one": ONE}, 1).save(path)
    pool_of_rankings({"one": ONE}, 2).save(path)
    names = sorted(file.name.split(".")[1] for file in tmp_path.iterdir())
    assert names == ["json", "pairs", "pictures", "txt"]
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(InputError, match="is there and is no pool"):
        pool_of_rankings({"one": ONE}, 1).save(tmp_path / "other.json")
    with pytest.raises(InputError, match=r"ends in \.json"):
        pool_of_rankings({"one": ONE}, 1).save(tmp_path / "pool.db")


def test_damaged_files_are_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "pool.json"
    pool_of_rankings({"one": ONE}, 2).save(path)
    record = json.loads(path.read_text())
    for change, words in (
        ({"format": "other"}, "no pool"),
        ({"version": 2}, "version 2"),
        ({"files": {"pairs": "../x", "pictures": "y"}}, "plain names"),
        ({"queries": [{"query": 1.5}]}, "an id"),
        ({"task": {"wanted": 0}}, "wanted is 0"),
        ({"task": {"unknown": 0}}, "'unknown' is unknown"),
        ({"systems": []}, "systems is list"),
    ):
        path.write_text(json.dumps({**record, **change}))
        with pytest.raises(FileFormatError, match=words):
            Pool.load(path)
    path.write_text(json.dumps(record))
    companion = tmp_path / record["files"]["pairs"]
    companion.write_bytes(companion.read_bytes()[:-1])
    with pytest.raises(FileFormatError, match="is not the pairs file"):
        Pool.load(path)


@pytest.mark.parametrize(
    ("sources", "words"),
    [
        ({("q", "a"): ()}, "1 pair without a source"),
        ({("r", "a"): (Source("random", rank=1),)}, "first 'r'"),
        ({("q", "a"): (Source("random"),), ("q", 1): (Source("random"),)}, "both strings and integers"),
        ({("q", "a"): (Source("ranked", rank=1),)}, "without a system"),
        ({("q", "a"): (Source("guessed"),)}, "'guessed'"),  # type: ignore[arg-type]
        ({("q", ""): (Source("random"),)}, "empty id"),
    ],
)
def test_what_is_no_pool_is_refused(sources: dict[tuple[str, str], tuple[Source, ...]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Pool({"q": PoolQuery("q")}, sources)


def test_all_that_is_wrong_with_a_request_is_told() -> None:
    with pytest.raises(InputError, match=r"(?s)2 problems.*at least one system.*depth is 0"):
        pool_of_rankings({}, 0)
    with pytest.raises(InputError, match="no query is in any ranking"):
        pool_of_rankings({"one": ONE}, 1, queries=[PoolQuery("elsewhere")])
