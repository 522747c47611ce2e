import sys
from dataclasses import replace
from pathlib import Path

import pytest

from visual_search.errors import FingerprintError, InputError, UnknownNameError
from visual_search.indexing.embedders.contract import EmbedderDescription, describe
from visual_search.indexing.embedders.pixels import PixelEmbedder
from visual_search.indexing.embedders.registry import available_embedders, create_embedder, load_embedder

PLUG_IN = '''
"""Embedders of a plug-in."""

LOADED = True


class Mean:
    """Mean colour of the image.

    More on it.
    """

    dimension, preprocessing, weights_hash, batch_size, decode_size = 3, "mean colour", None, 7, None

    def __init__(self, argument):
        self.name = f"mean:{argument}" if argument else "mean"

    @classmethod
    def from_argument(cls, argument):
        return cls(argument)

    def prepare(self, image):
        return np.asarray(image, dtype=np.float32).mean((0, 1))

    def embed(self, batch):
        return batch.copy()


class Lame:
    dimension, name = 3, "lame"

    @classmethod
    def from_argument(cls, argument):
        return cls()
'''


def install(folder: Path, package: str, entries: str, *, summary: str = "A plug-in.") -> None:
    """What pip leaves of a package with one module: the module and its metadata."""
    module = package.replace("-", "_")
    (folder / module).mkdir(parents=True)
    (folder / module / "__init__.py").write_text("raise RuntimeError('listing must not import this')")
    (folder / module / "embedders.py").write_text(PLUG_IN)
    metadata = folder / f"{module}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\nSummary: {summary}\n"
    )
    (metadata / "entry_points.txt").write_text(f"[visual_search.embedders]\n{entries}\n")


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    install(tmp_path, "mean-embedder", "mean = mean_embedder.embedders:Mean\nlame = mean_embedder.embedders:Lame")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("mean_embedder", "mean_embedder.embedders"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def test_every_built_in_is_listed_with_its_own_line() -> None:
    lines = available_embedders()
    names = {"pixels", "histogram", "phash", "onnx", "efficientnet-lite0", "timm", "open_clip", "transformers"}
    assert names | {"sentence-transformers", "clip-ViT-B-32"} <= set(lines)
    assert list(lines) == sorted(lines)
    assert lines["phash"] == "DCT perceptual hash as -1 and +1, 256 values (or 64)."
    assert lines["clip-ViT-B-32"] == "Short for sentence-transformers:clip-ViT-B-32."
    assert len(set(lines.values())) == len(lines)


def test_a_name_alone_and_a_name_with_an_argument() -> None:
    assert create_embedder("pixels").dimension == 16 * 16 * 3
    assert create_embedder("pixels:4").dimension == 4 * 4 * 3


def test_only_the_first_colon_splits(plug_in: Path) -> None:
    (plug_in / "mean_embedder" / "__init__.py").write_text("")
    assert create_embedder("mean:C:\\models\\a:b").name == "mean:C:\\models\\a:b"


def test_an_unknown_name_lists_the_known_and_the_near() -> None:
    with pytest.raises(
        UnknownNameError, match=r"did you mean 'histogram'\? Known: .*efficientnet-lite0, histogram"
    ):
        create_embedder("Histograms")
    with pytest.raises(UnknownNameError, match="timm:resnet50"):
        create_embedder("resnet50")
    with pytest.raises(UnknownNameError, match="embedder '': nobody"):
        create_embedder("")


def test_a_plug_in_is_found_and_described_without_being_imported(plug_in: Path) -> None:
    lines = available_embedders()
    assert lines["mean"] == "Mean colour of the image."
    assert lines["lame"] == "A plug-in."  # no docstring: the package's summary
    assert not {"mean_embedder", "mean_embedder.embedders"} & set(sys.modules)
    (plug_in / "mean_embedder" / "__init__.py").write_text("")
    assert create_embedder("mean:7").name == "mean:7"


def test_a_plug_in_without_source_is_described_by_its_package(plug_in: Path) -> None:
    (plug_in / "mean_embedder" / "embedders.py").unlink()
    assert available_embedders()["mean"] == "A plug-in."


def test_what_is_no_embedder_is_refused_with_what_it_lacks(plug_in: Path) -> None:
    (plug_in / "mean_embedder" / "__init__.py").write_text("")
    with pytest.raises(InputError, match=r"made a Lame, which lacks preprocessing, .*embed; see docs/how-to"):
        create_embedder("lame")


def test_a_name_that_two_packages_claim_is_refused(plug_in: Path) -> None:
    install(plug_in, "other-embedder", "mean = other_embedder.embedders:Mean")
    with pytest.raises(InputError, match=r"'mean' is claimed by \S+-embedder .* and by \S+-embedder .*; uninstall"):
        create_embedder("pixels")


def test_a_package_found_twice_claims_nothing_twice(plug_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(plug_in / "again", "mean-embedder", "mean = mean_embedder.embedders:Mean")
    monkeypatch.syspath_prepend(str(plug_in / "again"))
    assert available_embedders()["mean"] == "Mean colour of the image."


def test_loading_names_everything_that_differs() -> None:
    kept = replace(describe(PixelEmbedder()), dimension=5, weights_hash="sha256:00")
    with pytest.raises(
        FingerprintError, match=r"dimension was 5, is 768; weights hash was 'sha256:00', is None; use"
    ):
        load_embedder(kept)


def test_a_model_that_moved_is_loaded_by_another_text() -> None:
    kept = replace(describe(PixelEmbedder(4)), name="pixels:nowhere")
    assert load_embedder(kept, spec="pixels:4").name == "pixels:4"
    with pytest.raises(FingerprintError, match=r"preprocessing was .*4x4.*, is .*5x5"):
        load_embedder(kept, spec="pixels:5")


def test_a_description_must_be_an_object_with_every_part() -> None:
    with pytest.raises(InputError, match="manifest: a JSON object is needed, not list"):
        EmbedderDescription.from_json([], what="manifest")
    with pytest.raises(InputError) as refused:
        EmbedderDescription.from_json({"name": 3, "dimension": True, "weights_hash": 7})
    assert "embedder: 4 problems" in str(refused.value)


def test_description_survives_json() -> None:
    description = describe(create_embedder("histogram"))
    assert EmbedderDescription.from_json(description.as_json()) == description
