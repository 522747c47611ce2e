"""The GlyphLab lab: raw pixels on the 30 test scenes, from the easiest condition to the hardest."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.datasets.glyphlab import (
    CORRUPTED_TEST_SEVERITY,
    SEVERITIES,
    GlyphLab,
    corrupt,
    generate_glyphlab,
)
from visual_search.evaluation.result import Result
from visual_search.evaluation.similarity import evaluate_similarity
from visual_search.evaluation.statistics.measure_intervals import MeanBootstrap
from visual_search.evaluation.text_table import decimals, text_table
from visual_search.ground_truth.relevance import Relevance

__all__ = ["K_VALUES", "PRECISION", "LabReport", "LabRow", "evaluate_raw_pixels", "run_lab"]

K_VALUES = (1, 3, 5, 10)
PRECISION = "AP(denominator=min)@5"
MEASURES = (*(f"HitRate@{k}" for k in K_VALUES), PRECISION)

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LabRow:
    """One condition.

    Attributes
    ----------
    condition : str
        In words.
    result : Result
        HitRate at 1, 3, 5 and 10, which the lab calls R@k, and AP(denominator=min)@5, whose mean it calls mAP@5; with
        intervals over scenes.
    random : Result
        The exact expectation of the same for a ranking by chance.
    """

    condition: str
    result: Result
    random: Result


@dataclass(frozen=True, slots=True)
class LabReport:
    """The lab's table and the data it was made from.

    Attributes
    ----------
    data : GlyphLab
    files : tuple of Path
        What was written.
    rows : tuple of LabRow
    """

    data: GlyphLab
    files: tuple[Path, ...]
    rows: tuple[LabRow, ...]

    def summary(self) -> str:
        """The table for people."""
        header = ["", "queries", *(f"R@{k}" for k in K_VALUES), "mAP@5", "95 % over scenes"]
        lines = [text_table(header, [_cells(row) for row in self.rows])]
        lines.append(f"corrupted_test.npy has severity {CORRUPTED_TEST_SEVERITY}; the interval is that of mAP@5")
        lines += [f"by chance, {row.condition}: {_chance(row)}" for row in (self.rows[0], self.rows[-1])]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """The table as a JSON object."""
        return {
            "seed": self.data.seed,
            "files": [str(path) for path in self.files],
            "rows": [
                {
                    "condition": row.condition,
                    **row.result.as_json(),
                    "random": {text: found.mean for text, found in row.random.items()},
                }
                for row in self.rows
            ],
        }


def run_lab(folder: str | os.PathLike[str]) -> LabReport:
    """Write the data and measure every condition of the lab.

    Parameters
    ----------
    folder : path
        For the three files of `GlyphLab.write`.

    Returns
    -------
    LabReport

    Raises
    ------
    InputError
        The folder holds other files of those names.
    """
    data = generate_glyphlab()
    files = data.write(folder)
    first, second, both = data.rows("test", 0), data.rows("test", 1), data.rows("test")
    rows = [
        _row("view 0 -> view 1", data, first),
        _row("view 1 -> view 0", data, second),
        _row("both directions", data, both),
    ]
    for severity in SEVERITIES[1:]:
        words = f"view 0 at severity {severity} -> view 1"
        corrupted = corrupt(data.images[both], severity, data.seed)[data.view_ids[both] == 0]
        rows.append(_row(words, data, first, query_images=corrupted))
    rows.append(_row("another scene of the class, both", data, both, same_class=True))
    return LabReport(data, files, tuple(rows))


def evaluate_raw_pixels(
    data: GlyphLab, queries: Int64Array, *, query_images: Any | None = None, same_class: bool = False
) -> Result:
    """Rank the test images of the other view by the cosine of raw pixels, and measure.

    Parameters
    ----------
    data : GlyphLab
    queries : int64 array of shape (n,)
        Rows of the images that ask.
    query_images : array-like of shape (n, 1, 24, 24), optional
        What stands in for them.
    same_class : bool
        Whether an image of the same class and another scene is a right answer, and the own scene counts neither way;
        else the other view of the own scene is.

    Returns
    -------
    Result
        One value a query and measure; intervals draw all queries of a scene together.

    Examples
    --------
    >>> data = generate_glyphlab()
    >>> evaluate_raw_pixels(data, data.rows("test", view=0))["HitRate@1"].mean
    1.0
    """
    images = data.images[queries] if query_images is None else np.asarray(query_images)
    gallery = data.rows("test")
    return _evaluated(data, queries, _pixels(images), _pixels(data.images[gallery]), same_class=same_class)


def _row(words: str, data: GlyphLab, queries: Int64Array, **options: Any) -> LabRow:
    nothing = np.ones((len(data.images), 1), dtype=np.float32)
    chance = _evaluated(
        data, queries, nothing[queries], nothing[data.rows("test")], same_class=options.get("same_class", False)
    )
    return LabRow(words, evaluate_raw_pixels(data, queries, **options), chance)


def _evaluated(
    data: GlyphLab, queries: Int64Array, query_vectors: Any, gallery_vectors: Any, *, same_class: bool
) -> Result:
    gallery = data.rows("test")
    own_scene = data.scene_ids[queries][:, None] == data.scene_ids[gallery]
    own_class = data.labels[queries][:, None] == data.labels[gallery]
    ignored = data.view_ids[queries][:, None] == data.view_ids[gallery]
    if same_class:
        ignored = ignored | own_scene
    relevant = (own_class if same_class else own_scene) & ~ignored
    names = {"query_ids": queries.tolist(), "gallery_ids": gallery.tolist()}
    return evaluate_similarity(
        query_vectors,
        gallery_vectors,
        Relevance.from_matrix(relevant, ignored=ignored, **names),
        MEASURES,
        metric="cosine",
        groups=data.scene_ids[queries].tolist(),
        interval=MeanBootstrap(),
        **names,
    )


def _pixels(images: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return images.reshape(len(images), -1)


def _cells(row: LabRow) -> list[str]:
    found = row.result[PRECISION]
    interval = found.interval
    return [
        row.condition,
        str(len(row.result.queries)),
        *(decimals(row.result[f"HitRate@{k}"].mean, 4) for k in K_VALUES),
        decimals(found.mean, 4),
        "" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}",
    ]


def _chance(row: LabRow) -> str:
    return f"R@1 {decimals(row.random['HitRate@1'].mean)}, mAP@5 {decimals(row.random[PRECISION].mean)}"
