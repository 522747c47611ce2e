"""The tutorial on judging prints what it shows, and its commands run on the files that it writes."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from visual_search.cli.main import main

PAGE = (Path(__file__).parents[2] / "docs" / "tutorials" / "judging.md").read_text("utf-8")


def test_the_page_prints_what_it_shows_and_its_commands_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed = ""
    said = ""
    shown = 0
    for kind, body in re.findall(r"```(python|text|console)\n(.*?)```", PAGE, flags=re.DOTALL):
        if kind == "python":
            told = io.StringIO()
            with contextlib.redirect_stdout(told):
                exec(body, names)
            printed = told.getvalue()
        elif kind == "text":
            shown += 1
            for line in body.splitlines():
                assert line in printed
        else:
            # The pool is there already from the block above it.
            command = body.removeprefix("$ ")
            if "judge pool" in command:
                command = command.replace("judgements.db", "other.db").replace("pool.json", "other.json")
            assert main(shlex.split(command)[1:]) == 0
            printed = capsys.readouterr().out
            said += printed
    assert shown == 7
    assert "88 pairs of 12 queries" in said
    assert "51 %" not in said  # adjudicated by then
    assert "7 pairs were adjudicated" in said
    assert Path("judgements.html").stat().st_size > 10_000
