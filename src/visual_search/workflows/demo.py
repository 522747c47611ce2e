"""The whole job on real photographs: 400 faces, three embedders, three protocols, a leak check, one page."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from visual_search.counted import counted
from visual_search.datasets.orl_faces import OrlFaces, load_orl_faces
from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.evaluation.evaluation_result import EvaluationResult
from visual_search.evaluation.model_evaluator import ModelEvaluator
from visual_search.formats.atomic import write_json
from visual_search.indexing.index_table import VectorIndex
from visual_search.indexing.item_images import attach_images, images_of
from visual_search.indexing.progress import Progress
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch
from visual_search.reports.directions_section import directions_section
from visual_search.reports.leaks_page import leaks_section
from visual_search.reports.page import write_report
from visual_search.reports.protocol_groups import group_by_protocol
from visual_search.reports.systems import load_systems, read_all
from visual_search.workflows.demo_directions import MeasuredDirections, measure_directions
from visual_search.workflows.demo_leaks import check_split
from visual_search.workflows.demo_protocols import BOTH_DIRECTIONS, HALVES, Protocol, protocols_of, view_split
from visual_search.workflows.demo_report import HEADLINE, DemoReport
from visual_search.workflows.index_images import index_images
from visual_search.workflows.page_comparisons import PageComparison, adjusted, compare_with_baseline

__all__ = ["BASELINE", "NETWORK", "DemoReport", "Protocol", "run_demo"]

NETWORK = "efficientnet-lite0"
BASELINE = "histogram"
EMBEDDERS = (NETWORK, "pixels", BASELINE)
K_VALUES = (1, 5, 10, 20)

_LOOKED_AT = (
    f"photographs {HALVES[0]} of each person are the queries, {HALVES[1]} the gallery; pairs within either were looked "
    "for too, so what is said holds for every protocol of this page"
)

Say = Callable[[str], None]


def run_demo(
    out: str | os.PathLike[str],
    *,
    say: Say = lambda _: None,
    progress: Callable[[str], Any] | None = None,
) -> DemoReport:
    """Index, search, evaluate, compare, look for leaks and report on the ORL faces.

    Parameters
    ----------
    out : path
        Folder for everything that is made.
    say : callable, optional
        Told in a line what goes on.
    progress : callable, optional
        Gives a context manager of a ``Progress`` for a line of words.

    Returns
    -------
    DemoReport

    Raises
    ------
    MissingDependencyError
        The extra ``demo``, which brings the photographs, is not installed.
    """
    folder = Path(out)
    faces = load_orl_faces()
    protocols = protocols_of(faces)
    for protocol in protocols:
        write_json(folder / f"{_slug(protocol.name)}.dataset.json", protocol.dataset())
    split = view_split(faces)
    split.save(folder / f"{_slug(BOTH_DIRECTIONS)}.split.json")
    results: dict[tuple[str, str], EvaluationResult] = {}
    indexes: dict[str, VectorIndex] = {}
    for embedder in EMBEDDERS:
        whole = indexes[embedder] = _indexed(faces, folder, embedder, progress)
        say(f"indexed {counted(len(whole), 'photograph', 'photographs')} with {embedder}")
        for protocol in protocols:
            results[protocol.name, embedder] = _evaluated(whole, protocol, folder, embedder)
    directions = measure_directions(split, indexes, baseline=BASELINE, name=BOTH_DIRECTIONS)
    write_json(folder / f"{_slug(BOTH_DIRECTIONS)}.json", directions.as_json())
    leaks = check_split(faces, split, indexes[NETWORK])
    leaks.write(folder / "leaks.json")
    paths = [_result_path(folder, protocol, embedder) for protocol in protocols for embedder in EMBEDDERS]
    comparisons = _compared(paths, directions)
    shown = [one.as_json() for one in comparisons]
    page = write_report(
        paths,
        folder / "report.html",
        title="Who is this? Searching 400 photographs of 40 people",
        baseline=BASELINE,
        comparisons=[one for one in shown if one["protocol"] != BOTH_DIRECTIONS],
        sections=[
            directions_section(
                split,
                directions.systems,
                random=directions.random,
                comparisons=[one for one in shown if one["protocol"] == BOTH_DIRECTIONS],
                names=(f"{HALVES[0]} ask", f"{HALVES[1]} ask"),
            ),
            leaks_section(leaks, notes=[_LOOKED_AT]),
        ],
        credit=f"{faces.credit} {faces.license}",
    )
    return DemoReport(folder, page, results, directions, leaks, _headlines(comparisons))


def _indexed(faces: OrlFaces, folder: Path, embedder: str, progress: Callable[[str], Any] | None) -> VectorIndex:
    images = {photograph.id: photograph.path for photograph in faces.photographs}
    out = folder / f"{embedder}.index"
    if progress is None:
        return index_images(images, out, embedder=embedder).index
    with progress(embedder) as shown:
        told: Progress | None = shown
        return index_images(images, out, embedder=embedder, progress=told).index


def _evaluated(whole: VectorIndex, protocol: Protocol, folder: Path, embedder: str) -> EvaluationResult:
    gallery = _part(whole, [photograph.id for photograph in protocol.gallery])
    queries = [photograph.id for photograph in protocol.queries]
    evaluator = ModelEvaluator(NearestNeighborSearch(index=gallery), model_name=embedder)
    return evaluator.evaluate(
        EvaluationDataset.from_json(folder / f"{_slug(protocol.name)}.dataset.json"),
        K_VALUES,
        dict(zip(queries, whole.vectors(queries), strict=True)),
        _result_path(folder, protocol, embedder),
        exclude_self=protocol.exclude_self,
        protocol={"name": protocol.name, "words": protocol.words},
    )


def _part(whole: VectorIndex, ids: list[str]) -> VectorIndex:
    """An index of some of the items."""
    if len(ids) == len(whole):
        return whole
    settings: dict[str, Any] = dict(whole.settings)
    part = VectorIndex(metric=whole.metric, engine=whole.engine, embedder=whole.embedder, **settings)
    part.add(ids, whole.vectors(ids))
    images = images_of(whole)
    if images is not None:
        attach_images(part, images.ledger.of(ids), images.rules)
    return part


def _compared(paths: list[Path], directions: MeasuredDirections) -> list[PageComparison]:
    """Every difference of the page, the p-values adjusted for all of them at once."""
    found: list[PageComparison] = []
    for group in group_by_protocol(load_systems(read_all(paths), baseline=BASELINE)):
        found += compare_with_baseline(group, BASELINE)[0]
    return adjusted([*found, *directions.comparisons])


def _headlines(comparisons: list[PageComparison]) -> Mapping[str, PageComparison]:
    """What the network is worth over the histogram, a protocol."""
    wanted = (NETWORK, BASELINE, HEADLINE)
    return {
        one.protocol: one for one in comparisons if (one.contrast.a, one.contrast.b, one.contrast.measure) == wanted
    }


def _result_path(folder: Path, protocol: Protocol, embedder: str) -> Path:
    return folder / f"{_slug(protocol.name)}.{embedder}.json"


def _slug(words: str) -> str:
    return words.replace(" ", "-")
