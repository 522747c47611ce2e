"""A gallery and sets of queries to files of ground truth: searched here, or taken over from others."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from visual_search.errors import (
    FileFormatError,
    FingerprintError,
    InputError,
    Problems,
    VisualSearchError,
    first_few,
)
from visual_search.formats.outputs import check_output_file
from visual_search.ground_truth.distance_meaning import DistanceMeaning
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.ground_truth.exact_search import SearchProgress
from visual_search.ground_truth.foreign_truth import adopt_neighbors
from visual_search.ground_truth.gallery_sample import GallerySample
from visual_search.ground_truth.metric_names import MetricName, TruthMetric, metric_name, searched_metric
from visual_search.ground_truth.truth_building import exact_neighbors
from visual_search.ground_truth.truth_facts import truth_facts
from visual_search.ground_truth.truth_scope import TruthScope
from visual_search.ground_truth.truth_vectors import TruthVectors
from visual_search.ground_truth.vector_checks import check_block, check_search
from visual_search.workflows.truth_filters import read_filters
from visual_search.workflows.truth_places import placed_vectors

__all__ = ["BuiltTruth", "adopt_truth", "build_truths"]

Bar = Callable[[str], AbstractContextManager[SearchProgress | None]]
Place = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class BuiltTruth:
    """One file of ground truth.

    Attributes
    ----------
    path : Path
    truth : ExactNeighbors
    origin : {"computed", "reused", "adopted"}
        Searched now; there already, of the same vectors and settings; or taken over from another's file.
    meaning : DistanceMeaning or None
        What the distances of the other's file were.
    """

    path: Path
    truth: ExactNeighbors
    origin: Literal["computed", "reused", "adopted"]
    meaning: DistanceMeaning | None = None

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        meant = None if self.meaning is None else {"metric": self.meaning.metric, "meaning": self.meaning.meaning}
        return {"path": str(self.path), "origin": self.origin, "distances_were": meant, **truth_facts(self.truth)}


def build_truths(
    gallery: Place,
    queries: Sequence[Place],
    out: Place,
    *,
    k: int,
    metric: MetricName | None = None,
    sample: GallerySample | None = None,
    allowed: Place | None = None,
    memory_bytes: int = 1 << 30,
    checkpoint: Place | None = None,
    bar: Bar | None = None,
) -> list[BuiltTruth]:
    """Compute the exact neighbours of one set of queries or of several, each into a file.

    Parameters
    ----------
    gallery : path
        A file of vectors, or the folder of an index.
    queries : sequence of path
        With several the gallery is packed once, where its codes fit into ``memory_bytes``.
    out : path
        The file; with several sets of queries the folder for ``NAME.npz`` of each.
    k : int
    metric : str, optional
        That of the index or file, else ``l2``.
    sample : GallerySample, optional
    allowed : path, optional
        File of what each query may find, for one set of queries; see `read_filters`.
    memory_bytes : int
    checkpoint : path, optional
        Folder for what is known after each block; by default it waits in a hidden file beside the output.
    bar : callable, optional
        Gives a progress for a piece of work that it is told in a word.

    Returns
    -------
    list of BuiltTruth
        A file that is there already is used again only where vectors, ids, metric, k and sample are the same.

    Raises
    ------
    InputError, FileFormatError
        As for `exact_neighbors`; an output that is some other file; two sets of queries of one name; filters with a
        sample, a checkpoint or several sets of queries.
    """
    _check_filter(allowed, queries, sample, checkpoint)
    show: Bar = bar or (lambda _: nullcontext(None))
    targets = _targets([Path(one) for one in queries], out)
    before = _truths_there(targets)
    items = placed_vectors(gallery, what="gallery")
    name = _metric(metric, items)
    asked = [placed_vectors(one, what="queries") for one in queries]
    if len(asked) > 1:
        _check_sets(items, dict(zip(map(str, queries), asked, strict=True)), k, name)
    if len(asked) > 1 and sample is None:
        items = items.packed_for(name, memory_bytes=memory_bytes)
    built = []
    for target, old, one in zip(targets, before, asked, strict=True):
        if old is not None and allowed is None and _is_wanted(old, items, one, name, k, sample):
            built.append(BuiltTruth(target, old, "reused"))
            continue
        filters = None if allowed is None else read_filters(allowed, one)
        kept = None if allowed is not None else _checkpoint(target, checkpoint)
        with show(f"searching {target.name}") as progress:
            truth = exact_neighbors(
                items,
                one,
                k,
                name,
                sample=sample,
                allowed=filters,
                memory_bytes=memory_bytes,
                progress=progress,
                checkpoint=kept,
            )
        truth.save(target)
        built.append(BuiltTruth(target, truth, "computed"))
    return built


def adopt_truth(
    file: Place,
    gallery: Place,
    queries: Place,
    out: Place,
    *,
    k: int | None = None,
    metric: MetricName | None = None,
    holds_ids: bool = False,
) -> BuiltTruth:
    """Take over another's file of ground truth, checked against its vectors; parameters as for `adopt_neighbors`."""
    target = _target(out, Path(queries))
    _truths_there([target])
    items = placed_vectors(gallery, what="gallery")
    asked = placed_vectors(queries, what="queries")
    wanted = metric if metric is not None else items.metric
    truth, meaning = adopt_neighbors(
        file,
        items,
        asked,
        k=k,
        metric=None if wanted is None else metric_name(wanted),
        holds_ids=holds_ids,
    )
    truth.save(target)
    return BuiltTruth(target, truth, "adopted", meaning)


