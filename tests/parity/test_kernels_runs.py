"""Both run joins against each other and against one written line by line."""

import dataclasses
import gzip
import importlib.util
import io
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from visual_search.errors import FileFormatError
from visual_search.kernels import compiled, plain, text_files
from visual_search.kernels.joined import SCORE_KINDS, JudgedNames, RunHits, ScoreKind


def _sibling(name: str) -> ModuleType:
    # pytest imports tests by path, so that a file beside them has to be loaded by path too.
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


oracle = _sibling("run_oracle")
TWINS = [pytest.param(compiled, id="compiled"), pytest.param(plain, id="plain")]

ONE_PAIR = JudgedNames(["q"], ["a"], np.array([0, 1]), np.array([0]), np.array([False]))
QUERIES = ["q1", "q2", "Größe", "q" * 70, "7"]
ITEMS = ["a", "b", "ab", "d12345678", "d123456789", "é", "z" * 64, "z" * 65, "z" * 66, "日本語", "d1234567"]
SCORES = ["1", "1.0", "+1", "2.5", "-3e-2", ".5", "5.", "0", "-0", "1e300", "0.1", "0.10000000000000001", "1E-400"]
SCORES += ["123456789012345678", "0.30000000000000004", "9007199254740993", "1e22", "1e23", "0.1234567890123456789"]
BLANKS = [" ", "\t", "  ", " \t\v\f "]


def same(one: Any, other: Any) -> None:
    for field in dataclasses.fields(one):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if dataclasses.is_dataclass(mine):
            same(mine, theirs)
            continue
        assert np.array_equal(mine, theirs), (field.name, mine, theirs)
        assert not isinstance(mine, np.ndarray) or mine.dtype == theirs.dtype, field.name


@st.composite
def judged_pairs(draw: st.DrawFn) -> JudgedNames:
    queries = draw(st.lists(st.sampled_from([*QUERIES, "absent", "a\udc00"]), unique=True, max_size=5))
    items = [*ITEMS, "a of a", "never", "x\0", "a\0", "\ud800"]
    rows = [draw(st.lists(st.sampled_from(range(len(items))), unique=True, max_size=6)) for _ in queries]
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    flat = np.array([row for some in rows for row in some], dtype=np.int64)
    ignored = np.array(draw(st.lists(st.booleans(), min_size=len(flat), max_size=len(flat))), dtype=np.bool_)
    return JudgedNames(queries, items, offsets, flat, ignored)


@st.composite
def good_runs(draw: st.DrawFn) -> bytes:
    pairs = draw(st.lists(st.tuples(st.sampled_from(QUERIES), st.sampled_from(ITEMS)), unique=True, max_size=40))
    if draw(st.booleans()):
        pairs.sort(key=lambda pair: QUERIES.index(pair[0]))
    some_scores = draw(st.lists(st.sampled_from(SCORES), min_size=1, max_size=4))
    all_ranked = draw(st.booleans())
    lines = []
    for query, item in pairs:
        blank = draw(st.sampled_from(BLANKS))
        rank = draw(
            st.sampled_from(["1", "2", "007", "31", "0"] if all_ranked else ["1", "1.5", "4", "00000000012"])
        )
        lines.append(blank.join([query, "Q0", item, rank, draw(st.sampled_from(some_scores)), "tag"]))
        if blank == "\t" and draw(st.booleans()):
            lines[-1] = lines[-1].replace(f"\t{item}\t", f"\t{item} of {item}\t ")
        lines += draw(st.lists(st.sampled_from(["", "  ", "# comment \x80", " #"]), max_size=1))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    text = end.join(lines) + draw(st.sampled_from(["", end]))
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text.encode()


@settings(deadline=None)
@given(good_runs().filter(lambda text: b"Q0" in text), judged_pairs(), st.sampled_from(SCORE_KINDS))
def test_both_find_what_one_line_at_a_time_finds(text: bytes, judged: JudgedNames, scores: ScoreKind) -> None:
    expected = oracle.joined(text, judged, scores=scores)
    same(compiled.join_run(io.BytesIO(text), judged, scores=scores), expected)
    same(plain.join_run(io.BytesIO(text), judged, scores=scores), expected)


