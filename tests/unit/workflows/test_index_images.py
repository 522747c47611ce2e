"""Images to an index: each file accounted for, ids as asked, nothing done twice."""

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from visual_search.errors import InputError, UnknownNameError
from visual_search.images.decoding import DecodingRules
from visual_search.indexing.embedders.pixels import PixelEmbedder
from visual_search.indexing.index_table import VectorIndex
from visual_search.indexing.item_images import images_of
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch
from visual_search.workflows.index_images import index_images, journal_path


class CountingPixels(PixelEmbedder):
    """Counts what it embeds, and dies where told to."""

    def __init__(self, *, die_after: int | None = None) -> None:
        super().__init__()
        self.embedded = 0
        self.die_after = die_after

    def embed(self, batch: np.ndarray) -> np.ndarray:
        if self.die_after is not None and self.embedded >= self.die_after:
            raise KeyboardInterrupt
        self.embedded += len(batch)
        return super().embed(batch)


def test_every_file_is_in_the_ledger_and_ids_are_relative_paths(pictures: Path, tmp_path: Path) -> None:
    (pictures / "note.jpg").write_text("no picture")
    (pictures / "empty.png").write_bytes(b"")
    report = index_images(pictures, tmp_path / "index", embedder="pixels")
    assert len(report.index) == report.embedded == 24
    assert "even/00.png" in report.index
    assert report.ledger.as_json() | {"reasons": ...} == {
        "used": 24, "changed": 0, "left_out": 2, "changes": {}, "reasons": ...,
    }  # fmt: skip
    assert {entry.id for entry in report.ledger.left_out} == {"note.jpg", "empty.png"}
    assert not journal_path(tmp_path / "index").exists()


def test_the_saved_index_knows_its_images(pictures: Path, tmp_path: Path) -> None:
    index_images(pictures, tmp_path / "index", embedder="histogram", rules=DecodingRules(background=(0, 0, 0)))
    images = images_of(VectorIndex.open(tmp_path / "index"))
    assert images is not None
    assert images.rules == DecodingRules(background=(0, 0, 0))
    places = images.places()
    assert all((Path(places["root"]) / path).is_file() for path in places["paths"].values())
    assert len(places["paths"]) == len(images.hashes()) == 24


@pytest.mark.parametrize("embedder", ["pixels", "histogram", "efficientnet-lite0"])
def test_a_query_image_gets_the_very_vector_of_its_copy_in_the_index(tmp_path: Path, embedder: str) -> None:
    """Also for a large JPEG, which may be decoded at a fraction of its size, and a transparent picture."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    rng = np.random.default_rng(1)
    noise = Image.fromarray(rng.integers(0, 256, (60, 80, 3), dtype=np.uint8)).resize((1600, 1200))
    noise.save(folder / "large.jpg")
    noise.resize((40, 30)).convert("RGBA").rotate(30, expand=True).save(folder / "transparent.png")
    rules = DecodingRules(background=(10, 200, 30))
    index = index_images(folder, tmp_path / "index", embedder=embedder, rules=rules).index
    service = NearestNeighborSearch(index=index)
    queries = service.embed_images([folder / "large.jpg", folder / "transparent.png"])
    np.testing.assert_allclose(queries, index.vectors(["large.jpg", "transparent.png"]), atol=1e-6)


def test_an_interrupted_run_goes_on_and_gives_the_same_index(pictures: Path, tmp_path: Path) -> None:
    whole = index_images(pictures, tmp_path / "whole", embedder="pixels", batch_size=4)
    with pytest.raises(KeyboardInterrupt):
        index_images(pictures, tmp_path / "index", embedder=CountingPixels(die_after=12), batch_size=4)
    assert not (tmp_path / "index").exists()
    again = CountingPixels()
    report = index_images(pictures, tmp_path / "index", embedder=again, batch_size=4)
    assert (again.embedded, report.embedded, report.resumed) == (12, 12, 12)
    assert report.index.fingerprint() == whole.index.fingerprint()
    assert report.ledger == whole.ledger


def test_a_file_changed_since_the_interruption_is_embedded_again(pictures: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        index_images(pictures, tmp_path / "index", embedder=CountingPixels(die_after=12), batch_size=4)
    Image.new("RGB", (16, 12), "red").save(pictures / "even" / "00.png")
    report = index_images(pictures, tmp_path / "index", embedder="pixels", batch_size=4)
    assert report.embedded == 13
    fresh = index_images(pictures, tmp_path / "fresh", embedder="pixels")
    assert report.index.fingerprint() == fresh.index.fingerprint()


def test_other_rules_or_another_embedder_begin_anew(pictures: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        index_images(pictures, tmp_path / "index", embedder=CountingPixels(die_after=12), batch_size=4)
    report = index_images(
        pictures, tmp_path / "index", embedder="pixels", rules=DecodingRules(background=(0, 0, 0))
    )
    assert (report.embedded, report.resumed) == (24, 0)


def test_nothing_usable_is_an_error_with_reasons(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.jpg").write_text("words")
    with pytest.raises(InputError, match=r"none of 1 files could be used.*a\.jpg: not an image"):
        index_images(tmp_path / "pictures", tmp_path / "index", embedder="pixels")


def test_wrong_words_are_known_before_the_work(pictures: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="pixel"):
        index_images(pictures, tmp_path / "index", embedder="pixles")
    with pytest.raises(UnknownNameError, match="flat"):
        index_images(pictures, tmp_path / "index", embedder="pixels", engine="flatt")
    assert os.listdir(tmp_path) == ["pictures"]


def test_the_index_folder_can_move_with_relative_images_elsewhere(
    pictures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    index_images("pictures", "index", embedder="pixels")
    monkeypatch.chdir(pictures)
    service = NearestNeighborSearch(index=VectorIndex.open(tmp_path / "index"))
    location = service.item_location("even/00.png")
    assert location is not None
    assert location.path.is_file()
