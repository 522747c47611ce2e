import importlib.resources
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from visual_search.datasets.orl_faces import load_orl_faces
from visual_search.errors import FingerprintError, InputError
from visual_search.indexing.embedders import efficientnet_lite0
from visual_search.indexing.embedders.efficientnet_lite0 import EfficientNetLite0Embedder


@pytest.fixture(scope="module")
def network() -> EfficientNetLite0Embedder:
    return EfficientNetLite0Embedder(threads=1)


def test_prepares_as_the_weights_were_trained(network: EfficientNetLite0Embedder) -> None:
    values = np.random.default_rng(0).integers(0, 256, (224, 224, 3), dtype=np.uint8)
    prepared = network.prepare(Image.fromarray(values))
    assert prepared.dtype == np.float32
    assert prepared.flags.c_contiguous
    np.testing.assert_allclose(prepared, (values.astype(np.float64) - 127).transpose(2, 0, 1) / 128, rtol=1e-7)


def test_the_first_photographs_of_ten_people_find_their_others(network: EfficientNetLite0Embedder) -> None:
    faces = [face for face in load_orl_faces().photographs[:100] if face.photo <= 3]
    batch = np.stack([network.prepare(Image.open(face.path).convert("RGB")) for face in faces])
    vectors = network.embed(batch)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    similarity = vectors @ vectors.T
    np.fill_diagonal(similarity, -1)
    people = np.arange(30) // 3
    # All 400 photographs give .9975 (benchmarks/embedder_quality.py); of these 30 one miss would be .967.
    assert (people[similarity.argmax(axis=1)] == people).mean() == 1


def test_threads_do_not_change_the_vectors(network: EfficientNetLite0Embedder) -> None:
    batch = np.random.default_rng(1).uniform(-1, 1, (2, 3, 224, 224)).astype(np.float32)
    two = EfficientNetLite0Embedder(threads=2).embed(batch)
    np.testing.assert_allclose(network.embed(batch), two, atol=1e-6)


def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "weights").mkdir()
    shipped = importlib.resources.files("visual_search.indexing.embedders") / "weights" / "efficientnet_lite0.onnx"
    tampered = bytearray(shipped.read_bytes())
    tampered[-1000] ^= 1
    (tmp_path / "weights" / "efficientnet_lite0.onnx").write_bytes(tampered)
    monkeypatch.setattr(efficientnet_lite0, "files", lambda _: tmp_path)
    with pytest.raises(
        FingerprintError, match=r"the installed weights have sha256:.*the published ones sha256:f74e213"
    ):
        EfficientNetLite0Embedder()


def test_takes_no_argument_and_no_threads_below_one() -> None:
    with pytest.raises(InputError, match="takes no argument"):
        EfficientNetLite0Embedder.from_argument("b0")
    with pytest.raises(InputError, match="threads 0 is not allowed"):
        EfficientNetLite0Embedder(threads=0)
