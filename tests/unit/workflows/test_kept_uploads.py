"""Pictures that were given are kept within bounds of bytes, pixels and time."""

import io

import pytest
from PIL import Image

from visual_search.errors import UndecodableImageError, UnknownIdError
from visual_search.images.decoding import DecodingRules
from visual_search.workflows.kept_uploads import KeptUploads


def picture(shade: int, side: int = 20) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (side, side), (shade, 0, 0)).save(stream, "BMP")
    return stream.getvalue()


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_same_content_has_one_name_and_is_kept_once() -> None:
    uploads = KeptUploads(max_bytes=100_000, max_pixels=1000, seconds=9)
    assert uploads.keep(picture(1)) == uploads.keep(picture(1)) != uploads.keep(picture(2))
    held = uploads.held_bytes
    uploads.keep(picture(2))
    assert uploads.held_bytes == held


def test_the_oldest_goes_first_when_there_is_no_more_room() -> None:
    uploads = KeptUploads(max_bytes=4500, max_pixels=1000, seconds=9)
    names = [uploads.keep(picture(shade)) for shade in range(6)]
    assert uploads.held_bytes <= 4500
    assert uploads.named(names[-1]).data == picture(5)
    with pytest.raises(UnknownIdError, match="give it again"):
        uploads.named(names[0])
    with pytest.raises(UndecodableImageError, match="that are kept"):
        uploads.keep(picture(1, side=31) + bytes(5000))


def test_a_picture_is_kept_no_longer_than_was_said() -> None:
    clock = Clock()
    uploads = KeptUploads(max_bytes=100_000, max_pixels=1000, seconds=60, clock=clock)
    name = uploads.keep(picture(1))
    clock.now = 60
    uploads.named(name)
    clock.now = 60.5
    with pytest.raises(UnknownIdError):
        uploads.named(name)
    assert uploads.held_bytes == 0


@pytest.mark.parametrize("rules", [None, DecodingRules(max_pixels=10_000), DecodingRules(max_pixels=399)])
def test_the_lower_limit_on_pixels_holds(rules: DecodingRules | None) -> None:
    limit = 399 if rules is not None and rules.max_pixels == 399 else 500
    uploads = KeptUploads(max_bytes=100_000, max_pixels=500, seconds=9)
    if limit == 500:
        uploads.keep(picture(1), rules)
    with pytest.raises(UndecodableImageError, match=f"max_pixels={limit}"):
        uploads.keep(picture(1, side=23), rules)
