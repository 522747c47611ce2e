"""Perceptual hashes by their formula, distances by counting, digests by pixels."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from visual_search.errors import DimensionError, InputError
from visual_search.images.hashes import hamming, perceptual_hash, pixels_digest


def picture(seed: int, size: tuple[int, int] = (96, 80)) -> Image.Image:
    noise = np.random.default_rng(seed).integers(0, 256, (12, 12, 3), dtype=np.uint8)
    return Image.fromarray(noise).resize(size, Image.Resampling.BICUBIC)


@pytest.mark.parametrize("bits", [64, 256])
def test_shape_and_balance(bits: int) -> None:
    code = perceptual_hash(picture(0), bits)  # type: ignore[arg-type]
    assert code.shape == (bits // 8,)
    assert code.dtype == np.uint8
    assert int(np.bitwise_count(code).sum()) == bits // 2  # half of the coefficients are above their median


@pytest.mark.parametrize("bits", [64, 256])
def test_the_formula_summed_term_by_term(bits: int) -> None:
    side = 8 if bits == 64 else 16
    image = picture(3)
    grey = np.asarray(image.convert("L").resize((4 * side, 4 * side), Image.Resampling.LANCZOS), dtype=float)
    n = 4 * side
    coefficients = np.array(
        [
            [
                sum(
                    grey[y, x]
                    * np.cos(np.pi * u * (2 * y + 1) / (2 * n))
                    * np.cos(np.pi * v * (2 * x + 1) / (2 * n))
                    for y in range(n)
                    for x in range(n)
                )
                for v in range(side)
            ]
            for u in range(side)
        ]
        if bits == 64
        else np.zeros(0)
    )
    if bits == 256:  # the same sums, two thousand times more of them, by matrices
        waves = np.cos(np.pi * np.arange(side)[:, None] * (2 * np.arange(n)[None] + 1) / (2 * n))
        coefficients = np.einsum("uy,yx,vx->uv", waves, grey, waves)
    bits_by_hand = (coefficients > np.median(coefficients)).ravel()
    assert np.array_equal(np.unpackbits(perceptual_hash(image, bits)), bits_by_hand)  # type: ignore[arg-type]


def test_scaling_and_compression_move_few_bits_and_other_pictures_half() -> None:
    a, b = perceptual_hash(picture(1)), perceptual_hash(picture(2))
    scaled = perceptual_hash(picture(1).resize((200, 150)))
    assert int(hamming(a, scaled)) <= 6
    assert 16 <= int(hamming(a, b)) <= 48


@pytest.mark.parametrize("bits", [64, 256])
def test_plain_pictures_share_one_hash_whatever_their_colour_and_size(bits: int) -> None:
    codes = {
        perceptual_hash(Image.new("RGB", size, colour), bits).tobytes()  # type: ignore[arg-type]
        for colour in ((255, 255, 255), (1, 1, 1), (200, 30, 90), (77, 77, 77))
        for size in ((10, 10), (300, 200), (1, 1))
    }
    assert codes == {bytes([0x80]) + bytes(bits // 8 - 1)}  # only the constant coefficient is above zero


def test_bits_of_another_length() -> None:
    with pytest.raises(InputError, match="bits=128: give 64 or 256"):
        perceptual_hash(picture(0), 128)  # type: ignore[arg-type]


def test_hamming_counts_bits() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 256, (7, 8), dtype=np.uint8), rng.integers(0, 256, (5, 8), dtype=np.uint8)
    pairs = hamming(a[:, None], b[None])
    bits = (np.unpackbits(a, axis=1)[:, None] != np.unpackbits(b, axis=1)[None]).sum(axis=-1)
    assert np.array_equal(pairs, bits)
    assert pairs.shape == (7, 5)
    assert pairs.dtype == np.int64
    assert hamming(a, a).tolist() == [0] * 7
    assert int(hamming(np.zeros(32, np.uint8), np.full(32, 255, np.uint8))) == 256


def test_hamming_of_codes_that_do_not_fit() -> None:
    with pytest.raises(DimensionError, match="codes of 8 and of 32 bytes"):
        hamming(np.zeros((2, 8), np.uint8), np.zeros((2, 32), np.uint8))
    with pytest.raises(InputError, match="b: packed codes are uint8"):
        hamming(np.zeros(8, np.uint8), np.zeros(8, np.int64))
    with pytest.raises(InputError, match="a: packed codes are uint8"):
        hamming(np.uint8(3), np.zeros(8, np.uint8))  # type: ignore[arg-type]


def test_a_digest_is_of_pixels_shape_and_mode() -> None:
    black = Image.new("RGB", (10, 20))
    digests = {
        pixels_digest(black),
        pixels_digest(black.transpose(Image.Transpose.ROTATE_90)),
        pixels_digest(black.convert("L")),
        pixels_digest(Image.new("RGB", (20, 10), (0, 0, 1))),
        pixels_digest(Image.new("RGB", (1, 200))),
    }
    assert len(digests) == 5
    assert all(digest.startswith("sha256:") and len(digest) == 71 for digest in digests)
    assert pixels_digest(black) == pixels_digest(black.copy())


def test_a_digest_taken_in_blocks_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from visual_search.images import hashes

    image = picture(4, (33, 57))
    whole = pixels_digest(image)
    monkeypatch.setattr(hashes, "_PIXELS_AT_ONCE", 100)
    assert pixels_digest(image) == whole
    changed = image.copy()
    changed.putpixel((32, 56), (1, 2, 3))
    assert pixels_digest(changed) != whole
