"""The first tables: pool, log of judgements, and what helps the work; with the lock on the log."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make all tables, and the triggers that refuse to change or remove a judgement."""
    _pool()
    _log()
    _work()
    for statement in _LOCKS[op.get_bind().dialect.name]:
        op.execute(statement)


_WORDS = "judgements are never changed nor removed; add a record that replaces this one"
_LOCKS = {
    "sqlite": [
        f"""CREATE TRIGGER judging_judgement_no_{verb.lower()} BEFORE {verb} ON judging_judgement
        BEGIN SELECT RAISE(ABORT, '{_WORDS}'); END"""
        for verb in ("UPDATE", "DELETE")
    ],
    "postgresql": [
        f"""CREATE FUNCTION judging_refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION '{_WORDS}'; END $$""",
        """CREATE TRIGGER judging_judgement_no_change BEFORE UPDATE OR DELETE ON judging_judgement
        FOR EACH ROW EXECUTE FUNCTION judging_refuse()""",
        """CREATE TRIGGER judging_judgement_no_truncate BEFORE TRUNCATE ON judging_judgement
        FOR EACH STATEMENT EXECUTE FUNCTION judging_refuse()""",
    ],
}


def _pool() -> None:
    """Queries, items, pairs and why they are there."""
    op.create_table(
        "judging_item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("image", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "judging_query",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("image", sa.Text(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "judging_setting",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "judging_pair",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("wanted", sa.Integer(), nullable=False),
        sa.Column("free", sa.Integer(), nullable=False),
        sa.Column("priority", sa.Float(), nullable=False),
        sa.Column("best_rank", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["item_id"],
            ["judging_item.id"],
        ),
        sa.ForeignKeyConstraint(
            ["query_id"],
            ["judging_query.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("query_id", "item_id", name="judging_pair_once"),
    )
    op.create_index(
        "judging_pair_next",
        "judging_pair",
        ["priority"],
        unique=False,
        sqlite_where=sa.text("free > 0"),
        postgresql_where=sa.text("free > 0"),
    )
    op.create_table(
        "judging_source",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("system", sa.Text(), nullable=True),
        sa.Column("rank", sa.Integer(), nullable=True),
        sa.Column("near", sa.Text(), nullable=True),
        sa.Column("likeness", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["pair_id"],
            ["judging_pair.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_judging_source_pair_id"), "judging_source", ["pair_id"], unique=False)


def _log() -> None:
    """Who judged what, and which record holds."""
    op.create_table(
        "judging_judge",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "judging_judgement",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=32), nullable=False),
        sa.Column("time", sa.String(length=40), nullable=False),
        sa.Column("undo", sa.Boolean(), nullable=False),
        sa.Column("grade", sa.Float(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("replaces", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["judge_id"],
            ["judging_judge.id"],
        ),
        sa.ForeignKeyConstraint(
            ["pair_id"],
            ["judging_pair.id"],
        ),
        sa.ForeignKeyConstraint(
            ["replaces"],
            ["judging_judgement.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
        sa.UniqueConstraint("replaces"),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_judging_judgement_judge_id"), "judging_judgement", ["judge_id"], unique=False)
    op.create_index(op.f("ix_judging_judgement_pair_id"), "judging_judgement", ["pair_id"], unique=False)
    op.create_index(
        "judging_judgement_first",
        "judging_judgement",
        ["pair_id", "judge_id", "role"],
        unique=True,
        sqlite_where=sa.text("replaces IS NULL"),
        postgresql_where=sa.text("replaces IS NULL"),
    )
    op.create_table(
        "judging_standing",
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=32), nullable=False),
        sa.Column("judgement_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["judge_id"],
            ["judging_judge.id"],
        ),
        sa.ForeignKeyConstraint(
            ["judgement_id"],
            ["judging_judgement.id"],
        ),
        sa.ForeignKeyConstraint(
            ["pair_id"],
            ["judging_pair.id"],
        ),
        sa.PrimaryKeyConstraint("pair_id", "judge_id", "role"),
        sa.UniqueConstraint("judgement_id"),
    )


def _work() -> None:
    """Leases, pairs put off, suggestions."""
    op.create_table(
        "judging_later",
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["judge_id"],
            ["judging_judge.id"],
        ),
        sa.ForeignKeyConstraint(
            ["pair_id"],
            ["judging_pair.id"],
        ),
        sa.PrimaryKeyConstraint("judge_id", "pair_id"),
    )
    op.create_table(
        "judging_lease",
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("held_by", sa.String(length=200), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["judge_id"],
            ["judging_judge.id"],
        ),
        sa.ForeignKeyConstraint(
            ["pair_id"],
            ["judging_pair.id"],
        ),
        sa.PrimaryKeyConstraint("pair_id", "judge_id"),
    )
    op.create_index(op.f("ix_judging_lease_expires"), "judging_lease", ["expires"], unique=False)
    op.create_index("judging_lease_judge", "judging_lease", ["judge_id"], unique=False)
    op.create_table(
        "judging_suggestion",
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("grade", sa.Float(), nullable=False),
        sa.Column("maker", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["pair_id"],
            ["judging_pair.id"],
        ),
        sa.PrimaryKeyConstraint("pair_id"),
    )
