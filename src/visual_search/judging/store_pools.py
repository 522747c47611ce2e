"""Pools and their task as they go into a store, within a transaction that keeps judges waiting."""

from __future__ import annotations

import json
from dataclasses import replace

from visual_search.errors import InputError
from visual_search.judging import schema
from visual_search.judging.pool import Pool
from visual_search.judging.pool_rows import PoolAdded, add_pool_rows
from visual_search.judging.priorities import Priorities
from visual_search.judging.schema import sa
from visual_search.judging.task import JudgingTask

__all__ = ["add_pool_within", "stored_task"]


def stored_task(connection: sa.Connection) -> JudgingTask | None:
    """What judges are asked; None before any pool was added."""
    chosen = sa.select(schema.settings.c.value).where(schema.settings.c.name == "task")
    text = connection.execute(chosen).scalar()
    return None if text is None else JudgingTask.from_json(json.loads(text), subject="the store's task")


def add_pool_within(connection: sa.Connection, pool: Pool) -> PoolAdded:
    """Add a pool; see `JudgementStore.add_pool`."""
    task = stored_task(connection)
    if task is None:
        row = {"name": "task", "value": json.dumps(pool.task.as_json())}
        connection.execute(schema.settings.insert(), row)
        task = pool.task
    elif pool.task not in (task, JudgingTask()):
        raise InputError(f"pool: its task is not the store's; they differ in {_differences(pool.task, task)}")
    added, changed = add_pool_rows(connection, replace(pool, task=task))
    Priorities(task).refresh_all(connection, changed)
    return added


def _differences(one: JudgingTask, other: JudgingTask) -> str:
    ours, theirs = one.as_json(), other.as_json()
    return ", ".join(f"{name} ({ours[name]!r}, {theirs[name]!r})" for name in ours if ours[name] != theirs[name])