def message(join: Callable[..., RunHits], text: bytes, judged: JudgedNames) -> str | None:
    try:
        join(io.BytesIO(text), judged)
    except FileFormatError as error:
        return str(error)
    return None


FIELDS = [
    "q1",
    "q2",
    "Q0",
    "a",
    "b",
    "1",
    "nan",
    "-inf",
    "x1",
    "1e999",
    "1_0",
    "0x1",
    "#",
    "1e",
    "--1",
    ".",
    "+",
    "",
]


@st.composite
def bad_runs(draw: st.DrawFn) -> bytes:
    line = st.lists(st.sampled_from(FIELDS), max_size=8).map(lambda fields: " ".join(fields).encode())
    usual = st.tuples(st.sampled_from(["q1", "q2"]), st.sampled_from("abc"), st.sampled_from([*SCORES, *FIELDS]))
    well_formed = usual.map(lambda parts: f"{parts[0]} Q0 {parts[1]} 1 {parts[2]} t".encode())
    strange = st.sampled_from(
        [
            b"q 1\tQ0\ta b\t1\t1\tt",
            b"q\t\tQ0\ta b\t1\t1",
            b"q1 Q0 \xff 1 1 t",
            b"q1 Q0 a\0 1 1 t",
            b"q1 Q0 \xed\xa0\x80 1 1 t",
            b"\xc0\x80",
        ]
    )
    return b"\n".join(draw(st.lists(st.one_of(line, well_formed, strange), max_size=30)))


def listed(message: str) -> list[int]:
    """Numbers of all lines that a message names, in examples and in ranges."""
    examples = [int(number) for number in re.findall(r"^  - line (\d+): ", message, re.MULTILINE)]
    others = re.search(r"^  - and of the kinds above: lines? (.*)$", message, re.MULTILINE)
    ranges = [part.split("-") for part in others[1].split(", ")] if others else []
    return sorted([*examples, *(n for ends in ranges for n in range(int(ends[0]), int(ends[-1]) + 1))])


@settings(deadline=None)
@given(bad_runs(), judged_pairs())
def test_both_list_every_fault_in_the_same_words(text: bytes, judged: JudgedNames) -> None:
    faults = oracle.faults_of(text)
    mine = message(compiled.join_run, text, judged)
    assert mine == message(plain.join_run, text, judged)
    if mine is not None and "no lines" in mine:
        assert not faults
    elif mine is not None:
        assert listed(mine) == [number for number, _ in faults]
        told = dict(faults)
        for line in mine.splitlines()[1:]:
            if example := re.match(r"  - line (\d+): ", line):
                assert told[int(example[1])] in line


@settings(deadline=None)
@given(st.binary(max_size=400), judged_pairs())
def test_random_bytes_get_one_answer(text: bytes, judged: JudgedNames) -> None:
    faults = oracle.faults_of(text)
    mine = message(compiled.join_run, text, judged)
    assert mine == message(plain.join_run, text, judged)
    assert (mine is None or "no lines" in mine) == (not faults)


