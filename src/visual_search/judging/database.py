"""Databases of judgements: SQLite files and PostgreSQL by URL, opened, brought up to date, and written to safely.

Convention
----------
SQLite writes ahead (WAL), waits for other writers up to ``BUSY_SECONDS``, and begins every transaction that writes
with ``BEGIN IMMEDIATE``, so that none fails half-way because another was quicker. A transaction that holds a
judgement is on the disk before it is confirmed (``synchronous=FULL``; PostgreSQL's ``synchronous_commit``). One that
only gives out pairs is not waited for: what a crash could lose of it is a lease, which would have run out anyway.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from visual_search.errors import FileFormatError, InputError, first_few
from visual_search.judging.schema import VERSION_TABLE, sa
from visual_search.judging.turns import Turns

__all__ = ["BUSY_SECONDS", "Database"]

BUSY_SECONDS = 30.0
_MIGRATIONS = Path(__file__).with_name("migrations")
# Any number that nobody else takes: one process at a time brings a database up to date, or adds a pool.
_ALONE = 7_305_201_911


class Database:
    """One database of judgements.

    Parameters
    ----------
    place : path or str
        A file, or a URL: ``sqlite:///file``, ``postgresql://user@host/name``.
    create : bool
        Whether to make a store where none is: a SQLite file that is not there, the tables of an empty database.

    Raises
    ------
    InputError
        Another URL, a file that is not there, a server that cannot be reached.
    FileFormatError
        A file that is no database, one of another program, one without a store where none is to be made, or one of a
        later version.
    """

    def __init__(self, place: str | os.PathLike[str], *, create: bool = True) -> None:
        self._create = create
        self.url = _url(place)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        if self.is_sqlite:
            _check_file(Path(self.url.database or ""), create=create)
        # Writers of one process queue here: those of SQLite one by one, since its own waiting sleeps and the unlucky
        # sleep long; those of PostgreSQL a few at once, since more only take turns on the same processors.
        self._turns = Turns(1 if self.is_sqlite else 6)
        self._durable, self._quick = self._made(durable=True), self._made(durable=False)
        try:
            self._bring_up_to_date()
        except sa.exc.DatabaseError as error:
            self.close()
            raise _refused(self.shown, error) from error
        except BaseException:
            self.close()
            raise

    @property
    def shown(self) -> str:
        """The URL without passwords, wherever they stand in it."""
        hidden = {name: "***" for name in self.url.query if "password" in name.lower()}
        return self.url.update_query_dict(hidden).render_as_string(hide_password=True)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """One state of the database, whatever others write meanwhile."""
        with self._quick.connect().execution_options(judging="read") as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[sa.Connection]:
        """A transaction that writes; when the block has ended well, it is there for good.

        Parameters
        ----------
        durable : bool
            Whether to wait for the disk.
        """
        engine = self._durable if durable else self._quick
        with self._turns, engine.connect() as connection, connection.begin():
            yield connection

    def alone(self, connection: sa.Connection) -> None:
        """Wait until no other transaction that asked for this is under way; for work on many rows."""
        if not self.is_sqlite:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ALONE)))

    def without_judges(self, connection: sa.Connection) -> None:
        """Keep judges waiting until the transaction ends; for work on rows of many of them."""
        self.alone(connection)
        if not self.is_sqlite:
            connection.execute(sa.text("LOCK TABLE judging_judge IN EXCLUSIVE MODE"))

    def close(self) -> None:
        """Close all connections."""
        self._durable.dispose()
        self._quick.dispose()

    def _made(self, *, durable: bool) -> sa.Engine:
        if self.is_sqlite:
            options: dict[str, Any] = {"connect_args": {"timeout": BUSY_SECONDS, "check_same_thread": False}}
        else:
            options = {"isolation_level": "READ COMMITTED"}
        engine = sa.create_engine(self.url, pool_size=16, max_overflow=16, **options)
        if self.is_sqlite:
            sa.event.listen(engine, "connect", partial(_set_up_sqlite, durable=durable))
            sa.event.listen(engine, "begin", _begin_sqlite)
        else:
            sa.event.listen(engine, "connect", partial(_set_up_postgresql, durable=durable))
            sa.event.listen(engine, "begin", _begin_postgresql)
        return engine

    def _bring_up_to_date(self) -> None:
        from alembic import command
        from alembic.config import Config
        from alembic.runtime.migration import MigrationContext
        from alembic.script import ScriptDirectory

        config = Config()
        config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
        scripts = ScriptDirectory.from_config(config)
        with self.writing() as connection:
            self.alone(connection)
            context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
            heads = context.get_current_heads()
            if len(heads) > 1:
                raise FileFormatError(
                    f"{self.shown}: a store of several versions at once ({', '.join(sorted(heads))}), which no version "
                    "of visual-search makes; take a copy of before"
                )
            there = heads[0] if heads else None
            if there is None and not self._create:
                raise FileFormatError(
                    f"{self.shown}: a database without a store of judgements; make one with: visual-search judge pool "
                    "... --store"
                )
            if there == scripts.get_current_head():
                return
            if there is not None and there not in {one.revision for one in scripts.walk_revisions()}:
                raise FileFormatError(
                    f"{self.shown}: a store of a later version ({there}); update visual-search to open it"
                )
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def _url(place: str | os.PathLike[str]) -> sa.URL:
    text = os.fspath(place)
    if "://" not in text:
        return sa.URL.create("sqlite", database=text)
    try:
        url = sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):  # whose words may hold a piece of the password
        raise InputError("store: not a URL; give a file, or postgresql://user@host:port/database") from None
    if url.drivername in {"postgresql", "postgres", "postgresql+psycopg"}:
        return url.set(drivername="postgresql+psycopg")
    if url.drivername in {"sqlite", "sqlite+pysqlite"} and url.database not in {None, "", ":memory:"}:
        return url
    raise InputError(
        f"store: a URL of {url.drivername!r}; allowed are a file, sqlite:///FILE and postgresql://user@host/database"
    )


def _check_file(path: Path, *, create: bool) -> None:
    if path.is_dir():
        raise InputError(f"store: {path} is a folder; name a file in it, such as {path / 'judgements.db'}")
    if not path.exists() and not create:
        raise InputError(f"store: {path} is not there; make it with: visual-search judge pool ... --store {path}")
    if path.exists() and path.stat().st_size:
        with path.open("rb") as stream:
            if not stream.read(16).startswith(b"SQLite format 3\0"):
                raise FileFormatError(f"store: {path} is there and is no SQLite database; name another file")
        _check_tables(path)
    path.parent.mkdir(parents=True, exist_ok=True)


def _check_tables(path: Path) -> None:
    """Refuse a file that another program keeps, before anything of it is changed."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as file:
        names = [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if names and VERSION_TABLE not in names:
            raise FileFormatError(
                f"store: {path} is a database of another program (tables: {first_few(names, 3)}); name another file"
            )


def _refused(shown: str, error: sa.exc.DatabaseError) -> InputError:
    words = str(error.orig).strip().splitlines()[0] if error.orig is not None else str(error)
    mend = "; whoever opens a store writes to it: make it and its folder writable" if "readonly" in words else ""
    return InputError(f"store: {shown} cannot be opened ({words}){mend}")


def _set_up_sqlite(connection: Any, _: Any, *, durable: bool) -> None:
    connection.isolation_level = None  # transactions begin where we say, not at the first statement that writes
    for pragma in ("journal_mode=WAL", "foreign_keys=ON", f"synchronous={'FULL' if durable else 'NORMAL'}"):
        connection.execute(f"PRAGMA {pragma}").close()


def _set_up_postgresql(connection: Any, _: Any, *, durable: bool) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET synchronous_commit TO {'on' if durable else 'off'}")
    connection.commit()


def _begin_sqlite(connection: sa.Connection) -> None:
    reads = connection.get_execution_options().get("judging") == "read"
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _begin_postgresql(connection: sa.Connection) -> None:
    if connection.get_execution_options().get("judging") == "read":
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
