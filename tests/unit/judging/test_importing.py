"""Judgements go out and come back as they were."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.judging.conftest import pool_of

from visual_search.errors import FileFormatError, InputError
from visual_search.formats.judgement_files import JUDGEMENT_COLUMNS, read_judgement_file, write_judgement_file
from visual_search.judging.importing import import_judgements
from visual_search.judging.records import COLUMNS, Judgement, Verdict, judgement_columns
from visual_search.judging.store import JudgementStore
from visual_search.judging.task import JudgingTask

Made = Callable[..., JudgementStore]

ODD = ["=1+1", "'quoted'", "'=x", "-a", 'a,b\t"c"', "two\nlines", "é\U0001f600", "007", "'", "''"]


def table(**columns: list[Any]) -> dict[str, list[Any]]:
    return columns


def told(records: list[Judgement]) -> list[tuple[object, ...]]:
    """All of each record but its number, which is the store's own."""
    return [
        (one.key, one.query, one.item, one.judge, one.role, one.time, one.verdict, one.replaces is not None)
        for one in records
    ]


def judged(store: JudgementStore) -> JudgementStore:
    """With a judge who thinks again, one who takes back and judges anew, one who cannot tell, an adjudicator."""
    pairs = [store.pair_number("q0", f"d{item}") for item in range(3)]
    for place, note in enumerate(ODD):
        store.judge(f"judge {place}", pairs[0], Verdict(place % 3, note=note, seconds=place / 7))
    first = store.judge("ann", pairs[1], Verdict(0))
    store.judge("ann", pairs[1], Verdict(2), replaces=first.number)
    taken = store.judge("bo", pairs[1], Verdict(1))
    store.undo("bo", taken.number)
    store.judge("bo", pairs[1], Verdict(0))
    store.judge("cy", pairs[2], Verdict(None, reason="the query is unclear"))
    store.judge("chief", pairs[2], Verdict(1), role="adjudicator")
    return store


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_a_whole_log_comes_back_from_a_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"log.{ending}"
    with JudgementStore(tmp_path / "one.db") as one, JudgementStore(tmp_path / "two.db") as two:
        one.add_pool(pool_of(1, 3))
        two.add_pool(pool_of(1, 3))
        log = judged(one).log()
        write_judgement_file(path, judgement_columns(log))
        columns = read_judgement_file(path)
        assert columns == judgement_columns(log)
        assert import_judgements(two, columns).written == len(log)
        assert told(two.log()) == told(log)
        assert told(two.standing()) == told(one.standing())
        assert import_judgements(two, columns).there == len(log)
        assert import_judgements(one, columns).written == 0
        assert len(two.log()) == len(log)


def test_the_file_and_the_log_have_the_same_columns() -> None:
    assert JUDGEMENT_COLUMNS == COLUMNS


def test_an_import_orders_what_is_left_and_counts_as_judged(made: Made) -> None:
    store = made(pool_of(1, 4, JudgingTask(wanted=1)))
    taken = import_judgements(store, table(query=["q0", "q0"], item=["d2", "d3"], grade=[1, 0]), judge="trec")
    assert (taken.written, taken.pairs) == (2, 0)
    assert (store.progress().judged, store.progress().given) == (2, 2)
    assert store.table()["judge"] == ["trec", "trec"]
    again = import_judgements(store, table(query=["q0"], item=["d2"], grade=[1]), judge="trec")
    assert (again.written, again.there) == (0, 1)


def test_pairs_that_no_pool_has_are_added_only_when_asked(made: Made) -> None:
    store = made(pool_of(1, 2))
    columns = table(query=["q0", "q9"], item=["d9", "d0"], grade=[1, 1])
    with pytest.raises(InputError, match=r"2 pairs are in no pool, first \('q0', 'd9'\), \('q9', 'd0'\)"):
        import_judgements(store, columns, judge="ann")
    assert (len(store.pool()), store.log()) == (2, [])
    assert import_judgements(store, columns, judge="ann", add_pairs=True).pairs == 2
    assert store.pool().sources["q0", "d9"][0].kind == "listed"
    assert store.task == JudgingTask()


