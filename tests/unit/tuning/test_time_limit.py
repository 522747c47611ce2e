"""A sweep with a time limit: what hangs is given up and told, what fails is told, and no process is left behind."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.errors import FileFormatError, InputError
from visual_search.formats.json_lines import JsonLines, read_json_lines
from visual_search.ground_truth.truth_building import exact_neighbors
from visual_search.reports.choice_section import choice_section, sweep_section
from visual_search.reports.front_figure import write_front_figure
from visual_search.reports.front_panel import front_panel
from visual_search.tuning.choose import choose
from visual_search.tuning.costs import CostPlan
from visual_search.tuning.load import LoadPlan
from visual_search.tuning.pareto import pareto_front
from visual_search.tuning.raw_messages import receive
from visual_search.tuning.sweep import sweep
from visual_search.tuning.sweep_data import SweepData
from visual_search.tuning.sweep_record import Sweep

QUICK = CostPlan(queries=30, warm_up=5, runs=1)


def processes(folder: Path) -> list[int]:
    """Those in which the engine was built, in order."""
    file = folder / "processes"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("how", ["sleep", "hold"])
def test_a_search_that_hangs_is_given_up_and_the_sweep_goes_on(
    data: SweepData, file: Path, sleepy: Path, how: str
) -> None:
    engines = [f"sleepy(folder={sleepy},how={how})", "ivf(nlist=4)"]
    found = sweep(data, engines, {"search_for": [0, 900], "nprobe": [4]}, out=file, costs=QUICK, time_limit=4)
    assert [point.label for point in found.points] == [
        f"sleepy(folder={sleepy}) how={how} search_for=0",
        "ivf(nlist=4) nprobe=4",
    ]
    (late,) = found.not_finished
    assert (late.label, late.step, late.seconds) == (
        f"sleepy(folder={sleepy}) how={how} search_for=900",
        "search",
        4,
    )
    assert not any(map(is_running, processes(sleepy)))
    read = Sweep.load(file)
    assert read.not_finished == found.not_finished
    assert read.missing == ()
    line = next(line for line in read.table().splitlines() if "search_for=900" in line)
    assert "not finished within 4 s" in line
    assert read.table().splitlines().index(line) == 2  # where it was asked for, and not at the end
    assert read.as_json()["not_finished"][0]["words"] == "not finished within 4 s"
    assert any(note.startswith("1 setting was given up, not finished within 4 s: sleepy") for note in read.notes)


def test_what_was_given_up_is_never_chosen_and_every_place_says_so(
    data: SweepData, file: Path, sleepy: Path, tmp_path: Path
) -> None:
    sweep(data, ["sleepy"], {"search_for": [0, 900]}, out=file, costs=QUICK, time_limit=4)
    held = Sweep.load(file)
    label, words = "sleepy search_for=900", "not finished within 4 s"
    choice = choose(held, target_recall=0.5)
    assert choice.chosen is not None
    assert choice.chosen.point.label == "sleepy search_for=0"
    assert [one.label for one in choice.not_finished] == [label]
    assert label in choice.table().splitlines()[-1]
    assert words in choice.table().splitlines()[-1]
    assert f"given up, {words}: {label}; without values it has no part in fronts and choices" in choice.words()
    assert choice.as_json()["not_finished"][0]["setting"] == label
    assert label not in {one["setting"] for one in choice.as_json()["candidates"]}
    front = pareto_front(held)
    assert front.table().endswith(f"not shown: {label} ({words})")
    assert front.as_json()["not_finished"][0]["step"] == "search"
    assert f"Not shown: {label} ({words})." in str(front_panel(front, key="x"))
    write_front_figure(front, tmp_path / "front.svg")
    assert words in (tmp_path / "front.svg").read_text()
    for section in (choice_section(choice, held), sweep_section(held)):
        assert str(section.body).count(words) >= 2  # in the words and in the table


def test_a_build_that_hangs_gives_up_all_that_need_it(data: SweepData, file: Path, sleepy: Path) -> None:
    found = sweep(data, ["sleepy(add_for=900)", "flat"], {"search_for": [0, 1]}, out=file, costs=None, time_limit=2)
    assert [point.label for point in found.points] == ["flat"]
    assert [one.step for one in found.not_finished] == ["build", "build"]
    assert found.table().count("build not finished within 2 s") == 2
    assert "the build of their structure not finished within 2 s" in found.notes[0]


def test_where_nothing_is_finished_a_choice_says_why(data: SweepData, file: Path, sleepy: Path) -> None:
    held = sweep(data, ["sleepy(add_for=900)"], out=file, costs=None, time_limit=1)
    assert "cost not measured" not in held.table()
    with pytest.raises(InputError, match="no point is finished; 1 setting was given up.*within 1 s"):
        choose(held, 0.9)
    with pytest.raises(InputError, match=r"no point is finished; 1 setting was given up"):
        pareto_front(held)


def test_given_up_is_tried_again_only_with_more_time(data: SweepData, file: Path, sleepy: Path) -> None:
    asked: dict[str, Any] = {"out": file, "costs": None}
    engine = f"sleepy(folder={sleepy},search_for=3)"
    assert len(sweep(data, [engine], **asked, time_limit=1).not_finished) == 1
    before = file.read_bytes()
    for limit in (1, 0.5):
        assert len(sweep(data, [engine], **asked, time_limit=limit).not_finished) == 1
    assert file.read_bytes() == before
    assert len(processes(sleepy)) == 1
    found = sweep(data, [engine], **asked, time_limit=60)
    assert (len(found.points), found.not_finished) == (1, ())
    assert (len(Sweep.load(file).points), Sweep.load(file).not_finished) == (1, ())
    assert found.points[0].build["own_process"] is True


def test_given_up_is_tried_again_without_a_limit(data: SweepData, file: Path, sleepy: Path) -> None:
    sweep(data, ["sleepy(search_for=2)"], out=file, costs=None, time_limit=1)
    found = sweep(data, ["sleepy(search_for=2)"], out=file, costs=None)
    assert (len(found.points), found.not_finished) == (1, ())
    assert found.points[0].build["own_process"] is False


def test_a_process_of_its_own_finds_and_tells_the_same(data: SweepData, tmp_path: Path) -> None:
    engines = ["flat", "ivf(nlist=8)", "hnsw(m=4)"]
    settings = {"nprobe": [1, 3], "ef_search": [5, 50]}
    here, apart = (
        sweep(data, engines, settings, out=tmp_path / name, costs=QUICK, load=LoadPlan(5000, 50), time_limit=limit)
        for name, limit in (("here", None), ("apart", 60.0))
    )
    for one, other in zip(here.points, apart.points, strict=True):
        told, again = one.as_json(), other.as_json()
        for name in ("cost", "load", "build"):
            assert told[name].keys() == again[name].keys()
            del told[name], again[name]
        assert told == again
        assert one.build["threads"] == other.build["threads"]
    assert here.header["protocol"] == apart.header["protocol"]  # a sweep without a limit goes on with one


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("fail", r"sleepy\(how=fail\) failed with ValueError: it broke; the points before it are kept"),
        ("die", r"sleepy\(how=die\) ended its process \(status -11.*the points before it are kept"),
        ("exit", r"sleepy\(how=exit\) ended its process \(status 7;"),
    ],
)
def test_what_fails_there_is_told_here(data: SweepData, file: Path, sleepy: Path, how: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        sweep(data, ["sleepy"], {"how": [how]}, out=file, costs=None, time_limit=60)
    assert Sweep.load(file).missing == (f"sleepy how={how}",)


@pytest.mark.parametrize(
    ("how", "kind", "name"),
    [
        ("no file", FileNotFoundError, "centres.bin"),
        ("bytes", FileNotFoundError, "centres.bin"),
        ("pipe", BrokenPipeError, None),  # the engine's own, not that of the sweep
    ],
)
def test_an_error_of_the_system_there_is_one_here(
    data: SweepData, file: Path, sleepy: Path, how: str, kind: type[OSError], name: str | None
) -> None:
    with pytest.raises(kind) as raised:
        sweep(data, [f"sleepy(how={how})"], out=file, costs=None, time_limit=60)
    assert raised.value.filename == name


def test_what_a_process_began_is_not_waited_for_when_it_dies(data: SweepData, file: Path, sleepy: Path) -> None:
    begun = time.monotonic()
    engine = f"sleepy(how=fork,folder={sleepy},search_for=900)"
    with pytest.raises(InputError, match=r"ended its process \(status 7;"):
        sweep(data, [engine], out=file, costs=None, time_limit=60)
    assert time.monotonic() - begun < 55
    child = int((sleepy / "child").read_text())
    begun = time.monotonic()
    while is_running(child):
        assert time.monotonic() - begun < 30, "left behind"
        time.sleep(0.1)


def test_an_answer_that_comes_with_the_limit_is_given_up_too(
    data: SweepData, file: Path, sleepy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process is ended then, and the next setting must not be told to have ended it."""

    def slowly(stream: Any) -> Any:
        answer = receive(stream)
        if answer[0][0] == "measured" and answer[0][1]["settings"]["search_for"]:
            time.sleep(4)
        return answer

    monkeypatch.setattr("visual_search.tuning.limited_structure.receive", slowly)
    found = sweep(data, ["sleepy"], {"search_for": [0, 1]}, out=file, costs=None, time_limit=4)
    assert [point.label for point in found.points] == ["sleepy search_for=0"]
    assert [one.label for one in found.not_finished] == ["sleepy search_for=1"]


