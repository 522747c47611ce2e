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
    with pytest.raises(InputError, match=r"none of 1 file could be used.*a\.jpg: not an image"):
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


def test_indexed_again_only_what_is_new_or_changed_is_embedded(pictures: Path, tmp_path: Path) -> None:
    first = index_images(pictures, tmp_path / "index", embedder="pixels")
    assert first.replaced is None
    Image.new("RGB", (16, 12), "red").save(pictures / "even" / "00.png")
    Image.new("RGB", (16, 12), "blue").save(pictures / "even" / "new.png")
    (pictures / "odd" / "01.png").unlink()
    counting = CountingPixels()
    again = index_images(pictures, tmp_path / "index", embedder=counting)
    assert (counting.embedded, again.embedded, again.unchanged) == (2, 2, 22)
    assert again.replaced == "an index of 24 images by pixels"
    fresh = index_images(pictures, tmp_path / "fresh", embedder="pixels")
    assert again.index.fingerprint() == fresh.index.fingerprint()
    assert again.ledger == fresh.ledger


def test_nothing_is_taken_over_from_an_index_made_otherwise(pictures: Path, tmp_path: Path) -> None:
    index_images(pictures, tmp_path / "index", embedder="pixels")
    other = index_images(pictures, tmp_path / "index", embedder="histogram")
    assert (other.unchanged, other.embedded) == (0, 24)
    assert other.words().endswith("(in place of an index of 24 images by pixels)")
    darker = index_images(
        pictures, tmp_path / "index", embedder="histogram", rules=DecodingRules(background=(0, 0, 0))
    )
    assert darker.unchanged == 0


def test_a_folder_that_holds_something_else_is_refused_before_the_work(pictures: Path, tmp_path: Path) -> None:
    counting = CountingPixels()
    with pytest.raises(InputError, match="holds other things"):
        index_images(pictures, pictures, embedder=counting)
    assert counting.embedded == 0


def test_a_picture_in_memory_is_a_query_too(pictures: Path, tmp_path: Path) -> None:
    index = index_images(pictures, tmp_path / "index", embedder="pixels").index
    service = NearestNeighborSearch(index=index)
    with Image.open(pictures / "even" / "04.png") as picture:
        pixels = np.asarray(picture, dtype=np.uint8)
        opaque = np.concatenate([pixels, np.full((12, 16, 1), 255, dtype=np.uint8)], axis=2)
        for query in (picture, picture.convert("RGBA"), pixels, opaque):
            found = service.search_image(query, 1).results[0]
            assert found.image_id == "even/04.png"
            assert found.score == pytest.approx(1, abs=1e-6)
    with pytest.raises(InputError, match="uint8"):
        service.search_image(np.zeros((4, 4, 3)), 1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="give a path"):
        service.search_image(7, 1)  # type: ignore[arg-type]


def test_what_is_no_index_or_no_embedder_is_refused_at_once(pictures: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"VectorIndex\.open"):
        NearestNeighborSearch("photos.index")  # type: ignore[arg-type]
    index = index_images(pictures, tmp_path / "index", embedder="pixels").index
    with pytest.raises(InputError, match="create_embedder"):
        NearestNeighborSearch(index, "pixels")  # type: ignore[arg-type]


class BlindPixels(CountingPixels):
    """Finds nothing in dark pictures."""

    def embed(self, batch: np.ndarray) -> np.ndarray:
        vectors = super().embed(batch)
        vectors[batch.reshape(len(batch), -1).max(axis=1) == 0] = 0
        return vectors


def test_a_zero_vector_under_cosine_costs_one_image_and_not_the_run(pictures: Path, tmp_path: Path) -> None:
    Image.new("RGB", (16, 12)).save(pictures / "black.png")
    report = index_images(pictures, tmp_path / "index", embedder=BlindPixels())
    assert len(report.index) == 24
    assert str(report.ledger["black.png"].reason).startswith("zero vector")
    kept = index_images(pictures, tmp_path / "other", embedder=BlindPixels(), metric="ip")
    assert "black.png" in kept.index


def test_what_was_left_out_is_tried_again(pictures: Path, tmp_path: Path) -> None:
    (pictures / "even" / "00.png").rename(pictures / "hidden")
    (pictures / "even" / "00.png").write_bytes(b"no picture")
    stamp = (pictures / "even" / "00.png").stat()
    with pytest.raises(KeyboardInterrupt):
        index_images(pictures, tmp_path / "index", embedder=CountingPixels(die_after=12), batch_size=4)
    (pictures / "hidden").replace(pictures / "even" / "00.png")
    os.utime(pictures / "even" / "00.png", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert "even/00.png" in index_images(pictures, tmp_path / "index", embedder="pixels").index


def test_two_runs_at_one_index_are_refused(pictures: Path, tmp_path: Path) -> None:
    class Second(CountingPixels):
        def embed(self, batch: np.ndarray) -> np.ndarray:
            with pytest.raises(InputError, match="another run is at the same work"):
                index_images(pictures, tmp_path / "index", embedder="pixels")
            return super().embed(batch)

    assert index_images(pictures, tmp_path / "index", embedder=Second()).embedded == 24


def test_the_folder_one_stands_in_can_be_the_index(
    pictures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    index_images(pictures, ".", embedder="pixels")
    assert len(VectorIndex.open(tmp_path / "here")) == 24
