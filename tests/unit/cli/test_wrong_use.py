"""What someone reads who typed something that does not exist."""

import csv
from pathlib import Path

import pytest

from visual_search.cli.command_words import command_words
from visual_search.cli.main import VERBS, main

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_wrong_use_of_a_verb_is_one_line(capsys: Capture, verb: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([verb, "--no-such-option", "--help-me"])
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"see visual-search {verb} --help" in said


def test_an_unknown_choice_is_answered_with_what_was_meant(capsys: Capture) -> None:
    for typed, meant in (("by-scene", "parts-by-group"), ("by-veiw", "by-view"), ("leave-1-out", "leave-one-out")):
        with pytest.raises(SystemExit):
            main(["split", "metadata.csv", "--protocol", typed])
        assert f"did you mean {meant}?" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["xyzzy"])
    assert "'xyzzy' is not among demo" in capsys.readouterr().err


def test_refusals_name_flags(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Path("m.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["scene", "view"], *([n // 2, n % 2] for n in range(40))])
    words = [
        "split",
        "m.csv",
        "--protocol",
        "random-images",
        "--group",
        "scene",
        "--view",
        "view",
        "--queries",
        "9",
    ]
    words += ["--seed", "0"]
    assert main(words) == 1
    said = capsys.readouterr().err
    assert "--allow-shared-groups" in said
    assert "--protocol by-view" in said
    assert "allow_shared_groups" not in said


def test_words_that_are_no_call_stay() -> None:
    plain = "by view, HitRate(k=3), groups=8"
    assert command_words(plain) == plain
