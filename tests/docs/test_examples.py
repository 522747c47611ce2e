"""The examples run, at a small size."""

import json
import os
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_index_error(tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    ended = subprocess.run(
        [sys.executable, str(EXAMPLES / "index_error.py"), "--items", "2000", "--out", str(found)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},  # training on few vectors waits for threads more than it works
    )
    assert ended.returncode == 0, ended.stderr
    for words in ("R@k exact", "R@k index", "overlap@k", "Valid for this index (faiss(factory=IVF32,PQ16np"):
        assert words in ended.stdout
    told = json.loads(found.read_text())
    assert told["chosen"] == told["settings"][0]
    assert told["test"]["num_queries"] == 250
    assert [row["k"] for row in told["test"]["rows"]] == [1, 10]
    for row in told["test"]["rows"]:
        assert abs(row["index"] + row["index_loss"] + row["representation_loss"] - 1) < 1e-12
