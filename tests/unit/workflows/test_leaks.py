"""Folders, archives and indexes under roles, to a report and its files."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from PIL import Image, ImageOps

from visual_search.errors import FileFormatError, FingerprintError, InputError
from visual_search.evaluation.model_evaluator import evaluate_model
from visual_search.indexing.index_table import VectorIndex
from visual_search.leaks.thresholds import LeakThresholds
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch
from visual_search.testing.textures import texture
from visual_search.workflows import leaks
from visual_search.workflows.index_images import index_images
from visual_search.workflows.leaks import check_leaks

LEAKED = {("same_pixels", "q0.png", "copy.bmp"), ("near", "q1.png", "small.png")}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six queries, eight items; a copy, a smaller copy and a mirror image among the items."""
    monkeypatch.chdir(tmp_path)
    for role in ("query", "gallery", "train"):
        Path(role).mkdir()
    for number in range(6):
        texture(number).save(f"query/q{number}.png")
        texture(100 + number).save(f"gallery/g{number}.png")
    texture(0).save("gallery/copy.bmp")
    texture(1).resize((60, 50)).save("gallery/small.png")
    ImageOps.mirror(texture(2)).save("gallery/mirrored.png")
    texture(200).save("train/t.png")
    Path("gallery/damaged.png").write_bytes(Path("gallery/g0.png").read_bytes()[:200])
    Path("gallery/notes.txt").write_text("no picture")
    return tmp_path


def kinds(check: leaks.LeakCheck) -> set[tuple[str, object, object]]:
    return {(pair.kind, pair.first.id, pair.second.id) for pair in check.report.pairs}


def test_folders(place: Path) -> None:
    check = check_leaks({"query": "query", "gallery": "gallery", "train": "train"}, out="l.html", saved="l.json")
    assert kinds(check) == LEAKED
    told = json.loads(Path("l.json").read_text())
    assert [role["left_out"] for role in told["roles"]] == [0, 2, 0]
    assert told["page"] == "l.html"
    assert "9 pictures of gallery (2 files left out)" in check.words()
    assert sorted(path.name for path in place.iterdir()) == ["gallery", "l.html", "l.json", "query", "train"]
    mirrored = check_leaks({"query": "query", "gallery": "gallery"}, mirrored=True)
    assert kinds(mirrored) == {*LEAKED, ("mirrored", "q2.png", "mirrored.png")}


def test_archives_and_indexes_say_the_same_as_folders(place: Path) -> None:
    with zipfile.ZipFile("gallery.zip", "w") as archive:
        for path in sorted(Path("gallery").iterdir()):
            archive.write(path, path.name)
    assert kinds(check_leaks({"query": "query", "gallery": "gallery.zip"}, out="zip.html")) == LEAKED
    index_images("gallery.zip", "zip.index", embedder="pixels")
    index_images("gallery", "g.index", embedder="pixels")
    index_images("query", "q.index", embedder="pixels")
    for gallery in ("zip.index", "g.index"):
        check = check_leaks({"query": "q.index", "gallery": gallery})
        assert kinds(check) == LEAKED
        assert check.report.roles[1].left_out == 2


def test_a_picture_in_both_places_is_a_self_match(place: Path) -> None:
    Path("query/again.png").symlink_to(place / "gallery" / "g3.png")
    check = check_leaks({"query": "query", "gallery": ["gallery/g3.png", "gallery/g4.png"]})
    assert kinds(check) == {("same_item", "again.png", "gallery/g3.png")}


def test_embeddings_of_two_indexes(place: Path) -> None:
    for role in ("query", "gallery"):
        index_images(role, f"{role}.index", embedder="histogram")
    index_images("gallery", "other.index", embedder="pixels")
    rule = LeakThresholds(cosine=1.0)
    check = check_leaks({"query": "query.index", "gallery": "gallery.index"}, thresholds=rule)
    # The histogram does not know left from right.
    assert kinds(check) == {*LEAKED, ("embedding", "q2.png", "mirrored.png")}
    with pytest.raises(FingerprintError, match="different embedders"):
        check_leaks({"query": "query.index", "gallery": "other.index"}, thresholds=rule)
    with pytest.raises(InputError, match="'query': no index"):
        check_leaks({"query": "query", "gallery": "gallery.index"}, thresholds=rule)


