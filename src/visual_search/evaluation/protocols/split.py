"""A split: which items are queries and which are the gallery, what the right answers are, and its proof."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from visual_search.counted import counted
from visual_search.errors import InputError
from visual_search.evaluation.protocols.conditions import Condition
from visual_search.evaluation.protocols.group_names import groups_alike
from visual_search.evaluation.protocols.listed_pairs import ListedPairs
from visual_search.evaluation.protocols.proof import Proof
from visual_search.evaluation.protocols.proving import Promises, prove
from visual_search.evaluation.protocols.refusals import refuse_senseless
from visual_search.evaluation.protocols.sides import Side
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id, Ids

__all__ = ["Split", "Unanswered", "make_split"]

Unanswered: TypeAlias = Literal["fail", "leave out"]

_NO_GROUPS = (
    "no group of the queries is known, so that intervals are drawn over single queries as if they were independent; "
    "where several are of one scene, identity or place, name its column"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Split:
    """Queries, gallery, right answers and the proof that they are what the protocol promises.

    Attributes
    ----------
    protocol, words : str
        Its name, and how queries and gallery were chosen, in a sentence.
    queries, gallery : Side
        Ids, and for each item its group, view, label and place where they are known.
    condition : Condition
        What makes an item a right answer.
    relevance : Relevance
        The right answers, ignored pairs among them.
    promises : Promises
        What the protocol promises.
    proof : Proof
        What was found.
    left_out : tuple of ids
        Queries without a right answer that were left out because the caller, or the field's rules, said so.
    warnings : tuple of str
        What to bear in mind with the numbers.
    options : mapping
        How it was made, as JSON values.
    """

    protocol: str
    words: str
    queries: Side
    gallery: Side
    condition: Condition
    relevance: Relevance
    promises: Promises
    proof: Proof
    left_out: tuple[Id, ...] = ()
    warnings: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def query_ids(self) -> Ids:
        """Ids of the queries."""
        return self.queries.ids

    @property
    def gallery_ids(self) -> Ids:
        """Ids of the gallery."""
        return self.gallery.ids

    @property
    def groups(self) -> list[Id] | None:
        """Group of each query, over which intervals are drawn; None where no group is known."""
        return None if self.queries.group is None else self.queries.group.rows()

    def groups_where(self) -> dict[Id, tuple[int, int]]:
        """Which groups are where: for each its number of queries and of gallery items."""
        counts: dict[Id, list[int]] = {}
        for place, side in enumerate((self.queries, self.gallery)):
            for group in [] if side.group is None else side.group.rows():
                counts.setdefault(group, [0, 0])[place] += 1
        return {group: (queries, gallery) for group, (queries, gallery) in counts.items()}

    def require(self) -> Split:
        """Give this split, if its proof holds.

        Raises
        ------
        ProofError
            It does not; the message has every claim that fails.
        """
        self.proof.require(self.protocol)
        return self

    def proven_anew(self) -> Split:
        """The same split with its proof made again from what it holds now."""
        return replace(self, proof=_proof(self))

    def reversed(self) -> Split:
        """The other direction: the gallery asks, the queries are searched."""
        condition = self.condition
        if isinstance(condition, ListedPairs):
            condition = condition.transposed(self.queries, self.gallery)
        groups = self.promises.groups
        return make_split(
            protocol=self.protocol,
            words=f"{self.words}; the other way round, from the gallery to the queries",
            queries=self.gallery,
            gallery=self.queries,
            condition=condition,
            promises=replace(self.promises, groups=groups),
            unanswered="leave out" if groups == "within" else "fail",
            options={**self.options, "reversed": not self.options.get("reversed", False)},
        )

    def record(self) -> dict[str, Any]:
        """What a result says of the split it was measured under: name, words, warnings, and the proof."""
        left_out = f"; {counted(len(self.left_out), 'query', 'queries')} without an answer left out"
        return {
            "name": self.protocol,
            "words": self.words + (left_out if self.left_out else ""),
            "condition": self.condition.words,
            "warnings": list(self.warnings),
            "left_out": len(self.left_out),
            "proof": self.proof.as_json(),
        }

    def summary(self) -> str:
        """The split and its proof in words."""
        told = [f"{self.protocol}: {self.words}", f"right answers: {self.condition.words}"]
        if self.left_out:
            number = counted(len(self.left_out), "query", "queries")
            told.append(f"left out: {number} without a right answer, first {self.left_out[0]!r}")
        return "\n".join([*told, self.proof.words(), *(f"warning: {one}" for one in self.warnings)])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the split whole: Parquet where the name ends in ``.parquet``, else JSON."""
        from visual_search.evaluation.protocols.split_files import write_split

        write_split(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Split:
        """Read a split and prove it again.

        Raises
        ------
        FileFormatError
            Not a split, cut off, or its proof is not that of its content.
        """
        from visual_search.evaluation.protocols.split_files import read_split

        found = read_split(path)
        if not isinstance(found, Split):
            raise InputError(f"{os.fspath(path)}: holds parts by group, no queries and gallery; use Partition.load")
        return found

    def __repr__(self) -> str:
        holds = "holds" if self.proof.holds else f"fails: {', '.join(self.proof.failed)}"
        return f"Split({self.protocol}, {len(self.queries)} queries, {len(self.gallery)} in the gallery, proof {holds})"


def make_split(
    *,
    protocol: str,
    words: str,
    queries: Side,
    gallery: Side,
    condition: Condition,
    promises: Promises,
    unanswered: Unanswered = "fail",
    options: Mapping[str, Any] | None = None,
    warnings: tuple[str, ...] = (),
) -> Split:
    """Find the right answers, and prove what is promised.

    Raises
    ------
    ProofError
        Numbers of such a split would say nothing, whatever the model; the message says why.
    InputError
        The condition needs a column that was not named.
    """
    if unanswered not in ("fail", "leave out"):
        raise InputError(f"unanswered={unanswered!r}: one of fail, leave out")
    refuse_senseless(queries, gallery, condition, promises)
    relevance = condition.relevance(queries, gallery, shared_ids=promises.shared_ids)
    left_out: tuple[Id, ...] = ()
    if unanswered == "leave out":
        right = (relevance.grades >= 1) & ~relevance.ignored
        number = np.bincount(relevance.query_of_entry()[right], minlength=len(queries))
        if not number.all():
            kept = np.flatnonzero(number)
            left_out = tuple(queries.ids.take(np.flatnonzero(number == 0).tolist()))
            if isinstance(condition, ListedPairs):
                condition = condition.of_queries(queries, gallery, kept.tolist())
            queries = queries.taken(kept)
            relevance = condition.relevance(queries, gallery, shared_ids=promises.shared_ids)
    return Split(
        protocol=protocol,
        words=words,
        queries=queries,
        gallery=gallery,
        condition=condition,
        relevance=relevance,
        promises=promises,
        proof=prove(queries, gallery, relevance, wanted=relevance, promises=promises),
        left_out=left_out,
        warnings=(
            *condition.warnings,
            *warnings,
            *(() if queries.group is not None else (_NO_GROUPS,)),
            *groups_alike(
                value for side in (queries, gallery) for value in (() if side.group is None else side.group.used())
            ),
        ),
        options=dict(options or {}),
    )


def _proof(split: Split) -> Proof:
    wanted = split.condition.relevance(split.queries, split.gallery, shared_ids=split.promises.shared_ids)
    return prove(split.queries, split.gallery, split.relevance, wanted=wanted, promises=split.promises)
