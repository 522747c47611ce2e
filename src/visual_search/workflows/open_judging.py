"""A store of judgements opened for judging: its pool added where it is new, with the task that was asked for."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from visual_search.errors import InputError, Problems
from visual_search.judging.pool import Pool
from visual_search.judging.store import JudgementStore
from visual_search.judging.suggestions import suggest
from visual_search.workflows.score_files import read_relevance

__all__ = ["add_suggestions", "open_judging", "read_guideline"]

_LONGEST_GUIDELINE = 200_000  # characters


def open_judging(
    place: str | os.PathLike[str], pool: str | os.PathLike[str] | None = None, **asked: Any
) -> JudgementStore:
    """Open a store, with a pool.

    Parameters
    ----------
    place : path or str
        A SQLite file, made where it is not there, or ``postgresql://user@host/database``.
    pool : path, optional
        A pool that is to be in the store; none where the store has its pairs already.
    **asked
        Fields of `JudgingTask` that are to be other than the pool's; None leaves the pool's. They hold from the
        first pool on: a store that has pairs keeps its task.

    Returns
    -------
    JudgementStore

    Raises
    ------
    InputError
        Neither pool nor pairs; a task other than the store's.
    FileFormatError
        No pool, or no store.
    """
    given = {name: value for name, value in asked.items() if value is not None}
    store = JudgementStore(place, create=pool is not None)
    try:
        is_empty = not store.queries()
        if pool is not None:
            added = Pool.load(pool)
            task = replace(added.task, **given) if is_empty else added.task
            store.add_pool(replace(added, task=task))
        _check_begun(store)
        _check_task(store, given)
    except BaseException:
        store.close()
        raise
    return store


def read_guideline(path: str | os.PathLike[str]) -> str:
    """Read a guideline: plain text or Markdown, UTF-8.

    Raises
    ------
    InputError
        Not there, not UTF-8, or longer than 200,000 characters.
    """
    try:
        text = Path(path).read_text("utf-8-sig")
    except OSError as error:
        raise InputError(f"guideline: {path} cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"guideline: {path} is not UTF-8 text; save it as such") from error
    if len(text) > _LONGEST_GUIDELINE:
        raise InputError(f"guideline: {path} has {len(text):,} characters; at most {_LONGEST_GUIDELINE:,}")
    return text


def _check_begun(store: JudgementStore) -> None:
    if not store.queries():
        raise InputError(f"judgements: {store.database.shown} has no pairs yet; give the pool that is to be judged")


def add_suggestions(store: JudgementStore, path: str | os.PathLike[str], maker: str | None = None) -> int:
    """Keep right answers as suggestions, which a judge sees after his own judgement; gives for how many pairs.

    Parameters
    ----------
    store : JudgementStore
    path : path
        Right answers in any form that is read: TREC, Parquet, JSON.
    maker : str, optional
        Where they come from, in words that a judge reads.

    Raises
    ------
    InputError, FileFormatError
        Right answers that cannot be read, or of none of the store's pairs.
    """
    truth, _ = read_relevance(path)
    return suggest(store, truth, maker or f"the right answers in {Path(path).name}")


def _check_task(store: JudgementStore, given: dict[str, Any]) -> None:
    problems = Problems("task")
    task = store.task
    for name, value in given.items():
        if getattr(task, name) != value:
            problems.add(
                f"{name} is {getattr(task, name)!r} in {store.database.shown}, where judging has begun, and "
                f"{value!r} was asked for; leave it out, or begin another store"
            )
    problems.raise_if_any(InputError)
