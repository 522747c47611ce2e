"""TREC files: what is read, what is refused with line numbers, and that both readers give the same."""

import gzip
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from visual_search import Ranking, Relevance
from visual_search.errors import FileFormatError
from visual_search.formats import trec
from visual_search.kernels import compiled, plain

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n"
RUN = "q1 Q0 d1 1 0.9 tag\nq1 Q0 d2 2 0.5 tag\nq2 Q0 d1 1 1e-3 tag\n"


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read_both_ways(path: Path, monkeypatch: pytest.MonkeyPatch, *, run: bool = False) -> list[trec.TrecTable]:
    tables = []
    for twin in (plain, compiled):
        monkeypatch.setattr(trec, "kernels", lambda twin=twin: twin)
        tables.append(trec.read_run(path) if run else trec.read_qrels(path))
    return tables


def test_qrels_and_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for table in read_both_ways(written(tmp_path / "qrels", QRELS), monkeypatch):
        assert table.queries == ["q1", "q2"]
        assert table.items == ["d1", "d2"]
        assert table.query.tolist() == [0, 0, 1]
        assert table.item.tolist() == [0, 1, 0]
        assert table.value.tolist() == [1, 0, 2]
        assert table.rank is None
    for table in read_both_ways(written(tmp_path / "run", RUN), monkeypatch, run=True):
        assert table.value.tolist() == [0.9, 0.5, 0.001]
        assert table.rank is not None
        assert table.rank.tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    "content",
    [
        "q1\t0\td1\t1\nq1\t0\td2\t0\nq2\t0\td1\t2\n",
        "  q1   0  d1 \t 1  \nq1 0\td2 0\n\n# a comment\nq2 0 d1 2",
        "# first line\r\nq1 0 d1 1\r\nq1 0 d2 0\r\nq2 0 d1 2\r\n",
        "\ufeffq1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n",
        "q1 0 d1 +1\nq1 0 d2 0.0\nq2 0 d1 2e0\n",
    ],
    ids=["tabs", "odd white space", "comments and CRLF", "byte order mark", "other spellings of numbers"],
)
def test_spellings_of_one_file(content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for table in read_both_ways(written(tmp_path / "qrels.txt", content), monkeypatch):
        assert (table.queries, table.items) == (["q1", "q2"], ["d1", "d2"])
        assert list(zip(table.query.tolist(), table.item.tolist(), table.value.tolist(), strict=True)) == [
            (0, 0, 1.0),
            (0, 1, 0.0),
            (1, 0, 2.0),
        ]


def test_gzip_is_told_by_content_not_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "qrels.txt", gzip.compress(QRELS.encode()))
    for table in read_both_ways(path, monkeypatch):
        assert table.value.tolist() == [1, 0, 2]


def test_single_tabs_let_ids_hold_spaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for table in read_both_ways(written(tmp_path / "qrels", "q 1\t0\tmy photo.jpg\t1\n"), monkeypatch):
        assert (table.queries, table.items) == (["q 1"], ["my photo.jpg"])


def test_quotes_and_na_are_ids_like_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = 'NA 0 "d1 1\nnull 0 d,2 0\n'
    for table in read_both_ways(written(tmp_path / "qrels", content), monkeypatch):
        assert (table.queries, table.items) == (["NA", "null"], ['"d1', "d,2"])


@pytest.mark.parametrize("twin", [plain, compiled])
def test_every_bad_line_is_listed_with_its_number(
    twin: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trec, "kernels", lambda: twin)
    content = b"q1 0 d1 1\nq1 0 d2\n\n# fine\nq1 0 d3 high\nq1 0 d1 0\nq2 0 d\xff 1\nq2 0 d4 nan\nq3 0 d5 1\n"
    with pytest.raises(FileFormatError) as caught:
        trec.read_qrels(written(tmp_path / "bad", content))
    message = str(caught.value)
    assert "5 problems" in message
    assert "line 2: 3 fields, 4 needed (query iteration item grade): 'q1 0 d2'" in message
    assert "line 5: grade 'high' is not a finite number" in message
    assert "line 6: query 'q1', item 'd1' was on line 1 already" in message
    assert "line 7: not UTF-8 at byte 7" in message
    assert "line 8: grade 'nan' is not a finite number" in message