def _check_filter(
    allowed: Place | None, queries: Sequence[Place], sample: GallerySample | None, checkpoint: Place | None
) -> None:
    if allowed is None:
        return
    problems = Problems("--allowed")
    if len(queries) > 1:
        problems.add("is of one set of queries; build several sets one by one")
    if sample is not None:
        problems.add("excludes --sample: filter within the sample, or leave one of them out")
    if checkpoint is not None:
        problems.add("excludes --checkpoint: a filtered search keeps none")
    problems.raise_if_any(InputError)


def _checkpoint(target: Path, folder: Place | None) -> Path:
    name = f"{target.name}.progress"
    kept = target.parent / f".{name}" if folder is None else Path(folder) / name
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as problem:
        raise InputError(f"checkpoint: {folder} cannot be made, since a file or link is in its place") from problem
    return kept


def _targets(queries: Sequence[Path], place: Place) -> list[Path]:
    """Where the truths go, known to be writable before any work is done for them."""
    if len(queries) == 1:
        return [_target(place, queries[0])]
    out = Path(place)
    if out.suffix.lower() == ".npz" and not out.is_dir():
        raise InputError(
            f"out: {out} names one file, but {len(queries)} sets of queries become a file each; name a folder for "
            f"them, as {out.with_suffix('')}"
        )
    if os.path.lexists(out) and not out.is_dir():
        raise InputError(f"out: {out} is there and is no folder; {len(queries)} sets of queries need one")
    targets = [out / f"{one.name.replace(':', '-')}.npz" for one in queries]
    twice = sorted({target.name for target in targets if targets.count(target) > 1})
    if twice:
        raise InputError(
            f"queries: of several sets each would become {first_few(twice)} in {out}; rename them, or build them apart"
        )
    for target in targets:
        check_output_file(target, "out")
    return targets


def _target(place: Place, queries: Path) -> Path:
    out = Path(place)
    if out.is_dir():
        raise InputError(f"out: {place} is a folder; name a file in it, as {out / (queries.stem + '.truth.npz')}")
    check_output_file(place, "out")
    return out


def _metric(asked: MetricName | None, items: TruthVectors) -> TruthMetric:
    if asked is None:
        return metric_name(items.metric or "l2")
    return metric_name(asked)


def _check_sets(items: TruthVectors, sets: Mapping[str, TruthVectors], k: int, metric: TruthMetric) -> None:
    """Refuse sets of queries that cannot be searched, all of them before one is."""
    problems = Problems("queries")
    searched = searched_metric(metric)
    for place, asked in sets.items():
        try:
            check_search(items.vectors, asked.vectors, k, searched)
            check_block(asked.vectors, searched, what="queries")
        except VisualSearchError as problem:
            problems.add(f"{place}: {problem}")
    problems.raise_if_any(InputError)


def _is_wanted(
    there: ExactNeighbors,
    items: TruthVectors,
    asked: TruthVectors,
    metric: str,
    k: int,
    sample: GallerySample | None,
) -> bool:
    """Whether the truth that is there is the one that would be computed."""
    scope = TruthScope() if sample is None else TruthScope.sample(of=len(items), seed=sample.seed)
    if (there.k, there.metric, there.scope.as_json()) != (k, metric, scope.as_json()):
        return False
    if not there.certified.all():
        return False
    held = items if sample is None else items.at(sample.rows(len(items)))
    try:
        there.verify(held.fingerprint, asked.fingerprint)
    except FingerprintError:
        return False
    return True


def _truths_there(targets: Sequence[Path]) -> list[ExactNeighbors | None]:
    """The truths that lie where the new ones go; other files are refused, since they would be lost."""
    problems = Problems("out")
    found = [_truth_there(target, problems) for target in targets]
    problems.raise_if_any(InputError)
    return found


def _truth_there(target: Path, problems: Problems) -> ExactNeighbors | None:
    if not target.exists():
        return None
    try:
        return ExactNeighbors.load(target)
    except FileFormatError as error:
        problems.add(f"{target} is there and is no truth ({error}); name another file, or remove it")
        return None
