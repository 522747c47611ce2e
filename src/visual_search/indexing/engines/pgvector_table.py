"""One table of vectors in PostgreSQL: made, filled, indexed, searched, measured, dropped."""

from __future__ import annotations

import secrets
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import UnknownIdError, first_few
from visual_search.indexing.engines.contract import Metric
from visual_search.indexing.engines.postgres import Connections, package

__all__ = ["PgvectorTable"]

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]

# pgvector's operators order by distance, smaller first; <#> is minus the inner product.
_OPERATORS = {"cosine": "<=>", "ip": "<#>", "l2": "<->"}
_CLASSES = {"cosine": "vector_cosine_ops", "ip": "vector_ip_ops", "l2": "vector_l2_ops"}
_BLOCK_ROWS = 1 << 14


class PgvectorTable:
    """A table ``(row bigint primary key, v vector(d))`` under a name nobody else has; dropped with this object.

    Parameters
    ----------
    url : str
    dimension : int
    metric : "cosine", "ip" or "l2"
    """

    def __init__(self, url: str, dimension: int, metric: Metric) -> None:
        sql = package("psycopg.sql")
        self._connections = Connections(url)
        self._dimension, self._metric = dimension, metric
        self.name = f"visual_search_{secrets.token_hex(8)}"
        self._table = sql.Identifier(self.name)
        self._operator = sql.SQL(_OPERATORS[metric])
        with self._connections.one() as connection:
            kind = sql.SQL("vector({})").format(sql.Literal(dimension))
            statement = "CREATE TABLE {} (row bigint PRIMARY KEY, v {} NOT NULL)"
            connection.execute(sql.SQL(statement).format(self._table, kind))
            # Whole vectors in the table itself: a search must not unpack them from elsewhere.
            connection.execute(sql.SQL("ALTER TABLE {} ALTER v SET STORAGE PLAIN").format(self._table))
            found = connection.execute(
                "SELECT current_setting('server_version'), extversion FROM pg_extension WHERE extname = 'vector'"
            ).fetchone()
        self.versions: tuple[str, str] = found
        self._drop = weakref.finalize(self, _dropped, self._connections, self._table)

    def drop(self) -> None:
        """Drop the table and close the connections."""
        self._drop()

    def insert(self, rows: Int64Array, vectors: Vectors) -> None:
        """Add rows, all or none."""
        sql = package("psycopg.sql")
        statement = sql.SQL("COPY {} (row, v) FROM STDIN WITH (FORMAT BINARY)").format(self._table)
        with (
            self._connections.one() as connection,
            connection.cursor() as cursor,
            cursor.copy(statement) as copy,
        ):
            copy.set_types(["int8", "vector"])
            for row, vector in zip(rows.tolist(), vectors, strict=True):
                copy.write_row((row, vector))

    def build_index(self, method: str, options: Mapping[str, int]) -> None:
        """Build an index of a method over what is there; it grows with what comes."""
        sql = package("psycopg.sql")
        chosen = sql.SQL(", ").join(
            sql.SQL("{} = {}").format(sql.Identifier(name), sql.Literal(value)) for name, value in options.items()
        )
        statement = sql.SQL("CREATE INDEX ON {} USING {} (v {}) WITH ({})").format(
            self._table, sql.Identifier(method), sql.Identifier(_CLASSES[self._metric]), chosen
        )
        with self._connections.one() as connection:
            connection.execute(statement)

    def delete(self, rows: Int64Array) -> None:
        """Delete rows."""
        sql = package("psycopg.sql")
        with self._connections.one() as connection:
            connection.execute(sql.SQL("DELETE FROM {} WHERE row = ANY(%s)").format(self._table), (rows.tolist(),))

    def vectors(self, rows: Int64Array) -> Vectors:
        """Vectors of rows, in the order asked; UnknownIdError where the server has lost some."""
        sql = package("psycopg.sql")
        place = {row: number for number, row in enumerate(np.unique(rows).tolist())}
        held = np.empty((len(place), self._dimension), dtype=np.float32)
        there = set()
        statement = sql.SQL("SELECT row, v FROM {} WHERE row = ANY(%b)").format(self._table)
        with self._connections.one() as connection:
            for row, vector in connection.execute(statement, (list(place),), binary=True):
                held[place[row]] = vector.to_numpy() if hasattr(vector, "to_numpy") else vector
                there.add(row)
        gone = place.keys() - there
        if gone:
            raise UnknownIdError(
                f"table {self.name}: {len(gone)} of {len(place)} rows are gone, first: {first_few(sorted(gone))}; "
                "something else changed the table: build the index anew"
            )
        taken: Vectors = held[[place[row] for row in rows.tolist()]]
        return taken

    def blocks(self, rows: Int64Array) -> Iterator[Vectors]:
        """Vectors of many rows, a block at a time."""
        for start in range(0, len(rows), _BLOCK_ROWS):
            yield self.vectors(rows[start : start + _BLOCK_ROWS])

    def search(
        self, queries: Vectors, k: int, *, session: Mapping[str, str], rows_break_ties: bool
    ) -> tuple[Int64Array, npt.NDArray[np.float64]]:
        """Rows and pgvector's distances, each query a statement of its own; -1 and infinity where there are none.

        An index orders by distance alone, so that rows can break ties only where none is used.
        """
        sql = package("psycopg.sql")
        order = sql.SQL("d, row" if rows_break_ties else "d")
        statement = sql.SQL("SELECT row, v {} %b AS d FROM {} ORDER BY {} LIMIT %b").format(
            self._operator, self._table, order
        )
        rows = np.full((len(queries), k), -1, dtype=np.int64)
        distances = np.full((len(queries), k), np.inf)
        with self._connections.one(session) as connection, connection.cursor(binary=True) as cursor:
            for line, query in enumerate(queries):
                found = cursor.execute(statement, (query, k), prepare=True).fetchall()
                if found:
                    rows[line, : len(found)], distances[line, : len(found)] = zip(*found, strict=True)
        return rows, distances

    def bytes(self) -> int:
        """Bytes of the table with its indexes, as the server counts them."""
        with self._connections.one() as connection:
            held: int = connection.execute("SELECT pg_total_relation_size(%s::regclass)", (self.name,)).fetchone()[
                0
            ]
        return held


def _dropped(connections: Connections, table: Any) -> None:
    """Drop a table; a server that is gone took it along, or keeps it under a name that says whose it was."""
    psycopg, sql = package("psycopg"), package("psycopg.sql")
    try:
        with connections.one() as connection:
            connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(table))
    except (psycopg.Error, ValueError):
        pass
    finally:
        connections.close()
