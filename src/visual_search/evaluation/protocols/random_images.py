"""Random images as queries: refused, since it tears groups apart, unless asked for by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from visual_search.counted import counted
from visual_search.errors import InputError, ProofError
from visual_search.evaluation.protocols.conditions import Condition, condition_named
from visual_search.evaluation.protocols.metadata import Metadata, Table
from visual_search.evaluation.protocols.proving import Promises
from visual_search.evaluation.protocols.split import Split, make_split
from visual_search.evaluation.seeds import seeded
from visual_search.ids import Id

__all__ = ["random_images"]


def random_images(
    table: Table,
    *,
    group: str,
    queries: int,
    seed: int,
    allow_shared_groups: bool = False,
    item: str | None = None,
    view: str | None = None,
    label: str | None = None,
    relevant: str | Condition = "same-group",
    where: Mapping[str, Id | Sequence[Id]] | None = None,
) -> Split:
    """Draw queries image by image, without a look at groups and views: the classic mistake.

    Parameters
    ----------
    table, group, item, view, label, relevant, where
        As for `by_view`.
    queries : int
        How many images ask; the others are the gallery.
    seed : int
    allow_shared_groups : bool
        Make the split nevertheless. What it breaks is marked in its proof and in every result under it.

    Returns
    -------
    Split
        With ``allowed`` claims.

    Raises
    ------
    ProofError
        Unless allowed by name; the message says what this very draw breaks, in numbers.

    Examples
    --------
    >>> table = {"scene": ["a", "a", "b", "b", "c", "c"], "view": [0, 1, 0, 1, 0, 1]}
    >>> split = random_images(table, group="scene", view="view", queries=3, seed=0, allow_shared_groups=True)
    >>> split.proof.holds, split.proof.marked
    (True, ('groups', 'views', 'answers'))
    """
    metadata = Metadata(table, where=where)
    everything = metadata.side(item, group=group, view=view, label=label)
    if not 0 < queries < len(everything):
        raise InputError(
            f"queries={queries}: of {len(everything)} images at least one must ask and one be searched"
        )
    order = seeded(seed).permutation(len(everything))
    split = make_split(
        protocol="random-images",
        words=f"{counted(queries, 'image', 'images')} drawn with seed {seed} ask, the others are searched",
        queries=everything.taken(np.sort(order[:queries])),
        gallery=everything.taken(np.sort(order[queries:])),
        condition=condition_named(relevant),
        promises=Promises(
            groups="equal",
            views="unstated" if view is None else "apart",
            allowed=("groups", "views", "answers"),
        ),
        options={
            "table": metadata.name,
            "group": group,
            "queries": queries,
            "seed": seed,
            "allow_shared_groups": True,
        },
        warnings=(
            (
                "drawn image by image: pictures of one group fall on one side, so that queries lack an answer, and "
                "near copies of one view fall on both; numbers of such a split do not compare with those of a "
                "proven one"
            ),
        ),
    )
    if not allow_shared_groups:
        broken = [claim for claim in split.proof.claims if claim.status == "allowed"]
        lines = [f"  - {claim.name}: {claim.words}" for claim in broken]
        what = "\n".join(lines or ["  - this draw breaks nothing, which another seed would"])
        raise ProofError(
            f"refused: a random split of images does not look at {group}"
            f"{'' if view is None else f' and {view}'}. This draw:\n{what}\n"
            "take a view of each group as query and another as gallery (by_view), or one query per group; or ask for "
            "it by name, allow_shared_groups=True, and its results will be marked"
        )
    return split
