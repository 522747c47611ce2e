"""Where values of settings go: to every structure that has a use for them, and to nobody else in silence."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.errors import InputError
from visual_search.tuning.grid import grid
from visual_search.tuning.setting_checks import settings_without_use
from visual_search.tuning.sweep import sweep
from visual_search.tuning.sweep_data import SweepData
from visual_search.tuning.sweep_record import Sweep

MIXED = ["hnswlib(m=4)", "faiss(factory=IVF4,Flat)", "faiss(factory=HNSW8)", "flat"]


def test_a_setting_goes_to_the_structures_that_have_a_use_for_it(data: SweepData, file: Path) -> None:
    told: list[str] = []
    found = sweep(data, MIXED, {"ef_search": [16, 32], "nprobe": [1, 2]}, out=file, costs=None, tell=told.append)
    assert [point.label for point in found.points] == [
        "hnswlib(m=4) ef_search=16",
        "hnswlib(m=4) ef_search=32",
        "faiss(factory=IVF4,Flat) nprobe=1",
        "faiss(factory=IVF4,Flat) nprobe=2",
        "faiss(factory=HNSW8) ef_search=16",
        "faiss(factory=HNSW8) ef_search=32",
        "flat",
    ]
    assert found.applied == {
        "ef_search": ("hnswlib(m=4)", "faiss(factory=HNSW8)"),
        "nprobe": ("faiss(factory=IVF4,Flat)",),
    }
    assert found.as_json()["applied"]["nprobe"] == ["faiss(factory=IVF4,Flat)"]
    assert told == [
        "ef_search goes to hnswlib(m=4), faiss(factory=HNSW8), not to faiss(factory=IVF4,Flat), flat",
        "nprobe goes to faiss(factory=IVF4,Flat), not to hnswlib(m=4), faiss(factory=HNSW8), flat",
    ]


def test_nothing_is_told_where_a_setting_goes_to_all(data: SweepData, file: Path) -> None:
    told: list[str] = []
    sweep(data, ["hnsw", "hnswlib"], {"ef_search": [16]}, out=file, costs=None, tell=told.append)
    assert told == []


def test_values_for_one_engine_go_to_those_of_its_structures_that_have_a_use_for_them(
    data: SweepData, file: Path
) -> None:
    engines = ["faiss(factory=IVF4,Flat)", "faiss(factory=HNSW8)", "hnsw"]
    found = sweep(data, engines, {"faiss.ef_search": [16]}, out=file, costs=None)
    assert [point.label for point in found.points] == [
        "faiss(factory=IVF4,Flat)",
        "faiss(factory=HNSW8) ef_search=16",
        "hnsw",
    ]


def test_a_structure_that_is_itself_a_value_is_asked_for_its_own_settings(data: SweepData, file: Path) -> None:
    swept: dict[str, list[Any]] = {"ef_search": [16], "faiss.factory": ["HNSW8", "SQ8"]}
    found = sweep(data, ["faiss"], swept, out=file, costs=None)
    assert [point.label for point in found.points] == ["faiss(factory=HNSW8) ef_search=16", "faiss(factory=SQ8)"]


@pytest.mark.parametrize("name", ["ef_search", "faiss.ef_search"])
def test_a_setting_that_no_structure_has_a_use_for_is_refused_with_what_each_allows(
    data: SweepData, file: Path, name: str
) -> None:
    with pytest.raises(InputError) as refused:
        sweep(data, ["faiss(factory=IVF4,Flat)", "ivf(nlist=2)", "flat"], {name: [8]}, out=file, costs=None)
    assert str(refused.value) == (
        f"settings of the sweep: 1 problem\n  - {name}: no engine of the sweep has it; known: "
        "faiss(factory=IVF4,Flat): factory, polysemous, nprobe, refine ('IVF4,Flat' has no graph); "
        "ivf(nlist=2): nlist, nprobe, seed; flat: none"
    )
    assert not file.exists()


def test_a_setting_in_a_text_form_that_its_structure_has_no_use_for_is_refused(data: SweepData, file: Path) -> None:
    with pytest.raises(InputError, match=r"'IVF4,Flat' has no graph; leave it at 0"):
        sweep(data, ["faiss(factory=IVF4,Flat,ef_search=8)", "hnsw"], out=file, costs=None)


def test_pgvector_takes_the_width_of_its_own_method() -> None:
    without = {
        method: set(settings_without_use("pgvector", {"method": method}, 8, "l2"))
        for method in ("exact", "hnsw", "ivfflat")
    }
    assert without == {"exact": {"ef_search", "probes"}, "hnsw": {"probes"}, "ivfflat": {"ef_search"}}


def test_labels_name_settings_in_the_order_asked_for() -> None:
    points = grid(["faiss(factory=IVF4,PQ4np)"], {"refine": [0, 2], "nprobe": [1]})
    assert [point.label for point in points] == [
        "faiss(factory=IVF4,PQ4np) refine=0 nprobe=1",
        "faiss(factory=IVF4,PQ4np) refine=2 nprobe=1",
    ]


@pytest.mark.parametrize("values", [np.array([16, 32]), [np.int64(16), np.int64(32)], range(16, 33, 16), (16, 32)])
def test_numbers_of_numpy_are_stored_as_numbers(data: SweepData, file: Path, values: Any) -> None:
    found = sweep(data, ["hnsw(m=4)"], {"ef_search": values}, out=file, costs=None)
    assert [point.label for point in Sweep.load(file).points] == [point.label for point in found.points]
    assert [point.label for point in found.points] == ["hnsw(m=4) ef_search=16", "hnsw(m=4) ef_search=32"]


@pytest.mark.parametrize("value", [16, np.int64(16), "16"])
def test_one_value_alone_is_one(value: Any) -> None:
    if isinstance(value, str):
        with pytest.raises(InputError, match="ef_search='16': must be a whole number"):
            grid("hnsw", {"ef_search": value})
    else:
        assert [point.label for point in grid("hnsw", {"ef_search": value})] == ["hnsw ef_search=16"]


@pytest.mark.parametrize(
    ("engines", "settings", "words"),
    [
        (["hnsw"], {"ef_search": None}, "ef_search=None: must be a whole number"),
        (["hnsw"], {"ef_search": 2.5}, "ef_search=2.5: must be a whole number"),
        (["hnsw"], ["ef_search=16"], r"settings: got \['ef_search=16'\]; must be values by setting"),
        (["hnsw"], {3: [16]}, "settings: got {3: .*must be values by setting"),
        ([3], None, "engine 3: must be text"),
        (None, None, "engines: none given"),
    ],
)
def test_what_is_no_engine_or_no_value_is_told(engines: Any, settings: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        grid(engines, settings)
