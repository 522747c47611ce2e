import numpy as np
import pytest
from PIL import Image

from visual_search.errors import InputError
from visual_search.indexing.embedders.resizing import Resize


def halves(width: int, height: int) -> Image.Image:
    """Left half red, right half blue."""
    image = Image.new("RGB", (width, height), "red")
    image.paste("blue", (width // 2, 0, width, height))
    return image


def test_stretch_shows_the_whole_image() -> None:
    small = np.asarray(Resize(8, 8)(halves(400, 100)))
    assert (small[:, :3, 0] > 250).all()
    assert (small[:, 5:, 2] > 250).all()


def test_shorter_side_cuts_what_lies_outside_the_centre() -> None:
    image = Image.new("RGB", (400, 100), "black")
    image.paste("white", (150, 0, 250, 100))  # exactly the central square
    assert np.asarray(Resize(8, 8, rule="shorter-side", crop=1.0, filter="box")(image)).min() == 255
    assert np.asarray(Resize(8, 8)(image)).min() == 0


def test_crop_is_the_share_of_the_shorter_side_that_is_kept() -> None:
    image = Image.new("RGB", (100, 100), "black")
    image.paste("white", (25, 25, 75, 75))
    half = np.asarray(Resize(10, 10, rule="shorter-side", crop=0.5, filter="box")(image))
    assert half.min() == 255
    more = np.asarray(Resize(10, 10, rule="shorter-side", crop=0.6, filter="box")(image))
    assert more.min() == 0


def test_shorter_side_keeps_the_aspect_ratio_of_a_target_that_is_no_square() -> None:
    image = Image.new("RGB", (300, 300), "black")
    image.paste("white", (0, 75, 300, 225))  # the largest centred region twice as wide as high
    small = np.asarray(Resize(10, 20, rule="shorter-side", crop=1.0, filter="box")(image))
    assert small.shape == (10, 20, 3)
    assert small.min() == 255


@pytest.mark.parametrize("rule", ["stretch", "shorter-side"])
@pytest.mark.parametrize("size", [(1, 1), (1, 20000), (20000, 1), (7, 3)])
def test_any_shape_becomes_the_target(rule: str, size: tuple[int, int]) -> None:
    resize = Resize(5, 9, rule=rule)  # type: ignore[arg-type] # parametrized text
    assert np.asarray(resize(Image.new("RGB", size, "teal"))).shape == (5, 9, 3)
    assert np.unique(np.asarray(resize(Image.new("RGB", size, "teal"))).reshape(-1, 3), axis=0).tolist() == [
        [0, 128, 128]
    ]


def test_large_images_are_reduced_first_without_visible_difference() -> None:
    rng = np.random.default_rng(5)
    image = Image.fromarray(rng.integers(0, 256, (90, 120, 3), dtype=np.uint8)).resize((1200, 900))
    fast = np.asarray(Resize(224, 224)(image), dtype=np.int16)
    plain = np.asarray(image.resize((224, 224), Image.Resampling.BILINEAR), dtype=np.int16)
    assert np.abs(fast - plain).mean() < 2  # of 255, on blobs of ten pixels


@pytest.mark.parametrize("crop", [1.0, 0.9, 0.37])
def test_reducing_first_keeps_the_region_where_it_was(crop: float) -> None:
    ramp = np.linspace(0, 255, 1501)  # odd sides, so that blocks do not come out even
    image = Image.fromarray(np.broadcast_to(ramp, (1003, 1501)).astype(np.uint8)).convert("RGB")
    resize = Resize(32, 32, rule="shorter-side", crop=crop)
    fast = np.asarray(resize(image), dtype=np.float64)[0, :, 0]
    width = 1003 * crop
    centres = 1501 / 2 - width / 2 + (np.arange(32) + 0.5) * width / 32
    np.testing.assert_allclose(fast, centres / 1501 * 255, atol=2)  # a block is 25 pixels, 4 values


def test_every_problem_names_what_is_allowed() -> None:
    with pytest.raises(InputError, match="size 0x5: both sides must be at least 1"):
        Resize(0, 5)
    with pytest.raises(InputError, match="resize 'fit': not one of stretch, shorter-side"):
        Resize(5, 5, rule="fit")  # type: ignore[arg-type] # the point
    with pytest.raises(InputError, match="filter 'cubic': not one of nearest, box"):
        Resize(5, 5, filter="cubic")  # type: ignore[arg-type] # the point
    with pytest.raises(InputError, match=r"crop 1.5: must lie in \(0, 1\]"):
        Resize(5, 5, rule="shorter-side", crop=1.5)


def test_words_say_the_rule() -> None:
    averaged = "(large pictures averaged in whole blocks to no less than 1.25 times that before)"
    assert Resize(224, 224).words == f"stretched to 224x224, bilinear {averaged}"
    words = Resize(10, 20, rule="shorter-side", filter="lanczos", crop=0.9).words
    assert words == f"central 0.9 of the shorter side resized to 10x20, lanczos {averaged}"
    assert Resize(8, 8, filter="nearest").words == "stretched to 8x8, nearest"
