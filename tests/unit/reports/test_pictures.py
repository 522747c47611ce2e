"""Pictures inside the page: small, once each, and a labelled frame where there is none."""

import base64
import hashlib
import io
import re
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from visual_search.formats.results import ImageLocation
from visual_search.reports.pictures import Album, FileAlbum, Picture


def png(colour: str, size: tuple[int, int] = (40, 50)) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", size, colour).save(stream, "PNG")
    return stream.getvalue()


def embedded(album: Album) -> list[Image.Image]:
    return [
        Image.open(io.BytesIO(base64.b64decode(text))) for text in re.findall(r"base64,([^\"]+)", album.symbols)
    ]


@pytest.fixture
def red(tmp_path: Path) -> ImageLocation:
    (tmp_path / "red.png").write_bytes(png("red"))
    return ImageLocation(tmp_path / "red.png")


class TestChanged:
    def test_two_results_that_measured_a_file_before_and_after_it_changed(self, red: ImageLocation) -> None:
        now = hashlib.sha256(red.path.read_bytes()).hexdigest()
        album = Album()
        places = [replace(red, sha256=sha256) for sha256 in (now, "0" * 64, None)]
        assert [album.picture(place).changed for place in places] == [False, True, False]
        assert {album.picture(place).symbol for place in places} == {"picture-1"}
        assert album.changed() == 1

    def test_a_file_of_its_own_says_it_too(self, red: ImageLocation, tmp_path: Path) -> None:
        album = FileAlbum(tmp_path)
        assert album.picture(replace(red, sha256="0" * 64)).changed
        assert not album.picture(red).changed
        assert len(album) == 1

    def test_what_is_not_shown_is_not_called_changed(self, red: ImageLocation, tmp_path: Path) -> None:
        album = Album(max_bytes=0)
        gone = ImageLocation(tmp_path / "gone.png", sha256="0" * 64)
        assert [album.picture(place).changed for place in (replace(red, sha256="0" * 64), gone)] == [False, False]
        assert album.changed() == 0
        assert album.missing == {"file is gone": 1, "left out, page is full": 1}


class TestEmbedding:
    def test_a_picture_shown_twice_is_stored_once(self, red: ImageLocation, tmp_path: Path) -> None:
        (tmp_path / "copy.png").write_bytes(red.path.read_bytes())
        album = Album()
        shown = {album.picture(place) for place in (red, red, ImageLocation(tmp_path / "copy.png"))}
        assert shown == {Picture("picture-1")}
        assert len(album) == 1

    def test_it_is_scaled_down_and_never_up(self, tmp_path: Path, red: ImageLocation) -> None:
        (tmp_path / "large.png").write_bytes(png("blue", (600, 300)))
        album = Album(longest=128)
        album.picture(ImageLocation(tmp_path / "large.png"))
        album.picture(red)
        assert [image.size for image in embedded(album)] == [(128, 64), (40, 50)]
        assert 'viewBox="0 0 128 64"' in album.symbols

    def test_a_full_page_leaves_the_rest_out_and_counts_it(self, red: ImageLocation, tmp_path: Path) -> None:
        whole = Album()
        whole.picture(red)
        (first,) = re.findall(r"base64,([^\"]+)", whole.symbols)
        album = Album(max_bytes=len(first))
        others = [ImageLocation(tmp_path / f"{colour}.png") for colour in ("green", "blue")]
        for place in others:
            place.path.write_bytes(png(place.path.stem))
        assert album.picture(red).symbol == "picture-1"
        assert {album.picture(place) for place in others} == {Picture(None, "left out, page is full")}
        assert album.missing == {"left out, page is full": 2}

    @pytest.mark.parametrize(("size", "shape"), [((60, 90), "tall"), ((50, 50), "square"), ((90, 60), "wide")])
    def test_frames_follow_the_pictures(self, tmp_path: Path, size: tuple[int, int], shape: str) -> None:
        (tmp_path / "a.png").write_bytes(png("red", size))
        album = Album()
        assert album.shape == "square"
        album.picture(ImageLocation(tmp_path / "a.png"))
        assert album.shape == shape


class TestArchives:
    def test_members_of_zip_and_tar(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            archive.writestr("x/red.png", png("red"))
        with tarfile.open(tmp_path / "a.tar", "w") as tar:
            entry = tarfile.TarInfo("x/blue.png")
            entry.size = len(png("blue"))
            tar.addfile(entry, io.BytesIO(png("blue")))
        album = Album()
        assert album.picture(ImageLocation(tmp_path / "a.zip", "x/red.png")) == Picture("picture-1")
        assert album.picture(ImageLocation(tmp_path / "a.tar", "x/blue.png")) == Picture("picture-2")
        red, blue = (np.asarray(image.convert("RGB")).mean(axis=(0, 1)) for image in embedded(album))
        assert np.abs(red - (255, 0, 0)).max() < 6
        assert np.abs(blue - (0, 0, 255)).max() < 6

    def test_a_member_that_is_not_there(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            archive.writestr("red.png", png("red"))
        (tmp_path / "text.zip").write_text("a list of files\nred.png\n")
        for place in (
            ImageLocation(tmp_path / "a.zip", "blue.png"),
            ImageLocation(tmp_path / "text.zip", "red.png"),
            ImageLocation(tmp_path / "none.zip", "red.png"),
        ):
            assert Album().picture(place) == Picture(None, "file is gone")


class TestMissing:
    def test_each_reason_is_counted_once_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "text.jpg").write_text("not an image")
        (tmp_path / "folder.png").mkdir()
        album = Album()
        for name in ("text.jpg", "gone.png", "gone.png", "folder.png"):
            album.picture(ImageLocation(tmp_path / name))
        assert album.picture(None) == Picture(None, "no file is named")
        assert album.missing == {"file is gone": 2, "not a readable image": 1}
