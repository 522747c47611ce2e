"""The tutorial on hash codes ends with a command; it runs on the files that the page writes before it."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from visual_search.cli.main import main

PAGE = (Path(__file__).parents[2] / "docs" / "tutorials" / "hash-codes.md").read_text("utf-8")


def test_the_last_command_runs_on_what_the_page_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    writing = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)[-1]
    (command,) = re.findall(r"^\$ (visual-search codes .*)$", PAGE, flags=re.MULTILINE)
    # As many vectors of as many people as on the page; made up here, since embedding takes long.
    rng = np.random.default_rng(0)
    people = np.repeat([f"s{number}" for number in range(15, 25)], 5)
    centres = np.repeat(rng.standard_normal((10, 1280)), 5, axis=0)
    early, late = ((centres + rng.standard_normal((50, 1280))).astype(np.float32) for _ in range(2))
    exec(writing, {"np": np, "early": early, "late": late, "early_people": people, "late_people": people})
    assert main(shlex.split(command)[1:]) == 0
    printed = capsys.readouterr()
    assert "itq, 32 bits" in printed.out
    assert "tell nothing" not in printed.err
    assert Path("codes.html").stat().st_size > 10_000
