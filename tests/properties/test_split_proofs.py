"""A proof holds where every property does, and never where one fails, however the split came to be."""

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from visual_search.errors import ProofError
from visual_search.evaluation.protocols.conditions import SameClassOtherGroup, SameGroup, SharedLabel
from visual_search.evaluation.protocols.group_parts import group_folds, parts_by_column, parts_by_group
from visual_search.evaluation.protocols.near_places import distances, pairs_within
from visual_search.evaluation.protocols.proving import Promises
from visual_search.evaluation.protocols.query_gallery import by_view, given_split, leave_one_out
from visual_search.evaluation.protocols.sides import Column, Side
from visual_search.evaluation.protocols.split import Split
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Ids


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[int]]:
    size = draw(st.integers(2, 14))
    columns = {"group": st.integers(0, 4), "view": st.integers(0, 2), "label": st.integers(0, 2)}
    return {name: draw(st.lists(values, min_size=size, max_size=size)) for name, values in columns.items()}


@st.composite
def given_splits(draw: st.DrawFn) -> tuple[dict[str, list[int]], list[int], list[int], Split]:
    """A table, any two sets of its rows, and the split of them."""
    table = draw(tables())
    rows = st.lists(st.sampled_from(range(len(table["group"]))), unique=True, min_size=1)
    queries, gallery = draw(rows), draw(rows)
    promises = Promises(
        items=draw(st.sampled_from(["apart", "ignored"])),
        groups=draw(st.sampled_from(["equal", "within", "disjoint", "unstated"])),
        views=draw(st.sampled_from(["other", "unstated"])),
    )
    condition = draw(
        st.sampled_from([SameGroup(), SameGroup(other_view=True), SameClassOtherGroup(), SharedLabel()])
    )
    options: dict[str, Any] = {"group": "group", "view": "view", "label": "label"}
    return (
        table,
        queries,
        gallery,
        given_split(table, queries, gallery, **options, relevant=condition, promises=promises),
    )


def naive_relevance(
    split: Split, table: dict[str, list[int]], queries: list[int], gallery: list[int]
) -> dict[tuple[int, int], bool]:
    """Relevant (True) and ignored (False) pairs by the words of the condition, pair by pair."""
    found = {}
    for query in queries:
        for item in gallery:
            same = {name: values[query] == values[item] for name, values in table.items()}
            condition = split.condition
            if query == item:
                found[query, item] = False
            elif isinstance(condition, SameGroup):
                if same["group"]:
                    found[query, item] = not (condition.other_view and same["view"])
            elif isinstance(condition, SameClassOtherGroup):
                if same["group"]:
                    found[query, item] = False
                elif same["label"]:
                    found[query, item] = True
            elif same["label"]:
                found[query, item] = True
    return found


def pairs_of(relevance: Relevance) -> dict[tuple[Any, Any], bool]:
    owner = relevance.query_of_entry().tolist()
    items = relevance.items.take(relevance.rows.tolist())
    flags = relevance.ignored.tolist()
    return {(relevance.queries[row], item): not flag for row, item, flag in zip(owner, items, flags, strict=True)}


@given(given_splits())
@settings(max_examples=150)
def test_a_proof_holds_exactly_where_every_property_does(
    drawn: tuple[dict[str, list[int]], list[int], list[int], Split],
) -> None:
    table, queries, gallery, split = drawn
    wanted = naive_relevance(split, table, queries, gallery)
    assert pairs_of(split.relevance) == wanted
    groups = {table["group"][row] for row in queries}, {table["group"][row] for row in gallery}
    promises = split.promises
    properties = {
        "items": promises.items == "ignored" or not set(queries) & set(gallery),
        "groups": {
            "equal": groups[0] == groups[1],
            "within": groups[0] <= groups[1],
            "disjoint": not groups[0] & groups[1],
            "unstated": True,
        }[promises.groups],
        "views": promises.views == "unstated"
        or not any(right and table["view"][q] == table["view"][i] for (q, i), right in wanted.items()),
        "answers": all(any(right and q == query for (q, _), right in wanted.items()) for query in queries),
        "relevance": True,
        "counts": True,
    }
    assert {claim.name: claim.status == "holds" for claim in split.proof.claims} == properties
    assert split.proof.holds == all(properties.values())


@st.composite
def proven(draw: st.DrawFn) -> Split:
    scenes = draw(st.integers(2, 6))
    table = {
        "scene": [scene for scene in range(scenes) for _ in (0, 1)],
        "view": [0, 1] * scenes,
        "label": [scene % 2 for scene in range(scenes) for _ in (0, 1)],
    }
    if draw(st.booleans()):
        return leave_one_out(table, group="scene", view="view")
    return by_view(table, group="scene", view="view", query=0, gallery=1, label="label")


def without_pair(relevance: Relevance, entry: int) -> Relevance:
    keep = np.arange(len(relevance.rows)) != entry
    owner = relevance.query_of_entry()[keep]
    offsets = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=len(relevance)))))
    kept = (relevance.rows[keep], relevance.grades[keep], relevance.ignored[keep])
    return Relevance(relevance.queries, relevance.items, offsets, *kept)


