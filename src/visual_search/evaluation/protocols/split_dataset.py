"""A split as an evaluation dataset, and the split's proof in the record of what was measured on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from visual_search.errors import FingerprintError, first_few
from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.evaluation.fingerprints import fingerprint_ids, fingerprint_pairs
from visual_search.evaluation.folds import group_codes
from visual_search.evaluation.protocols.split import Split
from visual_search.formats.evaluation_query import EvaluationQuery
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id, Ids

__all__ = ["dataset_of_split", "protocol_record"]


def dataset_of_split(
    split: Split, *, image_paths: Mapping[Id, str] | None = None, name: str | None = None
) -> EvaluationDataset:
    """The split's queries with their right answers and what is ignored, for `ModelEvaluator` and ``evaluate``.

    Parameters
    ----------
    split : Split
        Its proof must hold.
    image_paths : mapping of query id to path, optional
        Where the query images are; not needed where vectors are given.
    name : str, optional
        The dataset's name.

    Returns
    -------
    EvaluationDataset

    Examples
    --------
    >>> from visual_search.evaluation.protocols.query_gallery import leave_one_out
    >>> split = leave_one_out({"person": ["ann", "ann", "bo", "bo"]}, group="person")
    >>> dataset = dataset_of_split(split)
    >>> dataset.queries[0].ground_truth, dataset.queries[0].ignored, dataset.queries[0].group
    ([1], (0,), 'ann')
    """
    split.require()
    relevance, paths = split.relevance, image_paths or {}
    groups: list[Id] | list[None] = split.groups or [None] * len(split.queries)
    queries = []
    for row, (query, group) in enumerate(zip(relevance.queries, groups, strict=True)):
        span = slice(int(relevance.offsets[row]), int(relevance.offsets[row + 1]))
        skipped = relevance.rows[span][relevance.ignored[span]]
        queries.append(
            EvaluationQuery(
                query,
                relevance.judged(query),
                image_path=paths.get(query),
                group=None if group is None else str(group),
                ignored=tuple(relevance.items.take(skipped.tolist())),
            )
        )
    return EvaluationDataset.from_queries(queries, name=name)


def protocol_record(
    protocol: Mapping[str, Any] | Split | None,
    relevance: Relevance,
    gallery: Ids | None,
    groups: Sequence[object] | None = None,
) -> Mapping[str, Any] | None:
    """What the record says of the protocol; of a split, once it is found to be what was measured on.

    Parameters
    ----------
    protocol : Split, mapping or None
    relevance : Relevance
        The right answers that were measured on.
    gallery : Ids or None
        The items that were searched, where they are known.
    groups : sequence of one a query of ``relevance``, optional
        Over which intervals are drawn; None where they are not to be looked at.

    Raises
    ------
    ProofError
        The split does not hold what it promises.
    FingerprintError
        The dataset has other queries, right answers or groups than the split, or another gallery was searched; the
        message says which.
    """
    if not isinstance(protocol, Split):
        return protocol
    protocol.require()
    pairs = (protocol.relevance, relevance)
    right = [fingerprint_pairs(one, ~one.ignored & (one.grades >= 1)) for one in pairs]
    ignored = [fingerprint_pairs(one, one.ignored) for one in pairs]
    asked = [fingerprint_ids(one.queries) for one in pairs]
    different = [
        what
        for what, (first, second) in (("queries", asked), ("right answers", right), ("ignored pairs", ignored))
        if first != second
    ]
    if not different and groups is not None and not _same_groups(protocol, relevance.queries, groups):
        different = ["groups of the queries"]
    if different:
        raise FingerprintError(
            f"protocol: the dataset is not the split's; {' and '.join(different)} differ. Make the dataset with "
            "dataset_of_split(split), or give the protocol as name and words"
        )
    if gallery is not None:
        _check_gallery(protocol.gallery_ids, gallery)
    return protocol.record()


def _same_groups(split: Split, queries: Ids, groups: Sequence[object]) -> bool:
    """Whether queries are of one group in the dataset exactly where they are in the split, whatever its name."""
    if split.groups is None:
        return True
    owners = dict(zip(split.query_ids, split.groups, strict=True))
    ours = group_codes([owners[query] for query in queries])
    return bool(np.array_equal(ours, group_codes(list(groups))))


def _check_gallery(promised: Ids, searched: Ids) -> None:
    more = [item for item in searched if item not in promised]
    lacking = [item for item in promised if item not in searched]
    if more or lacking:
        told = [
            f"{words} {first_few(items, 3)}"
            for words, items in (
                (f"{len(more)} items more, such as", more),
                (f"{len(lacking)} items fewer, such as", lacking),
            )
            if items
        ]
        raise FingerprintError(
            f"protocol: the index is not the split's gallery of {len(promised)} items; it has {' and '.join(told)}. "
            "Index the gallery alone: what is searched beside it pushes right answers down"
        )
