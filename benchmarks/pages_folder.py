"""What the explorer's pages are timed over: stored results, a flat index of their items and a sweep over the same."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import visual_search as vs
from visual_search.evaluation.run_record import write_run_result
from visual_search.formats.companions import write_companion
from visual_search.formats.image_places import write_places
from visual_search.formats.result_record import record_text
from visual_search.indexing.index_table import VectorIndex
from visual_search.tuning.costs import CostPlan
from visual_search.tuning.sweep import sweep
from visual_search.tuning.sweep_data import SweepData

QUERIES, ITEMS, SYSTEMS, RESULTS = 10_000, 100_000, 10, 200
DEPTH, PICTURES = 100, 400
MEASURES = ["HitRate@1", "HitRate@5", "HitRate@10", "Recall@10", "Precision@10", "AP@100", "RR", "nDCG@10"]
DIMENSION, LATENT, NEIGHBORS = 128, 16, 10
PROBES = [2, 4, 6, 8, 12, 16, 24, 32, 48, 64]


def make_results(folder: Path) -> None:
    """Ten systems of rising quality on the same queries and items, twenty results each."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "images").mkdir(exist_ok=True)
    random = np.random.default_rng(0)
    for number in range(PICTURES):
        small = random.integers(0, 256, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(small).resize((640, 480), Image.Resampling.BICUBIC).save(
            folder / "images" / f"{number}.jpg"
        )
    queries, items = [f"query-{n:05}" for n in range(QUERIES)], [f"item/{n:06}.jpg" for n in range(ITEMS)]
    right = random.integers(0, ITEMS, (QUERIES, 5))
    truth = {query: {items[one]: 1 for one in row} for query, row in zip(queries, right.tolist(), strict=True)}
    relevance = vs.Relevance.from_dict(truth)
    places = {
        "items": {"root": "images", "paths": {item: f"{n % PICTURES}.jpg" for n, item in enumerate(items)}},
        "queries": {"root": "images", "paths": {query: f"{n % PICTURES}.jpg" for n, query in enumerate(queries)}},
    }
    groups = [f"group-{n // 5}" for n in range(QUERIES)]
    for system in range(SYSTEMS):
        started = time.perf_counter()
        ranking = _ranking(queries, items, right, system)
        result = vs.evaluate(ranking, relevance, MEASURES, groups=groups)
        first = folder / f"system-{system:02}-run-0.json"
        write_run_result(first, result, ranking, relevance, name=f"system {system}", dataset="bench", groups=groups)
        _complete(first, places, system)
        for run in range(1, RESULTS // SYSTEMS):
            _again(first, run, system)
        print(f"system {system}: {time.perf_counter() - started:.1f} s", file=sys.stderr, flush=True)


def make_sweep(folder: Path) -> None:
    """A flat index of the items, and what an IVF over the same vectors finds of its exact answers."""
    started = time.perf_counter()
    random = np.random.default_rng(2)
    near = random.normal(size=(ITEMS, LATENT)) @ random.normal(size=(LATENT, DIMENSION))
    items, queries = [f"item/{n:06}.jpg" for n in range(ITEMS)], [f"query-{n:05}" for n in range(QUERIES)]
    index = VectorIndex(dimension=DIMENSION, metric="cosine")
    index.add(items, (near + 0.5 * random.normal(size=near.shape)).astype(np.float32))
    gallery = index.vectors(items)
    asked = (near[:QUERIES] + 0.5 * random.normal(size=(QUERIES, DIMENSION))).astype(np.float32)
    truth = vs.exact_neighbors(gallery, asked, NEIGHBORS, metric="cosine", gallery_ids=items, query_ids=queries)
    data = SweepData.of(gallery, asked, truth=truth, gallery_ids=items, query_ids=queries)
    costs = CostPlan(queries=100, warm_up=10, runs=1)
    sweep(data, ["ivf(nlist=256)"], {"nprobe": PROBES}, out=folder / "gallery.sweep", costs=costs)
    index.save(folder / "gallery.index")  # the last: where it is, all is there
    print(f"index and sweep: {time.perf_counter() - started:.1f} s", file=sys.stderr, flush=True)


def _ranking(queries: Sequence[str], items: Sequence[str], right: Any, system: int) -> vs.Ranking:
    """Lists of 100 in which right items stand the earlier, the better the system."""
    random = np.random.default_rng([1, system])
    lists: dict[str, dict[str, float]] = {}
    for row, query in enumerate(queries):
        drawn = dict.fromkeys(random.integers(0, ITEMS, DEPTH + 20).tolist())
        found = [one for one in right[row].tolist() if random.random() < 0.5 + 0.04 * system]
        others = [one for one in drawn if one not in set(right[row].tolist())][: DEPTH - len(found)]
        scores = {items[one]: float(score) for one, score in zip(others, random.random(len(others)), strict=True)}
        scores |= {items[one]: float(random.beta(2 + system / 2, 1)) for one in found}
        lists[query] = scores
    return vs.Ranking.from_dict(lists)


def _complete(path: Path, places: dict[str, Any], system: int) -> None:
    """Add what a search of images would say: gallery, metric, and where the pictures are."""
    record = json.loads(path.read_text("utf-8"))
    name, checksum = write_companion(path, "items", partial(write_places, places=places))
    record["files"]["items"], record["file_checksums"]["items"] = name, checksum
    record.pop("lists")
    record["fingerprints"] |= {"gallery": "sha256:" + "0" * 64, "exclusions": None}
    record["index"] = {"engine": "flat", "metric": "cosine", "items": ITEMS, "settings": {}}
    record["timestamp"] = _time(system, 0)
    path.write_text(record_text(record), "utf-8")


def _again(first: Path, run: int, system: int) -> None:
    record = json.loads(first.read_text("utf-8"))
    target = first.with_name(first.name.replace("run-0", f"run-{run}"))
    for kind, name in record["files"].items():
        if kind == "items":
            continue  # one file of places serves all results of a folder
        copied = name.replace("run-0", f"run-{run}")
        if not first.with_name(copied).exists():
            os.link(first.with_name(name), first.with_name(copied))
        record["files"][kind] = copied
    record |= {"timestamp": _time(system, run), "model_name": f"system {system} run {run}"}
    target.write_text(record_text(record), "utf-8")


def _time(system: int, run: int) -> str:
    return (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=system * 24 + run)).strftime("%Y-%m-%dT%H:%M:%SZ")
