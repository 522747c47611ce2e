"""The whole job on real photographs: 400 faces, three embedders, two protocols, one page."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from visual_search.counted import counted
from visual_search.datasets.orl_faces import FacePhotograph, OrlFaces, load_orl_faces
from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.evaluation.evaluation_result import EvaluationResult
from visual_search.evaluation.model_evaluator import ModelEvaluator
from visual_search.evaluation.statistics.paired import PairedDifference, paired_difference
from visual_search.evaluation.text_table import decimals, text_table
from visual_search.formats.atomic import write_json
from visual_search.indexing.index_table import VectorIndex
from visual_search.indexing.item_images import attach_images, images_of
from visual_search.indexing.progress import Progress
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch
from visual_search.reports.page import write_report
from visual_search.workflows.index_images import index_images

__all__ = ["BASELINE", "NETWORK", "DemoReport", "Protocol", "run_demo"]

NETWORK = "efficientnet-lite0"
BASELINE = "histogram"
EMBEDDERS = (NETWORK, "pixels", BASELINE)
K_VALUES = (1, 5, 10, 20)
HEADLINE = "HitRate@1"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Protocol:
    """How queries and gallery are chosen.

    Attributes
    ----------
    name, words : str
        For people.
    gallery, queries : tuple of FacePhotograph
    exclude_self : bool
        Whether the query itself is in the gallery, and to be left out.
    """

    name: str
    words: str
    gallery: tuple[FacePhotograph, ...]
    queries: tuple[FacePhotograph, ...]
    exclude_self: bool

    def dataset(self) -> dict[str, Any]:
        """As a JSON value: a query's right answers are the other photographs of the same person in the gallery."""
        return {
            "name": f"ORL faces, {self.name}",
            "queries": [
                {
                    "query_id": query.id,
                    "image_path": str(query.path),
                    "ground_truth": [
                        item.id for item in self.gallery if item.person == query.person and item.id != query.id
                    ],
                    "group": query.person,
                }
                for query in self.queries
            ],
        }


@dataclass(frozen=True, slots=True)
class DemoReport:
    """What the demonstration found.

    Attributes
    ----------
    folder : Path
        Indexes, datasets, results and the page.
    page : Path
    results : dict of (protocol name, embedder) to EvaluationResult
    differences : dict of protocol name to PairedDifference
        HitRate@1 of the network minus that of the histogram; interval over people.
    """

    folder: Path
    page: Path
    results: Mapping[tuple[str, str], EvaluationResult]
    differences: Mapping[str, PairedDifference]

    def summary(self) -> str:
        """One table a protocol, and what the network is worth over the histogram."""
        return "\n\n".join(self._protocol_summary(name) for name in self.differences)

    def _protocol_summary(self, protocol: str) -> str:
        shown = {embedder: result for (name, embedder), result in self.results.items() if name == protocol}
        any_result = next(iter(shown.values()))
        rows = [_row(embedder, result) for embedder, result in shown.items()]
        if any_result.random_baseline is not None:
            rows.append(_random_row(any_result))
        words = (any_result.protocol or {}).get("words", "")
        return "\n".join(
            [
                f"{protocol}: {words}",
                text_table(["", HEADLINE, "95 % over people", "Recall@1", "of at most", "mAP", "MRR"], rows),
                _in_words(self.differences[protocol]),
            ]
        )

    def as_json(self) -> dict[str, Any]:
        """The figures as a JSON object."""
        return {
            "report": str(self.page),
            "results": [
                {
                    "protocol": protocol,
                    "embedder": embedder,
                    "queries": result.num_queries,
                    "hit_rate_at_1": result.hit_rate_at_k[1],
                    "recall_at_1": result.recall_at_k[1],
                    "map": result.map,
                    "mrr": result.mrr,
                }
                for (protocol, embedder), result in self.results.items()
            ],
            "differences": {name: found.as_json() for name, found in self.differences.items()},
        }


