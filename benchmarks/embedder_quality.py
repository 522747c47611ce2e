"""What the embedders that come with the package find, and what the way of resizing does to the network.

Run as ``python benchmarks/embedder_quality.py`` (needs the extra ``demo``). On the ORL faces, cosine similarity:

- HitRate@1 and AP, leave-one-out: each of 400 photographs against the other 399, 9 of them relevant;
- one view: one photograph a person in the gallery, the other nine as queries, HitRate@1; the mean, the least and
  the greatest over the ten choices of the photograph.

The measures are computed here in a few lines, on purpose apart from ``visual_search.evaluation``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from visual_search.datasets.orl_faces import PHOTOGRAPHS_EACH, load_orl_faces
from visual_search.indexing.embedders.efficientnet_lite0 import EfficientNetLite0Embedder
from visual_search.indexing.embedders.registry import create_embedder
from visual_search.indexing.embedders.resizing import Resize
from visual_search.indexing.embedding import embed_images

Vectors = npt.NDArray[np.float32]
Resizing = Callable[[Image.Image], Image.Image]


class Resized(EfficientNetLite0Embedder):
    """The network with another way to come to 224 x 224."""

    def __init__(self, resize: Resizing) -> None:
        super().__init__()
        self._resized = resize

    def prepare(self, image: Image.Image) -> npt.NDArray[Any]:
        """As the network wants it; what is 224 x 224 already is not resized again."""
        return super().prepare(self._resized(image))


def padded(image: Image.Image) -> Image.Image:
    """The whole image, its aspect kept, on grey."""
    scale = 224 / max(image.size)
    inner = image.resize((round(image.width * scale), round(image.height * scale)), Image.Resampling.BILINEAR)
    canvas = Image.new("RGB", (224, 224), (127, 127, 127))
    canvas.paste(inner, ((224 - inner.width) // 2, (224 - inner.height) // 2))
    return canvas


def leave_one_out(vectors: Vectors, people: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Mean HitRate@1 and AP of each against all others."""
    similarity = vectors @ vectors.T
    np.fill_diagonal(similarity, -np.inf)
    order = np.argsort(-similarity, axis=1, kind="stable")[:, :-1]
    hits = people[order] == people[:, None]
    precision = hits.cumsum(axis=1) / np.arange(1, hits.shape[1] + 1)
    return float(hits[:, 0].mean()), float(((precision * hits).sum(axis=1) / hits.sum(axis=1)).mean())


def one_view(vectors: Vectors, people: npt.NDArray[np.int64], view: int) -> float:
    """HitRate@1 with one photograph a person as gallery."""
    gallery = np.arange(view, len(vectors), PHOTOGRAPHS_EACH)
    queries = np.setdiff1d(np.arange(len(vectors)), gallery)
    nearest = (vectors[queries] @ vectors[gallery].T).argmax(axis=1)
    return float((people[gallery[nearest]] == people[queries]).mean())


def report(name: str, vectors: Vectors) -> None:
    """Print one line."""
    people = np.arange(len(vectors)) // PHOTOGRAPHS_EACH
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    hit, precision = leave_one_out(unit, people)
    views = [one_view(unit, people, view) for view in range(PHOTOGRAPHS_EACH)]
    spread = f"{np.mean(views):.3f} ({min(views):.3f} to {max(views):.3f})"
    print(f"{name:<38} {hit:>9.4f} {precision:>6.3f}  {spread}", flush=True)


def main() -> None:
    """Print versions and the two tables."""
    print(", ".join(f"{name} {version(name)}" for name in ("visual-search", "numpy", "pillow", "onnxruntime")))
    images = [Image.open(face.path).convert("RGB") for face in load_orl_faces().photographs]
    print(f"{'embedder':<38} HitRate@1     AP  one view: HitRate@1")
    for name in ("efficientnet-lite0", "pixels", "histogram", "phash", "phash:64"):
        report(name, embed_images(images, create_embedder(name)))
    ways: dict[str, Resizing] = {
        f"stretched, {kind}": Resize(224, 224, filter=kind) for kind in ("bilinear", "bicubic", "lanczos", "box")
    }
    ways["padded, bilinear"] = padded
    for crop in (1.0, 0.875):
        ways[f"central {crop} of shorter side, bilinear"] = Resize(224, 224, rule="shorter-side", crop=crop)
    print(f"{'the network on images that are':<38} HitRate@1     AP  one view: HitRate@1")
    for name, way in ways.items():
        report(name, embed_images(images, Resized(way)))


if __name__ == "__main__":
    main()
