"""From rankings to a pool, from a pool to judgements, and from judgements to right answers, by the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.cli.main import main
from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.ground_truth.relevance import Relevance
from visual_search.judging.assignment import Assignment
from visual_search.judging.pool import Pool
from visual_search.judging.records import Verdict
from visual_search.judging.store import JudgementStore
from visual_search.judging.suggestions import suggestion_after

Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a task of the verb in a folder with two runs, texts, and right answers."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    for name in ("one", "two", "three"):
        lines = [
            f"q{query} Q0 d{item} {rank} {20 - rank} {name}\n"
            for query in range(3)
            for rank, item in enumerate(rng.permutation(20)[:8].tolist(), start=1)
        ]
        Path(f"{name}.trec").write_text("".join(lines))
    Path("texts.tsv").write_text("q0\ta red door\nq1\ta green door\nq2\ta blue door\n")
    Path("truth.json").write_text(json.dumps({f"q{query}": {"d3": 2} for query in range(3)}))

    def do(*words: str, code: int = 0) -> Any:
        assert main(["judge", *words]) == code
        said = capsys.readouterr()
        return json.loads(said.out) if "--json" in words and code == 0 else said.out + said.err

    return do


def judge_all(place: str, judges: int = 1) -> None:
    with JudgementStore(place) as store:
        work = Assignment(store)
        for number in range(judges):
            while given := work.next(f"judge {number}", count=4):
                for one in given:
                    verdict = Verdict(int(str(one.item)[1:]) % 3 if number == 0 else 0)
                    store.judge(f"judge {number}", one.pair, verdict)


def test_a_pool_is_made_judged_grown_and_exported(run: Run) -> None:
    made = run("pool", "one.trec", "second=two.trec", "--depth", "5", "--texts", "texts.tsv", "-o", "pool.json",
               "--store", "j.db", "--json")  # fmt: skip
    assert (made["queries"], made["ranked"], made["systems"]) == (3, made["pairs"], ["one", "second"])
    assert Pool.load("pool.json").queries["q1"].text == "a green door"
    judge_all("j.db")
    status = run("status", "j.db", "--json")
    assert (status["judged"], status["given"]) == (made["pairs"], made["pairs"])
    words = run("pool", "three.trec", "--depth", "5", "--grow", "pool.json", "-o", "pool.json", "--store", "j.db")
    assert "three:" in words
    assert "judged before" in words
    grown = run("status", "j.db", "--json")
    assert grown["pairs"] > made["pairs"]
    assert grown["judged"] == made["pairs"]
    assert len(Pool.load("pool.json")) == grown["pairs"]


def test_what_was_judged_is_exported_with_its_rule(run: Run) -> None:
    run("pool", "one.trec", "two.trec", "--depth", "4", "--texts", "texts.tsv", "--wanted", "2", "-o", "p.json",
        "--store", "j.db")  # fmt: skip
    judge_all("j.db", judges=2)
    for name, rule in (("qrels.trec", "mean"), ("judged.json", "mean"), ("mean.parquet", "mean")):
        told = run("export", "j.db", "-o", name, "--rule", rule, "--json")
        assert told["rule"] == "mean"
    with JudgementStore("j.db") as store:
        expected = Relevance.from_judgements(store.table(), combine="mean")
    from_dataset = EvaluationDataset.from_json("judged.json")
    for found in (
        Relevance.from_trec("qrels.trec"),
        from_dataset.relevance(),
        Relevance.from_parquet("mean.parquet"),
    ):
        assert {query: found.judged(query) for query in found.queries} == {
            query: expected.judged(query) for query in expected.queries
        }
    assert from_dataset.warnings == ()
    assert from_dataset.complete is False
    assert from_dataset.queries[0].text == "a red door"
    facts = json.loads(Path("judged.json").read_text())["judged"]
    assert (facts["rule"], facts["judges"], facts["judgements"]) == ("mean", 2, 2 * told["rows"])
    assert json.loads(Path("qrels.trec.json").read_text())["rule_in_words"] == "the mean grade"
    default = run("export", "j.db", "-o", "default.trec", "--json")
    assert default["rule"] == "adjudicated"
    assert "rule adjudicated: the adjudicated grade" in run("export", "j.db", "-o", "default.trec")


def test_judgements_go_from_store_to_store(run: Run) -> None:
    run("pool", "one.trec", "--depth", "3", "-o", "p.json", "--store", "one.db")
    run("pool", "one.trec", "--depth", "3", "-o", "p.json", "--store", "two.db")
    judge_all("one.db")
    for name in ("all.csv", "all.parquet"):
        run("export", "one.db", "-o", name, "--log")
    assert run("import", "two.db", "all.csv", "--json") == {"written": 9, "there": 0, "pairs": 0}
    assert run("import", "two.db", "all.parquet", "--json") == {"written": 0, "there": 9, "pairs": 0}
    run("export", "one.db", "-o", "one.qrels")
    run("export", "two.db", "-o", "two.qrels")
    assert Path("one.qrels").read_text() == Path("two.qrels").read_text()
    assert "in no pool" in run("import", "two.db", "truth.json", "--judge", "made", code=2)
    assert run("import", "two.db", "truth.json", "--judge", "made", "--add-pairs", "--json")["written"] == 3


def test_candidates_come_from_a_gallery_and_what_is_known(run: Run) -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(20, 6)).astype(np.float32)
    vectors[17] = vectors[3] * 1.5
    from visual_search.ids import Ids
    from visual_search.indexing.index_table import VectorIndex

    index = VectorIndex(dimension=6, metric="cosine")
    index.add(Ids([f"d{number}" for number in range(20)]), vectors)
    index.save("gallery.index")
    made = run("pool", "one.trec", "--depth", "2", "--gallery", "gallery.index", "--random", "3", "--near", "2",
               "--near-cosine", "0.99", "--known", "truth.json", "-o", "p.json", "--json")  # fmt: skip
    assert made["random"] == 9
    pool = Pool.load("p.json")
    near = {pair: sources for pair, sources in pool.sources.items() if sources[0].kind == "near_duplicate"}
    ranked = {pair for pair, sources in pool.sources.items() if sources[0].kind == "ranked"}
    assert set(near) == {(f"q{query}", "d17") for query in range(3)} - ranked
    assert near
    assert "give an index or vectors" in run("pool", "one.trec", "--random", "3", "-o", "x.json", code=2)
    assert "give right answers or a store" in run(
        "pool", "one.trec", "--near", "3", "--gallery", "gallery.index", "-o", "x.json", code=2
    )


def test_suggestions_wait_for_the_judge(run: Run) -> None:
    run("pool", "one.trec", "--depth", "8", "-o", "p.json", "--store", "j.db", "--suggest", "truth.json")
    with JudgementStore("j.db") as store:
        pool = store.pool()
        query, item = next(pair for pair in pool.sources if pair[1] == "d3")
        pair = store.pair_number(query, item)
        assert suggestion_after(store, "ann", pair) is None
        store.judge("ann", pair, Verdict(0))
        told = suggestion_after(store, "ann", pair)
    assert told is not None
    assert (told.grade, told.maker) == (2.0, "truth.json")
    run("export", "j.db", "-o", "out.csv")
    assert len(Path("out.csv").read_text().splitlines()) == 2
    assert "kept in a store" in run("pool", "one.trec", "-o", "p.json", "--suggest", "truth.json", code=2)


def test_the_task_is_what_was_asked_for(run: Run) -> None:
    Path("guide.txt").write_text("Same door.")
    run("pool", "one.trec", "-o", "p.json", "--guideline", "guide.txt", "--grade", "0=no", "--grade", "1=yes",
        "--overlap", "0.5", "--overlap-wanted", "3", "--order", "move_to_front", "--seed", "9")  # fmt: skip
    task = Pool.load("p.json").task
    assert (task.guideline, [grade.name for grade in task.grades]) == ("Same door.", ["no", "yes"])
    assert (task.overlap, task.overlap_wanted, task.order, task.seed) == (0.5, 3, "move_to_front", 9)
    assert "a number and a name" in run("pool", "one.trec", "-o", "x.json", "--grade", "no", code=2)
    assert not Path("x.json").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["pool", "none.trec", "-o", "p.json"], "not there, or no file"),
        (["pool", "one.trec", "one=two.trec", "-o", "p.json"], "two systems are called 'one'"),
        (["status", "none.db"], "is not there"),
        (["export", "none.db", "-o", "x.csv"], "is not there"),
        (["export", "none.db", "-o", "x.doc"], "ends in .csv"),
        (["export", "none.db", "-o", "x.json", "--log"], "every record has a row of its own"),
        (["import", "none.db", "truth.json", "--judge", "ann"], "is not there"),
    ],
)
def test_wrong_use_is_told(run: Run, words: list[str], said: str) -> None:
    assert said in run(*words, code=2)


def test_nothing_judged_is_nothing_to_export(run: Run) -> None:
    run("pool", "one.trec", "-o", "p.json", "--store", "j.db")
    assert "no judgements yet" in run("export", "j.db", "-o", "x.trec", code=2)
    assert run("export", "j.db", "-o", "x.csv", "--json")["rows"] == 0


def test_results_bring_their_pictures_and_leave_out_what_they_ignored(run: Run, tmp_path: Path) -> None:
    from PIL import Image

    from visual_search.evaluation.evaluator import ModelEvaluator
    from visual_search.indexing.index_table import VectorIndex
    from visual_search.prediction.nearest_neighbor import NearestNeighborSearch
    from visual_search.workflows.index_images import index_images

    Path("photos").mkdir()
    for number, colour in enumerate(("red", "orange", "gold", "green", "teal", "navy")):
        Image.new("RGB", (20, 20), colour).save(f"photos/{number}.png")
    index_images("photos", "photos.index", embedder="histogram")
    queries = [{"query_id": f"{n}.png", "image_path": f"photos/{n}.png", "ground_truth": ["1.png"],
                "ignored": [f"{n}.png"]} for n in (0, 2)]  # fmt: skip
    dataset = EvaluationDataset.from_dict({"queries": queries})
    service = NearestNeighborSearch(index=VectorIndex.open("photos.index"))
    ModelEvaluator(service).evaluate(dataset, k_values=[1, 3]).to_json("result.json")
    made = run("pool", "colours=result.json", "--depth", "2", "-o", "out/pool.json", "--json")
    assert made["systems"] == ["colours"]
    pool = Pool.load("out/pool.json")
    assert len(pool) == 4
    assert not {("0.png", "0.png"), ("2.png", "2.png")} & set(pool.sources)
    assert sorted(sources[0].rank or 0 for sources in pool.sources.values()) == [1, 1, 2, 2]
    for query in pool.queries.values():
        assert query.image is not None
        assert query.image.path.samefile(tmp_path / "photos" / str(query.query_id))
    for _, item in pool.sources:
        place = pool.items[item]
        assert place is not None
        assert place.path.samefile(tmp_path / "photos" / str(item))
    assert pool.systems["colours"].fingerprint is not None