def big_run(seed: int, *, shuffled: bool = False) -> tuple[bytes, JudgedNames]:
    """Some thousand lines with ties, so that parts and blocks of the file divide lists and lines."""
    rng = np.random.default_rng(seed)
    lines, offsets, rows = [], [0], []
    for query in range(40):
        length = int(rng.integers(1, 200))
        chosen = rng.choice(500, length, replace=False)
        scores = rng.integers(0, 1 + length // int(rng.integers(1, 10)), length) / 8
        lines += [f"q{query} Q0 d{item} 0 {score} t" for item, score in zip(chosen, scores, strict=True)]
        rows += rng.choice(500, 30, replace=False).tolist()
        offsets.append(len(rows))
    if shuffled:
        rng.shuffle(lines)
    judged = JudgedNames(
        [f"q{query}" for query in range(40)],
        [f"d{item}" for item in range(500)],
        np.array(offsets),
        np.array(rows),
        rng.random(len(rows)) < 0.2,
    )
    return "\n".join(lines).encode(), judged


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("block", [64, 1000, 1 << 20])
@pytest.mark.parametrize("threads", ["1", "3"])
def test_blocks_and_threads_change_nothing(
    twin: ModuleType, shuffled: bool, block: int, threads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, judged = big_run(3, shuffled=shuffled)
    (tmp_path / "run").write_bytes(text)
    monkeypatch.setenv("VISUAL_SEARCH_THREADS", threads)
    monkeypatch.setattr(text_files, "BLOCK_BYTES", block)
    for module in ("visual_search.kernels.compiled", "visual_search.kernels.plain_runs"):
        monkeypatch.setattr(f"{module}._LEAST_BYTES", 1000)
    same(twin.join_run(tmp_path / "run", judged), oracle.joined(text, judged))


@pytest.mark.parametrize("twin", TWINS)
def test_faults_keep_their_lines_in_every_part(
    twin: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, judged = big_run(4)
    lines = text.splitlines()
    lines[100] += b" x"
    lines[3000] = lines[3000].replace(b"Q0", b"")
    lines.insert(2500, lines[2499])
    bad = b"\n".join(lines)
    (tmp_path / "run").write_bytes(bad)
    monkeypatch.setenv("VISUAL_SEARCH_THREADS", "4")
    for module in ("visual_search.kernels.compiled", "visual_search.kernels.plain_runs"):
        monkeypatch.setattr(f"{module}._LEAST_BYTES", 1000)
    with pytest.raises(FileFormatError) as caught:
        twin.join_run(tmp_path / "run", judged)
    found = [int(number) for number in re.findall(r"line (\d+): ", str(caught.value))]
    assert found == [number for number, _ in oracle.faults_of(bad)] == [101, 2501, 3002]


@pytest.mark.parametrize("twin", TWINS)
def test_only_the_first_faults_are_listed_and_all_are_counted(twin: ModuleType) -> None:
    text = b"".join(b"q Q0 a 1 %d t\n" % (i % 2) if i % 3 else b"bad\n" for i in range(3000))
    with pytest.raises(FileFormatError) as caught:
        twin.join_run(io.BytesIO(text), ONE_PAIR)
    lines = str(caught.value).splitlines()
    assert lines[0] == "the stream: 2999 problems"
    assert listed(str(caught.value)) == [1, *range(3, 1002)]
    assert len(lines) < 10
    assert "  ... and 1999 more after line 1001" in lines


@pytest.mark.parametrize("twin", TWINS)
def test_gzip_is_read_by_content_and_damage_is_named(twin: ModuleType, tmp_path: Path) -> None:
    text, judged = big_run(5)
    packed = gzip.compress(text)
    (tmp_path / "run.txt").write_bytes(packed)
    same(twin.join_run(tmp_path / "run.txt", judged), oracle.joined(text, judged))
    (tmp_path / "cut").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(FileFormatError, match="a damaged gzip file"):
        twin.join_run(tmp_path / "cut", judged)


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_line_without_end_does_not_fill_the_memory(
    twin: ModuleType, threads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL_SEARCH_THREADS", threads)
    (tmp_path / "run").write_bytes(b"q Q0 a 1 1 t\n" + b"x" * (20 << 20) + b"\nbad\n")
    with pytest.raises(FileFormatError) as caught:
        twin.join_run(tmp_path / "run", ONE_PAIR)
    assert str(caught.value).endswith("1 problem\n  - line 2: longer than 1048576 bytes; is this a text file?")


def test_a_stream_that_cannot_go_back_is_read_once() -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: int) -> int:
            raise OSError

    text, judged = big_run(6, shuffled=True)
    for twin in (compiled, plain):
        same(twin.join_run(Pipe(text), judged), oracle.joined(text, judged))
