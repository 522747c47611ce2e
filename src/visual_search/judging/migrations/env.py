"""How alembic runs the migrations: over the connection that was handed to it, inside its transaction."""

from alembic import context

from visual_search.judging.schema import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
)
with context.begin_transaction():
    context.run_migrations()
