"""Image-text retrieval as its field reports it: hit rates both ways, their sum, median ranks, and folds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError, first_few
from visual_search.evaluation.folds import split_folds
from visual_search.evaluation.k_values import checked_k_values
from visual_search.evaluation.products import Metric
from visual_search.evaluation.protocols.directions import (
    Directions,
    evaluate_directions_codes,
    evaluate_directions_vectors,
)
from visual_search.evaluation.protocols.image_text import image_text
from visual_search.evaluation.protocols.presets import preset_named
from visual_search.evaluation.statistics.interval import Resampling
from visual_search.evaluation.ties import TieRule
from visual_search.formats.arrays import as_matrix, as_numpy
from visual_search.formats.binary_codes import BinaryCodes

__all__ = ["ImageTextFolds", "ImageTextScores", "evaluate_image_text", "evaluate_image_text_folds"]

AnyArray: TypeAlias = npt.NDArray[Any]
K_VALUES = (1, 5, 10)


@dataclass(frozen=True, slots=True, eq=False)
class ImageTextScores:
    """Both directions of one test set.

    Attributes
    ----------
    directions : Directions
        ``there`` is image to text, ``back`` text to image; pooled and their asymmetry beside them.
    k_values : tuple of int
        Cut-offs of the hit rates.
    """

    directions: Directions
    k_values: tuple[int, ...]

    @property
    def r_sum(self) -> float:
        """Sum of the hit rates of both directions at all cut-offs, in per cent: at 1, 5, 10 at most 600."""
        ways = (self.directions.there, self.directions.back)
        return 100 * sum(way[f"HitRate@{k}"].mean for way in ways for k in self.k_values)

    @property
    def median_ranks(self) -> tuple[float, float]:
        """Median rank of the first right answer, image to text and text to image."""
        first = "FirstRank(average=median)"
        return self.directions.there[first].mean, self.directions.back[first].mean

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        image, text = self.median_ranks
        return {
            "r_sum": self.r_sum,
            "median_rank": {"image_to_text": image, "text_to_image": text},
            **self.directions.as_json(),
        }


@dataclass(frozen=True, slots=True, eq=False)
class ImageTextFolds:
    """The same on several parts of a test set, each with a gallery of its own.

    Attributes
    ----------
    folds : tuple of ImageTextScores

    Convention
    ----------
    A fold's gallery is a part of the whole, so that every number is higher than on the whole test set: the mean over
    five folds of 1,000 images and a value over 5,000 images are two different numbers.
    """

    folds: tuple[ImageTextScores, ...]

    @property
    def r_sum(self) -> float:
        """Mean over the folds."""
        return float(np.mean([fold.r_sum for fold in self.folds]))

    def mean(self, measure: str) -> tuple[float, float]:
        """Mean over the folds of one measure, image to text and text to image."""
        ways = ([fold.directions.there for fold in self.folds], [fold.directions.back for fold in self.folds])
        image, text = (float(np.mean([result[measure].mean for result in way])) for way in ways)
        return image, text

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        measures = list(self.folds[0].directions.there)
        means = {
            text: dict(zip(("image_to_text", "text_to_image"), self.mean(text), strict=True)) for text in measures
        }
        return {"r_sum": self.r_sum, "means": means, "folds": [fold.as_json() for fold in self.folds]}


def evaluate_image_text(
    images: Any,
    texts: Any,
    image_of_text: Any,
    *,
    codes: bool = False,
    packed: bool = False,
    metric: Metric = "cosine",
    k_values: Iterable[int] = K_VALUES,
    ties: TieRule | None = None,
    resampling: Resampling | None = None,
) -> ImageTextScores:
    """Measure image to text and text to image, however many texts an image has.

    Parameters
    ----------
    images, texts : array-like of shape (n, d) and (m, d)
        Vectors, or with ``codes`` binary codes as for `visual_search.evaluate_codes`.
    image_of_text : array-like of int, shape (m,)
        Row of each text's image; texts of an image need not stand together, and an image may have any number.
    codes : bool
        Whether rows are binary codes, ranked by Hamming distance; arrays, or `BinaryCodes`.
    packed : bool
        Whether the codes have eight bits a byte.
    metric : {"cosine", "ip", "l2"}
        Of vectors.
    k_values : iterable of int
        Cut-offs of the hit rates, each once.
    ties, resampling
        As for `visual_search.evaluate`, and for intervals; an image and its texts are drawn together.

    Returns
    -------
    ImageTextScores

    Raises
    ------
    InputError
        Texts of images that are not there, images without a text, as many rows of texts as there are not.

    Examples
    --------
    >>> found = evaluate_image_text([[1, 0], [0, 1]], [[1, 0.1], [0.9, 0], [0.2, 1]], [0, 0, 1], k_values=[1])
    >>> found.r_sum, found.median_ranks
    (200.0, (1.0, 1.0))
    """
    depths = tuple(checked_k_values(k_values))
    pictures, sentences = _sides(images, texts, codes=codes, packed=packed)
    owner = _owners(image_of_text, len(pictures), len(sentences))
    table = {"image": owner.tolist(), "text": list(range(len(owner)))}
    split = image_text(table, image="image", caption="text")
    asking = _rows(pictures, np.array(list(split.query_ids), dtype=np.int64))
    preset = preset_named("image-text")
    measures = preset.measures_at(depths)
    if codes:
        found = evaluate_directions_codes(
            split, asking, sentences, measures, ties=ties, preset=preset, resampling=resampling
        )
    else:
        found = evaluate_directions_vectors(
            split, asking, sentences, measures, metric=metric, ties=ties, preset=preset, resampling=resampling
        )
    return ImageTextScores(replace(found, sides=("image", "text")), depths)


def evaluate_image_text_folds(
    images: Any,
    texts: Any,
    image_of_text: Any,
    *,
    codes: bool = False,
    packed: bool = False,
    folds: int = 5,
    seed: int = 0,
    **options: Any,
) -> ImageTextFolds:
    """Measure parts of a test set, each image with its texts in one part, and each part a gallery of its own.

    Parameters
    ----------
    images, texts, image_of_text, codes, packed
        As for `evaluate_image_text`.
    folds : int
        How many parts.
    seed : int
        Of the shuffle of the images.
    **options
        Passed to `evaluate_image_text`.

    Examples
    --------
    >>> vectors = np.random.default_rng(0).standard_normal((10, 4))
    >>> evaluate_image_text_folds(vectors, vectors, range(10), folds=2).r_sum
    600.0
    """
    pictures, sentences = _sides(images, texts, codes=codes, packed=packed)
    if "k_values" in options:
        options["k_values"] = checked_k_values(options["k_values"])
    owner = _owners(image_of_text, len(pictures), len(sentences))
    made = []
    for fold in split_folds(range(len(pictures)), folds, seed):
        chosen = np.flatnonzero(np.isin(owner, fold.test))
        rows = np.searchsorted(fold.test, owner[chosen])
        parts = _rows(pictures, fold.test), _rows(sentences, chosen)
        made.append(evaluate_image_text(*parts, rows, codes=codes, **options))
    return ImageTextFolds(tuple(made))


Side: TypeAlias = "AnyArray | BinaryCodes"


def _sides(images: Any, texts: Any, *, codes: bool, packed: bool) -> tuple[Side, Side]:
    """Both as vectors, or as codes."""
    if codes:
        return BinaryCodes.both(images, texts, packed=packed, whats=("images", "texts"))
    if packed or isinstance(images, BinaryCodes) or isinstance(texts, BinaryCodes):
        raise InputError("images, texts: binary codes; say codes=True to rank them by Hamming distance")
    return as_matrix(images, what="images"), as_matrix(texts, what="texts")


def _rows(side: Side, rows: npt.NDArray[np.int64]) -> Side:
    return side.take(rows) if isinstance(side, BinaryCodes) else side[rows]


def _owners(image_of_text: Any, images: int, texts: int) -> npt.NDArray[np.int64]:
    listed = list(image_of_text) if isinstance(image_of_text, range) else image_of_text
    owner = as_numpy(listed, what="image_of_text")
    if owner.ndim != 1 or len(owner) != texts or owner.dtype.kind not in "iu":
        raise InputError(
            f"image_of_text: shape {owner.shape}, dtype {owner.dtype}; one image row for each of the {texts} texts is "
            "needed"
        )
    wrong = np.flatnonzero((owner < 0) | (owner >= images))
    if len(wrong):
        raise InputError(f"image_of_text: no such image among {images} in texts {first_few(wrong[:5].tolist())}")
    alone = np.flatnonzero(np.bincount(owner.astype(np.int64), minlength=images) == 0)
    if len(alone):
        raise InputError(
            f"image_of_text: {counted(len(alone), 'image has', 'images have')} no text, first "
            f"{first_few(alone[:5].tolist())}; take them out, they could find nothing"
        )
    return owner.astype(np.int64)
