"""Index recall on 32,000 real embeddings, from the exact answers to a choice and a report.

    pip install wordllama
    python examples/real_embeddings.py --out recall

The vectors are the token embeddings inside the wordllama package: 32,000 pieces of words in 256 dimensions, learned
from text. Many words are there in several spellings (with and without a space before them, with a capital); 1,500 of
these spellings are the queries, all other tokens the gallery, and the other spellings of a word are its right answers.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import faiss
import numpy as np
import numpy.typing as npt

import visual_search as vs
from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.evaluation.model_evaluator import ModelEvaluator
from visual_search.evaluation.query_hardness import query_hardness
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.ground_truth.truth_facts import truth_words
from visual_search.indexing.index_table import VectorIndex
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch
from visual_search.reports.attribution_section import attribution_section
from visual_search.reports.choice_section import choice_section
from visual_search.reports.page import write_report
from visual_search.reports.page_section import Section
from visual_search.reports.recall_section import recall_section
from visual_search.reports.truth_section import truth_section
from visual_search.tuning.attribution import attribute_index
from visual_search.tuning.choice import Choice
from visual_search.tuning.choose import choose
from visual_search.tuning.costs import CostPlan
from visual_search.tuning.query_split import validation_and_test
from visual_search.tuning.sweep import sweep
from visual_search.tuning.sweep_data import SweepData
from visual_search.tuning.sweep_record import Sweep

Vectors = npt.NDArray[np.float32]

QUERIES = 1500
TEST_SHARE = 1 / 3
TARGET = 0.95
SPACE = "\N{LOWER ONE EIGHTH BLOCK}"

ENGINES = ("hnsw(m=16,ef_construction=100)", "ivf(nlist=128)", "faiss(factory=IVF128,PQ32np)")
SETTINGS: dict[str, tuple[int, ...]] = {
    "hnsw.ef_search": (16, 32, 64, 128, 256),
    "ivf.nprobe": (1, 2, 4, 8, 16, 32, 64),
    "faiss.nprobe": (4, 16, 64),
    "faiss.refine": (0, 4, 16),
}
# The same split by step for packed codes, whatever is chosen.
PACKED = {"factory": "IVF128,PQ32np", "nprobe": 16, "refine": 4}


class Tokens(NamedTuple):
    """Gallery and queries, their ids, and what is right for each query."""

    gallery: Vectors
    gallery_ids: list[str]
    queries: Vectors
    query_ids: list[str]
    right: dict[str, list[str]]


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


def run(
    data: Tokens,
    out: Path,
    *,
    engines: Iterable[str] = ENGINES,
    settings: Mapping[str, Sequence[int]] = SETTINGS,
    packed: Mapping[str, Any] = PACKED,
    target: float = TARGET,
) -> dict[str, Any]:
    """Truth, sweep, choice, attribution, report."""
    began = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    truth = exact(data, range(len(data.query_ids)))
    truth.save(out / "truth.npz")
    print(f"{truth_words(truth)}\n")

    found = sweep(
        SweepData.of(
            data.gallery,
            data.queries,
            k=10,
            gallery_ids=data.gallery_ids,
            query_ids=data.query_ids,
            truth=truth,
        ),
        engines,
        settings,
        out=out / "sweep.jsonl",
        # One thread: built by several, a graph comes out a little different each time.
        costs=CostPlan(threads=1, build_threads=1, queries=300),
    )
    print(f"{found.table()}\n")
    choice = choose(found, target_recall=target, test_share=TEST_SHARE)
    print(f"{choice.table()}\n\n{choice.words()}\n")

    # Everything from here on is about the queries that had no part in the choice.
    _, test = validation_and_test(len(data.query_ids), test_share=TEST_SHARE, seed=choice.seed)
    sections, told = on_test_queries(data, test, choice, packed=packed, out=out)
    page = report(out, found, choice, [truth_section(truth), *sections])
    seconds = time.perf_counter() - began
    print(f"\n{page}; {seconds:.0f} s in all")
    return {"choice": choice.as_json(), "sweep": found.as_json(), "seconds": seconds, **told}


def exact(data: Tokens, rows: Iterable[int]) -> ExactNeighbors:
    """The 10 nearest tokens of some of the queries, proven."""
    asked = list(rows)
    return vs.exact_neighbors(
        data.gallery,
        data.queries[asked],
        10,
        "cosine",
        gallery_ids=data.gallery_ids,
        query_ids=[data.query_ids[row] for row in asked],
    )


def on_test_queries(
    data: Tokens, rows: npt.NDArray[np.int64], choice: Choice, *, packed: Mapping[str, Any], out: Path
) -> tuple[list[Section], dict[str, Any]]:
    """What the chosen index misses, whose fault that is, and where packed codes lose; evaluates on the way."""
    asked, truth = data.queries[rows], exact(data, rows.tolist())
    right = vs.Relevance.from_dict({query: dict.fromkeys(data.right[str(query)], 1) for query in truth.queries})
    best = max(choice.candidates, key=lambda one: one.bound or 0.0)
    point = (choice.chosen or best).point
    index = filled(data, point.engine, dict(point.settings))
    hardness = query_hardness(truth, gallery=data.gallery, queries=asked)
    ranking = index.search(asked, 10, query_ids=truth.queries)
    recall = vs.neighbor_recall_table(ranking, truth, 10, hardness=hardness)
    losses = attribute_index(index, asked, truth, right)
    steps = attribute_index(filled(data, "faiss", packed), asked, truth, right)
    evaluated(index, data, rows, out)
    print(f"{recall.text(worst=5)}\n\n{losses.text()}\n\n{steps.text()}")
    sections = [
        recall_section(recall),
        attribution_section(losses, title="Whose fault: the chosen index"),
        attribution_section(steps, anchor="packed", title="Whose fault: packed codes"),
    ]
    return sections, {"test": recall.as_json(), "attribution": losses.as_json(), "packed": steps.as_json()}


def filled(data: Tokens, engine: str, settings: Mapping[str, Any]) -> VectorIndex:
    """An index of the gallery, built by one thread as in the sweep, so that it is the same index."""
    index = VectorIndex(engine=engine, metric="cosine", settings=settings)
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        index.add(data.gallery_ids, data.gallery)
    finally:
        faiss.omp_set_num_threads(before)
    return index


def evaluated(index: VectorIndex, data: Tokens, rows: npt.NDArray[np.int64], out: Path) -> None:
    """Measure an index against the right answers, into a result file for the report."""
    names = [data.query_ids[row] for row in rows.tolist()]
    dataset = EvaluationDataset.from_dict(
        {"queries": [{"query_id": name, "ground_truth": data.right[name]} for name in names]}
    )
    ModelEvaluator(NearestNeighborSearch(index=index), model_name=f"tokens, {index.engine}").evaluate(
        dataset,
        k_values=[1, 10],
        precomputed_embeddings=dict(zip(names, data.queries[rows], strict=True)),
        output_path=out / "result.json",
    )


def report(out: Path, found: Sweep, choice: Choice, sections: Sequence[Section]) -> Path:
    """One page: the result, the truth, the choice, what the chosen index misses, and whose fault it is."""
    first, *others = sections
    return write_report(
        [out / "result.json"],
        out / "report.html",
        title="Spellings of words",
        sections=[first, choice_section(choice, found), *others],
        cases=0,  # words have no pictures to be shown
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--out", type=Path, default=Path("recall"), help="folder for truth, sweep, result and report"
    )
    options = parser.parse_args(argv)
    tokens, vectors = token_embeddings()
    data = split(tokens, vectors, QUERIES, seed=0)
    print(f"{len(data.gallery_ids):,} tokens, {len(data.query_ids):,} queries")
    run(data, options.out)


if __name__ == "__main__":
    main()