def test_what_cannot_be_taken_is_told_at_once_and_nothing_is_written(made: Made) -> None:
    store = made(pool_of(1, 3))
    store.judge("ann", store.pair_number("q0", "d0"), Verdict(1))
    columns = table(query=["q0"] * 3 + ["new"], item=["d0", "d1", "d2", "d0"], grade=[2, 7, 1, 1])
    with pytest.raises(InputError, match=r"(?s)2 problems.*row 1: .*judged by 'ann' already.*row 2: grade is 7"):
        import_judgements(store, columns, judge="ann", add_pairs=True)
    assert len(store.log()) == 1
    assert len(store.pool()) == 3
    with pytest.raises(InputError, match="say who judged"):
        import_judgements(store, columns)
    with pytest.raises(InputError, match="row 1: .*nan"):
        import_judgements(store, table(query=["q0"], item=["d1"], grade=[float("nan")]), judge="ann")


def test_all_that_is_wrong_is_told_at_once_and_nothing_is_kept(made: Made) -> None:
    store = made(pool_of(2, 3))
    columns = table(
        query=["q0", "q9", "q1", "q1", "q1"],
        item=["d0", "d0", "d0", "d1", "d2"],
        grade=[7, 1, 1, 1, 1],
        judge=["ann", "ann", "", "b\nb", "ann"],
    )
    with pytest.raises(InputError) as told:
        import_judgements(store, columns)
    for words in (
        "4 problems",
        "row 1: grade is 7",
        "1 pair is in no pool",
        "row 3: no judge",
        "row 4: judge: got",
    ):
        assert words in str(told.value)
    assert store.log() == []
    assert store.judges() == []
    assert len(store.pool()) == 6


def test_rows_without_a_judge_are_the_named_judges(made: Made) -> None:
    store = made(pool_of(1, 2))
    columns = table(query=["q0"] * 2, item=["d0", "d1"], grade=[1, 1], judge=["", "ann"])
    assert import_judgements(store, columns, judge="bo").written == 2
    assert [one.judge for one in store.standing()] == ["bo", "ann"]


@pytest.mark.parametrize("text", ["1_0", " 10", "+10", "１０", "10.0"])
def test_another_spelling_of_a_number_is_no_id(made: Made, text: str) -> None:
    from visual_search.judging.pool import Pool, PoolQuery, Source

    store = made(Pool({7: PoolQuery(7)}, {(7, 10): (Source("ranked", "one", 1),)}))
    with pytest.raises(InputError, match="is no integer, and the store's ids are"):
        import_judgements(store, table(query=["7"], item=[text], grade=[1]), judge="ann")


def test_every_bad_cell_of_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "judged.csv").write_text("query,item,grade,seconds\nq,a,high,1\nq,b,nan,1\nq,c,1,inf\nq,,low,2\n")
    with pytest.raises(FileFormatError) as told:
        read_judgement_file(tmp_path / "judged.csv")
    for words in ("5 problems", "row 1: grade", "row 2: grade is 'nan'; a finite", "row 4: grade", "row 3: seconds",
                  "row 4: item"):  # fmt: skip
        assert words in str(told.value)


def test_ids_are_taken_in_the_stores_kind(made: Made) -> None:
    from visual_search.judging.pool import Pool, PoolQuery, Source

    store = made(Pool({7: PoolQuery(7)}, {(7, 1): (Source("ranked", "one", 1),)}))
    import_judgements(store, table(query=["7"], item=["1"], grade=[1]), judge="ann")
    assert [(one.query, one.item) for one in store.standing()] == [(7, 1)]
    with pytest.raises(InputError, match="'x' is no integer"):
        import_judgements(store, table(query=["x"], item=["1"], grade=[1]), judge="ann")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("query,item\nq,a\n", "no column 'grade'"),
        ("query,item,grade\nq,a,high\n", "row 1: grade is 'high'; a number is needed"),
        ("query,item,grade,undo\nq,a,1,maybe\n", "row 1: undo is 'maybe'; true or false"),
        ("query,item,grade\n,a,1\n", "row 1: query is None; an id"),
    ],
)
def test_files_that_are_no_judgements_are_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "judged.csv").write_text(text)
    with pytest.raises(FileFormatError, match=words):
        read_judgement_file(tmp_path / "judged.csv")


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.csv, \.tsv or \.parquet"):
        write_judgement_file(tmp_path / "judged.xls", {})
