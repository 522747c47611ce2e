"""Every verb as a person types it."""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from visual_search.cli.main import VERBS, main


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Eighty small pictures in four colours, an index of them, and a dataset that asks for the colour."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    queries = []
    for number in range(80):
        colour = np.array([[220, 40, 40], [40, 200, 60], [50, 60, 220], [230, 210, 40]][number % 4])
        pixels = np.clip(colour + rng.normal(0, 25, (16, 16, 3)), 0, 255).astype(np.uint8)
        Path("photos").mkdir(exist_ok=True)
        Image.fromarray(pixels).save(f"photos/{number:02}.png")
        truth = [f"{other:02}.png" for other in range(80) if other % 4 == number % 4 and other != number]
        queries.append(
            {"query_id": f"{number:02}.png", "image_path": f"photos/{number:02}.png", "ground_truth": truth}
        )
    Path("eval.json").write_text(json.dumps({"queries": queries}))
    assert main(["index", "photos", "--out", "photos.index", "--embedder", "histogram"]) == 0
    Path("photos/words.jpg").write_text("no picture")
    return tmp_path


def test_search_by_image_by_item_and_as_json(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["search", "photos.index", "photos/04.png", "-k", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[0].split() == ["1", "1.000000", "04.png"]
    assert main(["search", "photos.index", "--id", "04.png", "-k", "3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert all(int(result["image_id"][:2]) % 4 == 0 for result in told["results"])
    assert "04.png" not in {result["image_id"] for result in told["results"]}


def test_search_writes_a_page(photos: Path) -> None:
    assert main(["search", "photos.index", "--id", "04.png", "--page", "found.html"]) == 0
    assert Path("found.html").read_text("utf-8").count("data:image/") >= 5
    assert '<span class="changed">' not in Path("found.html").read_text("utf-8")
    Image.new("RGB", (30, 30), "red").save("photos/08.png")  # after it was indexed
    assert main(["search", "photos.index", "--id", "04.png", "-k", "60", "--page", "found.html"]) == 0
    assert Path("found.html").read_text("utf-8").count("since it was indexed</span>") == 1


def test_evaluate_compares_with_a_baseline_and_reports(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--index", "photos.index", "--dataset", "eval.json", "--exclude-self"]
    assert main(["evaluate", *words, "--output", "first.json", "--k", "1", "5"]) == 0
    assert re.search(r"Recall@5\s+0\.2", capsys.readouterr().out)
    assert main(["evaluate", *words, "--output", "second.json", "--k", "1", "5", "--baseline", "first.json",
                 "--report", "report.html"]) == 0  # fmt: skip
    assert "Against first.json" in capsys.readouterr().out
    assert "<html" in Path("report.html").read_text("utf-8")
    record = json.loads(Path("second.json").read_text())
    assert list(record)[:2] == ["num_queries", "k_values"]
    assert record["hit_rate_at_1"] == 1.0


def test_the_result_that_is_replaced_is_the_previous_one(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["evaluate", "--index", "photos.index", "--dataset", "eval.json", "--exclude-self", "--k", "1", "5"]
    again = [*words, "--output", "r.json", "--baseline", "previous", "--report", "both.html"]
    assert main([*again, "--model-name", "first"]) == 0
    assert "no previous result: r.json was not there" in capsys.readouterr().err
    assert not Path("r.previous.json").exists()
    assert main([*again, "--model-name", "second"]) == 0
    assert "Against previous (first)" in capsys.readouterr().out
    assert [json.loads(Path(name).read_text())["model_name"] for name in ("r.previous.json", "r.json")] == [
        "first",
        "second",
    ]
    assert 'second</bdi> <span class="muted">instead of</span> <bdi>first' in Path("both.html").read_text("utf-8")
    assert main(["gate", "r.json", "r.previous.json", "--measure", "RR@5", "--margin", "0.5"]) == 0
    # The same lists twice: nothing differs, and so few groups cannot tell that nothing would.
    assert main(["gate", "r.json", "r.previous.json", "--measure", "RR@5", "--margin", "0.01"]) == 1
    assert "not decided" in capsys.readouterr().out


@pytest.mark.usefixtures("photos")
def test_a_result_written_onto_a_link_has_its_previous_one_beside_what_the_link_leads_to(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["evaluate", "--index", "photos.index", "--dataset", "eval.json", "--k", "1", "--baseline", "previous"]
    Path("kept").mkdir()
    assert main([*words, "--output", "kept/r.json", "--model-name", "first"]) == 0
    Path("latest.json").symlink_to("kept/r.json")
    before = sorted(Path().iterdir())
    assert main([*words, "--output", "latest.json", "--model-name", "second"]) == 0
    assert "Against previous (first)" in capsys.readouterr().out
    assert Path("latest.json").is_symlink()
    assert sorted(Path().iterdir()) == before
    assert json.loads(Path("kept/r.json").read_text())["model_name"] == "second"
    assert json.loads(Path("kept/r.previous.json").read_text())["model_name"] == "first"
    assert main(["report", "latest.json", "-o", "report.html"]) == 0
    assert "data:image/webp" in Path("report.html").read_text("utf-8")


def test_an_embedder_as_baseline_on_the_same_images(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--index", "photos.index", "--dataset", "eval.json", "--exclude-self", "--k", "1", "5"]
    assert main(["evaluate", *words, "--output", "r.json", "--baseline", "phash", "--report", "both.html"]) == 0
    printed = capsys.readouterr().out
    assert "Against phash" in printed
    assert "Against random" in printed
    baseline = json.loads(Path("r.phash.json").read_text())
    assert baseline["model_name"] == "phash"
    assert baseline["hit_rate_at_1"] < 1.0
    Path("photos/04.png").unlink()
    assert main(["evaluate", *words, "--output", "r.json", "--baseline", "phash"]) == 2
    assert "04.png" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "depths"), [("user", [10, 20]), ("analysis", [1, 5, 10, 50])])
def test_named_depths(photos: Path, name: str, depths: list[int]) -> None:
    assert (
        main(["evaluate", "--index", "photos.index", "--dataset", "eval.json", "--output", "r.json", "--k", name])
        == 0
    )
    assert json.loads(Path("r.json").read_text())["k_values"][: len(depths)] == depths


def test_report_from_files_alone(photos: Path) -> None:
    main(["evaluate", "--index", "photos.index", "--dataset", "eval.json", "--output", "r.json"])
    assert main(["report", "r.json", "-o", "page.html", "--title", "A & B <i>"]) == 0
    page = Path("page.html").read_text("utf-8")
    assert "A &amp; B &lt;i&gt;" in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("search photos.index", "give one of: an image file, --id ITEM, --text WORDS; got 0"),
        ("search photos.index photos/01.png --id 02.png", "got 2"),
        ("search photos.index --text red", "takes images only"),
        ("search photos.index --id nobody", "nobody"),
        ("search photos.index photos/gone.png", "no such file"),
        ("search nowhere photos/01.png", "no index folder there"),
        ("index photos", "images and --out are needed"),
        ("index photos --out x --embedder pixles", "did you mean 'pixels'"),
        ("index photos --out x --engine hnsw --set ef=1", "ef_search"),
        ("index photos --out x --engine hnsw --set ef_search", "give NAME=VALUE"),
        ("index photos --out x --background red", "give a colour as #rrggbb"),
        ("index nowhere --out x", "no such file or folder"),
        ("evaluate --index photos.index --dataset gone.json --output r.json", "gone.json"),
        ("evaluate --index photos.index --dataset eval.json --output r.json --k 0", "k_values"),
        ("evaluate --index photos.index --dataset eval.json --output r.json --k ten", "analysis"),
        ("evaluate --index photos.index --dataset eval.json --output r.json --k 5 user", "k_values"),
        ("report gone.json", "gone.json"),
        ("search photos.index --id 4.png", "is '04.png'"),
        ("search photos.index photos/01.png --page photos", "photos is a folder"),
        ("index photos/words.jpg --out x", "not an image: text"),
        ("index photos --out photos", "holds other things"),
        ("evaluate --index photos.index --dataset eval.json --output eval.json", "is there and is no result"),
        ("evaluate --index photos.index --dataset eval.json --output r.html", "ends in .json"),
    ],
)
def test_wrong_use_is_told_in_words_with_exit_code_2(
    photos: Path, capsys: pytest.CaptureFixture[str], words: str, said: str
) -> None:
    capsys.readouterr()
    assert main(shlex.split(words)) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("verb", VERBS)
def test_help_shows_an_example_whose_options_exist(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    def help_of(*words: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main([*words, "--help"])
        assert ended.value.code == 0
        return capsys.readouterr().out

    module = import_module(f"visual_search.cli.{VERBS[verb][0]}")
    shown = help_of(verb)
    assert "example:" in shown
    if " TASK" in shown:
        # A verb with tasks shows each one's options in its own help.
        tasks = {shlex.split(line)[2] for line in module.EXAMPLE.splitlines()}
        shown += "".join(help_of(verb, task) for task in sorted(tasks))
    assert "--json" in shown
    for line in module.EXAMPLE.splitlines():
        words = shlex.split(line)
        assert words[:2] == ["visual-search", verb]
        for word in words[2:]:
            if word.startswith("-"):
                assert word in shown


def test_without_a_verb_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "evaluate" in capsys.readouterr().out


def test_several_files_and_folders_can_be_named(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    words = ["index", "photos/01.png", "photos/02.png", "--out", "two.index", "--embedder", "pixels", "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["images"] == 2


def test_errors_are_json_too_where_that_was_asked_for(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["search", "photos.index", "--id", "nobody", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["type"] == "UnknownIdError"


def test_a_baseline_is_read_before_anything_is_written_and_never_written_over(
    photos: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["evaluate", "--index", "photos.index", "--dataset", "eval.json", "--k", "1"]
    assert main([*words, "--output", "r.json"]) == 0
    before = Path("r.json").read_bytes()
    assert main([*words, "--output", "r.json", "--baseline", "r.json"]) == 2
    assert main([*words, "--output", "r.json", "--baseline", "gone.json"]) == 2
    assert main(["report", "r.json", "-o", "r.json"]) == 2
    assert Path("r.json").read_bytes() == before
    capsys.readouterr()
    assert main([*words, "--output", "t.json", "--ties", "expected"]) == 0
    assert json.loads(Path("t.json").read_text())["ties"] == "expected"


def test_odd_letters_are_shown_as_escapes_where_the_terminal_lacks_them(photos: Path) -> None:
    Path("photos/01.png").rename("photos/für.png")
    main(["index", "photos", "--out", "photos.index", "--embedder", "histogram"])
    for options in ([], ["--json"]):
        ended = subprocess.run(
            [sys.executable, "-m", "visual_search", "search", "photos.index", "--id", "05.png", "-k", "60", *options],
            env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}, capture_output=True, check=True,
        )  # fmt: skip
        assert rb"f\xfcr.png" in ended.stdout or rb"f\u00fcr.png" in ended.stdout


def test_a_depth_is_written_alike_in_every_verb() -> None:
    verbs = []
    for verb, (module, _) in VERBS.items():
        parser = argparse.ArgumentParser(prog=verb)
        import_module(f"visual_search.cli.{module}").add_arguments(parser)
        parsers = [parser]
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                parsers += action.choices.values()
        for one in parsers:
            names = [action.option_strings for action in one._actions]
            verbs += [verb for options in names if "--k" in options]
            assert all(("-k" in options) == ("--k" in options) for options in names), one.prog
    assert {"search", "evaluate", "conventions", "codes", "sweep", "truth"} <= set(verbs)
