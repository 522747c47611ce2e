"""Databases of judgements: brought up to date once, refused in words, and safe through a kill."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.unit.judging.conftest import pool_of

from visual_search.errors import FileFormatError, InputError
from visual_search.judging.database import Database
from visual_search.judging.judged_pictures import judged_candidates, remember_judged
from visual_search.judging.records import Verdict
from visual_search.judging.schema import VERSION_TABLE, metadata
from visual_search.judging.store import JudgementStore


def test_the_migrations_make_the_tables_that_the_code_uses(place: str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext

    database = Database(place)
    with database.writing() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, metadata) == []
        assert context.get_current_revision() == "0002"
    database.close()


def test_a_store_of_the_first_version_is_brought_up_to_date(place: str) -> None:
    from alembic import command
    from alembic.config import Config

    import visual_search.judging

    store = JudgementStore(place)
    store.add_pool(pool_of(1, 2))
    store.judge("ann", store.pair_number("q0", "d0"), Verdict(1))
    config = Config()
    config.set_main_option("script_location", str(Path(visual_search.judging.__file__).with_name("migrations")))
    with store.database.writing() as connection:
        for table in ("judging_query", "judging_item"):
            connection.execute(sa.text(f"ALTER TABLE {table} DROP COLUMN judged_sha256"))
        config.attributes["connection"] = connection
        command.stamp(config, "0001")
    store.close()
    with JudgementStore(place) as again:
        assert again.table()["grade"] == [1.0]
        with again.database.writing() as connection:
            remember_judged(connection, items={"d0": "a" * 64})
            remember_judged(connection, items={"d0": "b" * 64})  # the first stays
            pair = again.pair_number("q0", "d0")
            assert judged_candidates(connection, [pair, pair + 1]) == {pair: "a" * 64}


def test_opened_by_several_at_once_it_is_made_once(place: str) -> None:
    faults: list[BaseException] = []
    opened: list[Database] = []

    def opening() -> None:
        try:
            opened.append(Database(place))
        except BaseException as fault:  # noqa: BLE001 - a thread has nobody else to tell
            faults.append(fault)

    threads = [threading.Thread(target=opening) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    with opened[0].reading() as connection:
        assert connection.execute(sa.text(f"SELECT count(*) FROM {VERSION_TABLE}")).scalar() == 1
    for database in opened:
        database.close()


def test_a_later_version_is_refused(place: str) -> None:
    database = Database(place)
    with database.writing() as connection:
        connection.execute(sa.text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    database.close()
    with pytest.raises(FileFormatError, match=r"later version \(9999\)"):
        Database(place)


def test_several_versions_at_once_are_refused(place: str) -> None:
    database = Database(place)
    with database.writing() as connection:
        connection.execute(sa.text(f"INSERT INTO {VERSION_TABLE} VALUES ('0001')"))
    database.close()
    with pytest.raises(FileFormatError, match=r"several versions at once \(0001, 0002\)"):
        Database(place)


def test_a_store_that_cannot_be_written_to_is_told_with_the_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Database(tmp_path / "store.db").close()

    def refused(*_: object) -> None:
        raise sqlite3.OperationalError("attempt to write a readonly database")

    # Whoever runs the tests may be allowed to write everywhere.
    monkeypatch.setattr("visual_search.judging.database._set_up_sqlite", lambda *_, **__: refused())
    with pytest.raises(InputError, match=r"readonly database\); .*make it and its folder writable"):
        Database(tmp_path / "store.db")


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("some notes, long enough to be read")
    with pytest.raises(FileFormatError, match="no SQLite database"):
        Database(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text().startswith("some notes")
    with pytest.raises(InputError, match="is a folder"):
        Database(tmp_path)
    with pytest.raises(InputError, match="is not there; make it with"):
        Database(tmp_path / "none.db", create=False)
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(InputError, match="a URL of 'mysql'"):
        Database("mysql://host/db")


def test_a_database_of_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    place = tmp_path / "history.db"
    with closing(sqlite3.connect(place)) as file:
        file.execute("CREATE TABLE visits (address TEXT)")
        file.commit()
    before = place.read_bytes()
    for create in (True, False):
        with pytest.raises(FileFormatError, match=r"another program \(tables: 'visits'\)"):
            Database(place, create=create)
    assert place.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["history.db"]


def test_reading_makes_no_store_of_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    with pytest.raises(FileFormatError, match="without a store of judgements; make one with"):
        Database(tmp_path / "empty.db", create=False)
    Database(tmp_path / "empty.db").close()
    Database(tmp_path / "empty.db", create=False).close()


@pytest.mark.parametrize(
    "address",
    ["postgresql://me:secret@[::1/db", "postgresql://me:1:secret@h:xx/db", "postgresql://me@127.0.0.1:1/db?password=secret",
     "postgresql://me@127.0.0.1:1/db?sslpassword=secret&connect_timeout=x"],
)  # fmt: skip
def test_no_part_of_a_password_is_told(address: str) -> None:
    with pytest.raises(InputError) as told:
        Database(address)
    assert "secret" not in str(told.value)
    assert told.value.__cause__ is None or "secret" not in repr(told.value.__cause__)


def test_a_server_that_is_not_there_is_told_without_the_password() -> None:
    with pytest.raises(
        InputError, match=r"postgresql\+psycopg://me:\*\*\*@127.0.0.1:1/db cannot be opened"
    ) as told:
        Database("postgresql://me:secret@127.0.0.1:1/db")
    assert "secret" not in str(told.value)


_JUDGING = """
import sys
from visual_search.judging.records import Verdict
from visual_search.judging.store import JudgementStore

store = JudgementStore(sys.argv[1])
for number in range(1, 100_000):
    said = store.judge("ann", number, Verdict(1), key=f"request {number}")
    print(said.number, flush=True)
"""


def test_a_kill_loses_no_judgement_that_was_confirmed(place: str) -> None:
    with JudgementStore(place) as store:
        store.add_pool(pool_of(50, 20))
    process = subprocess.Popen([sys.executable, "-c", _JUDGING, place], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    confirmed = [int(process.stdout.readline()) for _ in range(25)]
    os.kill(process.pid, signal.SIGKILL)
    confirmed += [int(line) for line in process.stdout.read().split()]
    process.stdout.close()
    process.wait()
    with JudgementStore(place) as store:
        there = [one.number for one in store.log()]
        assert set(confirmed) <= set(there)
        assert len(there) <= len(confirmed) + 1  # one may have been written and not told
        assert store.progress().judged == len(there)
        again = store.judge("ann", 1, store.log()[0].verdict, key="request 1")  # type: ignore[arg-type]
        assert again.number == confirmed[0]


def test_a_judgement_waits_for_the_disk_and_giving_out_does_not(place: str) -> None:
    database = Database(place)
    asked = "PRAGMA synchronous" if database.is_sqlite else "SHOW synchronous_commit"
    with database.writing() as connection:
        durable = connection.execute(sa.text(asked)).scalar()
    with database.writing(durable=False) as connection:
        quick = connection.execute(sa.text(asked)).scalar()
    assert (durable, quick) == ((2, 1) if database.is_sqlite else ("on", "off"))
    if database.is_sqlite:
        with database.reading() as connection:
            assert connection.execute(sa.text("PRAGMA journal_mode")).scalar() == "wal"
    database.close()
