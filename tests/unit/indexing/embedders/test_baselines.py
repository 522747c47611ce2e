"""Pixels, histogram and perceptual hash: the embedders without weights."""

import colorsys

import numpy as np
import pytest
from PIL import Image

from visual_search.errors import InputError
from visual_search.images.hashes import hamming, perceptual_hash
from visual_search.indexing.embedders.histogram import HistogramEmbedder
from visual_search.indexing.embedders.phash import PerceptualHashEmbedder
from visual_search.indexing.embedders.pixels import PixelEmbedder


def vector(embedder: PixelEmbedder | HistogramEmbedder | PerceptualHashEmbedder, image: Image.Image) -> np.ndarray:
    return np.asarray(embedder.embed(embedder.prepare(image)[None])[0])


def noise(width: int, height: int, seed: int = 0) -> Image.Image:
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8))


class TestPixels:
    def test_is_the_image_itself_where_nothing_is_resized(self) -> None:
        image = noise(16, 16)
        raw = np.asarray(image, dtype=np.float64).reshape(-1)
        np.testing.assert_allclose(vector(PixelEmbedder(), image), raw / np.linalg.norm(raw), rtol=1e-5)

    def test_black_has_the_direction_of_grey(self) -> None:
        black, grey, white = (Image.new("RGB", (9, 9), colour) for colour in ("black", "#555555", "white"))
        assert np.array_equal(vector(PixelEmbedder(), black), vector(PixelEmbedder(), grey))
        assert vector(PixelEmbedder(), black) @ vector(PixelEmbedder(), white) == pytest.approx(1)

    def test_a_darker_copy_is_the_same(self) -> None:
        values = np.random.default_rng(0).integers(0, 128, (16, 16, 3), dtype=np.uint8)
        dark, light = Image.fromarray(values), Image.fromarray(values * 2)
        assert vector(PixelEmbedder(), dark) @ vector(PixelEmbedder(), light) == pytest.approx(1)

    def test_names_and_sides(self) -> None:
        assert (PixelEmbedder().name, PixelEmbedder(16).name, PixelEmbedder(32).name) == (
            "pixels",
            "pixels",
            "pixels:32",
        )
        assert PixelEmbedder.from_argument("8").dimension == 192
        for wrong in ("0", "257", "-3"):
            with pytest.raises(InputError, match="give 1 to 256 pixels"):
                PixelEmbedder.from_argument(wrong)
        with pytest.raises(InputError, match="side 'big' is not a whole number"):
            PixelEmbedder.from_argument("big")


class TestHistogram:
    def test_counts_what_a_plain_loop_counts(self) -> None:
        image = noise(40, 30)
        counts = np.zeros(512)
        for hue, saturation, value in np.asarray(image.convert("HSV")).reshape(-1, 3):
            counts[int(hue) // 16 * 32 + int(saturation) // 64 * 8 + int(value) // 32] += 1
        np.testing.assert_allclose(vector(HistogramEmbedder(), image), counts / np.linalg.norm(counts), rtol=1e-6)

    @pytest.mark.parametrize("colour", [(255, 0, 0), (0, 255, 0), (0, 0, 255), (200, 180, 40), (90, 90, 90)])
    def test_one_colour_fills_the_bin_of_its_hue_saturation_and_value(self, colour: tuple[int, int, int]) -> None:
        filled = vector(HistogramEmbedder(), Image.new("RGB", (10, 10), colour))
        hue, saturation, value = colorsys.rgb_to_hsv(*(part / 255 for part in colour))
        expected = int(hue * 255) // 16 * 32 + int(saturation * 255) // 64 * 8 + int(value * 255) // 32
        assert np.flatnonzero(filled).tolist() == [expected]
        assert filled[expected] == 1

    def test_does_not_see_where_a_colour_is(self) -> None:
        image = noise(64, 64)
        turned = image.transpose(Image.Transpose.ROTATE_90)
        assert np.array_equal(vector(HistogramEmbedder(), image), vector(HistogramEmbedder(), turned))

    def test_large_images_are_averaged_down_and_keep_their_colours(self) -> None:
        image = Image.new("RGB", (3000, 10), "red")
        image.paste("blue", (0, 0, 1500, 10))
        filled = vector(HistogramEmbedder(), image)
        assert np.sort(filled)[-2:] == pytest.approx([0.7071, 0.7071], abs=0.01)
        assert HistogramEmbedder().prepare(image).sum() == 256  # 256 x 1 pixels are left

    def test_takes_no_argument(self) -> None:
        with pytest.raises(InputError, match="histogram takes no argument"):
            HistogramEmbedder.from_argument("8")


class TestPerceptualHash:
    @pytest.mark.parametrize("bits", [64, 256])
    def test_inner_products_count_the_bits_that_agree(self, bits: int) -> None:
        embedder = PerceptualHashEmbedder.from_argument(str(bits))
        a, b = noise(80, 60, seed=1), noise(80, 60, seed=2)
        distance = int(hamming(perceptual_hash(a, embedder._bits), perceptual_hash(b, embedder._bits)))
        assert vector(embedder, a) @ vector(embedder, b) == bits - 2 * distance
        assert set(np.unique(vector(embedder, a))) == {-1, 1}
        assert embedder.dimension == bits

    def test_names_and_bits(self) -> None:
        assert PerceptualHashEmbedder().name == "phash"
        assert PerceptualHashEmbedder(64).name == "phash:64"
        assert "64x64 (lanczos), DCT-II, lowest 256" in PerceptualHashEmbedder().preprocessing
        assert "32x32 (lanczos), DCT-II, lowest 64" in PerceptualHashEmbedder(64).preprocessing
        with pytest.raises(InputError, match="bits 100 is not allowed; give 64 or 256"):
            PerceptualHashEmbedder.from_argument("100")
