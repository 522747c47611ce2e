"""The examples run, at a small size."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

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


@pytest.fixture(scope="module")
def example() -> Any:
    spec = importlib.util.spec_from_file_location("real_embeddings", EXAMPLES / "real_embeddings.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_real_embeddings_from_truth_to_report(
    example: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    words = rng.normal(size=(40, 8))[rng.integers(0, 40, 700)]
    vectors = (words + 0.5 * rng.normal(size=words.shape)).astype(np.float32)
    names = [f"t{row}" for row in range(700)]
    data = example.Tokens(
        vectors[90:],
        names[90:],
        vectors[:90],
        names[:90],
        {name: [names[90 + row]] for row, name in enumerate(names[:90])},
    )
    packed = {"factory": "IVF8,PQ4x4np", "nprobe": 2, "refine": 1}
    told = example.run(
        data,
        tmp_path,
        engines=["hnsw(m=8)", "ivf(nlist=8)", "faiss(factory=IVF8,PQ4x4np)"],
        settings={"hnsw.ef_search": [10, 80], "ivf.nprobe": [1, 8], "faiss.nprobe": [2, 8]},
        packed=packed,
        target=0.8,
    )
    out = capsys.readouterr().out
    assert "certified: 90 of 90" in out
    assert [point["engine"] for point in told["sweep"]["points"]] == ["hnsw"] * 2 + ["ivf"] * 2 + ["faiss"] * 2
    choice = told["choice"]
    assert choice["certified"]
    assert choice["chosen"]["bound"] >= 0.8
    assert (choice["validation"]["queries"], choice["test"]["queries"]) == (60, 30)
    # The index that is searched on the test queries is the one that was chosen.
    assert told["test"]["mean"] == pytest.approx(choice["test"]["mean"], abs=1e-9)
    assert told["test"]["num_queries"] == told["attribution"]["num_queries"] == 30
    assert told["packed"]["stages"] is not None
    page = (tmp_path / "report.html").read_text("utf-8")
    for heading in (
        "The exact answers",
        "The choice of a setting",
        "What the index misses",
        "Whose fault: packed codes",
    ):
        assert heading in page
    assert choice["words"].splitlines()[0] in page
    lines = (tmp_path / "sweep.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == 8  # the header, what was asked for, and six points


def test_token_embeddings_are_read_from_their_files_and_split_by_word(example: Any, tmp_path: Path) -> None:
    space = example.SPACE
    tokens = [
        "house",
        f"{space}house",
        f"{space}House",
        "of",
        f"{space}of",
        "tree",
        f"{space}Tree",
        "alone",
        "<0x0A>",
    ]
    vectors = np.arange(1, 10, dtype=np.float16)[:, None] * np.ones((9, 4), dtype=np.float16)
    vectors[7] = 0  # a token that was never learned has no direction
    head = json.dumps({"embedding.weight": {"dtype": "F16", "shape": [9, 4], "data_offsets": [0, 72]}}).encode()
    for folder in ("weights", "tokenizers"):
        (tmp_path / folder).mkdir()
    (tmp_path / "weights" / "l2_supercat_256.safetensors").write_bytes(
        len(head).to_bytes(8, "little") + head + vectors.tobytes()
    )
    (tmp_path / "tokenizers" / "l2_supercat_tokenizer_config.json").write_text(
        json.dumps({"model": {"vocab": {token: row for row, token in reversed(list(enumerate(tokens)))}}}), "utf-8"
    )
    read, values = example.token_embeddings(tmp_path)
    assert read == [token for token in tokens if token != "alone"]
    assert np.array_equal(values, np.delete(vectors, 7, axis=0))
    data = example.split(read, values, 1000, seed=0)
    # Two words have several spellings of three letters or more; one spelling of each is asked for.
    assert len(data.query_ids) == 2
    assert not set(data.query_ids) & set(data.gallery_ids)
    assert sorted([*data.query_ids, *data.gallery_ids]) == sorted(read)
    for query, right in data.right.items():
        assert {item.strip(space).casefold() for item in [query, *right]} in ({"house"}, {"tree"})
        assert set(right) <= set(data.gallery_ids)
    assert len(data.right[next(q for q in data.query_ids if "ouse" in q)]) == 2
