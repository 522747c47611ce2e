"""A sweep's file whose lines are whole and hold something else: refused with the place, whatever it is."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.errors import FileFormatError, InputError
from visual_search.formats.json_lines import record_line, record_of_line
from visual_search.testing.exact_answers import exact_by_brute_force
from visual_search.tuning.costs import CostPlan
from visual_search.tuning.pareto import pareto_front
from visual_search.tuning.sweep import LoadPlan, sweep
from visual_search.tuning.sweep_data import SweepData
from visual_search.tuning.sweep_record import Sweep

RECALL = "NeighborRecall(ties=exact)@5"


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The header and a point, with costs, load and what was missed; last what was asked for."""
    out = tmp_path_factory.mktemp("swept") / "own.jsonl"
    rng = np.random.default_rng(0)
    gallery, queries = rng.normal(size=(200, 4)), rng.normal(size=(12, 4))
    data = SweepData.of(gallery, queries, k=5, truth=exact_by_brute_force(gallery, queries, 5))
    plan = CostPlan(queries=5, warm_up=1, runs=1)
    sweep(data, ["ivf(nlist=4)"], {"nprobe": [1]}, out=out, costs=plan, load=LoadPlan(rate=50.0, queries=5))
    header, asked, point = (record_of_line(line)[0] for line in out.read_bytes().splitlines())
    return [header, point, asked]


def written(folder: Path, records: list[Any]) -> Path:
    path = folder / "sweep.jsonl"
    path.write_bytes(b"".join(map(record_line, records)))
    return path


def test_what_a_sweep_wrote_is_taken(records: list[Any], tmp_path: Path) -> None:
    assert records[1]["load"] is not None
    assert len(Sweep.load(written(tmp_path, records)).points) == 1


PLACES = [
    *((0, "data"), (0, "data", "measures"), (0, "data", "gallery_size"), (0, "data", "metric"), (0, "data", "k")),
    *((0, "query_ids"), (0, "query_ids", 3), (0, "neighbors", 3), (0, "neighbors", 3, 0)),
    *((0, "protocol"), (0, "protocol", "threads"), (0, "protocol", "costs", "queries")),
    *(
        (1, "key"),
        (1, "place"),
        (1, "engine"),
        (1, "ladder"),
        (1, "settings"),
        (1, "asked"),
        (1, "asked", "nprobe"),
    ),
    *((1, "returned"), (1, "cost", "latency"), (1, "cost", "latency", "p50"), (1, "cost", "throughput")),
    *((1, "load", "rate"), (1, "load", "latency"), (1, "build"), (1, "build", "seconds"), (1, "index_bytes")),
    *((1, "values"), (1, "values", RECALL), (1, "values", RECALL, 3), (1, "missed", 3), (1, "missed", 3, 0)),
]

# Where an object of any kind, or a whole number of any size, is right.
ALLOWED = {
    list: (),
    dict: ((1, "settings"),),
    int: ((0, "query_ids", 3), (0, "neighbors", 3, 0), (1, "asked", "nprobe")),
}


@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(map(str, place)))
@pytest.mark.parametrize("wrong", [[[]], {"a": {}}, -(10**400)], ids=["list", "object", "number"])
def test_another_value_is_refused(records: list[Any], tmp_path: Path, place: tuple[Any, ...], wrong: Any) -> None:
    if place in ALLOWED[type(wrong)]:
        wrong = [[]]
    changed = copy.deepcopy(records)
    if place[1:] == ("missed", 3, 0):
        changed[1]["missed"][3] = [1]
    inner: Any = changed
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = wrong
    with pytest.raises(FileFormatError, match=r"sweep\.jsonl"):
        Sweep.load(written(tmp_path, changed))


def shorter(records: list[Any]) -> None:
    records[1]["values"][RECALL].pop()


def without_a_measure(records: list[Any]) -> None:
    records[1]["values"] = {}


def without_measures(records: list[Any]) -> None:
    records[0]["data"]["measures"] = []


def too_large(records: list[Any]) -> None:
    records[1]["values"][RECALL][0] = 1e308


def bare(records: list[Any]) -> None:
    records[:] = [{"format": records[0]["format"]}]


def place_zero(records: list[Any]) -> None:
    records[1]["missed"][0] = [0]


@pytest.mark.parametrize("change", [shorter, without_a_measure, without_measures, too_large, bare, place_zero])
def test_lists_that_do_not_fit_are_refused(
    records: list[Any], tmp_path: Path, change: Callable[[list[Any]], None]
) -> None:
    changed = copy.deepcopy(records)
    change(changed)
    with pytest.raises(FileFormatError, match=r"sweep\.jsonl"):
        Sweep.load(written(tmp_path, changed))


def test_a_sweep_that_has_just_begun_has_no_front(records: list[Any], tmp_path: Path) -> None:
    told = r"^sweep\.jsonl: no point is finished; start the sweep again into the same file: it goes on"
    with pytest.raises(InputError, match=told):
        pareto_front(Sweep.load(written(tmp_path, records[:1])))
