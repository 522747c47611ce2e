"""Migrations of the store of judgements, run by alembic when a store is opened."""
