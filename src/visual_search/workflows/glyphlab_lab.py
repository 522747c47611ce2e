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
from visual_search.evaluation.protocols.directions import Directions, evaluate_directions_vectors
from visual_search.evaluation.protocols.measured import evaluate_split_vectors
from visual_search.evaluation.protocols.query_gallery import by_view
from visual_search.evaluation.protocols.split import Split
from visual_search.evaluation.result import Result
from visual_search.evaluation.text_table import decimals, text_table
from visual_search.ids import Ids

__all__ = ["K_VALUES", "PRECISION", "LabReport", "LabRow", "lab_split", "run_lab"]

K_VALUES = (1, 3, 5, 10)
PRECISION = "AP(denominator=min)@5"
MEASURES = (*(f"HitRate@{k}" for k in K_VALUES), PRECISION)

FloatArray = npt.NDArray[np.float32]


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
    split : Split
        View 0 against view 1, with its proof.
    """

    data: GlyphLab
    files: tuple[Path, ...]
    rows: tuple[LabRow, ...]
    split: Split

    def summary(self) -> str:
        """The table for people."""
        header = ["", "queries", *(f"R@{k}" for k in K_VALUES), "mAP@5", "95 % over scenes"]
        lines = [text_table(header, [_cells(row) for row in self.rows])]
        lines.append(f"corrupted_test.npy has severity {CORRUPTED_TEST_SEVERITY}; the interval is that of mAP@5")
        lines += [f"by chance, {row.condition}: {_chance(row)}" for row in (self.rows[0], self.rows[-1])]
        lines.append(f"split: {self.split.words}; {self.split.proof.words()}")
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """The table as a JSON object."""
        return {
            "seed": self.data.seed,
            "files": [str(path) for path in self.files],
            "split": self.split.record(),
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
    """Write the data, split it as its metadata says, and measure every condition of the lab.

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
    table = next(path for path in files if path.suffix == ".csv")
    split, hard = lab_split(table), lab_split(table, same_class=True)
    found, chance = (_directions(split, pixels) for pixels in (_pixels(data.images), _alike(data)))
    rows = [
        LabRow("view 0 -> view 1", found.there, chance.there),
        LabRow("view 1 -> view 0", found.back, chance.back),
        LabRow("both directions", found.pooled, chance.pooled),
    ]
    test = data.rows("test")
    gallery = _rows(_pixels(data.images), split.gallery_ids)
    for severity in SEVERITIES[1:]:
        everything = data.images.copy()
        everything[test] = corrupt(data.images[test], severity, data.seed)
        asked = _rows(_pixels(everything), split.query_ids)
        result = evaluate_split_vectors(split, asked, gallery, MEASURES)
        rows.append(LabRow(f"view 0 at severity {severity} -> view 1", result, chance.there))
    harder, by_chance = (_directions(hard, pixels).pooled for pixels in (_pixels(data.images), _alike(data)))
    rows.append(LabRow("another scene of the class, both", harder, by_chance))
    return LabReport(data, files, tuple(rows), split)


def lab_split(metadata: str | os.PathLike[str], *, same_class: bool = False) -> Split:
    """View 0 of each test scene asks, view 1 is searched; proven.

    Parameters
    ----------
    metadata : path
        The ``metadata.csv`` of `GlyphLab.write`.
    same_class : bool
        Whether an image of the same class and another scene is a right answer, and the own scene counts neither way;
        else the other view of the own scene is.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     split = lab_split(generate_glyphlab().write(folder)[-1])
    >>> split.proof.holds, len(split.queries), len(split.gallery)
    (True, 30, 30)
    """
    return by_view(
        metadata,
        item="index",
        group="scene_id",
        view="view_id",
        query=0,
        gallery=1,
        where={"split": "test"},
        label="label" if same_class else None,
        relevant="same-class-other-group" if same_class else "same-group",
    ).require()


def _directions(split: Split, vectors: FloatArray) -> Directions:
    asked, searched = (_rows(vectors, ids) for ids in (split.query_ids, split.gallery_ids))
    return evaluate_directions_vectors(split, asked, searched, MEASURES)


def _rows(vectors: FloatArray, ids: Ids) -> FloatArray:
    """The rows that ids name; in the lab's metadata an item's index is its row."""
    return vectors[np.array(ids[:], dtype=np.int64)]


def _pixels(images: FloatArray) -> FloatArray:
    return images.reshape(len(images), -1)


def _alike(data: GlyphLab) -> FloatArray:
    """Vectors that tell nothing apart: each order is as likely, and the expectation over ties is that of chance."""
    return np.ones((len(data.images), 1), dtype=np.float32)


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