def test_an_index_of_vectors_alone(place: Path) -> None:
    for name, ids in (("a", ["x", "y"]), ("b", ["y", "z"])):
        index = VectorIndex()
        index.add(ids, [[1.0, 0.0], [0.0, 1.0]] if name == "a" else [[0.0, 2.0], [1.0, 1.0]])
        index.save(name)
    check = check_leaks({"query": "a", "gallery": "b"}, thresholds=LeakThresholds(cosine=0.99), out="v.html")
    assert kinds(check) == {("same_item", "y", "y")}
    with pytest.raises(InputError, match="vectors but no pictures"):
        check_leaks({"query": "a", "gallery": "b"})
    codes = VectorIndex(metric="hamming")
    codes.add(["z"], [[1.0, -1.0]])
    codes.save("codes")
    with pytest.raises(InputError, match="'gallery': an index of binary codes"):
        check_leaks({"query": "a", "gallery": "codes"}, thresholds=LeakThresholds(cosine=0.99))


def test_a_folder_of_pictures_with_a_manifest_of_something_else_is_no_index(place: Path) -> None:
    Path("gallery/manifest.json").write_text('{"name": "a web page"}')
    assert kinds(check_leaks({"query": "query", "gallery": "gallery"})) == LEAKED


def test_a_killed_run_is_taken_up(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(leaks, "find_leaks", killed)
        with pytest.raises(KeyboardInterrupt):
            check_leaks({"query": "query", "gallery": "gallery"}, out="l.html")
    assert Path(".l.html.unfinished").is_file()
    check = check_leaks({"query": "query", "gallery": "gallery"}, out="l.html")
    assert check.resumed == 15
    assert kinds(check) == LEAKED
    assert not Path(".l.html.unfinished").exists()


class TestImpact:
    @pytest.fixture
    def measured(self, place: Path) -> Path:
        report = index_images("gallery", "g.index", embedder="pixels")
        truth = {"q0.png": ["copy.bmp", "g0.png"], "q1.png": ["small.png"], "q4.png": ["g4.png"]}
        queries = [
            {"query_id": f"the {name}", "image_path": f"query/{name}", "ground_truth": items, "group": name}
            for name, items in truth.items()
        ]
        Path("eval.json").write_text(json.dumps({"queries": queries}))
        service = NearestNeighborSearch(index=report.index)
        evaluate_model(service, "eval.json", output_path="r.json", k_values=[1, 9])
        return place

    def test_with_the_right_answers(self, measured: Path) -> None:
        roles = {"query": "query", "gallery": "gallery"}
        check = check_leaks(roles, result="r.json", relevance="eval.json", out="l.html")  # type: ignore[arg-type]
        assert check.impact is not None
        assert (check.impact.queries, check.impact.flagged) == (3, 2)
        row = check.impact["HitRate@1"]
        assert row.flagged_only == 1.0
        assert row.difference is not None
        assert row.items_ignored is not None
        # Without its copy the second query has no right answer: undefined for AP, 0 and counted for a hit rate.
        assert check.impact["AP@9"].difference is not None
        assert check.impact["AP@9"].difference.only_first == 1
        assert "2 of 3 queries are flagged" in check.words()
        assert json.loads(json.dumps(check.as_json()))["impact"]["flagged"] == 2

    def test_from_the_result_alone(self, measured: Path) -> None:
        check = check_leaks({"query": "query", "gallery": "gallery"}, result="r.json")
        assert check.impact is not None
        assert check.impact["HitRate@1"].items_ignored is None
        assert check.impact["HitRate@1"].flagged_only == 1.0
        assert "give them as well (--qrels)" in check.words()

    def test_right_answers_of_something_else_are_refused(self, measured: Path) -> None:
        dataset = json.loads(Path("eval.json").read_text())
        for query in dataset["queries"]:
            query["ground_truth"] = ["g5.png"]
        Path("other.json").write_text(json.dumps(dataset))
        with pytest.raises(FingerprintError, match="come out otherwise"):
            check_leaks({"query": "query", "gallery": "gallery"}, result="r.json", relevance="other.json")
        with pytest.raises(InputError, match="right answers without a result"):
            check_leaks({"query": "query", "gallery": "gallery"}, relevance="eval.json")

    def test_a_file_that_is_no_result_is_refused_before_anything_is_decoded(
        self, measured: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def never(*_: object, **__: object) -> None:
            pytest.fail("pictures were read")

        monkeypatch.setattr(leaks, "signed_roles", never)
        with pytest.raises(FileFormatError, match="not a result"):
            check_leaks({"query": "query", "gallery": "gallery"}, result="eval.json")

    def test_a_result_of_other_queries_is_refused(self, measured: Path) -> None:
        Path("elsewhere").mkdir()
        texture(0).save("elsewhere/x.png")
        with pytest.raises(InputError, match="none of the flagged queries is in it"):
            check_leaks({"query": "elsewhere", "gallery": "gallery"}, result="r.json")


class TestMetadata:
    def test_views_and_groups_from_a_table(self, place: Path) -> None:
        Path("meta.csv").write_text(
            "item,group,view\nq3.png,ann,left\nq4.png,bob,left\ng3.png,ann,left\ng4.png,bob,right\nt.png,bob,left\n"
        )
        check = check_leaks({"query": "query", "gallery": "gallery", "train": "train"}, metadata="meta.csv")
        assert [(unit.kind, unit.group) for unit in check.report.shared] == [
            ("group", "bob"),
            ("group", "bob"),
            ("view", "ann"),
        ]
        assert check.notes[0] == (
            "metadata: 4 pictures of query are not in the table, first: 'q0.png', 'q1.png', 'q2.png' and 1 more"
        )

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("item,colour\nq0.png,red\n", "group or view or both, are needed; it has item, colour"),
            ("item,group\nq0.png\n", "2 columns, but not in lines 2"),
            ("item,group\nq0.png,a\nq0.png,b\n", "1 items have two values, first: 'q0.png'"),
            ("item,group\nnowhere.png,a\n", "none of its items is among the pictures"),
            ("", "an empty table"),
            ("item,group,group\nq0.png,a,b\n", "several columns are named 'group'"),
        ],
    )
    def test_tables_that_do_not_fit_are_refused(self, place: Path, text: str, words: str) -> None:
        Path("meta.csv").write_text(text)
        with pytest.raises((InputError, FileFormatError), match=words):
            check_leaks({"query": "query", "gallery": "gallery"}, metadata="meta.csv")

    def test_parquet(self, place: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"item": ["q3.png", "g3.png"], "view": [7, 7]}), "meta.parquet")
        check = check_leaks({"query": "query", "gallery": "gallery"}, metadata="meta.parquet")
        assert [(unit.kind, unit.group, unit.view) for unit in check.report.shared] == [("view", None, "7")]


def test_transparent_and_turned_copies(place: Path) -> None:
    """What decoding does to a file is done before anything is compared."""
    picture = texture(5)
    exif = Image.Exif()
    exif[0x0112] = 6
    picture.transpose(Image.Transpose.ROTATE_90).save("gallery/turned.png", exif=exif)
    picture.convert("RGBA").save("gallery/opaque.png")
    found = kinds(check_leaks({"query": "query", "gallery": "gallery"}))
    assert found == {*LEAKED, ("same_pixels", "q5.png", "turned.png"), ("same_pixels", "q5.png", "opaque.png")}
