"""A small measurement, complete with images: drawn objects seen from several sides, two systems, two protocols."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from visual_search.formats.results import StoredResult
from visual_search.testing.results import SampleTask, write_sample_result

__all__ = ["sample_results"]

FloatArray = npt.NDArray[np.float64]

_WIDTH, _HEIGHT = 96, 120


def sample_results(folder: Path, *, objects: int = 12, views: int = 5) -> list[StoredResult]:
    """Draw images, search them with two simple embeddings, and write the results.

    Parameters
    ----------
    folder : Path
        Gets ``images/`` and four results: ``loo-grid.json``, ``loo-colour.json`` (each view queries the others) and
        ``one-grid.json``, ``one-colour.json`` (the first view of each object is the gallery).
    objects, views : int
        How many images: ``objects * views``, at least 2 of each.

    Returns
    -------
    list of StoredResult
        Named ``grid`` (a coarse grid of colours) and ``colour`` (the mean colour alone).
    """
    ids = [f"object {o + 1}/view {v + 1}.png" for o in range(objects) for v in range(views)]
    labels = np.repeat(np.arange(objects), views)
    pixels = []
    for name, label, view in zip(ids, labels, np.tile(np.arange(views), objects), strict=True):
        picture = _drawn(int(label), int(view))
        (folder / "images" / name).parent.mkdir(parents=True, exist_ok=True)
        picture.save(folder / "images" / name)
        pixels.append(picture)
    vectors = {
        "grid": _unit(np.array([np.asarray(p.resize((6, 8))).ravel() for p in pixels], dtype=np.float64)),
        "colour": _unit(np.array([np.asarray(p).mean(axis=(0, 1)) for p in pixels], dtype=np.float64)),
    }
    places = {"root": "images", "paths": {name: name for name in ids}}
    images = {"items": places, "queries": places}
    every, first = np.arange(len(ids)), np.arange(0, len(ids), views)
    rest = np.setdiff1d(every, first)
    results = []
    for tag, rows, columns, words in (
        ("loo", every, every, ("leave-one-out", f"each of {len(ids)} views queries all others")),
        ("one", rest, first, ("one view an object", "a gallery of one view an object is searched by the others")),
    ):
        same = labels[rows][:, None] == labels[columns][None]
        itself = rows[:, None] == columns[None]
        task = SampleTask(
            query_ids=[ids[row] for row in rows],
            item_ids=[ids[column] for column in columns],
            relevant=same & ~itself,
            ignored=itself if tag == "loo" else None,
            groups=[f"object {labels[row] + 1}" for row in rows],
            protocol=dict(zip(("name", "words"), words, strict=True)),
            images=images,
            k_values=(1, 5, 10),
        )
        for name, embedded in vectors.items():
            similarity = embedded[rows] @ embedded[columns].T
            results.append(write_sample_result(folder / f"{tag}-{name}.json", task, similarity, model_name=name))
    return results


def _drawn(label: int, view: int) -> Image.Image:
    shape, turn = np.random.default_rng(label), np.random.default_rng([label, view])
    ground = tuple(int(c) for c in shape.integers(150, 240, 3) + turn.integers(-14, 15, 3))
    picture = Image.new("RGB", (_WIDTH, _HEIGHT), ground)
    draw = ImageDraw.Draw(picture)
    dx, dy = (int(d) for d in turn.integers(-9, 10, 2))
    for _ in range(4):
        x, y, w, h = (int(v) for v in shape.integers([10, 10, 16, 16], [60, 80, 52, 60]))
        colour = tuple(int(c) for c in np.clip(shape.integers(20, 230, 3) + turn.integers(-20, 21, 3), 0, 255))
        box: Any = (x + dx, y + dy, x + dx + w, y + dy + h)
        if shape.random() < 0.5:
            draw.ellipse(box, fill=colour)
        else:
            draw.rectangle(box, fill=colour)
    return picture


def _unit(vectors: FloatArray) -> FloatArray:
    centred = vectors - vectors.mean(axis=0)
    scaled: FloatArray = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    return scaled