def _row(embedder: str, result: EvaluationResult) -> list[str]:
    interval = result[HEADLINE].interval
    ceiling = None if result.ceilings is None else result.ceilings["Recall@1"].mean
    return [
        embedder,
        decimals(result[HEADLINE].mean),
        "" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}",
        decimals(result.recall_at_k[1]),
        decimals(ceiling),
        decimals(result.map),
        decimals(result.mrr),
    ]


def _random_row(result: EvaluationResult) -> list[str]:
    random = result.random_baseline
    assert random is not None
    measures = (HEADLINE, "Recall@1", result.guide.average_precision, result.guide.reciprocal_rank)
    hit, recall, precision, reciprocal = (decimals(random[measure].mean) for measure in measures)
    return ["random, exact", hit, "", recall, "", precision, reciprocal]


def _in_words(found: PairedDifference) -> str:
    between = "" if found.interval is None else f" ({found.interval.low:+.3f} to {found.interval.high:+.3f})"
    return (
        f"{NETWORK} minus {BASELINE}, {HEADLINE}: {found.difference:+.3f}{between}, p = {found.p_value:.4f}; "
        f"better on {counted(found.wins, 'query', 'queries')}, worse on {found.losses}"
    )


def protocols_of(faces: OrlFaces) -> tuple[Protocol, Protocol]:
    """Leave-one-out, and one gallery photograph a person against the other nine."""
    everyone = faces.photographs
    first = tuple(photograph for photograph in everyone if photograph.photo == 1)
    others = tuple(photograph for photograph in everyone if photograph.photo != 1)
    return (
        Protocol(
            "leave-one-out",
            "each of the 400 photographs asks for the other nine of the same person among all others",
            everyone,
            everyone,
            exclude_self=True,
        ),
        Protocol(
            "one photograph each",
            "the gallery has one photograph of each of the 40 people; their other nine ask for it",
            first,
            others,
            exclude_self=False,
        ),
    )


def run_demo(
    out: str | os.PathLike[str],
    *,
    say: Say = lambda _: None,
    progress: Callable[[str], Any] | None = None,
) -> DemoReport:
    """Index, search, evaluate, compare and report on the ORL faces.

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
    results: dict[tuple[str, str], EvaluationResult] = {}
    for embedder in EMBEDDERS:
        whole = _indexed(faces, folder, embedder, progress)
        say(f"indexed {counted(len(whole), 'photograph', 'photographs')} with {embedder}")
        for protocol in protocols:
            results[protocol.name, embedder] = _evaluated(whole, protocol, folder, embedder)
    differences = {protocol.name: _difference(results, protocol) for protocol in protocols}
    page = write_report(
        [_result_path(folder, protocol, embedder) for protocol in protocols for embedder in EMBEDDERS],
        folder / "report.html",
        title="Who is this? Searching 400 photographs of 40 people",
        baseline=BASELINE,
        comparisons=[_comparison(name, found) for name, found in differences.items()],
        credit=f"{faces.credit} {faces.license}",
    )
    return DemoReport(folder, page, results, differences)


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


def _difference(results: Mapping[tuple[str, str], EvaluationResult], protocol: Protocol) -> PairedDifference:
    network, baseline = results[protocol.name, NETWORK], results[protocol.name, BASELINE]
    return paired_difference(
        network[HEADLINE].values,
        baseline[HEADLINE].values,
        groups=[photograph.person for photograph in protocol.queries],
    )


def _comparison(protocol: str, found: PairedDifference) -> dict[str, Any]:
    return {
        "protocol": protocol,
        "a": NETWORK,
        "b": BASELINE,
        "measure": HEADLINE,
        **found.as_json(),
        "words": "Interval and test draw all queries of a person together.",
    }


def _result_path(folder: Path, protocol: Protocol, embedder: str) -> Path:
    return folder / f"{_slug(protocol.name)}.{embedder}.json"


def _slug(words: str) -> str:
    return words.replace(" ", "-")
