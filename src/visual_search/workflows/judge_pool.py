"""Rankings to a pool: made or grown, saved as files, and put into a store of judgements."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from visual_search.counted import counted
from visual_search.errors import InputError, first_few
from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.formats.results import ImageLocation
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id
from visual_search.judging.pool import SOURCE_KINDS, Pool, PoolQuery
from visual_search.judging.pool_growth import PoolGrowth, pool_growth
from visual_search.judging.pooling import (
    near_duplicate_candidates,
    pool_of_rankings,
    random_candidates,
)
from visual_search.judging.records import Judgement
from visual_search.judging.task import JudgingTask
from visual_search.workflows.judge_gallery import PoolGallery
from visual_search.workflows.judge_runs import PooledRun, pooled_runs
from visual_search.workflows.score_files import read_query_table, read_relevance

__all__ = ["MadePool", "PoolRequest", "make_pool"]

Place = str | os.PathLike[str]


@dataclass(frozen=True)
class PoolRequest:
    """What goes into a pool.

    Attributes
    ----------
    depth : int
        Items of each list, from 1.
    dataset : path, optional
        A dataset's JSON: its queries only, with their images, or their texts under the key ``text``.
    texts : path, optional
        A table of two columns, query and text.
    gallery : path, optional
        The folder of an index, or a file of vectors: which items there are, what they look like, where they are.
    random : int
        Items drawn at random for each query; needs ``gallery``.
    near : int
        Items a query that look like ones known to be relevant; needs ``gallery`` and known ones.
    near_cosine : float
        Lowest cosine of these.
    known : path, optional
        Right answers; else those that the store's judges called relevant.
    task : JudgingTask
    """

    depth: int = 20
    dataset: Place | None = None
    texts: Place | None = None
    gallery: Place | None = None
    random: int = 0
    near: int = 0
    near_cosine: float = 0.9
    known: Place | None = None
    task: JudgingTask = field(default_factory=JudgingTask)


@dataclass(frozen=True)
class MadePool:
    """A pool that was made.

    Attributes
    ----------
    path : Path
    pool : Pool
    growth : PoolGrowth or None
        What the rankings added to the pool that was there.
    added : PoolAdded or None
        What the store did not have yet.
    """

    path: Path
    pool: Pool
    growth: PoolGrowth | None
    added: Any

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "path": str(self.path),
            **self.pool.counts(),
            "systems": list(self.pool.systems),
            "fingerprint": self.pool.fingerprint(),
            "growth": None if self.growth is None else self.growth.as_json(),
        }

    def words(self) -> str:
        """In lines."""
        counts = self.pool.counts()
        kinds = ", ".join(f"{counts[kind]:,} {kind.replace('_', '-')}" for kind in SOURCE_KINDS if counts[kind])
        queries = counted(len(self.pool.queries), "query", "queries")
        lines = [f"{self.path}: {counted(len(self.pool), 'pair', 'pairs')} of {queries}: {kinds}"]
        lines += [] if self.growth is None else [self.growth.words()]
        lines += [] if self.added is None else [self.added.words()]
        return "\n".join(lines)


def make_pool(
    rankings: Sequence[str],
    out: Place,
    *,
    request: PoolRequest | None = None,
    grow: Place | None = None,
    store: Place | None = None,
    suggest_from: Place | None = None,
) -> MadePool:
    """Make a pool of rankings, or grow one, and put it into a store.

    Parameters
    ----------
    rankings : sequence of str
        ``path`` or ``name=path`` of results, TREC runs, Parquet files.
    out : path
        The pool's JSON file.
    request : PoolRequest, optional
    grow : path, optional
        A pool that the new one takes up whole, with its task; what the rankings add to it is told.
    store : path or URL, optional
        A store of judgements, made where it is not there.
    suggest_from : path, optional
        Right answers of another making, whose grades the store shows each judge after his own.

    Raises
    ------
    InputError, FileFormatError
        Rankings or files that cannot be read; candidates asked for without a gallery or known items; a store with
        another task.
    """
    from visual_search.judging.store import JudgementStore
    from visual_search.judging.suggestions import suggest

    asked = request or PoolRequest()
    _check(asked, store)
    if suggest_from is not None and store is None:
        raise InputError("suggest_from: suggestions are kept in a store; name one")
    runs = pooled_runs(rankings)
    gallery = None if asked.gallery is None else PoolGallery(asked.gallery)
    old = None if grow is None else Pool.load(grow)
    fresh = _of_runs(runs, asked if old is None else replace(asked, task=old.task))
    held = None if store is None else JudgementStore(store)
    try:
        judged = [] if held is None else held.standing()
        pairs = None if held is None else {(one.query, one.item) for one in judged}
        growth = None if old is None else pool_growth(old, fresh, pairs)
        pool = fresh if old is None else old.merged(fresh)
        if gallery is not None:
            pool = _with_candidates(pool, asked, gallery, _called_relevant(judged, pool))
            bare = [item for _, item in pool.sources if pool.items.get(item) is None]
            pool = replace(pool, items={**pool.items, **gallery.places(bare)})
        pool.save(out)
        added = None if held is None else held.add_pool(pool)
        if held is not None and suggest_from is not None:
            suggest(held, read_relevance(suggest_from)[0], Path(suggest_from).name)
    finally:
        if held is not None:
            held.close()
    return MadePool(Path(out), pool, growth, added)


def _check(asked: PoolRequest, store: Place | None) -> None:
    if (asked.random or asked.near) and asked.gallery is None:
        raise InputError("gallery: candidates beyond the rankings come from a gallery; give an index or vectors")
    if asked.near and asked.known is None and store is None:
        raise InputError("known: near-duplicates are of items known to be relevant; give right answers or a store")


def _of_runs(runs: Sequence[PooledRun], asked: PoolRequest) -> Pool:
    rankings = {run.name: run.ranking for run in runs}
    images: dict[Id, ImageLocation] = {}
    places: dict[Id, ImageLocation | None] = {}
    for run in reversed(runs):
        images.update(run.query_images)
        places.update(run.item_images)
    ids = dict.fromkeys(query for run in runs for query in run.ranking)
    queries = {query: PoolQuery(query, images.get(query)) for query in ids}
    if asked.dataset is not None:
        queries = _of_dataset(EvaluationDataset.from_json(asked.dataset), images)
    if asked.texts is not None:
        queries = _with_texts(queries, read_query_table(asked.texts), asked.texts)
    return pool_of_rankings(
        rankings,
        asked.depth,
        queries=queries.values(),
        items=places,
        fingerprints={run.name: run.fingerprint for run in runs},
        task=asked.task,
    )


def _of_dataset(dataset: EvaluationDataset, images: Mapping[Id, ImageLocation]) -> dict[Id, PoolQuery]:
    queries = {}
    for query in dataset:
        path = dataset.image_of(query)
        image = images.get(query.query_id) if path is None else ImageLocation(path)
        queries[query.query_id] = PoolQuery(query.query_id, image, query.text)
    return queries


def _with_texts(queries: Mapping[Id, PoolQuery], texts: Mapping[str, str], place: Place) -> dict[Id, PoolQuery]:
    known = {str(query) for query in queries}
    foreign = [query for query in texts if query not in known]
    if len(foreign) == len(texts):
        raise InputError(f"{place}: no query is in the rankings: {first_few(foreign, 3)}")
    return {query: replace(one, text=texts.get(str(query), one.text)) for query, one in queries.items()}


def _called_relevant(judged: Sequence[Judgement], pool: Pool) -> dict[Id, list[Id]]:
    found: dict[Id, list[Id]] = {}
    for one in judged:
        if one.grade is not None and one.grade >= pool.task.relevant_from:
            found.setdefault(one.query, []).append(one.item)
    return found


def _with_candidates(
    pool: Pool, asked: PoolRequest, gallery: PoolGallery, relevant: Mapping[Id, Sequence[Id]]
) -> Pool:
    if asked.near:
        if asked.known is not None:
            relevant = _relevant(read_relevance(asked.known)[0], pool)
        near = near_duplicate_candidates(
            pool, relevant, gallery.vectors, per_query=asked.near, at_least=asked.near_cosine
        )
        pool = pool.with_pairs(near)
    if asked.random:
        drawn = random_candidates(pool, gallery.vectors.ids, asked.random, seed=pool.task.seed)
        pool = pool.with_pairs(drawn)
    return pool


def _relevant(truth: Relevance, pool: Pool) -> dict[Id, list[Id]]:
    return {
        query: [item for item, grade in truth.judged(query).items() if grade >= pool.task.relevant_from]
        for query in pool.queries
        if query in truth.queries
    }
