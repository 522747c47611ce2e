"""What pictures were when they were first judged."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Room for a hash beside each picture; of what was judged before nobody knows it."""
    for table in ("judging_query", "judging_item"):
        op.add_column(table, sa.Column("judged_sha256", sa.String(length=64), nullable=True))
