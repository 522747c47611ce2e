"""Records of other kinds on a report: told apart by content, shown as sections, refused with what they are."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search import Relevance, SharedLabels, compare, exact_neighbors
from visual_search.cli.main import main
from visual_search.errors import FileFormatError
from visual_search.evaluation.code_study import study_codes
from visual_search.evaluation.protocols.directions import evaluate_directions_vectors
from visual_search.evaluation.protocols.query_gallery import by_view
from visual_search.formats.results import StoredResult
from visual_search.indexing.index_table import VectorIndex
from visual_search.reports.judging_section import judging_record_section, judging_section
from visual_search.reports.record_files import read_records
from visual_search.testing.simulated_judgements import simulated_study
from visual_search.testing.textures import texture
from visual_search.tuning.attribution import attribute_loss
from visual_search.workflows.index_images import index_images
from visual_search.workflows.judge_agreement import judge_agreement
from visual_search.workflows.leaks import check_leaks
from visual_search.workflows.report import report_results

Parse = Callable[[Path], Any]

KINDS = (
    "sweep", "choice", "attribution", "leaks", "truth", "directions", "split", "codes", "comparison", "judging",
    "index",
)  # fmt: skip


@dataclass
class Records:
    """A file of each kind, under names that tell nothing."""

    paths: dict[str, Path]

    def named(self, *kinds: str) -> list[Path]:
        return [self.paths[kind] for kind in kinds]


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory, sample: list[StoredResult]) -> Records:
    folder = tmp_path_factory.mktemp("records")
    paths = {kind: folder / f"file{number}" for number, kind in enumerate(KINDS)}

    def told(kind: str, value: Any) -> None:
        paths[kind].write_text(json.dumps(value), "utf-8")

    rng = np.random.default_rng(0)
    gallery, queries = rng.normal(size=(300, 8)), rng.normal(size=(60, 8))
    np.save(folder / "gallery.npy", gallery.astype(np.float32))
    np.save(folder / "queries.npy", queries.astype(np.float32))
    truth = exact_neighbors(gallery.astype(np.float32), queries.astype(np.float32), 5)
    truth.save(paths["truth"])
    words = ["sweep", "--vectors", str(folder / "gallery.npy"), "--queries", str(folder / "queries.npy")]
    more = ["--truth", str(paths["truth"]), "--engine", "hnsw(m=4)", "--set", "ef_search=4,16,64", "-k", "5"]
    assert main([*words, *more, "--no-costs", "-o", str(folder / "s.jsonl")]) == 0
    (folder / "s.jsonl").rename(paths["sweep"])
    from visual_search.tuning.choose import choose
    from visual_search.tuning.sweep_record import Sweep

    told("choice", choose(Sweep.load(paths["sweep"]), target_recall=0.3).as_json())
    right = Relevance.from_dict({row: {int(truth.ids[row, 0]): 1} for row in range(60)})
    lists = {row: {int(item): float(-place) for place, item in enumerate(truth.ids[row, 1:])} for row in range(60)}
    told("attribution", attribute_loss(lists, truth, right, k=[1, 4], index="<hnsw>").as_json())
    for role, number in (("query", 1), ("gallery", 1)):
        (folder / role).mkdir()
        texture(number).save(folder / role / f"{role} & <co>.png")
    check_leaks({"query": folder / "query", "gallery": folder / "gallery"}, saved=paths["leaks"])
    table = {"scene": [scene for scene in range(8) for _ in (0, 1)], "view": [0, 1] * 8}
    split = by_view(table, group="scene", view="view", query=0, gallery=1)
    split.save(paths["split"])
    vectors = rng.normal(size=(2, 8, 3))
    told("directions", evaluate_directions_vectors(split, vectors[0], vectors[1], ["HitRate@1"]).as_json())
    signs = rng.normal(size=(40, 16)) > 0
    codes = study_codes(signs, signs, SharedLabels.of(np.arange(40) % 4), ["AP"], k_values=[5])
    told("codes", {"there": {"16 bits": codes.as_json()}, "back": None, "vectors": None, "notes": []})
    told("comparison", compare([sample[1].path, sample[0].path], ["HitRate@1"]).as_json())
    ranking, marks = simulated_study(8, 2, seed=5)
    rows = [
        f"{('<ann>', 'bo')[judge]},{marks.queries[query]},{marks.items[item]},{grade:g}"
        for judge, query, item, grade in zip(marks.judge, marks.query, marks.item, marks.grade, strict=True)
    ]
    (folder / "marks.csv").write_text("\n".join(["judge,query,item,grade", *rows]), "utf-8")
    run = [f"{query} Q0 {item} 1 {score} x" for query in ranking.queries for item, score in ranking.listed(query)]
    (folder / "run.trec").write_text("\n".join(run), "utf-8")
    study = judge_agreement(
        folder / "marks.csv", [f"a={folder / 'run.trec'}", f"<b>={folder / 'run.trec'}"], ["Precision@5"]
    )
    told("judging", study.as_json())
    photos = folder / "photos"
    photos.mkdir()
    texture(3).save(photos / "good.png")
    (photos / "empty.png").write_bytes(b"")
    index_images(photos, paths["index"], embedder="histogram")
    return Records(paths)


def test_each_is_told_by_its_content(records: Records, sample: list[StoredResult]) -> None:
    found = read_records([*records.paths.values(), sample[0].path])
    assert [one.kind for one in found] == [*KINDS, "result"]


def test_all_stand_on_one_page_with_results(
    records: Records, sample: list[StoredResult], tmp_path: Path, parse: Parse
) -> None:
    paths = [sample[0].path, *records.paths.values(), sample[1].path]
    page = parse(report_results(paths, tmp_path / "r.html"))
    sections = [one.attributes["id"] for one in page.all("section") if "id" in one.attributes]
    # The sweep stands in the section of the choice that was made from it.
    expected = [f"record-{kind}" for kind in KINDS if kind != "sweep"]
    assert [one for one in sections if one.startswith("record-")] == expected
    contents = [one.attributes["href"] for one in page.one("header", "top").all("a")]
    assert [f"#{one}" for one in expected] == [one for one in contents if one.startswith("#record-")]
    ids = [one.attributes["id"] for one in page.all() if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    text = {one: page.one("section", id=one).text for one in expected}
    assert "ef_search=" in text["record-choice"]
    assert "Index: <hnsw>" in text["record-attribution"]
    assert "1 pair found" in text["record-leaks"]
    assert "query & <co>.png" in text["record-leaks"]
    assert "certified: 60 of 60" in text["record-truth"]
    assert "8 independent groups" in text["record-directions"]
    assert "Holds" in text["record-split"]
    assert "16 bits" in text["record-codes"]
    assert "grid instead of colour" in text["record-comparison"]
    assert "Krippendorff's alpha (ordinal)" in text["record-judging"]
    assert "<ann> down, bo across" in text["record-judging"]
    assert "<b>: scores" in text["record-judging"]
    assert "an empty file" in text["record-index"]
    assert "empty.png" in text["record-index"]
    assert not page.all("script")


def test_a_sweep_alone_has_a_section_and_records_need_no_result(
    records: Records, tmp_path: Path, parse: Parse
) -> None:
    page = parse(report_results(records.named("sweep", "truth"), tmp_path / "r.html", title="<A sweep>"))
    assert page.one("h1").text == "<A sweep>"
    text = page.one("section", id="record-sweep").text
    assert "3 settings were measured; none was chosen" in text
    assert "NeighborRecall(ties=exact)@5 against index size" in text
    assert page.one("section", id="record-truth")


def test_a_choice_without_its_sweep_has_no_figure_but_every_setting(
    records: Records, tmp_path: Path, parse: Parse
) -> None:
    page = parse(report_results(records.named("choice"), tmp_path / "r.html"))
    section = page.one("section", id="record-choice")
    assert not section.all("figure")
    assert len(section.one("tbody").all("tr")) == 3


def test_a_choice_of_another_sweep_is_not_drawn_into_this_one(
    records: Records, tmp_path: Path, parse: Parse
) -> None:
    choice = json.loads(records.paths["choice"].read_text("utf-8"))
    choice["valid_for"]["gallery"] = "sha256:0"
    (tmp_path / "c").write_text(json.dumps(choice), "utf-8")
    page = parse(report_results([tmp_path / "c", records.paths["sweep"]], tmp_path / "r.html"))
    assert not page.one("section", id="record-choice").all("figure")
    assert page.one("section", id="record-sweep").all("figure")


def test_two_of_a_kind_are_told_apart_by_their_names(records: Records, tmp_path: Path, parse: Parse) -> None:
    page = parse(report_results(records.named("truth", "truth"), tmp_path / "r.html"))
    headings = [one.text for one in page.all("h2")]
    assert headings == [f"The exact answers: {records.paths['truth'].name}"] * 2
    assert [one.attributes["id"] for one in page.all("section")] == ["record-truth-1", "record-truth-2"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[1, 2]", "JSON, but a list and no object"),
        (b"{}", "its keys are none"),
        (b'{"hello": 1}', r"its keys are 'hello'.*result, sweep, choice, attribution, leaks, truth"),
        (b'{"format": "something else"}', "its format is 'something else'"),
        (b'{"format": ["odd"]}', "not a record that a report shows"),
        (b"<html>", "not JSON"),
        (b"", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"PAR1", "damaged|Parquet|split"),
    ],
)
def test_other_files_are_refused_with_what_they_are(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "odd").write_bytes(content)
    with pytest.raises(FileFormatError, match=rf"(?s)odd.*({words})"):
        report_results([tmp_path / "odd"], tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


def test_an_index_of_vectors_alone_is_refused_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = VectorIndex(dimension=2)
    index.add(["a", "b"], np.eye(2))
    index.save(tmp_path / "my vectors.index")
    assert main(["report", str(tmp_path / "my vectors.index"), "-o", str(tmp_path / "r.html")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "my vectors.index: an index of vectors alone, with no account of pictures" in said
    assert "give what was measured with it, such as the results JSON of visual-search evaluate" in said
    assert f"visual-search serve --index '{tmp_path}/my vectors.index'" in said
    assert "make it of pictures with visual-search index" in said
    assert not (tmp_path / "r.html").exists()


def test_all_of_them_are_refused_at_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text('{"x": 1}', "utf-8")
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileFormatError) as caught:
        report_results([tmp_path / "one", tmp_path / "folder", tmp_path / "two"], tmp_path / "r.html")
    assert re.findall("one:|two:|folder:", str(caught.value)) == ["one:", "folder:", "two:"]


def test_the_attribution_of_truth_recall_is_shown(records: Records, tmp_path: Path) -> None:
    """As ``truth recall --qrels --json`` prints it; without right answers there is nothing to show."""
    split = json.loads(records.paths["attribution"].read_text("utf-8"))
    printed = tmp_path / "recall.json"
    printed.write_text(json.dumps({"recall": [], "attribution": split, "notes": []}), "utf-8")
    (found,) = read_records([printed])
    assert (found.kind, found.value) == ("attribution", split)
    printed.write_text(json.dumps({"recall": [], "attribution": None, "notes": []}), "utf-8")
    with pytest.raises(FileFormatError, match=r"recall\.json: not a record that a report shows"):
        read_records([printed])


@pytest.mark.parametrize("kind", ["choice", "attribution", "directions", "codes", "comparison", "leaks"])
def test_values_of_another_kind_are_an_error_and_never_a_broken_page(
    records: Records, tmp_path: Path, kind: str
) -> None:
    """Each value of the record, to some depth, replaced by a text, a list and an object."""
    whole = json.loads(records.paths[kind].read_text("utf-8"))
    tried = refused = 0
    for path in _places(whole, 4):
        kinds: tuple[Any, ...] = ("<odd>", [[1]], {"odd": {}})
        for odd in kinds:
            tried += 1
            (tmp_path / "odd").write_text(json.dumps(_replaced(whole, path, odd)), "utf-8")
            try:
                page = report_results([tmp_path / "odd"], tmp_path / "r.html")
            except FileFormatError:
                refused += 1
            else:
                assert "<odd>" not in page.read_text("utf-8")
    assert tried > 20
    assert refused >= 12


def _places(value: Any, depth: int) -> list[tuple[Any, ...]]:
    """Some places of a JSON value: every key, the first of each list."""
    if depth == 0:
        return []
    steps = list(value)[:12] if isinstance(value, dict) else [0] if isinstance(value, list) and value else []
    return [(step, *rest) for step in steps for rest in [(), *_places(value[step], depth - 1)]]


def _replaced(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    if not path:
        return odd
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[path[0]] = _replaced(value[path[0]], path[1:], odd)
    return copied


def test_a_judging_record_of_a_file_says_what_its_study_says(records: Records, tmp_path: Path) -> None:
    folder = records.paths["judging"].parent
    study = judge_agreement(
        folder / "marks.csv", [f"a={folder / 'run.trec'}", f"<b>={folder / 'run.trec'}"], ["Precision@5"]
    )
    stored = json.loads(records.paths["judging"].read_text("utf-8"))
    assert judging_record_section(stored).body == judging_section(study).body
    # What another program left out or made null is shown as missing.
    bare = {"rule": "median", "agreement": {"overall": [{"name": "alpha"}]}, "disagreements": [{"query": "q"}]}
    bare |= {
        "systems": {"a": {"measures": [{"measure": "AP"}], "rules": [{"rule": "mean"}]}},
        "judgements_needed": [],
    }
    (tmp_path / "bare").write_text(json.dumps(bare), "utf-8")
    assert "a: effect of the rule" in report_results([tmp_path / "bare"], tmp_path / "r.html").read_text("utf-8")


def test_all_that_is_wrong_with_a_judging_record_is_told(records: Records, tmp_path: Path) -> None:
    broken = json.loads(records.paths["judging"].read_text("utf-8"))
    (pair,) = broken["agreement"]["judge_pairs"]
    pair["coefficients"] = pair["coefficients"][:3]
    pair["judges"].append("cleo")
    pair["confusion"][0] = []
    (tmp_path / "broken").write_text(json.dumps(broken), "utf-8")
    with pytest.raises(FileFormatError) as told:
        report_results([tmp_path / "broken"], tmp_path / "r.html")
    for words in ("judges: 2 are needed; got 3", "coefficients: 4 are needed; got 3", "confusion: each row needs"):
        assert words in str(told.value)
    broken["systems"]["a"]["bpref"], broken["disagreements"] = "high", 3
    (tmp_path / "broken").write_text(json.dumps(broken), "utf-8")
    with pytest.raises(FileFormatError) as told:
        report_results([tmp_path / "broken"], tmp_path / "r.html")
    for words in ("bpref: a number or null is needed", "disagreements: a list or null is needed"):
        assert words in str(told.value)


def test_datasets_beside_records_are_passed_over_and_told_of(
    records: Records, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = tmp_path / "own.dataset.json"
    dataset.write_text(json.dumps({"name": "own", "queries": [{"query_id": "a", "ground_truth": ["b"]}]}), "utf-8")
    page = tmp_path / "page.html"
    assert main(["report", str(records.paths["choice"]), str(dataset), "-o", str(page)]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "left out: own.dataset.json: queries and right answers, which a report does not show"
    ]
    assert "own.dataset" not in page.read_text("utf-8")
    page.unlink()
    for others in ([], [tmp_path / "odd.json"]):  # alone, and beside what is refused anyway
        for other in others:
            other.write_text('{"queries": [3]}', "utf-8")
        assert main(["report", str(dataset), *map(str, others), "-o", str(page)]) == 2
        told = capsys.readouterr().err
        assert "own.dataset.json: queries and right answers" in told
        assert ("odd.json: not a record" in told) == bool(others)
        assert not page.exists()