def test_what_stops_the_sweep_ends_the_process(
    data: SweepData, file: Path, sleepy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = JsonLines.append

    def stopping(self: JsonLines, record: Any) -> None:
        if "values" in record:
            raise KeyboardInterrupt
        plain(self, record)

    monkeypatch.setattr(JsonLines, "append", stopping)
    with pytest.raises(KeyboardInterrupt):
        sweep(data, [f"sleepy(folder={sleepy})"], out=file, costs=None, time_limit=60)
    (process,) = processes(sleepy)
    assert process != os.getpid()
    assert not is_running(process)


@pytest.mark.parametrize("how", ["sleep", "hold"])
def test_the_process_does_not_outlive_a_sweep_that_is_killed(sleepy: Path, tmp_path: Path, how: str) -> None:
    script = f"""
import sys; sys.path.insert(0, {str(sleepy)!r})
import numpy as np
from visual_search.testing.exact_answers import exact_by_brute_force
from visual_search.tuning.sweep import sweep
from visual_search.tuning.sweep_data import SweepData
vectors = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
data = SweepData.of(vectors, vectors[:5], k=2, truth=exact_by_brute_force(vectors, vectors[:5], 2))
engine = "sleepy(folder={sleepy},how={how},search_for=900)"
sweep(data, [engine], out={str(tmp_path / "killed.jsonl")!r}, costs=None, time_limit={8 if how == "hold" else 900})
"""
    running = subprocess.Popen([sys.executable, "-c", script])
    begun = time.monotonic()
    while not processes(sleepy):
        assert running.poll() is None
        assert time.monotonic() - begun < 60
        time.sleep(0.05)
    (process,) = processes(sleepy)
    running.kill()
    running.wait()
    begun = time.monotonic()
    while is_running(process):
        assert time.monotonic() - begun < 30, "left behind"
        time.sleep(0.1)


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), True, "60", 1e9])
def test_a_limit_that_is_none_is_refused(data: SweepData, file: Path, limit: Any) -> None:
    with pytest.raises(InputError, match="time_limit: got .*; must be seconds, above 0 and at most 10,000,000"):
        sweep(data, ["flat"], out=file, costs=None, time_limit=limit)
    assert not file.exists()


