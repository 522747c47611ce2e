"""A structure that was built several times: every point says on which build it was measured, and costs agree."""

from pathlib import Path
from typing import Any

import pytest

from visual_search.formats.json_lines import JsonLines, read_json_lines
from visual_search.testing.simulated_sweeps import simulated_sweep
from visual_search.tuning import structure as structure_module
from visual_search.tuning.building import build_engine
from visual_search.tuning.choose import choose
from visual_search.tuning.costs import CostPlan
from visual_search.tuning.sweep import sweep
from visual_search.tuning.sweep_data import SweepData
from visual_search.tuning.sweep_record import Sweep

QUICK = CostPlan(queries=30, warm_up=5, runs=1)
PROBES = [1, 2, 4, 8]


class _KilledError(Exception):
    pass


@pytest.fixture
def gone_on(data: SweepData, file: Path, monkeypatch: pytest.MonkeyPatch) -> Sweep:
    """A ladder of four that was killed after two points, and gone on with; the first build took 7 s, the second 3."""
    plain, seconds = JsonLines.append, iter([7.0, 3.0])

    def timed(*given: Any, **options: Any) -> Any:
        engine, build = build_engine(*given, **options)
        return engine, build | {"seconds": next(seconds)}

    def dying(self: JsonLines, record: Any) -> None:
        if "values" in record and sum("values" in one for one in read_json_lines(file)[0]) == 2:
            raise _KilledError
        plain(self, record)

    monkeypatch.setattr(structure_module, "build_engine", timed)
    monkeypatch.setattr(
        structure_module, "utc_now", iter(["2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z"]).__next__
    )
    monkeypatch.setattr(JsonLines, "append", dying)
    with pytest.raises(_KilledError):
        sweep(data, ["ivf(nlist=8)"], {"nprobe": PROBES}, out=file, costs=QUICK)
    monkeypatch.setattr(JsonLines, "append", plain)
    return sweep(data, ["ivf(nlist=8)"], {"nprobe": PROBES}, out=file, costs=QUICK)


def test_every_line_tells_the_build_it_was_measured_on(gone_on: Sweep, file: Path) -> None:
    for held in (gone_on, Sweep.load(file)):
        cells = [line.split("MB")[1].strip() for line in held.table().splitlines()[1:]]
        assert sorted(cells) == ["3.00 s (build 2 of 2)"] * 2 + ["7.00 s (build 1 of 2)"] * 2
        (note,) = (note for note in held.notes if "was built" in note)
        assert note.startswith("ivf(nlist=8) was built 2 times")
        assert "build 1: 7.00 s, nprobe=" in note
        assert "build 2: 3.00 s, nprobe=" in note
        first, second = held.as_json()["builds"]
        assert (first["number"], first["of"], first["seconds"], second["seconds"]) == (1, 2, 7, 3)
        assert first["begun"] < second["begun"]
        assert sorted((*first["settings"], *second["settings"])) == [f"ivf(nlist=8) nprobe={one}" for one in PROBES]
        by_label = {point.label: point.build["seconds"] for point in held.points}
        assert {by_label[label] for label in first["settings"]} == {7}


def test_what_a_build_costs_is_one_value_for_its_ladder(gone_on: Sweep) -> None:
    assert {point.of("build_seconds") for point in gone_on.points} == {7}
    assert len({point.of("peak_build_bytes") for point in gone_on.points}) == 1
    # Which build a setting happened to be measured on has no say in what is chosen.
    choice = choose(gone_on, 0.5, cost="build_seconds")
    assert {one.cost for one in choice.candidates} == {7}
    times = [one.point.of("latency_p50") or 0 for one in choice.candidates]
    assert times == sorted(times)
    assert "of build time and peak memory the highest counts" in choice.words()


def test_a_structure_built_once_has_its_time_alone(data: SweepData, file: Path) -> None:
    held = sweep(data, ["ivf(nlist=8)", "flat"], {"nprobe": [1, 2]}, out=file, costs=QUICK)
    assert "(build" not in held.table()
    assert not any("was built" in note for note in held.notes)
    assert [one["of"] for one in held.as_json()["builds"]] == [1, 1]


def test_points_of_files_that_do_not_say_when_a_build_began_are_told_apart() -> None:
    held = simulated_sweep([0.9, 0.95, 0.99], queries=50)
    records = [point.as_json() for point in held.points]
    records[2]["build"]["seconds"] = 2.0
    points = [type(held.points[0]).from_json(record) for record in records]
    again = Sweep.of(held.header, points)
    assert again.table().count("(build 1 of 2)") == 2
    assert {point.of("build_seconds") for point in again.points} == {2}
