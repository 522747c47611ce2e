"""Index recall on 32,000 real embeddings, from the exact answers to a choice and a report.

    pip install wordllama
    python examples/real_embeddings.py --out recall

The vectors are the token embeddings inside the wordllama package: 32,000 pieces of words in 256 dimensions, learned
from text. Many words are there in several spellings (with and without a space before them, with a capital); 1,000 of
these spellings are the queries, all other tokens the gallery, and the other spellings of a word are its right answers.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import visual_search as vs
from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.evaluation.model_evaluator import ModelEvaluator
from visual_search.evaluation.neighbor_recall_table import NeighborRecallTable
from visual_search.evaluation.query_hardness import query_hardness
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.indexing.index_table import VectorIndex
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch
from visual_search.reports.attribution_section import attribution_section
from visual_search.reports.page import write_report
from visual_search.tuning.attribution import attribute_index

Vectors = npt.NDArray[np.float32]

QUERIES = 1000
TARGET = 0.95
SPACE = "\N{LOWER ONE EIGHTH BLOCK}"

# engine, how it is built, and which of its search settings are tried
LADDERS: tuple[tuple[str, dict[str, Any], dict[str, tuple[int, ...]]], ...] = (
    ("hnsw", {"m": 16, "ef_construction": 100}, {"ef_search": (16, 32, 64, 128, 256)}),
    ("ivf", {"nlist": 128}, {"nprobe": (1, 2, 4, 8, 16, 32)}),
    ("faiss", {"factory": "IVF128,PQ32np"}, {"nprobe": (4, 16, 64), "refine": (0, 4, 16)}),
)


class Tokens(NamedTuple):
    """Gallery and queries, their ids, and what is right for each query."""

    gallery: Vectors
    gallery_ids: list[str]
    queries: Vectors
    query_ids: list[str]
    right: dict[str, list[str]]


class Point(NamedTuple):
    """One setting on the validation queries; latency in seconds a query, ``low`` the lower end of the mean recall."""

    engine: str
    settings: dict[str, int]
    recall: float
    low: float
    latency: float
    index_bytes: int


def token_embeddings(folder: Path | None = None) -> tuple[list[str], Vectors]:
    """Tokens and their vectors, straight from the files of the wordllama package, which is not imported."""
    if folder is None:
        spec = find_spec("wordllama")
        if spec is None or not spec.submodule_search_locations:
            raise SystemExit("wordllama is not installed: pip install wordllama")
        folder = Path(spec.submodule_search_locations[0])
    raw = (folder / "weights" / "l2_supercat_256.safetensors").read_bytes()
    size = int.from_bytes(raw[:8], "little")
    about = json.loads(raw[8 : 8 + size])["embedding.weight"]
    data = np.frombuffer(raw[8 + size :], dtype="<f2").reshape(about["shape"])
    model = json.loads((folder / "tokenizers" / "l2_supercat_tokenizer_config.json").read_text("utf-8"))["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].__getitem__)
    kept = np.flatnonzero(data.any(axis=1))
    return [tokens[row] for row in kept.tolist()], data[kept].astype(np.float32)


def split(tokens: list[str], vectors: Vectors, count: int, *, seed: int) -> Tokens:
    """Take one spelling of some words out of the gallery, as queries."""
    spellings: dict[str, list[int]] = {}
    for row, token in enumerate(tokens):
        word = token.strip(SPACE).casefold()
        if len(word) >= 3 and word.isalpha():
            spellings.setdefault(word, []).append(row)
    several = [rows for rows in spellings.values() if len(rows) > 1]
    rng = np.random.default_rng(seed)
    asked, right = [], {}
    for place in np.sort(rng.choice(len(several), size=min(count, len(several)), replace=False)).tolist():
        rows = several[place]
        own = rows[int(rng.integers(len(rows)))]
        asked.append(own)
        right[tokens[own]] = [tokens[row] for row in rows if row != own]
    kept = np.setdiff1d(np.arange(len(tokens)), asked)
    return Tokens(
        vectors[kept], [tokens[row] for row in kept.tolist()], vectors[asked], [tokens[row] for row in asked], right
    )


def swept(data: Tokens, rows: npt.NDArray[np.int64], truth: ExactNeighbors) -> Iterator[tuple[Point, VectorIndex]]:
    """Every setting of three engines: recall@10 and single-query latency on the validation queries."""
    asked = data.queries[rows]
    for engine, build, search in LADDERS:
        index = VectorIndex(engine=engine, metric="cosine", settings=build)
        index.add(data.gallery_ids, data.gallery)
        for values in product(*search.values()):
            index.configure(**dict(zip(search, values, strict=True)))
            table = measured(index, asked, truth)
            interval = table.interval
            assert interval is not None
            assert table.latency is not None
            settings = dict(zip(search, values, strict=True))
            yield (
                Point(
                    engine, settings, table.mean, interval.low, float(np.median(table.latency)), index.index_bytes
                ),
                index,
            )


def measured(index: VectorIndex, asked: Vectors, truth: ExactNeighbors) -> NeighborRecallTable:
    """Recall@10 of every query, each asked alone and timed."""
    index.search(asked[:32], 10)  # warm
    seconds, found = [], {}
    for query, vector in zip(truth.queries, asked, strict=True):
        began = time.perf_counter()
        ranking = index.search(vector[None], 10)
        seconds.append(time.perf_counter() - began)
        found[query] = [item for item, _ in ranking.listed(0)]
    lists = [found[query] for query in truth.queries]
    return vs.neighbor_recall_table(
        lists, truth, 10, query_ids=list(truth.queries), metric=index.metric, latency=seconds
    )


def run(data: Tokens, out: Path) -> dict[str, Any]:
    """Truth, sweep, choice, attribution, report."""
    began = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    order = np.random.default_rng(1).permutation(len(data.query_ids))
    half = len(order) // 2
    parts = {"validation": np.sort(order[:half]), "test": np.sort(order[half:])}
    truth = {}
    for name, rows in parts.items():
        truth[name] = vs.exact_neighbors(
            data.gallery,
            data.queries[rows],
            10,
            "cosine",
            gallery_ids=data.gallery_ids,
            query_ids=[data.query_ids[row] for row in rows.tolist()],
        )
        truth[name].save(out / f"{name}.truth.npz")
    print(f"truth of the test queries: {truth['test'].label()}; certified: {truth['test'].certified.all()}\n")

    points = []
    indexes = {}
    for point, index in swept(data, parts["validation"], truth["validation"]):
        points.append(point)
        indexes[point.engine] = index
        inside = ", ".join(f"{name}={value}" for name, value in point.settings.items())
        print(
            f"{point.engine:6} {inside:22} recall@10 {point.recall:.4f} (at least {point.low:.4f})  "
            f"{point.latency * 1e3:.3f} ms  {point.index_bytes / 1e6:.1f} MB"
        )
    enough = [point for point in points if point.low >= TARGET] or [max(points, key=lambda point: point.low)]
    chosen = min(enough, key=lambda point: point.latency)
    print(f"\nfastest whose recall is at least {TARGET} by its interval: {chosen.engine} {chosen.settings}\n")

    index = indexes[chosen.engine]
    index.configure(**chosen.settings)
    asked = data.queries[parts["test"]]
    hardness = query_hardness(truth["test"], gallery=data.gallery, queries=asked)
    test = vs.neighbor_recall_table(
        index.search(asked, 10, query_ids=truth["test"].queries), truth["test"], 10, hardness=hardness
    )
    print(test.text(worst=5))
    right = {query: dict.fromkeys(data.right[str(query)], 1) for query in truth["test"].queries}
    found = attribute_index(index, asked, truth["test"], vs.Relevance.from_dict(right))
    print()
    print(found.text())
    # The same split by step for packed codes, whatever was chosen.
    packed = indexes["faiss"]
    packed.configure(nprobe=16, refine=4)
    steps = attribute_index(packed, asked, truth["test"], vs.Relevance.from_dict(right))
    assert steps.stages is not None
    print(f"\n{steps.index}\n{steps.stages.words()}")
    page = report(index, data, parts["test"], out, [found, steps])
    seconds = time.perf_counter() - began
    print(f"\n{page}; {seconds:.0f} s in all")
    return {
        "chosen": chosen._asdict(),
        "points": [point._asdict() for point in points],
        "test_recall": test.mean,
        "attribution": found.as_json(),
        "packed": steps.as_json(),
        "seconds": seconds,
    }


def report(
    index: VectorIndex, data: Tokens, rows: npt.NDArray[np.int64], out: Path, attributions: Sequence[Any]
) -> Path:
    """One page: the chosen index measured against the right answers, and whose its errors are."""
    names = [data.query_ids[row] for row in rows.tolist()]
    dataset = EvaluationDataset.from_dict(
        {"queries": [{"query_id": name, "ground_truth": data.right[name]} for name in names]}
    )
    evaluator = ModelEvaluator(NearestNeighborSearch(index=index), model_name=f"tokens, {index.engine}")
    evaluator.evaluate(
        dataset,
        k_values=[1, 10],
        precomputed_embeddings=dict(zip(names, data.queries[rows], strict=True)),
        output_path=out / "result.json",
    )
    sections = [
        attribution_section(attributions[0], title="The chosen index"),
        attribution_section(attributions[1], anchor="packed", title="Packed codes"),
    ]
    return write_report([out / "result.json"], out / "report.html", title="Spellings of words", sections=sections)


def main(argv: Sequence[str] | None = None) -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("recall"), help="folder for truths, result and report")
    options = parser.parse_args(argv)
    tokens, vectors = token_embeddings()
    data = split(tokens, vectors, QUERIES, seed=0)
    print(f"{len(data.gallery_ids):,} tokens, {len(data.query_ids):,} queries")
    run(data, options.out)


if __name__ == "__main__":
    main()
