"""A pool: the pairs of query and item that are worth judging, and, for no judge's eyes, why each is there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from visual_search.counted import counted
from visual_search.errors import InputError, Problems, first_few
from visual_search.formats.checks import id_trouble
from visual_search.formats.fingerprint import fingerprint_json
from visual_search.formats.results import ImageLocation
from visual_search.ids import Id
from visual_search.judging.task import JudgingTask, share_hash

__all__ = ["SOURCE_KINDS", "Pair", "Pool", "PoolQuery", "PooledSystem", "Source", "SourceKind"]

Pair: TypeAlias = tuple[Id, Id]
SourceKind: TypeAlias = Literal["ranked", "random", "near_duplicate", "listed"]
SOURCE_KINDS: tuple[SourceKind, ...] = get_args(SourceKind)


@dataclass(frozen=True, slots=True)
class PoolQuery:
    """One query as a judge sees it: an image, a text, or both.

    Attributes
    ----------
    query_id : str or int
    image : ImageLocation or None
    text : str or None

    Examples
    --------
    >>> PoolQuery("q1", text="a red door").text
    'a red door'
    """

    query_id: Id
    image: ImageLocation | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """One reason why a pair is in a pool. Never shown to a judge.

    Attributes
    ----------
    kind : {"ranked", "random", "near_duplicate", "listed"}
        A system returned it; it was drawn at random; it looks like an item known to be relevant; or somebody listed
        it, as when judgements of other pairs were imported.
    system : str or None
        Which system, of ranked ones.
    rank : int or None
        Its place in the system's list, from 1; of near-duplicates and random ones their place among these.
    near : str, int or None
        The relevant item that a near-duplicate is like.
    likeness : float or None
        Cosine with that item, -1 to 1.
    """

    kind: SourceKind
    system: str | None = None
    rank: int | None = None
    near: Id | None = None
    likeness: float | None = None


@dataclass(frozen=True, slots=True)
class PooledSystem:
    """One ranking that went into a pool.

    Attributes
    ----------
    depth : int
        How many items of each list were taken.
    fingerprint : str or None
        Of the ranking, as a result states it.
    """

    depth: int
    fingerprint: str | None = None


@dataclass(frozen=True)
class Pool:
    """Pairs to judge.

    Parameters
    ----------
    queries : mapping of id to PoolQuery
        Those of all pairs, and others where a list was empty.
    sources : mapping of (query, item) to tuple of Source
        Why each pair is here; at least one reason each.
    items : mapping of id to ImageLocation or None, optional
        Where items' images are; items that are not named have none.
    systems : mapping of str to PooledSystem, optional
    task : JudgingTask, optional
        What judges are asked.

    Raises
    ------
    InputError
        A pair whose query is unknown, a pair without a reason, ids that are none, ids of two kinds; all at once.

    How to read it
    --------------
    ``pairs()`` is all that a judge's side may use: it is in an order drawn from the task's seed, in which neither
    system nor rank shows.

    Examples
    --------
    >>> pool = Pool({"q": PoolQuery("q")}, {("q", "a"): (Source("ranked", "one", 1),)})
    >>> pool, list(pool.pairs())
    (Pool(1 query, 1 pair, 0 systems), [('q', 'a')])
    """

    # Any: a mapping of one kind of ids is no mapping of both to a type checker.
    queries: Mapping[Any, PoolQuery]
    sources: Mapping[Any, tuple[Source, ...]]
    items: Mapping[Any, ImageLocation | None] = field(default_factory=dict)
    systems: Mapping[str, PooledSystem] = field(default_factory=dict)
    task: JudgingTask = field(default_factory=JudgingTask)

    def __post_init__(self) -> None:
        problems = Problems("pool")
        unknown = list(dict.fromkeys(query for query, _ in self.sources if query not in self.queries))
        if unknown:
            who = counted(len(unknown), "query", "queries")
            problems.add(f"pairs name {who} that the pool does not have, first {first_few(unknown)}; add them")
        bare = [pair for pair, reasons in self.sources.items() if not reasons]
        if bare:
            problems.add(f"{counted(len(bare), 'pair', 'pairs')} without a source, first {first_few(bare)}")
        items = dict.fromkeys(item for _, item in self.sources)
        for what, ids in (("query", self.queries), ("item", items)):
            for trouble in [found for found in map(id_trouble, ids) if found][:5]:
                problems.add(f"{what} ids: {trouble}")
            if len({type(one) for one in ids}) > 1:
                problems.add(f"{what} ids are both strings and integers, first {first_few(ids, 2)}; use one kind")
        kinds = {source.kind for reasons in self.sources.values() for source in reasons} - set(SOURCE_KINDS)
        if kinds:
            problems.add(f"kind of source {first_few(sorted(kinds))}; one of {', '.join(SOURCE_KINDS)}")
        nameless = [pair for pair, reasons in self.sources.items() if any(map(_lacks_system, reasons))]
        if nameless:
            problems.add(f"ranked without a system or rank from 1: {first_few(nameless)}; name them")
        problems.raise_if_any(InputError)

    def __len__(self) -> int:
        return len(self.sources)

    def __contains__(self, pair: object) -> bool:
        return pair in self.sources

    def __repr__(self) -> str:
        return (
            f"Pool({counted(len(self.queries), 'query', 'queries')}, {counted(len(self), 'pair', 'pairs')}, "
            f"{counted(len(self.systems), 'system', 'systems')})"
        )

    def pairs(self) -> Iterator[Pair]:
        """All pairs, query by query, in an order that tells nothing of systems and ranks."""
        seed = self.task.seed
        return iter(sorted(self.sources, key=lambda p: (share_hash(seed, "query", p[0]), share_hash(seed, *p))))

    def items_of(self, query: Id) -> list[Id]:
        """Items of one query's pairs, in the order of `pairs`."""
        mine = [item for owner, item in self.sources if owner == query]
        return sorted(mine, key=lambda item: share_hash(self.task.seed, query, item))

    def fingerprint(self) -> str:
        """Of queries, pairs and their sources, whatever their order; places of images do not enter."""
        pairs = [
            [repr(query), repr(item), sorted(repr(source) for source in reasons)]
            for (query, item), reasons in self.sources.items()
        ]
        texts = sorted([repr(query.query_id), query.text] for query in self.queries.values())
        return fingerprint_json({"queries": texts, "pairs": sorted(pairs)})

    def merged(self, other: Pool) -> Pool:
        """Add all of another's pairs; the task stays this pool's own.

        Raises
        ------
        InputError
            One query with two texts or images, or one system's name for two rankings.

        Examples
        --------
        >>> one = Pool({"q": PoolQuery("q")}, {("q", "a"): (Source("ranked", "one", 1),)})
        >>> two = Pool({"q": PoolQuery("q")}, {("q", "a"): (Source("ranked", "two", 7),)})
        >>> [source.system for source in one.merged(two).sources["q", "a"]]
        ['one', 'two']
        """
        problems = Problems("pools")
        for query, theirs in other.queries.items():
            ours = self.queries.get(query, theirs)
            if ours.text is not None and theirs.text is not None and ours.text != theirs.text:
                problems.add(f"query {query!r} has the text {ours.text!r} and {theirs.text!r}; use another id")
        for name, system in other.systems.items():
            mine = self.systems.get(name, system)
            if mine.fingerprint != system.fingerprint:
                problems.add(f"system {name!r} is two rankings of different content; name one of them otherwise")
        problems.raise_if_any(InputError)
        sources = dict(self.sources)
        for pair, reasons in other.sources.items():
            sources[pair] = tuple(dict.fromkeys((*sources.get(pair, ()), *reasons)))
        items = dict(self.items)
        items |= {item: place for item, place in other.items.items() if items.get(item) is None}
        depths = {
            name: PooledSystem(max(system.depth, self.systems.get(name, system).depth), system.fingerprint)
            for name, system in other.systems.items()
        }
        queries = {**other.queries, **self.queries}
        return Pool(queries, sources, items, {**self.systems, **depths}, self.task)

    def with_pairs(self, pairs: Iterable[tuple[Pair, Source]]) -> Pool:
        """Add pairs of this pool's queries, each with why it is here."""
        more: dict[Pair, tuple[Source, ...]] = {}
        for pair, source in pairs:
            more[pair] = (*more.get(pair, ()), source)
        return self.merged(Pool(self.queries, more, {}, {}, self.task))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the pool: a JSON record, and Parquet tables of pairs and pictures beside it.

        Raises
        ------
        InputError
            A name that does not end in ``.json``, or a file that is there and is no pool.
        """
        from visual_search.judging.pool_files import write_pool

        write_pool(path, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Pool:
        """Read a pool that `save` wrote.

        Raises
        ------
        FileFormatError
            Truncated, foreign, or with a companion that is missing or another's.
        """
        from visual_search.judging.pool_files import read_pool

        return read_pool(path)

    def counts(self) -> dict[str, Any]:
        """How many pairs there are of each kind of source; a pair with several counts in each."""
        kinds: dict[str, int] = dict.fromkeys(SOURCE_KINDS, 0)
        for reasons in self.sources.values():
            for kind in {source.kind for source in reasons}:
                kinds[kind] += 1
        return {"queries": len(self.queries), "pairs": len(self), **kinds}


def _lacks_system(source: Source) -> bool:
    return source.kind == "ranked" and (not source.system or source.rank is None or source.rank < 1)
