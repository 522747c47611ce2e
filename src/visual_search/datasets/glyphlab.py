"""GlyphLab: a small generated data set whose right answers are known, for checking how a search is evaluated.

A scene is one bright line on a dark ground: vertical, horizontal or diagonal, at some place, one to three pixels
thick. A class has 63 such lines and 60 scenes, so no two scenes are alike. Each scene has two views, which show the
same line at the same place and as thick, and differ in their noise alone. Of the 180 scenes 120 are for training, 30
for validation and 30 for testing, as many of each class.

All is made in whole numbers from the raw 64-bit words of PCG64, whose stream NumPy promises to keep; the only
operation on floats is one division of whole numbers by 255, which rounds alike everywhere. So a seed gives the same
bytes on every machine and with every NumPy.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from visual_search.datasets.glyphlab_corruption import CORRUPTED_TEST_SEVERITY, SEVERITIES, corrupt
from visual_search.datasets.glyphlab_pixels import NOISE, SEED, SIZE, checked_seed, grey_values, noise, words_of
from visual_search.errors import InputError, Problems, first_few
from visual_search.formats.atomic import atomic_write

__all__ = [
    "CLASSES",
    "CORRUPTED_TEST_SEVERITY",
    "SEED",
    "SEVERITIES",
    "SIZE",
    "GlyphLab",
    "corrupt",
    "generate_glyphlab",
]

Float32Array = npt.NDArray[np.float32]
Int64Array = npt.NDArray[np.int64]
StringArray = npt.NDArray[np.str_]

CLASSES = ("vertical", "horizontal", "diagonal")
SCENES_EACH = 60
TEST_EACH = VALIDATION_EACH = 10
THICKNESSES = (1, 2, 3)

# Grey levels from 0 (black) to 255 (white).
GROUND = 20
LINE = 140


@dataclass(frozen=True, eq=False, repr=False)
class GlyphLab:
    """Images and what is known of them, one element a row of ``metadata.csv``.

    Attributes
    ----------
    seed : int
        What it was made from.
    images : float32 array of shape (360, 1, 24, 24)
        Grey values from 0 (black) to 1 (white), each a whole number of 255ths. Row 2 s + v is view v of scene s.
    scene_ids : str array of shape (360,)
        ``"G0-0000"`` to ``"G0-0179"``. G0 names the rules of this generator.
    view_ids : int64 array of shape (360,)
        0 or 1.
    splits : str array of shape (360,)
        ``"train"``, ``"val"`` or ``"test"``; both views of a scene are in the same.
    labels : str array of shape (360,)
        ``"vertical"``, ``"horizontal"`` or ``"diagonal"``, in turn from scene to scene.

    Examples
    --------
    >>> data = generate_glyphlab()
    >>> data.images.shape, data.images.dtype.name, data.corrupted_test.shape
    ((360, 1, 24, 24), 'float32', (60, 1, 24, 24))
    >>> data.scene_ids[6:8].tolist(), data.view_ids[6:8].tolist(), data.labels[6:8].tolist()
    (['G0-0003', 'G0-0003'], [0, 1], ['vertical', 'vertical'])
    """

    seed: int
    images: Float32Array
    scene_ids: StringArray
    view_ids: Int64Array
    splits: StringArray
    labels: StringArray

    def __repr__(self) -> str:
        return f"GlyphLab(seed={self.seed}, {len(self.images)} images of {len(self.images) // 2} scenes)"

    @cached_property
    def corrupted_test(self) -> Float32Array:
        """The test images at severity 2, float32 of shape (60, 1, 24, 24).

        Both views of the 30 test scenes, in the order of the test rows of ``metadata.csv``: by scene id, view 0
        before view 1. Row i is the corrupted ``images[self.rows("test")[i]]``.
        """
        return corrupt(self.images[self.rows("test")], CORRUPTED_TEST_SEVERITY, self.seed)

    def rows(self, split: str, view: int | None = None) -> Int64Array:
        """Rows of a split, or of one view of it, by scene id.

        Raises
        ------
        InputError
            A split or a view that is not there.

        Examples
        --------
        >>> data = generate_glyphlab()
        >>> len(data.rows("train")), len(data.rows("test")), len(data.rows("test", view=0))
        (240, 60, 30)
        """
        problems = Problems("GlyphLab.rows")
        if split not in ("train", "val", "test"):
            problems.add(f"split={split!r}: one of 'train', 'val', 'test'")
        if view not in (None, 0, 1):
            problems.add(f"view={view!r}: 0 or 1, or None for both")
        problems.raise_if_any(InputError)
        chosen = self.splits == split
        if view is not None:
            chosen = chosen & (self.view_ids == view)
        return np.flatnonzero(chosen)

    def write(self, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
        """Write ``images.npy``, ``corrupted_test.npy`` and ``metadata.csv``; each appears whole or not at all.

        Parameters
        ----------
        folder : path
            Made if it is not there.

        Returns
        -------
        tuple of Path
            The three files, ``metadata.csv`` last.

        Raises
        ------
        InputError
            A file of that name is there and holds something else. Nothing is written then.

        Convention
        ----------
        The arrays are little-endian npy files; the table is UTF-8 with the columns index (row of ``images.npy``),
        scene_id, view_id, split, label, and lines that end in a line feed. The same seed gives the same bytes.
        """
        files = {Path(folder) / name: content for name, content in self._files().items()}
        foreign = [path.name for path, content in files.items() if path.exists() and not _holds(path, content)]
        if foreign:
            raise InputError(
                f"{folder}: {first_few(foreign)} of other content is there and is not written over; name another "
                "folder, or remove it"
            )
        for path, content in files.items():
            with atomic_write(path) as stream:
                stream.write(content)
        return tuple(files)

    def _files(self) -> Mapping[str, bytes]:
        return {
            "images.npy": _npy(self.images),
            "corrupted_test.npy": _npy(self.corrupted_test),
            "metadata.csv": self._metadata().encode(),
        }

    def _metadata(self) -> str:
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(["index", "scene_id", "view_id", "split", "label"])
        columns = (self.scene_ids, self.view_ids, self.splits, self.labels)
        table.writerows(zip(range(len(self.images)), *(column.tolist() for column in columns), strict=True))
        return text.getvalue()


def generate_glyphlab(seed: int = SEED) -> GlyphLab:
    """Make the data.

    Parameters
    ----------
    seed : int, at least 0
        The default is the one whose raw pixels give, on the 30 test scenes, R@1 = mAP@5 = 1 between the clean views,
        and R@1 = 29/30 and mAP@5 = 29.5/30 from the corrupted view 0 to the clean view 1. It was found by trying
        seeds from 0 on.

    Returns
    -------
    GlyphLab

    Raises
    ------
    InputError
        A seed that is no whole number from 0.

    Convention
    ----------
    Every scene has a line of its own: 60 of the 63 of its class, in random order. Ground 20, line 140 and a noise of
    standard deviation 32, of 255, cut to 0 .. 255; they were chosen so that raw pixels nearly always find a clean
    scene first (in both directions all 30 with 91 % of the first 200 seeds) and a mean R@1 near .967 falls to the
    corrupted view.

    Examples
    --------
    >>> first, again, other = generate_glyphlab(5), generate_glyphlab(5), generate_glyphlab(6)
    >>> bool((first.images == again.images).all()), bool((first.images == other.images).all())
    (True, False)
    """
    seed = checked_seed(seed)
    scenes = SCENES_EACH * len(CLASSES)
    levels = np.empty((scenes, 1, SIZE, SIZE), dtype=np.int64)
    splits = np.full(scenes, "train", dtype="<U5")
    for number in range(len(CLASSES)):
        lines = _lines(number)
        words = words_of(seed, number, len(lines) + SCENES_EACH)
        mine = slice(number, None, len(CLASSES))
        levels[mine, 0] = lines[_order(words[: len(lines)])[:SCENES_EACH]]
        splits[mine] = _splits(_order(words[len(lines) :]))
    both = np.repeat(levels, 2, axis=0)
    noisy = both + noise(words_of(seed, len(CLASSES), both.size), NOISE).reshape(both.shape)
    return GlyphLab(
        seed=seed,
        images=grey_values(noisy),
        scene_ids=np.repeat(np.array([f"G0-{scene:04}" for scene in range(scenes)]), 2),
        view_ids=np.tile(np.arange(2, dtype=np.int64), scenes),
        splits=np.repeat(splits, 2),
        labels=np.repeat(np.tile(np.array(CLASSES), SCENES_EACH), 2),
    )


def _lines(number: int) -> Int64Array:
    """Every line of a class that stays a pixel off the border, as grey levels of shape (63, 24, 24)."""
    row, column = np.mgrid[:SIZE, :SIZE]
    across = (column, row, column - row + SIZE // 2)[number]
    lit = [
        (across >= first) & (across < first + thickness)
        for thickness in THICKNESSES
        for first in range(1, SIZE - thickness)
    ]
    return np.where(np.array(lit), LINE, GROUND).astype(np.int64)


def _splits(order: Int64Array) -> StringArray:
    splits = np.full(len(order), "train", dtype="<U5")
    splits[order[:TEST_EACH]] = "test"
    splits[order[TEST_EACH : TEST_EACH + VALIDATION_EACH]] = "val"
    return splits


def _order(words: npt.NDArray[np.uint64]) -> Int64Array:
    """A random order of as many things as there are words."""
    order: Int64Array = np.argsort(words, kind="stable")
    return order


def _holds(path: Path, content: bytes) -> bool:
    return path.stat().st_size == len(content) and path.read_bytes() == content


def _npy(array: Float32Array) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array.astype("<f4", copy=False), allow_pickle=False)
    return stream.getvalue()
