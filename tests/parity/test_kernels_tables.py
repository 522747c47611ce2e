"""Both table readers against each other and against one line at a time."""

import dataclasses
import io
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from visual_search.errors import FileFormatError
from visual_search.kernels import compiled, plain, plain_tables, records, text_files
from visual_search.kernels.text_files import QRELS, RUN, Layout, Table

TWINS = [pytest.param(compiled, id="compiled"), pytest.param(plain, id="plain")]
LAYOUTS = st.sampled_from([QRELS, RUN])
NAMES = ["q1", "q2", "a", "b", "é", "x" * 64, "x" * 65, "x" * 66, "d12345678", "d1234567"]
VALUES = ["1", "0", "-1", "0.33", "2e0", "nan", "1_0", "7.000000000000001", "99999999999999999999", "1e-330"]


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, Layout]:
    layout = draw(LAYOUTS)
    good = draw(st.booleans())
    values = VALUES[:5] if good else VALUES
    lines = []
    for _ in range(draw(st.integers(0, 25))):
        fields = {"query": draw(st.sampled_from(NAMES)), "item": draw(st.sampled_from(NAMES))}
        fields[layout.value] = draw(st.sampled_from(values))
        fields["rank"] = draw(st.sampled_from(["1", "20", "000000000003", "x"] if good else ["1", "2"]))
        line = draw(st.sampled_from([" ", "\t", "  "])).join(fields.get(name, "0") for name in layout.columns)
        lines.append(draw(st.sampled_from([line] * 9 + ["", "# x", line + " more" if not good else line])))
    return "\n".join(lines).encode(), layout


def outcome(twin: ModuleType, text: bytes, layout: Layout) -> Table | str:
    try:
        table: Table = twin.read_table(io.BytesIO(text), layout)
    except FileFormatError as error:
        return str(error)
    return table


def same(one: Table | str, other: Table | str) -> None:
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    for field in dataclasses.fields(Table):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        assert np.array_equal(mine, theirs), (field.name, mine, theirs)
        assert getattr(mine, "dtype", None) == getattr(theirs, "dtype", None), field.name


@settings(deadline=None)
@given(files())
def test_both_read_the_same(file: tuple[bytes, Layout]) -> None:
    same(outcome(compiled, *file), outcome(plain, *file))


def fields_of(line: str, count: int) -> list[str]:
    """Parted by white space, or by single tabs where that makes the number of fields that is needed."""
    fields, tabbed = line.split(), [field.strip() for field in line.split("\t")]
    return tabbed if len(fields) != count and len(tabbed) == count and all(tabbed) else fields


@settings(deadline=None)
@given(files())
def test_what_is_read_is_what_the_lines_say(file: tuple[bytes, Layout]) -> None:
    text, layout = file
    table = outcome(compiled, text, layout)
    lines = [line for line in text.decode().splitlines() if line.strip() and not line.startswith("#")]
    rows = [fields_of(line, len(layout.columns)) for line in lines]
    query, item, value = (layout.columns.index(name) for name in ("query", "item", layout.value))
    pairs = [(row[query], row[item]) for row in rows if len(row) == len(layout.columns)]
    if isinstance(table, str):
        numbers = [row[value] for row in rows if len(row) == len(layout.columns)]
        odd = any(not re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", number) for number in numbers)
        assert not rows or odd or len(pairs) < len(rows) or len(set(pairs)) < len(pairs)
        return
    named = [(table.queries[q], table.items[i]) for q, i in zip(table.query, table.item, strict=True)]
    assert named == pairs
    assert table.queries == list(dict.fromkeys(pair[0] for pair in pairs))
    assert table.items == list(dict.fromkeys(pair[1] for pair in pairs))
    assert table.value.tolist() == [float(row[value]) for row in rows]


@pytest.mark.parametrize("twin", TWINS)
def test_many_lines_in_small_blocks(twin: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    pairs = sorted({(int(q), int(i)) for q, i in rng.integers(0, [50, 4000], (5000, 2))})
    rng.shuffle(pairs)
    lines = [f"q{q} Q0 d{i} {n} {n / 7!r} t\n" + ("" if n % 5 else "# c\n") for n, (q, i) in enumerate(pairs)]
    text = "".join(lines)
    whole = twin.read_table(io.BytesIO(text.encode()), RUN)
    monkeypatch.setattr(text_files, "BLOCK_BYTES", 100)
    same(twin.read_table(io.BytesIO(text.encode()), RUN), whole)
    assert whole.value.tolist() == [n / 7 for n in range(len(pairs))]
    assert [whole.items[item] for item in whole.item] == [f"d{i}" for _, i in pairs]
    again = text + text.splitlines()[0]
    message = (
        rf"line {len(again.splitlines())}: query 'q{pairs[0][0]}', item 'd{pairs[0][1]}' was on line 1 already"
    )
    with pytest.raises(FileFormatError, match=message):
        twin.read_table(io.BytesIO(again.encode()), RUN)


def test_items_whose_hashes_collide_are_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"q 0 a 1\nq 0 b 2\nq 0 cc 3\nr 0 b 1\n"
    expected = plain.read_table(io.BytesIO(text), QRELS)
    read = records.read_records

    def colliding(block: np.ndarray[tuple[int], np.dtype[np.uint8]], layout: Layout) -> records.Records:
        found = read(block, layout)
        found.items.hashes[:] = 7
        return found

    monkeypatch.setattr(plain_tables, "read_records", colliding)
    same(plain.read_table(io.BytesIO(text), QRELS), expected)


@pytest.mark.parametrize("twin", TWINS)
def test_line_without_end(twin: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_bytes(b"q 0 a 1\n" + b"x" * (5 << 20))
    with pytest.raises(FileFormatError, match="line 2: longer than 1048576 bytes"):
        twin.read_table(tmp_path / "qrels", QRELS)