def moved(column: Column, row: int, code: int) -> Column:
    codes = column.codes.copy()
    codes[row] = code
    return Column((*column.values, 999), codes)


MUTATIONS = (
    "pair gone",
    "pair ignored",
    "pair judged wrong",
    "group",
    "own view",
    "query gone",
    "item on both sides",
)


def other_answers(split: Split, what: str, place: int) -> Relevance:
    relevance = split.relevance
    if what == "pair gone":
        return without_pair(relevance, place % len(relevance.rows))
    entry = int(np.flatnonzero(~relevance.ignored)[place % int((~relevance.ignored).sum())])
    grades, ignored = relevance.grades.copy(), relevance.ignored.copy()
    grades[entry] = 0.0
    ignored[entry] = what == "pair ignored"
    return Relevance(relevance.queries, relevance.items, relevance.offsets, relevance.rows, grades, ignored)


def mutated(split: Split, what: str, place: int) -> Split:
    queries, gallery = split.queries, split.gallery
    row = place % len(queries)
    if what.startswith("pair"):
        return replace(split, relevance=other_answers(split, what, place))
    if what == "group":
        assert queries.group is not None
        return replace(split, queries=replace(queries, group=moved(queries.group, row, len(queries.group.values))))
    if what == "own view":
        promises = replace(split.promises, views="apart")
        return replace(split, gallery=replace(gallery, view=queries.view), promises=promises)
    if what == "query gone":
        return replace(split, queries=queries.taken(np.flatnonzero(np.arange(len(queries)) != row)))
    if split.promises.items == "ignored":  # every item is on both sides: forget to ignore one for itself
        own = np.flatnonzero(split.relevance.ignored)
        return replace(split, relevance=without_pair(split.relevance, int(own[place % len(own)])))
    ids = list(gallery.ids)
    ids[place % len(ids)] = queries.ids[row]
    return replace(split, gallery=replace(gallery, ids=Ids(ids)))


@given(proven(), st.sampled_from(MUTATIONS), st.integers(0, 100))
@settings(max_examples=150)
def test_a_proof_never_holds_when_a_property_was_broken(split: Split, what: str, place: int) -> None:
    assert split.proof.holds
    assert split.proven_anew().proof == split.proof
    broken = mutated(split, what, place).proven_anew()
    assert not broken.proof.holds, what
    assert broken.proof.fingerprints != split.proof.fingerprints or what == "own view"
    try:
        broken.require()
    except ProofError as refused:
        assert all(name in str(refused) for name in broken.proof.failed)
    else:
        raise AssertionError(what)


@given(tables(), st.integers(0, 5))
@settings(max_examples=60)
def test_parts_by_group_are_proven_and_torn_ones_are_not(table: dict[str, list[int]], seed: int) -> None:
    groups = table["group"]
    torn = parts_by_column(table, group="group", part="view")
    shared = any(
        groups[one] == groups[other] and table["view"][one] != table["view"][other]
        for one in range(len(groups))
        for other in range(one)
    )
    assert torn.proof.holds == (not shared and len(set(table["view"])) > 1)
    if len(set(groups)) < 2:
        return
    made = [parts_by_group(table, group="group", shares={"a": 0.5, "b": 0.5}, seed=seed)]
    made += group_folds(table, group="group", n_splits=2, seed=seed)
    for partition in made:
        assert partition.proof.holds
        first, second = (side for side in partition.parts.values())
        name = next(iter(partition.parts))
        ids = [*first.ids, second.ids[0]]
        mixed = Side(Ids(ids), group=Column.of([groups[int(one)] for one in ids]))
        assert not replace(partition, parts={**partition.parts, name: mixed}).proven_anew().proof.holds


@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 25.0, 400.0, 3e4, 9e6]), st.booleans())
@settings(max_examples=60)
def test_places_within_a_radius_are_those_of_all_distances(seed: int, radius: float, degrees: bool) -> None:
    rng = np.random.default_rng(seed)
    if degrees:
        centre = np.array([rng.choice([0, 60, 89.9999, -90]), rng.choice([0, 24, 179.9999, -180])])
        spread = np.degrees(radius / 6.4e6) * 2
        first, second = (centre + rng.uniform(-spread, spread, (40, 2)) for _ in range(2))
        first[:, 0], second[:, 0] = np.clip(first[:, 0], -90, 90), np.clip(second[:, 0], -90, 90)
        first[:, 1], second[:, 1] = np.clip(first[:, 1], -360, 360), np.clip(second[:, 1], -360, 360)
    else:
        first, second = (np.round(rng.uniform(-3, 3, (40, 2)) * 4) * radius / 4 for _ in range(2))
    coordinates: Any = "degrees" if degrees else "metres"
    query, item = pairs_within(first, second, radius, coordinates)
    all_pairs = np.array([(q, i) for q in range(40) for i in range(40)])
    near = distances(first[all_pairs[:, 0]], second[all_pairs[:, 1]], coordinates) <= radius
    assert np.array_equal(np.column_stack((query, item)), all_pairs[near])
