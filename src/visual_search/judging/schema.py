"""Tables of a store of judgements, as its migrations leave them.

``judging_judgement`` is the log, of which no row is changed or removed; a trigger holds that. What follows from it
(``judging_standing``: which record holds for a pair and judge) and what only helps the work (leases, pairs put off,
priorities) is kept beside it, so that the next pair is found by one look into an index.

Ids are kept as JSON texts, ``"7"`` and ``7`` apart, in ASCII, so that any id is the same in every database.
"""

from __future__ import annotations

import json

from visual_search.errors import MissingDependencyError
from visual_search.ids import Id

try:
    import sqlalchemy as sa
except ImportError as error:  # pragma: no cover - the extra is there wherever tests run
    raise MissingDependencyError(
        "a store of judgements needs SQLAlchemy and alembic: pip install 'visual-search[judging]'"
    ) from error

__all__ = [
    "VERSION_TABLE",
    "id_text",
    "id_value",
    "items",
    "judgements",
    "judges",
    "later",
    "leases",
    "metadata",
    "pairs",
    "queries",
    "sa",
    "settings",
    "sources",
    "standing",
    "suggestions",
]

VERSION_TABLE = "judging_version"

metadata = sa.MetaData()

settings = sa.Table(
    "judging_setting",
    metadata,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

queries = sa.Table(
    "judging_query",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("text", sa.Text),
    sa.Column("image", sa.Text),
    sa.Column("version", sa.Integer, nullable=False),  # grows when pairs are added
    sa.Column("judged_sha256", sa.String(64)),  # of the picture, as it was when it was first judged
)

items = sa.Table(
    "judging_item",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("image", sa.Text),
    sa.Column("judged_sha256", sa.String(64)),
)

pairs = sa.Table(
    "judging_pair",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("query_id", sa.ForeignKey("judging_query.id"), nullable=False),
    sa.Column("item_id", sa.ForeignKey("judging_item.id"), nullable=False),
    sa.Column("wanted", sa.Integer, nullable=False),
    sa.Column("free", sa.Integer, nullable=False),  # further judges who can be given it now
    sa.Column("priority", sa.Float, nullable=False),  # the lowest comes first
    sa.Column("best_rank", sa.Integer),  # in any system's list
    sa.UniqueConstraint("query_id", "item_id", name="judging_pair_once"),
)
sa.Index(
    "judging_pair_next",
    pairs.c.priority,
    sqlite_where=pairs.c.free > 0,
    postgresql_where=pairs.c.free > 0,
)

sources = sa.Table(
    "judging_source",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("pair_id", sa.ForeignKey("judging_pair.id"), nullable=False, index=True),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("system", sa.Text),
    sa.Column("rank", sa.Integer),
    sa.Column("near", sa.Text),
    sa.Column("likeness", sa.Float),
)

judges = sa.Table(
    "judging_judge",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(200), nullable=False, unique=True),
)

judgements = sa.Table(
    "judging_judgement",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("key", sa.String(200), nullable=False, unique=True),
    sa.Column("pair_id", sa.ForeignKey("judging_pair.id"), nullable=False, index=True),
    sa.Column("judge_id", sa.ForeignKey("judging_judge.id"), nullable=False, index=True),
    sa.Column("role", sa.String(32), nullable=False),
    sa.Column("time", sa.String(40), nullable=False),
    sa.Column("undo", sa.Boolean, nullable=False),
    sa.Column("grade", sa.Float),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("seconds", sa.Float),
    # Unique: a record is replaced once, so that a judge's records of a pair are a chain without forks.
    sa.Column("replaces", sa.ForeignKey("judging_judgement.id"), unique=True),
    sqlite_autoincrement=True,
)
_first = judgements.c.replaces.is_(None)
sa.Index(
    "judging_judgement_first",  # and a chain begins once
    judgements.c.pair_id,
    judgements.c.judge_id,
    judgements.c.role,
    unique=True,
    sqlite_where=_first,
    postgresql_where=_first,
)

standing = sa.Table(
    "judging_standing",
    metadata,
    sa.Column("pair_id", sa.ForeignKey("judging_pair.id"), primary_key=True),
    sa.Column("judge_id", sa.ForeignKey("judging_judge.id"), primary_key=True),
    sa.Column("role", sa.String(32), primary_key=True),
    sa.Column("judgement_id", sa.ForeignKey("judging_judgement.id"), nullable=False, unique=True),
)

leases = sa.Table(
    "judging_lease",
    metadata,
    sa.Column("pair_id", sa.ForeignKey("judging_pair.id"), primary_key=True),
    sa.Column("judge_id", sa.ForeignKey("judging_judge.id"), primary_key=True),
    sa.Column("held_by", sa.String(200), nullable=False),
    sa.Column("expires", sa.Float, nullable=False, index=True),  # s since 1970, UTC
)
sa.Index("judging_lease_judge", leases.c.judge_id)

later = sa.Table(
    "judging_later",
    metadata,
    sa.Column("judge_id", sa.ForeignKey("judging_judge.id"), primary_key=True),
    sa.Column("pair_id", sa.ForeignKey("judging_pair.id"), primary_key=True),
    sa.Column("turn", sa.Integer, nullable=False),  # the lowest comes back first
)

suggestions = sa.Table(
    "judging_suggestion",
    metadata,
    sa.Column("pair_id", sa.ForeignKey("judging_pair.id"), primary_key=True),
    sa.Column("grade", sa.Float, nullable=False),
    sa.Column("maker", sa.Text, nullable=False),
)


def id_text(value: Id) -> str:
    r"""An id as a JSON text in ASCII.

    >>> id_text("é"), id_text(7), id_text("7")
    ('"\\u00e9"', '7', '"7"')
    """
    return json.dumps(value)


def id_value(text: str) -> Id:
    """The id of a text that `id_text` gave."""
    value: Id = json.loads(text)
    return value
