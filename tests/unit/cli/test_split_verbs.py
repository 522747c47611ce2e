"""``split`` and ``directions`` as a person types them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from visual_search.cli.main import main
from visual_search.cli.split import _NAMES
from visual_search.evaluation.protocols.split import Split
from visual_search.formats.vectors import write_vectors
from visual_search.indexing.index_table import VectorIndex
from visual_search.workflows.split import PROTOCOLS

Capture = pytest.CaptureFixture[str]
BY_VIEW = ["--protocol", "by-view", "--group", "scene_id", "--view", "view_id", "--query", "0", "--gallery", "1"]


@pytest.fixture(autouse=True)
def metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [(scene, view) for scene in range(12) for view in (0, 1)]
    lines = [
        f"{number},G{scene % 3}-{scene:04d},{view},{'test' if scene > 5 else 'train'},{'vhd'[scene % 3]}"
        for number, (scene, view) in enumerate(rows)
    ]
    Path("metadata.csv").write_text("index,scene_id,view_id,split,label\n" + "\n".join(lines) + "\n")


def test_a_split_is_made_shown_written_and_checked(capsys: Capture) -> None:
    assert main(["split", "metadata.csv", *BY_VIEW, "--where", "split=test", "-o", "split.json"]) == 0
    said = capsys.readouterr()
    assert "proof holds" in said.out
    assert "no view is in both sets: 0 of the queries, 1 of the gallery" in said.out
    assert "written: split.json" in said.err
    assert list(Split.load("split.json").query_ids) == [12, 18, 14, 20, 16, 22]  # by scene_id
    assert main(["split", "check", "split.json", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["holds"] is True
    assert told["splits"][0]["proof"]["claims"][0]["counts"]["queries"] == 6
    assert told["files"] == []


def test_a_proof_that_fails_is_shown_and_nothing_is_written(capsys: Capture) -> None:
    text = Path("metadata.csv").read_text().rstrip().rpartition("\n")[0]
    Path("cut.csv").write_text(text + "\n")
    assert main(["split", "cut.csv", *BY_VIEW, "-o", "split.json"]) == 1
    said = capsys.readouterr()
    assert "FAILS: 1 of 12 queries have no right answer in the gallery, first 22" in said.out
    assert "nothing was written" in said.err
    assert not Path("split.json").exists()
    assert main(["split", "cut.csv", *BY_VIEW, "--unanswered", "leave out", "-o", "split.json"]) == 0
    assert "left out: 1 query without a right answer, first 22" in capsys.readouterr().out


def test_a_changed_file_fails_its_check(capsys: Capture) -> None:
    assert main(["split", "metadata.csv", *BY_VIEW, "-o", "split.json"]) == 0
    Path("split.json").write_text(Path("split.json").read_text().replace("G0-0003", "G0-9999", 1))
    assert main(["split", "check", "split.json"]) == 1
    assert "changed after it was written" in capsys.readouterr().err
    assert main(["split", "check", "split.json", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["type"] == "ProofError"


def test_what_is_refused_tells_why(capsys: Capture) -> None:
    same = [*BY_VIEW[:-1], "0"]
    assert main(["split", "metadata.csv", *same]) == 1
    assert "R@1 = 1 whatever the model" in capsys.readouterr().err
    assert main(["split", "metadata.csv", *same, "--label", "label", "--relevant", "same-class-other-group"]) == 1
    assert "to recognise the class is enough" in capsys.readouterr().err
    random = [
        "--protocol",
        "random-images",
        "--group",
        "scene_id",
        "--view",
        "view_id",
        "--queries",
        "12",
        "--seed",
        "1",
    ]
    assert main(["split", "metadata.csv", *random, "--json"]) == 1
    assert "--allow-shared-groups" in json.loads(capsys.readouterr().out)["error"]["message"]
    assert main(["split", "metadata.csv", *random, "--allow-shared-groups"]) == 0
    assert "allowed by name: groups, views, answers" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["metadata.csv"], "give METADATA and --protocol"),
        (["metadata.csv", "--protocol", "by-view", "--group", "scene_id", "--level", "easy"],
         "--protocol by-view needs --view and needs --query and needs --gallery and takes no --level"),
        (["metadata.csv", *BY_VIEW[:3], "scene", *BY_VIEW[4:]], "no column 'scene'; there are 'index', 'scene_id'"),
        (["metadata.csv", *BY_VIEW[:-1], "7"], "view_id: no row has '7'; there are 0, 1"),
        (["metadata.csv", *BY_VIEW, "--where", "split"], "write it as --where COLUMN=VALUE"),
        (["metadata.csv", *BY_VIEW, "--label-separator", "|"], "takes no --label-separator"),
        (["metadata.csv", "--protocol", "parts-by-group", *BY_VIEW[2:4], "--shares", "a=b"], "shares are numbers"),
        (["gone.csv", *BY_VIEW], "gone.csv"),
        (["metadata.csv", *BY_VIEW, "-o", "."], "names a folder"),
    ],
)  # fmt: skip
def test_wrong_use_is_told(capsys: Capture, words: list[str], said: str) -> None:
    assert main(["split", *words]) == 2
    assert said in capsys.readouterr().err


def test_every_protocol_can_be_named_and_runs(capsys: Capture) -> None:
    assert tuple(PROTOCOLS) == _NAMES
    Path("street.csv").write_text("id,pid,cam,part\na,1,1,query\nb,1,2,gallery\nc,-1,1,gallery\n")
    Path("pairs.csv").write_text("query,item,difficulty\nq,a,easy\nq,b,junk\n")
    Path("places.csv").write_text("part,lat,lon\nquery,60.1,24\ngallery,60.1001,24\n")
    scenes = ["--group", "scene_id"]
    runs = {
        "by-view": ["metadata.csv", *BY_VIEW[2:]],
        "leave-one-out": ["metadata.csv", *scenes],
        "one-query-per-group": ["metadata.csv", *scenes, "--seed", "3"],
        "re-identification": [
            "street.csv",
            "--item",
            "id",
            "--group",
            "pid",
            "--view",
            "cam",
            "--partition",
            "part",
        ],
        "landmarks": ["pairs.csv", "--level", "easy"],
        "within-radius": ["places.csv", "--places", "lat", "lon", "--partition", "part", "--metres", "20"],
        "image-text": ["metadata.csv", *scenes, "--item", "index"],
        "random-images": ["metadata.csv", *scenes, "--queries", "9", "--seed", "0", "--allow-shared-groups"],
        "parts-by-group": ["metadata.csv", *scenes, "--shares", "train=.7,test=.3"],
        "parts-by-column": ["metadata.csv", *scenes, "--partition", "split"],
        "parts-of-random-images": ["metadata.csv", *scenes, "--allow-shared-groups"],
        "group-folds": ["metadata.csv", *scenes, "--folds", "3"],
    }
    assert runs.keys() == PROTOCOLS.keys()
    for name, words in runs.items():
        assert main(["split", *words, "--protocol", name, "-o", f"{name}.parquet"]) == 0, name
        written = [line.removeprefix("written: ") for line in capsys.readouterr().err.splitlines()]
        assert len(written) == (3 if name == "group-folds" else 1)
        for path in written:
            assert main(["split", "check", path]) == 0
            assert "proof holds" in capsys.readouterr().out


def test_an_index_is_evaluated_under_a_split(capsys: Capture) -> None:
    Path("photos").mkdir()
    lines = ["file,scene,view"]
    for scene in range(6):
        for view in (0, 1):
            name = f"{view}/{scene}.png"
            Path("photos", str(view)).mkdir(exist_ok=True)
            Image.new("RGB", (16, 16), (40 * scene, 90, 10 * view)).save(Path("photos", name))
            lines.append(f"{scene}.png,{scene},{view}" if view else f"q{scene},{scene},{view}")
    images = ["path", *(f"photos/{view}/{scene}.png" for scene in range(6) for view in (0, 1))]
    Path("photos.csv").write_text("".join(f"{line},{image}\n" for line, image in zip(lines, images, strict=True)))
    assert main(["index", "photos/1", "--out", "gallery.index", "--embedder", "histogram"]) == 0
    options = ["--item", "file", "--group", "scene", "--view", "view", "--query", "0", "--gallery", "1"]
    files = ["--image", "path", "--dataset", "eval.json", "-o", "split.json"]
    assert main(["split", "photos.csv", "--protocol", "by-view", *options, *files]) == 0
    asked = ["--index", "gallery.index", "--dataset", "eval.json", "--output", "result.json", "--k", "1"]
    assert main(["evaluate", *asked, "--split", "split.json"]) == 0
    record = json.loads(Path("result.json").read_text())
    assert record["protocol"]["proof"]["holds"] is True
    assert record["hit_rate_at_1"] > 0
    Image.new("RGB", (16, 16), "teal").save("photos/1/stranger.png")
    assert main(["index", "photos/1", "--out", "all.index", "--embedder", "histogram"]) == 0
    capsys.readouterr()
    asked[1] = "all.index"
    assert main(["evaluate", *asked, "--split", "split.json"]) == 2
    assert "it has 1 items more, such as 'stranger.png'" in capsys.readouterr().err


def vectors_and_split() -> None:
    rng = np.random.default_rng(0)
    base = np.repeat(rng.normal(size=(12, 4)), 2, axis=0)
    np.save("vectors.npy", (base + 0.01 * rng.normal(size=base.shape)).reshape(24, 1, 2, 2))
    assert main(["split", "metadata.csv", *BY_VIEW, "--item", "index", "-o", "split.json"]) == 0


def test_both_directions_from_vectors_on_disk(capsys: Capture) -> None:
    vectors_and_split()
    capsys.readouterr()
    assert main(["directions", "vectors.npy", "split.json", "HitRate@1"]) == 0
    assert re.search(r"HitRate@1 +1\.0000 +1\.0000 +1\.0000 ", capsys.readouterr().out)
    assert main(["directions", "vectors.npy", "split.json", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["pooled"]["num_queries"] == 24
    assert told["pooled"]["measures"]["AP(denominator=min)@5"]["interval"]["groups"] == 12
    assert told["pooled"]["protocol"]["proof"]["holds"] is True
    assert told["asymmetry"]["HitRate@1"]["difference"] == 0


def test_rows_may_have_ids_and_the_gallery_its_own_file(capsys: Capture) -> None:
    vectors_and_split()
    order = np.random.default_rng(1).permutation(24)
    shuffled = np.load("vectors.npy")[order]
    np.save("first.npy", shuffled[order % 2 == 0])
    np.save("second.npy", shuffled[order % 2 == 1])
    for name, parity in (("first.txt", 0), ("second.txt", 1)):
        Path(name).write_text("".join(f"{item}\n" for item in order if item % 2 == parity))
    capsys.readouterr()
    files = ["--ids", "first.txt", "--gallery-vectors", "second.npy", "--gallery-ids", "second.txt"]
    assert main(["directions", "first.npy", "split.json", "HitRate@1", *files, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pooled"]["measures"]["HitRate@1"]["mean"] == 1
    assert main(["directions", "first.npy", "split.json", "HitRate@1"]) == 2
    assert "no vector for 6 items of the split" in capsys.readouterr().err


def test_vectors_come_from_every_file_and_from_an_index(capsys: Capture) -> None:
    vectors_and_split()
    matrix, names = np.load("vectors.npy").astype(np.float32).reshape(24, -1), np.arange(24)
    write_vectors("vectors.fvecs", matrix)
    order = np.random.default_rng(2).permutation(24)
    write_vectors("vectors.parquet", matrix[order], ids=names[order].tolist())
    index = VectorIndex(metric="cosine")
    index.add(names[order].tolist(), matrix[order])
    index.save("vectors.index")
    for source in ("vectors.npy", "vectors.fvecs", "vectors.parquet", "vectors.index"):
        capsys.readouterr()
        assert main(["directions", source, "split.json", "HitRate@1", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["pooled"]["measures"]["HitRate@1"]["mean"] == 1
    Path("cut.fvecs").write_bytes(Path("vectors.fvecs").read_bytes()[:-3])
    assert main(["directions", "cut.fvecs", "split.json"]) == 2
    assert "cut.fvecs" in capsys.readouterr().err


@pytest.mark.parametrize(("content", "said"), [(b"nothing", "not a NumPy file"), (b"", "not a NumPy file")])
def test_vectors_that_are_none(capsys: Capture, content: bytes, said: str) -> None:
    vectors_and_split()
    Path("bad.npy").write_bytes(content)
    np.savez("many.npz", a=np.eye(2))
    assert main(["directions", "bad.npy", "split.json"]) == 2
    assert said in capsys.readouterr().err
    assert main(["directions", "many.npz", "split.json"]) == 2
    assert "one array of numbers" in capsys.readouterr().err
