"""What was computed from results and takes long: kept in the catalogue's database, the oldest going first."""

from __future__ import annotations

import json
import time
import zlib
from typing import Any

from visual_search.catalogue.database import Database
from visual_search.formats.fingerprint import fingerprint_json

__all__ = ["Kept"]


class Kept:
    """Values of one kind by what they were made from.

    Parameters
    ----------
    database : Database
    kind : str
        What they are; a new name where they are made in another way.
    most : int
        How many are kept.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> kept = Kept(Database(Path(tempfile.mkdtemp()) / "c.sqlite3"), "sums", most=2)
    >>> kept.put(["a", 1], {"sum": 3})
    >>> kept.get(["a", 1]), kept.get(["b"])
    ({'sum': 3}, None)
    """

    def __init__(self, database: Database, kind: str, *, most: int) -> None:
        self._database = database
        self._kind = kind
        self._most = most

    def get(self, made_from: Any) -> Any:
        """The value, or None where it is not kept."""
        row = self._database.reading(
            lambda connection: connection.execute(
                "SELECT value FROM kept WHERE kind = ? AND name = ?", (self._kind, fingerprint_json(made_from))
            ).fetchone()
        )
        return None if row is None else json.loads(zlib.decompress(row[0]))

    def __contains__(self, made_from: Any) -> bool:
        """Whether a value is kept."""
        found = self._database.reading(
            lambda connection: connection.execute(
                "SELECT 1 FROM kept WHERE kind = ? AND name = ?", (self._kind, fingerprint_json(made_from))
            ).fetchone()
        )
        return found is not None

    def put(self, made_from: Any, value: Any) -> None:
        """Keep a JSON value; where there are too many, the oldest go."""
        text = zlib.compress(json.dumps(value, allow_nan=False).encode(), 1)
        name = fingerprint_json(made_from)

        def work(connection: Any) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)", (self._kind, name, time.time(), text)
            )
            connection.execute(
                "DELETE FROM kept WHERE kind = ? AND name NOT IN "
                "(SELECT name FROM kept WHERE kind = ? ORDER BY used DESC LIMIT ?)",
                (self._kind, self._kind, self._most),
            )

        self._database.writing(work)