def test_a_limit_below_the_time_of_the_load_is_refused(data: SweepData, file: Path) -> None:
    with pytest.raises(InputError, match=r"time_limit: got 5 s, and 1,000 queries at 100 a second take 10\.0 s"):
        sweep(data, ["flat"], out=file, costs=None, load=LoadPlan(100.0), time_limit=5)


@pytest.mark.parametrize(
    ("part", "value", "words"),
    [
        ("seconds", "60", "not_finished.seconds: a number above 0 is needed"),
        ("step", ["build"], "not_finished.step: build or search"),
        ("place", -1, "not_finished.place"),
        ("label", None, "not_finished.label"),
    ],
)
def test_a_record_of_another_shape_is_refused(
    data: SweepData, file: Path, part: str, value: Any, words: str
) -> None:
    sweep(data, ["flat"], out=file, costs=None)
    held = {"key": "x", "place": 0, "label": "x", "ladder": "x", "step": "search", "seconds": 2.0}
    with JsonLines(file) as lines:
        lines.append({"not_finished": held | {part: value}})
    with pytest.raises(FileFormatError, match=words):
        Sweep.load(file)
    with pytest.raises(FileFormatError, match=words):
        sweep(data, ["flat"], out=file, costs=None)


def test_a_killed_sweep_counts_what_it_gave_up(data: SweepData, file: Path, sleepy: Path) -> None:
    sweep(data, ["sleepy(add_for=900)", "flat"], out=file, costs=None, time_limit=1)
    records, _ = read_json_lines(file)
    file.unlink()
    with JsonLines(file) as lines:
        for record in records:
            if "values" not in record:
                lines.append(record)
        lines.append({"points_asked": {"other": "ivf nprobe=3"}})
    held = Sweep.load(file)
    assert held.missing == ("flat", "ivf nprobe=3")
    assert held.notes[0].startswith("0 of 3 settings asked for are measured, not yet flat, ivf nprobe=3")


def test_without_a_place_for_errors_it_is_measured_all_the_same(tmp_path: Path) -> None:
    script = f"""
import numpy as np
from visual_search.testing.exact_answers import exact_by_brute_force
from visual_search.tuning.sweep import sweep
from visual_search.tuning.sweep_data import SweepData
vectors = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
data = SweepData.of(vectors, vectors[:5], k=2, truth=exact_by_brute_force(vectors, vectors[:5], 2))
print(len(sweep(data, ["flat"], out={str(tmp_path / "s.jsonl")!r}, costs=None, time_limit=60).points))
"""
    closed = ["/bin/sh", "-c", 'exec "$0" "$@" 2>&-', sys.executable, "-c", script]
    assert subprocess.run(closed, stdout=subprocess.PIPE, text=True, check=False).stdout == "1\n"


def test_large_vectors_arrive_whole(file: Path) -> None:
    rng = np.random.default_rng(5)
    gallery = rng.normal(size=(20_000, 32)).astype(np.float32)  # far more than a pipe holds
    data = SweepData.of(gallery, gallery[:40], k=5, truth=exact_neighbors(gallery, gallery[:40], 5, "l2"))
    found = sweep(data, ["flat"], out=file, costs=None, time_limit=60)
    assert (found.points[0].values[found.measure()] == 1).all()
