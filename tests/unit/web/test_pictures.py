"""Pictures are those of the index, by id, and nothing else."""

import hashlib
import io
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from starlette.testclient import TestClient

from visual_search.errors import UndecodableImageError
from visual_search.formats.results import ImageLocation
from visual_search.images.kept_thumbnails import KeptThumbnails
from visual_search.images.thumbnails import thumbnail
from visual_search.workflows.index_images import index_images

Explore = Callable[..., TestClient]

TRAVERSALS = [
    "../secret.png",
    "..%2fsecret.png",
    "%2e%2e%2fsecret.png",
    "%252e%252e%252fsecret.png",
    "..\\secret.png",
    "..%5csecret.png",
    "....//secret.png",
    "set-0/../../secret.png",
    "/etc/passwd",
    "//etc/passwd",
    "file:///etc/passwd",
    "C:\\secret.png",
    "set-0/0.png%00.jpg",
    "set-0/0.png\x00",
    "..%c0%afsecret.png",
    "%uff0e%uff0e/secret.png",
    "．．/secret.png",
    "~/secret.png",
    "link.png",
]


def png_bomb(width: int, height: int) -> bytes:
    """A small file that says it holds many pixels, and does."""
    row = zlib.compressobj(9)
    body = b"".join(row.compress(b"\0" * (1 + width // 8)) for _ in range(height)) + row.flush()

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", body) + chunk(b"IEND", b"")


@pytest.fixture
def own_photos(tmp_path: Path) -> Path:
    """Two pictures in a folder, one beside it, and a link that leads out."""
    folder = tmp_path / "photos"
    folder.mkdir()
    Image.new("RGB", (600, 300), (9, 99, 9)).save(folder / "green.png")
    Image.new("RGB", (30, 30), (99, 9, 9)).save(folder / "red.png")
    Image.new("RGB", (30, 30), (1, 2, 3)).save(tmp_path / "secret.png")
    return folder


@pytest.fixture
def client(explore: Explore, own_photos: Path, tmp_path: Path) -> TestClient:
    index_images(own_photos, tmp_path / "own.index", embedder="histogram")
    (own_photos / "link.png").symlink_to(tmp_path / "secret.png")
    return explore(indexes=(tmp_path / "own.index",))


def test_a_picture_is_small_and_kept_by_the_browser(client: TestClient) -> None:
    answer = client.get("/search/picture?item=green.png")
    assert answer.headers["content-type"] == "image/webp"
    assert Image.open(io.BytesIO(answer.content)).size == (256, 128)
    assert answer.headers["cache-control"].startswith("private")
    again = client.get("/search/picture?item=green.png", headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    large = client.get("/search/picture?item=green.png&size=large")
    assert Image.open(io.BytesIO(large.content)).size == (600, 300)
    assert large.headers["etag"] != answer.headers["etag"]
    assert client.get("/search/picture?item=green.png&size=9999").status_code == 422


@pytest.mark.parametrize("spelling", TRAVERSALS)
def test_no_spelling_leads_out_of_the_index(client: TestClient, spelling: str) -> None:
    by_value = client.get("/search/picture", params={"item": spelling})
    assert by_value.status_code == 404
    assert by_value.json()["error"]["kind"] == "UnknownIdError"
    raw = spelling.replace("\x00", "%00").replace(" ", "%20")
    for path in (f"/search/picture?item={raw}", f"/search/picture?index={raw}&item=red.png", f"/static/{raw}"):
        answer = client.get(path)
        assert answer.status_code == 404, path
        assert answer.headers["content-type"] == "application/json"


def test_a_link_put_in_an_image_s_place_is_not_followed_to_other_content(
    client: TestClient, own_photos: Path, tmp_path: Path
) -> None:
    (own_photos / "red.png").unlink()
    (own_photos / "red.png").symlink_to(tmp_path / "secret.png")
    answer = client.get("/search/picture?item=red.png")
    assert answer.status_code == 404
    assert "not the one that was indexed" in answer.json()["error"]["message"]


def test_what_one_may_see_unchecked_is_not_shown_where_the_indexed_picture_is_expected(own_photos: Path) -> None:
    place = ImageLocation(own_photos / "red.png")
    indexed = hashlib.sha256(place.path.read_bytes()).hexdigest()
    Image.new("RGB", (30, 30), (9, 9, 99)).save(place.path)
    kept = KeptThumbnails(max_bytes=100_000)
    assert kept.made(place, 64).data
    with pytest.raises(UndecodableImageError, match="not the one that was indexed"):
        kept.made(place, 64, sha256=indexed)


def test_a_picture_that_changes_while_it_is_read_is_not_kept(
    own_photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = ImageLocation(own_photos / "red.png")
    kept = KeptThumbnails(max_bytes=100_000)

    def changes(data: bytes, *arguments: Any, **options: Any) -> bytes:
        Image.new("RGB", (40, 20), (9, 9, 99)).save(place.path)
        return thumbnail(data, *arguments, **options)

    monkeypatch.setattr("visual_search.images.kept_thumbnails.thumbnail", changes)
    first = kept.made(place, 64)
    assert kept.held_bytes == 0
    monkeypatch.undo()
    second = kept.made(place, 64)
    assert second.mark != first.mark
    assert Image.open(io.BytesIO(second.data)).size == (40, 20)
    assert kept.held_bytes == len(second.data)


def test_a_file_that_is_gone_is_told(client: TestClient, own_photos: Path) -> None:
    (own_photos / "red.png").unlink()
    assert client.get("/search/picture?item=red.png").json()["error"]["message"] == "no picture: the file is gone"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("bomb.png", png_bomb(40_000, 40_000), "too many pixels: 40000 x 40000"),
        ("text.jpg", b"only some words\n" * 50, "not an image: text"),
        ("page.png", b"<!doctype html><script>alert(1)</script>", "not an image"),
        ("drawing.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not an image"),
        ("cut.png", png_bomb(64, 64)[:46], "truncated or damaged"),
        ("empty.png", b"", "an empty file"),
    ],
)
def test_what_is_no_picture_within_the_limits_is_refused(
    client: TestClient, name: str, content: bytes, words: str
) -> None:
    answer = client.post("/search/upload", files={"picture": (name, content, "image/png")})
    error = answer.json()["error"]
    assert (answer.status_code, error["kind"]) == (422, "UndecodableImageError")
    assert words in error["message"]
    page = client.post("/search/upload", files={"picture": (name, content)}, headers={"accept": "text/html"})
    assert (page.status_code, "Traceback" in page.text) == (422, False)


def test_the_bomb_is_refused_before_memory_is_taken_for_it(client: TestClient) -> None:
    bomb = png_bomb(40_000, 40_000)
    assert len(bomb) < 1_000_000
    tracemalloc.start()
    client.post("/search/upload", files={"picture": ("bomb.png", bomb)})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30 << 20


def test_a_form_without_a_picture_is_refused_in_words(client: TestClient) -> None:
    answer = client.post("/search/upload", files={"other": ("x.png", b"x")})
    assert answer.status_code == 422
    assert answer.json()["error"]["details"][0]["where"] == "body.picture"
    assert client.post("/search/upload", data={"picture": "words"}).status_code == 422


def test_a_hundred_megabytes_are_refused_while_they_come_in(client: TestClient) -> None:
    piece, pieces = bytes(1 << 20), 100
    taken = 0

    def body() -> Iterator[bytes]:
        nonlocal taken
        yield b'--x\r\nContent-Disposition: form-data; name="picture"; filename="x.png"\r\n\r\n'
        for _ in range(pieces):
            taken += 1
            yield piece

    answer = client.post(
        "/search/upload", content=body(), headers={"content-type": "multipart/form-data; boundary=x"}
    )
    assert (answer.status_code, answer.json()["error"]["kind"]) == (413, "TooLarge")
    assert taken == pieces, "all of it was read, and thrown away, so that a browser hears the answer"
    declared = client.post("/search/upload", content=bytes(40 << 20))
    assert declared.json()["error"]["kind"] == "TooLarge"


def test_other_addresses_take_short_bodies_only(client: TestClient) -> None:
    assert client.post("/token", content=bytes(2 << 20)).status_code == 413


def test_thumbnails_are_kept_within_bounds(own_photos: Path) -> None:
    kept = KeptThumbnails(max_bytes=600)
    sizes = [len(kept.made(ImageLocation(own_photos / "green.png"), side).data) for side in range(20, 60)]
    assert sum(sizes) > 1200
    assert 0 < kept.held_bytes <= 600


def test_pictures_inside_archives_are_shown(explore: Explore, own_photos: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as archive:
        archive.write(own_photos / "green.png", "in/green.png")
        archive.write(own_photos / "red.png", "in/red.png")
    index_images(tmp_path / "photos.zip", tmp_path / "zipped.index", embedder="histogram")
    client = explore(indexes=(tmp_path / "zipped.index",))
    twin = client.get("/search.json").json()
    answers = [client.get(one["picture"]) for one in twin["some_items"]]
    assert sorted(Image.open(io.BytesIO(answer.content)).size for answer in answers) == [(30, 30), (256, 128)]
