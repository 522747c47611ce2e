"""Result files to a comparison or a verdict; what ``visual-search compare`` and ``gate`` do."""

from __future__ import annotations

import os
from collections.abc import Sequence

from visual_search.errors import FileFormatError, InputError, Problems
from visual_search.evaluation.comparison import Comparison, compare
from visual_search.evaluation.gate import GateResult, gate
from visual_search.evaluation.statistics.interval import Resampling
from visual_search.formats.companions import without_companions
from visual_search.formats.results import StoredResult, read_result

__all__ = ["compare_files", "gate_files"]


def compare_files(
    results: Sequence[str | os.PathLike[str]],
    measures: Sequence[str] | None = None,
    *,
    baseline: str | None = None,
    all_pairs: bool = False,
    confidence: float = 0.95,
    seed: int = 0,
    despite: str | None = None,
) -> Comparison:
    """Compare results that lie on disk.

    Parameters
    ----------
    results : sequence of path
        Results JSON files; each is named after its model, with its file where two have one name. Files that belong to
        one of them (``results/*.json`` names them too) are left out.
    measures, all_pairs, despite
        As for :func:`visual_search.evaluation.comparison.compare`.
    baseline : str, optional
        Model or file of the result that the others are held against; the first where left out.
    confidence : float
    seed : int

    Raises
    ------
    InputError
        No result is named after the baseline, or several are; one file given twice; and what ``compare`` refuses.
    """
    stored = _read(without_companions(results))
    paths = [one.path.resolve() for one in stored]
    if twice := sorted({str(one.path) for one, path in zip(stored, paths, strict=True) if paths.count(path) > 1}):
        raise InputError(f"results: {', '.join(twice)} given twice; a result does not differ from itself")
    if baseline is not None:
        stored = _first(stored, baseline)
    return compare(
        dict(zip(_names(stored), stored, strict=True)),
        measures or None,
        all_pairs=all_pairs,
        resampling=Resampling(resamples=10_000, confidence=confidence, seed=seed),
        despite=despite,
    )


def gate_files(
    candidate: str | os.PathLike[str],
    baseline: str | os.PathLike[str],
    measure: str,
    margin: float,
    *,
    confidence: float = 0.95,
    seed: int = 0,
    despite: str | None = None,
) -> GateResult:
    """Test a result on disk for being no worse than another; see :func:`visual_search.evaluation.gate.gate`."""
    settings = Resampling(resamples=10_000, confidence=confidence, seed=seed)
    return gate(candidate, baseline, measure, margin, resampling=settings, despite=despite)


def _read(paths: Sequence[str | os.PathLike[str]]) -> list[StoredResult]:
    """All results, or everything that is none of them; one file's own error where it is the only one that is wrong."""
    stored: list[StoredResult] = []
    refused: list[FileFormatError] = []
    for path in paths:
        try:
            stored.append(read_result(path))
        except FileFormatError as problem:
            refused.append(problem)
    if len(refused) == 1:
        raise refused[0]
    problems = Problems("results")
    for one in refused:
        problems.add(str(one))
    problems.raise_if_any(FileFormatError)
    return stored


def _first(stored: list[StoredResult], baseline: str) -> list[StoredResult]:
    """The results with the baseline at the front."""
    by_file = [one for one in stored if baseline in (str(one.path), one.path.name)]
    found = by_file or [one for one in stored if one.record["model_name"] == baseline]
    if len(found) != 1:
        there = ", ".join(f"{one.record['model_name']} ({one.path})" for one in stored)
        raise InputError(f"baseline {baseline!r}: {len(found)} results are named so; there are {there}")
    return [found[0], *(one for one in stored if one is not found[0])]


def _names(stored: Sequence[StoredResult]) -> list[str]:
    models = [str(one.record["model_name"]) for one in stored]
    return [
        f"{model} ({one.path})" if models.count(model) > 1 else model
        for model, one in zip(models, stored, strict=True)
    ]
