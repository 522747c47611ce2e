"""What every embedder must do, as tests that a plug-in runs against itself.

In a test module::

    from visual_search.testing.embedder_contract import EmbedderContract

    class TestMyEmbedder(EmbedderContract):
        spec = "my-embedder:large"

Each method named ``test_...`` is one promise of ``visual_search.indexing.embedders.contract``; pytest finds them.
The package must be installed, since embedders are found by their entry points.
"""

# ruff: noqa: D102 - a test's name says what it shows

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from PIL import Image

from visual_search.errors import FingerprintError
from visual_search.indexing.embedders.contract import Embedder, EmbedderDescription, TextEmbedder, describe
from visual_search.indexing.embedders.registry import available_embedders, create_embedder, load_embedder

__all__ = ["EmbedderContract"]

Vectors = npt.NDArray[np.float32]

# Packages that take long to import, of which listing the embedders must load none.
_HEAVY = ("torch", "onnxruntime", "timm", "open_clip", "transformers", "sentence_transformers")


class EmbedderContract:
    """Inherit, name the embedder, and run.

    Attributes
    ----------
    spec : str
        Text form that makes the embedder: ``"pixels"``.
    tolerance : float
        Largest difference between the vectors of one image in two batches, in parts of the vector's length.
        Kernels sum in another order for another batch, so float32 rounding must be allowed.
    """

    spec: ClassVar[str]
    tolerance: ClassVar[float] = 1e-5

    # What the tests are made of.

    def made(self) -> Embedder:
        """The embedder; made once for each class of tests."""
        cls = type(self)
        if "_embedder" not in cls.__dict__:
            cls._embedder = create_embedder(self.spec)
        return cls._embedder

    _embedder: ClassVar[Embedder]

    def images(self) -> list[Image.Image]:
        """Pictures of different shapes, smooth and noisy, all distinct."""
        rng = np.random.default_rng(20)
        sizes = ((64, 48), (300, 200), (31, 97), (224, 224), (500, 120))
        small = [Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)) for _ in sizes]
        return [image.resize(size, Image.Resampling.BICUBIC) for image, size in zip(small, sizes, strict=True)]

    def vectors(self, images: list[Image.Image]) -> Vectors:
        """All images, in batches of the size the embedder wishes."""
        embedder = self.made()
        prepared = [embedder.prepare(image) for image in images]
        size = embedder.batch_size
        return np.concatenate(
            [embedder.embed(np.stack(prepared[start : start + size])) for start in range(0, len(prepared), size)]
        )

    # Who it is.

    def test_tells_what_it_is(self) -> None:
        embedder = self.made()
        assert isinstance(embedder, Embedder)
        assert embedder.name
        assert embedder.name == embedder.name.strip()
        assert embedder.preprocessing
        assert embedder.dimension >= 1
        assert embedder.batch_size >= 1
        if embedder.weights_hash is not None:
            kind, _, digits = embedder.weights_hash.partition(":")
            assert kind == "sha256"
            assert len(bytes.fromhex(digits)) == 32
        if embedder.decode_size is not None:
            assert len(embedder.decode_size) == 2
            assert min(embedder.decode_size) >= 1

    def test_its_name_makes_it_again(self) -> None:
        again = create_embedder(self.made().name)
        assert describe(again) == describe(self.made())
        batch = np.stack([again.prepare(image) for image in self.images()[: again.batch_size]])
        assert np.array_equal(again.embed(batch), self.made().embed(batch))

    def test_its_description_goes_through_json_and_makes_it_again(self) -> None:
        description = describe(self.made())
        kept = EmbedderDescription.from_json(json.loads(json.dumps(description.as_json())))
        assert kept == description
        assert describe(load_embedder(kept)) == description

    def test_another_one_is_not_taken_for_it(self) -> None:
        description = describe(self.made())
        for wrong in (
            replace(description, dimension=description.dimension + 1),
            replace(description, preprocessing=description.preprocessing + ", upside down"),
            replace(description, weights_hash="sha256:" + "0" * 64),
        ):
            try:
                load_embedder(wrong)
            except FingerprintError:
                continue
            raise AssertionError(f"{wrong} was taken for {description}")

    def test_is_listed_without_being_imported(self) -> None:
        name = self.spec.partition(":")[0]
        line = available_embedders()[name]
        assert line
        assert "\n" not in line
        code = (
            "import sys; from visual_search.indexing.embedders.registry import available_embedders; "
            f"assert available_embedders()[{name!r}] == {line!r}; "
            f"print(*[heavy for heavy in {_HEAVY!r} if heavy in sys.modules])"
        )
        loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603
        assert not loaded.stdout.split()

    # What it gives.

    def test_gives_finite_float32_vectors_of_its_dimension(self) -> None:
        vectors = self.vectors(self.images())
        assert vectors.dtype == np.float32
        assert vectors.shape == (len(self.images()), self.made().dimension)
        assert np.isfinite(vectors).all()

    def test_tells_images_apart(self) -> None:
        assert len(np.unique(self.vectors(self.images()), axis=0)) == len(self.images())

    def test_the_same_batch_gives_the_same_vectors(self) -> None:
        assert np.array_equal(self.vectors(self.images()), self.vectors(self.images()))

    def test_a_vector_does_not_depend_on_its_batch(self) -> None:
        embedder = self.made()
        together = self.vectors(self.images())
        alone = np.concatenate([embedder.embed(embedder.prepare(image)[None]) for image in self.images()])
        backwards = self.vectors(self.images()[::-1])[::-1]
        for other in (alone, backwards):
            length = np.linalg.norm(together, axis=1)
            assert (np.linalg.norm(together - other, axis=1) <= self.tolerance * length).all()

    def test_takes_images_of_any_shape_and_content(self) -> None:
        shapes = [(1, 1), (1, 5000), (5000, 1), (2, 3)]
        odd = [Image.new("RGB", shape, "teal") for shape in shapes]
        plain = [Image.new("RGB", (40, 30), colour) for colour in ("black", "white", "grey")]
        vectors = self.vectors(odd + plain)
        assert vectors.shape == (7, self.made().dimension)
        assert np.isfinite(vectors).all()

    # How it is used.

    def test_leaves_images_and_batches_as_they_were(self) -> None:
        image = self.images()[0]
        before = image.tobytes()
        prepared = self.made().prepare(image)
        assert image.tobytes() == before
        batch = np.stack([prepared])
        self.made().embed(batch)
        assert np.array_equal(batch[0], prepared)

    def test_does_not_keep_the_memory_of_a_batch(self) -> None:
        embedder = self.made()
        batch = np.stack([embedder.prepare(self.images()[0])])
        vectors = embedder.embed(batch)
        kept = vectors.copy()
        assert not np.shares_memory(vectors, batch)
        batch[...] = embedder.prepare(self.images()[1])
        embedder.embed(batch)
        assert np.array_equal(vectors, kept)

    def test_prepares_in_threads_as_in_one(self) -> None:
        images = self.images() * 4
        one = [self.made().prepare(image) for image in images]
        with ThreadPoolExecutor(4) as pool:
            several: list[npt.NDArray[Any]] = list(pool.map(self.made().prepare, images))
        assert all(np.array_equal(a, b) for a, b in zip(one, several, strict=True))

    def test_text_if_taken_lands_in_the_same_space(self) -> None:
        embedder = self.made()
        if isinstance(embedder, TextEmbedder):
            texts = ["a photograph of a cat", "two red cars in the rain", ""]
            vectors = embedder.embed_text(texts)
            assert vectors.dtype == np.float32
            assert vectors.shape == (len(texts), embedder.dimension)
            assert np.isfinite(vectors).all()
            assert not np.array_equal(vectors[0], vectors[1])
