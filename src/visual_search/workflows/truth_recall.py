"""What an index returned, from a file, held against a truth: recall query by query, and whose a loss is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from visual_search.counted import counted
from visual_search.errors import DepthError, FileFormatError, InputError, Problems, first_few
from visual_search.evaluation.neighbor_recall import neighbor_recall_table
from visual_search.evaluation.neighbor_recall_table import NeighborRecallTable
from visual_search.formats.outputs import refuse_overwriting
from visual_search.formats.vectors import read_vectors
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.ground_truth.gallery_ids import GalleryIds
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Ids
from visual_search.rankings.id_lists import IdLists
from visual_search.rankings.ranking import Ranking
from visual_search.reports.attribution_section import attribution_section
from visual_search.reports.recall_section import recall_section
from visual_search.reports.section_page import write_section_page
from visual_search.reports.truth_section import truth_section
from visual_search.tuning.attributed_loss import IndexAttribution
from visual_search.tuning.attribution import attribute_loss
from visual_search.workflows.score_files import read_ranking, read_relevance

__all__ = ["HeldAgainstTruth", "recall_of_file"]

Place: TypeAlias = "str | os.PathLike[str]"
_ARRAYS = {".npy", ".ivecs", ".ibin"}


@dataclass(frozen=True, slots=True, eq=False)
class HeldAgainstTruth:
    """What came out.

    Attributes
    ----------
    tables : tuple of NeighborRecallTable
        One for each depth, rising.
    attribution : IndexAttribution or None
        Where right answers were given.
    notes : tuple of str
        What was done without being asked.
    """

    tables: tuple[NeighborRecallTable, ...]
    attribution: IndexAttribution | None
    notes: tuple[str, ...] = ()

    def as_json(self, *, threshold: float, worst: int) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "recall": [table.as_json(threshold=threshold, worst=worst) for table in self.tables],
            "attribution": None if self.attribution is None else self.attribution.as_json(),
            "notes": list(self.notes),
        }

    def text(self, *, threshold: float, worst: int) -> str:
        """For a terminal."""
        parts = [table.text(threshold=threshold, worst=worst).strip() for table in self.tables]
        if self.attribution is not None:
            parts.append(self.attribution.text())
        return "\n\n".join([*parts, *self.notes])


def recall_of_file(
    returned: Place,
    truth: Place,
    *,
    k: Sequence[int],
    qrels: Place | None = None,
    report: Place | None = None,
    threshold: float = 0.9,
    worst: int = 10,
) -> HeldAgainstTruth:
    """Read what an index returned and hold it against a truth.

    Parameters
    ----------
    returned : path
        A run (TREC text, Parquet or JSON), or an array of ids (``.npy``, ``.ivecs``, ``.ibin``) with a line for each
        query of the truth, in its order; -1 marks a place that was not filled.
    truth : path
        Written by ``truth build``.
    k : sequence of int
        Depths, each at most the truth's.
    qrels : path, optional
        Right answers; what the index gets wrong is then told apart from what its vectors get wrong.
    report : path, optional
        HTML page to write.
    threshold : float
        The share of queries below it is told.
    worst : int
        So many queries are named.

    Raises
    ------
    FileFormatError, InputError
        A file that is none of these; no depth; ids that are numbers in the truth and no numbers in the file.
    DepthError, UnknownIdError
        k beyond the truth; ids that the truth's gallery does not have.

    Convention
    ----------
    Where the truth's ids are whole numbers, such as rows, the text ids of a run or of right answers are read as such.
    A query of the truth that a run does not have counts as an empty list, since a run cannot hold one.
    """
    refuse_overwriting({"--report": report}, [returned, truth, qrels])
    depths = sorted(set(k))
    problems = Problems("recall")
    if not depths or depths[0] < 1:
        problems.add(f"k: {list(k)}; at least one depth from 1 is needed")
    if not 0 <= threshold <= 1:
        problems.add(f"threshold: got {threshold}; a recall from 0 to 1 is needed, such as 0.9")
    if worst < 0:
        problems.add(f"worst: got {worst}; 0 or more queries can be named")
    problems.raise_if_any(InputError)
    exact = ExactNeighbors.load(truth)
    if depths[-1] > exact.k:
        raise DepthError(f"k = {depths[-1]}, but {os.fspath(truth)} is {exact.k} deep; build a deeper truth")
    lists, notes = _returned(returned, exact)
    tables = tuple(neighbor_recall_table(lists, exact, depth) for depth in depths)
    attribution = None
    if qrels is not None:
        relevance, _ = read_relevance(qrels)
        attribution = attribute_loss(
            lists, exact, _numbered_relevance(relevance, exact, qrels), k=depths, index=Path(returned).name
        )
    found = HeldAgainstTruth(tables, attribution, notes)
    if report is not None:
        _write(found, exact, report, title=Path(returned).name, threshold=threshold, worst=worst)
    return found


def _returned(path: Place, truth: ExactNeighbors) -> tuple[Ranking | IdLists, tuple[str, ...]]:
    if Path(path).suffix.lower() not in _ARRAYS:
        return _with_empty_lists(_numbered_ranking(read_ranking(path), truth, path), truth)
    return _id_lists(path, truth), ()


def _id_lists(path: Place, truth: ExactNeighbors) -> IdLists:
    held = read_vectors(path, mmap=False).vectors
    if held.dtype.kind not in "iu":
        raise FileFormatError(f"{os.fspath(path)}: numbers of type {held.dtype}; ids, whole numbers, are needed")
    if len(held) != len(truth):
        raise InputError(
            f"{os.fspath(path)}: {len(held):,} lists for the {len(truth):,} queries of the truth; one a query is "
            "needed, in its order"
        )
    if len(truth.gallery) and truth.gallery.kind is str:
        raise InputError(
            f"{os.fspath(path)} has whole numbers, and the truth's items are named, as {_examples(truth.gallery)}; "
            "give a run with their names"
        )
    if held.dtype == np.uint64 and (beyond := held > np.iinfo(np.int64).max).any():
        raise InputError(
            f"{os.fspath(path)}: {int(beyond.sum()):,} ids that 64 bits with a sign do not hold, first: "
            f"{first_few(held[beyond][:5].tolist())}; write -1 for places that were not filled, and the truth's ids"
        )
    return IdLists(held.astype(np.int64), query_ids=truth.queries)


def _numbered_ranking(ranking: Ranking, truth: ExactNeighbors, path: Place) -> Ranking:
    return Ranking(
        _as_in(ranking.queries, truth.queries, path),
        _as_in(ranking.items, truth.gallery, path),
        ranking.offsets,
        ranking.rows,
        ranking.scores,
        cut_ties=ranking.cut_ties,
        notes=ranking.notes,
        scored=ranking.scored,
    )


def _with_empty_lists(ranking: Ranking, truth: ExactNeighbors) -> tuple[Ranking, tuple[str, ...]]:
    known = ranking.queries
    absent = [query for query in truth.queries if query not in known]
    if not absent or len(absent) == len(truth):  # where none matches, the join says what is wrong
        return ranking, ()
    fate = (
        "is missing from the run and counts as an empty list"
        if len(absent) == 1
        else ("are missing from the run and count as empty lists")
    )
    cut = ranking.cut_ties
    whole = Ranking(
        known.extended(absent),
        ranking.items,
        np.concatenate((ranking.offsets, np.full(len(absent), ranking.offsets[-1]))),
        ranking.rows,
        ranking.scores,
        cut_ties=None if cut is None else np.concatenate((cut, np.zeros(len(absent), dtype=np.bool_))),
        notes=ranking.notes,
        scored=ranking.scored,
    )
    who = counted(len(absent), "query of the truth", "queries of the truth")
    return whole, (f"{who} {fate}: {first_few(absent)}",)


def _numbered_relevance(relevance: Relevance, truth: ExactNeighbors, path: Place) -> Relevance:
    return Relevance(
        _as_in(relevance.queries, truth.queries, path),
        _as_in(relevance.items, truth.gallery, path),
        relevance.offsets,
        relevance.rows,
        relevance.grades,
        relevance.ignored,
    )


def _as_in(ours: Ids, theirs: Ids | GalleryIds, path: Place) -> Ids:
    """Ids of a text file as whole numbers where the truth has such."""
    if not len(ours) or not len(theirs) or ours.kind is theirs.kind or theirs.kind is str:
        return ours
    names = [str(one) for one in ours]
    wrong = [name for name in names if not name.removeprefix("-").isdecimal() or str(int(name)) != name]
    if wrong:
        raise InputError(
            f"{os.fspath(path)}: the truth's ids are whole numbers, such as {_examples(theirs)}, and "
            f"{len(wrong):,} here are not, first {first_few(wrong)}; both must name things alike"
        )
    return Ids([int(name) for name in names])


def _examples(ids: Ids | GalleryIds) -> str:
    return first_few(ids.take(range(min(2, len(ids)))), 2)


def _write(
    found: HeldAgainstTruth, truth: ExactNeighbors, out: Place, *, title: str, threshold: float, worst: int
) -> None:
    sections = [truth_section(truth)]
    for table in found.tables:
        depth = table.measure.k_number
        sections.append(
            recall_section(
                table,
                anchor=f"recall-{depth}",
                title=f"What the index misses among the first {depth}",
                threshold=threshold,
                worst=worst,
            )
        )
    if found.attribution is not None:
        sections.append(attribution_section(found.attribution))
    write_section_page(sections, out, title=title)
