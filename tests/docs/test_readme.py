"""What the README's consoles show is what comes out."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from visual_search.judging.records import Verdict
from visual_search.judging.store import JudgementStore

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
COLOURS = ("red", "orange", "gold", "green", "teal", "navy", "purple", "black")


def consoles() -> list[tuple[str, list[str]]]:
    """Each command of the product in order, with the output shown under it."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", README, flags=re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ visual-search "):
                found.append((line.removeprefix("$ "), []))
            elif not line.startswith("$ "):
                found[-1][1].append(line)
    return found


def timeless(text: str) -> str:
    """Seconds and rates differ from run to run; everything else is as shown."""
    return re.sub(r"[\d.,]+(?= (?:s\b|images/s))", "N", text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("readme")
    (place / "photos").mkdir()
    for number, colour in enumerate(COLOURS):
        Image.new("RGB", (40 + number, 30), colour).save(place / "photos" / f"{number}.png")
    queries = [
        {"query_id": f"q{number}", "image_path": f"photos/{number}.png", "ground_truth": [f"{number}.png"]}
        for number in range(8)
    ]
    (place / "eval.json").write_text(json.dumps({"queries": queries}))
    (place / "run.trec").write_text("q1 Q0 d1 1 0.9 x\nq1 Q0 d2 2 0.5 x\nq1 Q0 d3 3 0.5 x\n")
    (place / "qrels.trec").write_text("q1 0 d2 1\nq1 0 d1 0\n")
    rng = np.random.default_rng(0)
    np.save(place / "base.npy", rng.normal(size=(2000, 16)).astype(np.float32))
    np.save(place / "queries.npy", rng.normal(size=(500, 16)).astype(np.float32))
    return place


def test_the_tours_commands_run_and_print_what_is_shown(folder: Path) -> None:
    commands = consoles()
    assert len(commands) >= 4
    for command, shown in commands:
        if "last-week.json" in command:
            (folder / "last-week.json").write_bytes((folder / "results.json").read_bytes())
        if "judge agreement" in command:  # people have judged by then
            with JudgementStore(folder / "judgements.db", create=False) as store:
                for number in range(1, len(store.pool()) + 1):
                    for judge in ("ann", "bo"):
                        store.judge(judge, number, Verdict(float(number % 3 == 0 or judge == "bo")))
        ended = subprocess.run(
            [sys.executable, "-m", "visual_search", *shlex.split(command)[1:]],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        printed = timeless(ended.stdout + ended.stderr)
        for line in shown:
            assert timeless(line) in printed


def test_the_two_commands_are_the_first_two() -> None:
    blocks = re.findall(r"```console\n(.*?)```", README, flags=re.DOTALL)
    assert "pip install '.[demo]'" in blocks[0]
    assert "visual-search demo" in blocks[0]
    assert "pip install -e '.[test]'" in blocks[1]
    assert "pytest" in blocks[1]


def test_every_file_it_links_to_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (Path(__file__).parents[2] / target).exists(), target
