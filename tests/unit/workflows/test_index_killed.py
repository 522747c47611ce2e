"""Killed at 20 moments spread over the run and 5 inside the save: the old index or the new one, never neither."""

import json
import subprocess
import sys
from pathlib import Path

BATCH = 4  # of the script


def test_a_killed_run_leaves_the_old_index_or_the_new_and_loses_one_batch_at_most(
    pictures: Path, tmp_path: Path
) -> None:
    script = Path(__file__).with_name("killed_indexing.py")
    ended = subprocess.run(
        [sys.executable, script, pictures, tmp_path / "work", "20"],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    outcomes = json.loads(ended.stdout)
    assert len(outcomes) == 25
    spread, inside = outcomes[:20], outcomes[20:]
    # A machine that was busy while the run was timed makes later runs shorter, and some moments come too late.
    assert sum(outcome["killed"] for outcome in spread) >= 10, "the moments lie within the run"
    assert all(outcome["killed"] for outcome in inside)
    for outcome in outcomes:
        assert outcome["found"] in {"old", "new"}
        assert outcome["right"]
        if outcome["killed"] and outcome["found"] == "old":
            assert 24 <= outcome["embedded_in_all"] <= 24 + BATCH, outcome
    assert any(0 < outcome["resumed"] < 24 for outcome in spread), "some runs were cut in the middle and went on"
