"""The examples run, at a small size."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

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


def test_token_embeddings_are_read_from_their_files_and_split_by_word(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("real_embeddings", EXAMPLES / "real_embeddings.py")
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
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
