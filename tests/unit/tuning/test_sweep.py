"""Sweeps: what is stored, what is shared, what is resumed and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search import Relevance
from visual_search.errors import DepthError, FileFormatError, FingerprintError, InputError, UnknownNameError
from visual_search.formats.json_lines import JsonLines, read_json_lines
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.ground_truth.gallery_sample import GallerySample
from visual_search.ground_truth.truth_building import exact_neighbors
from visual_search.testing.exact_answers import exact_by_brute_force
from visual_search.tuning import structure as structure_module
from visual_search.tuning.building import build_engine
from visual_search.tuning.costs import CostPlan
from visual_search.tuning.engine_text import parse_engine
from visual_search.tuning.grid import grid
from visual_search.tuning.sweep import LoadPlan, sweep
from visual_search.tuning.sweep_data import SweepData
from visual_search.tuning.sweep_record import Sweep

#: Quick, for tests that look at what is stored and not at times.
QUICK = CostPlan(queries=30, warm_up=5, runs=1)


def test_recall_is_that_of_the_settings_and_everything_is_with_the_point(data: SweepData, file: Path) -> None:
    engines = ["flat", "ivf(nlist=12)", "hnsw(m=4)", "hnswlib(m=4)", "faiss(factory=IVF4,PQ4np)"]
    found = sweep(
        data, engines, {"nprobe": [1, 4], "hnsw.ef_search": [10, 200], "faiss.refine": [0]}, out=file, costs=QUICK
    )
    by_label = {point.label: point for point in found.points}
    name = found.measure("NeighborRecall@10")
    assert (by_label["flat"].values[name] == 1).all()
    assert (
        by_label["ivf(nlist=12) nprobe=1"].values[name].mean()
        < by_label["ivf(nlist=12) nprobe=4"].values[name].mean()
    )
    for point in found.points:
        assert point.cost is not None
        assert point.settings.items() >= point.asked.items()
        assert {"seconds", "threads", "peak_bytes", "peak_bytes_words"} <= point.build.keys()
        assert point.index_bytes > 0
        assert point.cost["latency"]["count"] == point.cost["latency"]["distinct"] == 30
        assert point.cost["latency"]["p99"] is None  # of 30 timings none lies beyond it
        assert point.library.split()[0] in {"faiss", "hnswlib"}
    assert by_label["hnsw(m=4) ef_search=10"].settings == {"m": 4, "ef_construction": 200, "ef_search": 10}
    header = found.header
    assert header["protocol"]["threads"] == 1
    assert header["protocol"]["costs"]["warm_up"] == 5
    assert {"cores", "processor"} <= header["machine"].keys()
    assert header["versions"]["faiss"]


def test_a_file_read_back_is_the_sweep(data: SweepData, file: Path) -> None:
    found = sweep(data, ["ivf(nlist=4)"], {"nprobe": [1, 2]}, out=file, costs=QUICK, load=LoadPlan(2000, 40))
    read = Sweep.load(file)
    assert [point.as_json() for point in read.points] == [point.as_json() for point in found.points]
    assert "queries/s" in read.points[0].loaded_words()
    assert all(json.loads(line) for line in file.read_text().splitlines())  # plain JSON, one a line


def test_onto_a_link_it_goes_to_what_the_link_leads_to(data: SweepData, file: Path, tmp_path: Path) -> None:
    first = sweep(data, ["flat"], {}, out=file, costs=None)
    link = tmp_path / "latest.jsonl"
    link.symlink_to(file)
    again = sweep(data, ["flat", "ivf(nlist=4)"], {"nprobe": [1]}, out=link, costs=None)
    assert link.is_symlink()
    assert (len(first.points), len(again.points)) == (1, 2)
    assert [point.label for point in Sweep.load(file).points] == [point.label for point in again.points]
    file.unlink()
    with pytest.raises(InputError, match=r"out: .*latest\.jsonl is a link that leads to no file"):
        sweep(data, ["flat"], {}, out=link, costs=None)


def test_points_of_one_structure_share_its_build(
    data: SweepData, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Any] = []

    def counting(name: str, vectors: Any, **options: Any) -> Any:
        built.append(options["settings"])
        return build_engine(name, vectors, **options)

    monkeypatch.setattr(structure_module, "build_engine", counting)
    sweep(data, ["ivf"], {"nlist": [2, 4], "nprobe": [1, 2]}, out=file, costs=None)
    assert sorted(settings["nlist"] for settings in built) == [2, 4]


def test_a_setting_left_out_is_the_default_and_not_what_the_last_point_had(data: SweepData, file: Path) -> None:
    found = sweep(data, ["hnsw(ef_search=7)", "hnsw"], out=file, costs=None)
    assert [point.settings["ef_search"] for point in found.points] == [7, 64]


def test_order_is_drawn_by_seed(data: SweepData, tmp_path: Path) -> None:
    def stored(seed: int) -> list[int]:
        path = tmp_path / f"{seed}.jsonl"
        sweep(data, ["ivf(nlist=8)"], {"nprobe": [1, 2, 3, 4, 5, 6, 7, 8]}, out=path, costs=None, seed=seed)
        return [record["asked"]["nprobe"] for record in read_json_lines(path)[0][2:]]

    orders = [stored(seed) for seed in (0, 1, 2)]
    assert len({tuple(order) for order in orders}) == 3
    assert all(sorted(order) == list(range(1, 9)) for order in orders)


class _KilledError(Exception):
    pass


def test_a_killed_sweep_goes_on_and_a_half_written_point_does_not_count(
    data: SweepData, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = JsonLines.append
    written = 0

    def dying(self: JsonLines, record: Any) -> None:
        nonlocal written
        written += 1
        if written == 5:  # the header, what was asked for, and two points are whole, the third is half on disk
            with file.open("ab") as stream:
                stream.write(json.dumps({"crc32": 1, "record": record}).encode()[:200])
            raise _KilledError
        plain(self, record)

    monkeypatch.setattr(JsonLines, "append", dying)
    with pytest.raises(_KilledError):
        sweep(data, ["ivf(nlist=8)"], {"nprobe": [1, 2, 4, 8]}, out=file, costs=None)
    monkeypatch.undo()
    half = Sweep.load(file)
    assert len(half.points) == 2
    done = {point.label for point in half.points}
    assert set(half.missing) == {f"ivf(nlist=8) nprobe={probes}" for probes in (1, 2, 4, 8)} - done
    assert "2 of 4 settings asked for are measured" in half.notes[0]
    assert "did not finish" in half.notes[1]
    before = read_json_lines(file)[0]
    whole = sweep(data, ["ivf(nlist=8)"], {"nprobe": [1, 2, 4, 8]}, out=file, costs=None)
    assert [point.asked["nprobe"] for point in whole.points] == [1, 2, 4, 8]
    records, beyond = read_json_lines(file)
    assert records[:4] == before  # measured once, and asked for once
    assert (len(records), beyond) == (6, 0)
    assert Sweep.load(file).missing == whole.missing == ()


def test_more_values_later_are_missing_until_they_are_measured(
    data: SweepData, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep(data, ["ivf(nlist=8)"], {"nprobe": [1]}, out=file, costs=None)
    assert Sweep.load(file).missing == ()

    def dying(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(structure_module, "build_engine", dying)
    with pytest.raises(KeyboardInterrupt):
        sweep(data, ["ivf(nlist=8)", "flat"], {"nprobe": [1, 2]}, out=file, costs=None)
    assert Sweep.load(file).missing == ("ivf(nlist=8) nprobe=2", "flat")
    monkeypatch.undo()
    sweep(data, ["flat"], out=file, costs=None)
    assert Sweep.load(file).missing == ("ivf(nlist=8) nprobe=2",)


def test_a_file_that_does_not_say_what_was_asked_for_is_read(data: SweepData, file: Path) -> None:
    sweep(data, ["ivf(nlist=8)"], {"nprobe": [1, 2]}, out=file, costs=None)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([lines[0], *lines[2:]]))
    held = Sweep.load(file)
    assert (len(held.points), held.missing) == (2, ())
    sweep(data, ["ivf(nlist=8)"], {"nprobe": [1, 2]}, out=file, costs=None)  # and goes on
    assert len(read_json_lines(file)[0]) == 4


def test_what_was_asked_for_must_be_texts(data: SweepData, file: Path) -> None:
    sweep(data, ["flat"], out=file, costs=None)
    records = read_json_lines(file)[0]
    file.unlink()
    with JsonLines(file) as lines:
        for record in (records[0], {"points_asked": {"flat": 3}}, records[2]):
            lines.append(record)
    with pytest.raises(FileFormatError, match="points_asked: an object of texts"):
        Sweep.load(file)


def test_a_folder_is_refused_with_the_sweeps_in_it(data: SweepData, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="there is none"):
        Sweep.load(tmp_path)
    sweep(data, ["flat"], out=tmp_path / "one.jsonl", costs=None)
    with pytest.raises(FileFormatError, match=r"one of those in it: 'one\.jsonl'"):
        Sweep.load(tmp_path)


def test_a_truth_of_a_sample_says_how_to_sweep_over_it(vectors: Any, tmp_path: Path) -> None:
    gallery, queries = vectors
    drawn = GallerySample(200, seed=3)
    truth = exact_neighbors(gallery, queries, 10, "l2", sample=drawn)
    with pytest.raises(FingerprintError, match=r"gallery_ids=rows") as refused:
        SweepData.of(gallery, queries, k=10, truth=truth)
    assert f"a sample of 200 items out of {len(gallery)}" in str(refused.value)
    rows = drawn.rows(len(gallery))
    data = SweepData.of(gallery[rows], queries, k=10, gallery_ids=rows, truth=truth)
    found = sweep(data, ["flat"], out=tmp_path / "sample.jsonl", costs=None)
    assert (found.points[0].values[found.measure()] == 1).all()


def test_a_point_whose_bytes_were_changed_does_not_count(data: SweepData, file: Path) -> None:
    sweep(data, ["ivf(nlist=8)"], {"nprobe": [1, 2]}, out=file, costs=None)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*lines[:3], lines[3].replace('"returned": 10.0', '"returned": 11.0')]))
    assert len(Sweep.load(file).points) == 1


def test_a_file_of_another_sweep_is_not_written_into(data: SweepData, file: Path, vectors: Any) -> None:
    sweep(data, ["flat"], out=file, costs=None)
    kept = file.read_bytes()
    other = SweepData.of(*vectors, k=5, truth=exact_by_brute_force(vectors[0], vectors[1], 10))
    with pytest.raises(FingerprintError, match=r"k is 5 here and 10 in the file"):
        sweep(other, ["flat"], out=file, costs=None)
    with pytest.raises(FingerprintError, match="threads is 2 here and 1"):
        sweep(data, ["flat"], out=file, costs=CostPlan(threads=2))
    file_of_words = file.with_name("words.txt")
    file_of_words.write_text("not a sweep\n")
    with pytest.raises(FileFormatError, match="something else"):
        sweep(data, ["flat"], out=file_of_words, costs=None)
    assert file_of_words.read_text() == "not a sweep\n"
    assert file.read_bytes() == kept


def test_two_writers_of_one_file_are_refused(data: SweepData, file: Path) -> None:
    with JsonLines(file), pytest.raises(InputError, match="another run"):
        sweep(data, ["flat"], out=file, costs=None)


def test_names_in_a_folder_do_not_collide(vectors: Any, truth: ExactNeighbors, tmp_path: Path) -> None:
    folder = tmp_path / "sweeps"
    folder.mkdir()
    for k in (5, 10):
        sweep(SweepData.of(*vectors, k=k, truth=truth), ["flat"], out=folder, costs=None)
    halved = vectors[0][:300], vectors[1]
    sweep(SweepData.of(*halved, k=5, truth=exact_by_brute_force(*halved, 5)), ["flat"], out=folder, costs=None)
    sweep(SweepData.of(*vectors, k=5, truth=truth), ["ivf(nlist=2)"], out=folder, costs=None)  # joins the first
    assert sorted(len(Sweep.load(path).points) for path in folder.iterdir()) == [1, 1, 2]


def test_keys_of_settings_do_not_collide_either() -> None:
    points = grid(["faiss(factory=IVF4,PQ4np)", "faiss(factory=IVF4,PQ4np,nprobe=1)"], {"refine": [1, 11]}) + grid(
        ["hnsw(m=16,ef_search=4)", "hnsw(ef_search=16,m=4)", "hnsw(ef_search=4,m=16)"]
    )
    assert len({point.key for point in points}) == 6
    assert len(points) == 6


def test_a_truth_of_other_data_is_refused(vectors: Any, truth: ExactNeighbors) -> None:
    gallery, queries = vectors
    moved = gallery.copy()
    moved[17, 3] += 1e-3
    with pytest.raises(FingerprintError, match="gallery"):
        SweepData.of(moved, queries, truth=truth)
    with pytest.raises(FingerprintError, match="queries"):
        SweepData.of(gallery, queries[::-1].copy(), truth=truth)
    with pytest.raises(FingerprintError, match="nearest by l2"):
        SweepData.of(gallery, queries, truth=truth, metric="cosine")
    with pytest.raises(DepthError, match=r"truth has the 10"):
        SweepData.of(gallery, queries, truth=truth, k=11)
    filtered = exact_by_brute_force(gallery, queries, 2, allowed=[[1, 2, 3]] * len(queries))
    with pytest.raises(InputError, match="subset for each query"):
        SweepData.of(gallery, queries, truth=filtered, k=2)


def test_people_s_right_answers_are_measured_beside_the_truth(
    vectors: Any, truth: ExactNeighbors, file: Path
) -> None:
    gallery, queries = vectors
    names = [f"item-{row}" for row in range(len(gallery))]
    named = exact_by_brute_force(gallery, queries, 10, gallery_ids=names, query_ids=[f"q{i}" for i in range(60)])
    right = Relevance.from_dict({f"q{i}": {f"item-{truth.ids[i, 4]}": 1} for i in reversed(range(60))})
    both = SweepData.of(
        gallery, queries, gallery_ids=names, query_ids=[f"q{i}" for i in range(60)], truth=named, relevance=right
    )
    found = sweep(both, ["flat", "ivf(nlist=12)"], {"nprobe": [1]}, out=file, costs=None)
    exact, narrow = found.points
    assert (exact.values["HitRate@10"] == 1).all()
    lost = 1 - narrow.values["HitRate@10"]
    missed = 10 * (1 - narrow.values[found.measure("NeighborRecall@10")])
    assert 0 < lost.sum() < 60
    assert (missed[lost == 1] >= 1).all()


def test_what_cannot_be_is_refused_before_anything_is_built(vectors: Any, truth: ExactNeighbors) -> None:
    with pytest.raises(InputError, match=r"efsearch: no engine of the sweep has it; known: hnsw: m, ef"):
        grid(["hnsw"], {"efsearch": [1]})
    with pytest.raises(InputError, match="given twice"):
        parse_engine("hnsw(m=2,m=3)")
    with pytest.raises(InputError, match=r"m=two: must be|m='two': must be"):
        parse_engine("hnsw(m=two)")
    with pytest.raises(InputError, match="must lie in"):
        grid(["hnsw"], {"m": [16, 1]})
    with pytest.raises(UnknownNameError, match="hnsw"):
        grid(["hnws"])
    with pytest.raises(InputError, match="give it once"):
        grid(["hnsw(ef_search=3)"], {"ef_search": [4]})
    data = SweepData.of(*vectors, truth=truth)
    with pytest.raises(InputError, match=r"2 problems\n.*no graph(.*\n)+.*nprobe"):
        sweep(data, ["faiss(factory=IVF4,Flat,ef_search=8)", "ivf(nlist=2)"], {"ivf.nprobe": [3]}, out="never")
    assert not Path("never").exists()
    with pytest.raises(InputError, match="needs right answers"):
        SweepData.of(*vectors, truth=truth, measures=["HitRate@10"])
    with pytest.raises(InputError, match="neither|none given"):
        SweepData.of(*vectors, metric="l2")
    with pytest.raises(InputError, match="lacks 59 of 60"):
        SweepData.of(*vectors, metric="l2", relevance=Relevance.from_dict({0: {1: 1}}))


def test_without_costs_a_comparison_says_so(data: SweepData, file: Path) -> None:
    found = sweep(data, ["ivf(nlist=4)"], {"nprobe": [1, 4]}, out=file, costs=None)
    assert "cost not measured" in found.table()
    assert found.points[0].of("latency_p50") is None
    assert any("cost not measured for 2 points" in note for note in found.notes)


def test_rows_do_not_differ_by_their_ids_order(data: SweepData) -> None:
    rows = np.array([[3, 1, -1]] * 60)
    values = data.values(rows, np.array([[-1.0, -2.0, -np.inf]] * 60, dtype=np.float32))
    assert max(value or 0 for value in next(iter(values.values()))) <= 0.2


def test_a_measure_that_would_not_be_what_its_name_says_is_refused(vectors: Any, truth: ExactNeighbors) -> None:
    right = Relevance.from_dict({query: {0: 1} for query in range(60)})
    asked = ["HitRate@10", "NeighborRecall@10", "AP", "NeighborRecall(average=minimum)@5", "HitRate@5"]
    with pytest.raises(InputError) as refused:
        SweepData.of(*vectors, k=5, truth=truth, relevance=right, measures=asked)
    told = str(refused.value)
    assert "measures: 4 problems" in told
    assert "HitRate@10: reads 10 places, and the sweep finds k=5; give k=10" in told
    assert "NeighborRecall(ties=exact)@10: reads 10 places" in told
    assert "AP(denominator=all): reads the whole ranking" in told
    assert "shows their mean; leave average= out" in told
    whole = SweepData.of(*vectors, k=600, metric="l2", relevance=right, measures=["AP"])
    assert [str(measure) for measure in whole.measures] == ["AP(denominator=all)"]


def test_one_reason_is_told_once_for_all_points_it_holds_for(data: SweepData, file: Path) -> None:
    with pytest.raises(InputError) as refused:
        sweep(
            data,
            ["hnsw(m=8)", "faiss(factory=IVF4,Flat,ef_search=8)"],
            {"hnsw.ef_search": [8, 16], "nprobe": [1, 2, 5]},
            out=file,
        )
    told = str(refused.value)
    assert "2 problems" in told
    assert "and 1 point more: ef_search=8: 'IVF4,Flat' has no graph" in told
    assert "hnsw.ef_search=16,32" in told


def test_a_point_of_fewer_queries_is_refused_before_it_is_gone_on_from(data: SweepData, file: Path) -> None:
    sweep(data, ["ivf(nlist=4)"], {"nprobe": [1]}, out=file, costs=None)
    records, _ = read_json_lines(file)
    point = next(record for record in records if "values" in record)
    for values in point["values"].values():
        values.pop()
    file.unlink()
    with JsonLines(file) as lines:
        for record in records:
            lines.append(record)
    with pytest.raises(FileFormatError, match="numbers or nulls are needed"):
        sweep(data, ["ivf(nlist=4)"], {"nprobe": [1, 2]}, out=file, costs=None)


def test_a_damaged_point_among_good_ones_is_no_kill(data: SweepData, file: Path) -> None:
    sweep(data, ["ivf(nlist=4)"], {"nprobe": [1, 2, 4]}, out=file, costs=None)
    whole = file.read_bytes()
    lines = whole.splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:2], lines[2].replace(b'"returned": 10.0', b'"returned": 11.0'), *lines[3:]]))
    damaged = file.read_bytes()
    assert damaged != whole
    with pytest.raises(FileFormatError, match="line 3 is damaged, and 2 good ones follow it"):
        Sweep.load(file)
    with pytest.raises(FileFormatError, match="line 3 is damaged"):
        sweep(data, ["ivf(nlist=4)"], {"nprobe": [1, 2, 4]}, out=file, costs=None)
    assert file.read_bytes() == damaged  # nothing is cut off
    file.write_bytes(b"".join([*lines[:2], *lines[3:]]))
    again = sweep(data, ["ivf(nlist=4)"], {"nprobe": [1, 2, 4]}, out=file, costs=None)
    assert len(again.points) == 3