@pytest.mark.parametrize("twin", [plain, compiled])
def test_repeated_item_of_a_run_is_named_by_line(
    twin: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trec, "kernels", lambda: twin)
    content = "q1 Q0 d1 1 3 t\nq1 Q0 d2 2 2 t\nq2 Q0 d1 1 2 t\nq1 Q0 d1 3 1 t\n"
    with pytest.raises(FileFormatError, match="line 4: query 'q1', item 'd1' was on line 1 already"):
        Ranking.from_trec(written(tmp_path / "run", content))


def test_empty_and_damaged_files(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="no lines"):
        trec.read_qrels(written(tmp_path / "empty", "# nothing\n"))
    whole = gzip.compress(QRELS.encode() * 50)
    with pytest.raises(FileFormatError, match="damaged gzip"):
        trec.read_qrels(written(tmp_path / "cut.gz", whole[: len(whole) // 2]))


def test_large_regular_file_read_by_both_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    lines = []
    for query in range(300):
        items, scores = rng.permutation(5000)[:100].tolist(), (-np.sort(-rng.random(100))).tolist()
        for rank, (item, score) in enumerate(zip(items, scores, strict=True), 1):
            lines.append(f"q{query} Q0 item-{item} {rank} {score!r} run\n")
    fast, slow = read_both_ways(written(tmp_path / "run", "".join(lines)), monkeypatch, run=True)
    assert fast.queries == slow.queries
    assert fast.items == slow.items
    for name in ("query", "item", "value", "rank"):
        assert np.array_equal(getattr(fast, name), getattr(slow, name))


def test_lines_of_a_run_in_any_order_are_sorted_by_score(tmp_path: Path) -> None:
    content = "q2 Q0 b 1 0.5 t\nq1 Q0 c 3 0.1 t\nq1 Q0 a 1 0.9 t\nq1 Q0 d 2 0.9 t\n"
    ranking = Ranking.from_trec(written(tmp_path / "run", content))
    assert ranking.listed("q1") == [("a", 0.9), ("d", 0.9), ("c", 0.1)]
    assert ranking.notes == ()


def test_a_rank_column_that_contradicts_the_scores_is_noted(tmp_path: Path) -> None:
    ranking = Ranking.from_trec(written(tmp_path / "run", "q1 Q0 a 1 0.1 t\nq1 Q0 b 2 0.9 t\n"))
    assert [item for item, _ in ranking.listed("q1")] == ["b", "a"]
    assert "contradicts the scores in 1 of 1 query" in ranking.notes[0]
    assert "distances" in ranking.notes[0]


def test_fractional_grades_are_kept(tmp_path: Path) -> None:
    relevance = Relevance.from_trec(written(tmp_path / "qrels", "q 0 a 0.33\nq 0 b -1\n"))
    assert relevance.judged("q") == {"a": 0.33, "b": -1.0}


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    trec.write_qrels(tmp_path / "qrels", [("q", "my a", 0.1), ("q", "b", 2)])
    assert Relevance.from_trec(tmp_path / "qrels").judged("q") == {"my a": 0.1, "b": 2.0}
    trec.write_run(tmp_path / "run", [("q", "my a", 1, 1 / 3), ("q", "b", 2, -5e-324)])
    assert Ranking.from_trec(tmp_path / "run").listed("q") == [("my a", 1 / 3), ("b", -5e-324)]
    with pytest.raises(FileFormatError, match="cannot be written"):
        trec.write_qrels(tmp_path / "other", [("#q", "a", 1)])
    assert not (tmp_path / "other").exists()
