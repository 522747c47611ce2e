"""Whether an exact answer's parts agree with each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, Problems, first_few
from visual_search.ground_truth.exact_answers import ExactAnswers
from visual_search.ground_truth.gallery_ids import GalleryIds
from visual_search.ground_truth.truth_scope import TruthScope

__all__ = ["check_answers"]


def check_answers(answers: ExactAnswers, *, queries: int, gallery: GalleryIds, scope: TruthScope) -> None:
    """Refuse answers that no exact search can have given.

    Raises
    ------
    InputError
        All contradictions, each with its first queries (row numbers).
    """
    problems = Problems("exact neighbours")
    positions, distances = answers.positions, answers.distances
    if len(positions) != queries:
        problems.add(f"{len(positions)} answers for {queries} query ids; give one id per query, in order")
    if positions.ndim != 2 or not positions.shape[1]:
        problems.add(f"positions have shape {positions.shape}; (queries, k) with k from 1 is needed")
        problems.raise_if_any(InputError)
    if gallery.kind is int and gallery.rows(np.array([-1]))[0] >= 0:
        problems.add("gallery_ids: -1 is an id, but marks places that an engine could not fill; rename it")

    def note(wrong: Any, words: str) -> None:
        rows = np.flatnonzero(wrong)
        if rows.size:
            problems.add(f"{words} in {rows.size} queries, first rows: {first_few(rows.tolist())}")

    there = positions >= 0
    lengths = there.sum(axis=1)
    note((there[:, 1:] & ~there[:, :-1]).any(axis=1), "places are left empty before the last neighbour")
    note((positions >= len(gallery)).any(axis=1), f"positions beyond the gallery of {len(gallery)} rows")
    with np.errstate(invalid="ignore"):  # infinity less infinity, after the end of a short answer
        note((np.diff(distances, axis=1) < 0).any(axis=1), "distances fall")
    note((there & ~np.isfinite(distances)).any(axis=1), "distances are NaN or infinite")
    note(
        (~there & ~np.isposinf(distances)).any(axis=1), "distances after the end of a short answer are not infinite"
    )
    rising = np.sort(positions, axis=1)
    note(((rising[:, 1:] == rising[:, :-1]) & (rising[:, 1:] >= 0)).any(axis=1), "a gallery row appears twice")
    if len(positions) == queries:
        note(lengths != _expected_lengths(positions.shape, scope, problems), _length_words(scope))
    _check_ties(answers, len(gallery), lengths, problems)
    problems.raise_if_any(InputError)


def _expected_lengths(shape: tuple[int, ...], scope: TruthScope, problems: Problems) -> npt.NDArray[np.int64]:
    full = np.full(shape[0], shape[1], dtype=np.int64)
    if scope.subset_sizes is None:
        return full
    if scope.subset_sizes.shape != (shape[0],):
        problems.add(f"scope: {scope.subset_sizes.size} subset sizes for {shape[0]} queries")
        return full
    return np.minimum(full, scope.subset_sizes)


def _length_words(scope: TruthScope) -> str:
    if scope.kind == "filtered":
        return "the answer has not min(k, subset size) neighbours"
    return "fewer than k neighbours, which only a filtered truth may have,"


def _check_ties(answers: ExactAnswers, gallery: int, lengths: npt.NDArray[np.int64], problems: Problems) -> None:
    offsets, tied = answers.tie_offsets, answers.tie_positions
    counts = np.diff(offsets)
    if offsets[0] != 0 or (counts < 0).any():
        problems.add("tie_offsets must start at 0 and never fall")
        return
    if tied.size and (tied.min() < 0 or tied.max() >= gallery):
        problems.add(f"tie_positions must lie in 0..{gallery - 1}; got {tied.min()}..{tied.max()}")
        return
    query = np.repeat(np.arange(len(counts)), counts)
    short = np.flatnonzero((counts > 0) & (lengths < answers.positions.shape[1]))
    if short.size:
        problems.add(f"answers shorter than k have ties beyond them, first rows: {first_few(short.tolist())}")
    answer_query, _ = np.nonzero(answers.positions >= 0)
    keys = np.concatenate(
        (query * gallery + tied, answer_query * gallery + answers.positions[answers.positions >= 0])
    )
    keys.sort()
    repeated = keys[1:][keys[1:] == keys[:-1]]
    if tied.size and repeated.size:
        rows = np.unique(repeated // max(gallery, 1))
        problems.add(f"ties are in the answer, or appear twice, first rows: {first_few(rows.tolist())}")
