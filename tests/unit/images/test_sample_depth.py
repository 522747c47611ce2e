"""More than 8 bits: the full range is scaled, nothing is clipped, and the rule is stated."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from visual_search.errors import UndecodableImageError
from visual_search.images.decoding import decode

Encode = Callable[..., bytes]
MakeFile = Callable[..., bytes]

RAMP = np.arange(65536, dtype=np.uint16).reshape(256, 256)
EXPECTED = np.rint(RAMP.astype(np.float64) * 255 / 65535).astype(np.uint8)


def grey(data: bytes) -> np.ndarray:
    pixels = np.asarray(decode(data).pixels)
    assert (pixels[..., 0] == pixels[..., 1]).all()
    assert (pixels[..., 0] == pixels[..., 2]).all()
    return pixels[..., 0]


@pytest.mark.parametrize("name", ["PNG", "TIFF", "PPM"])
def test_16_bit_grey_keeps_all_256_levels(name: str, encode: Encode) -> None:
    data = encode(Image.fromarray(RAMP), name)
    assert np.array_equal(grey(data), EXPECTED)
    assert decode(data).changes == ("16 bit scaled",)


def test_a_bare_conversion_would_have_kept_two_levels_or_so(encode: Encode) -> None:
    clipped = np.asarray(Image.fromarray(RAMP).convert("RGB"))[..., 0]
    assert (clipped == 255).mean() > 0.99  # the fault this rule mends
    assert len(np.unique(grey(encode(Image.fromarray(RAMP), "PNG")))) == 256


@pytest.mark.parametrize("compression", [None, "tiff_lzw", "tiff_adobe_deflate"])
def test_16_bit_tiff_however_packed(compression: str | None, encode: Encode) -> None:
    assert np.array_equal(grey(encode(Image.fromarray(RAMP), "TIFF", compression=compression)), EXPECTED)


@pytest.mark.parametrize("order", ["<", ">"])
def test_16_bit_tiff_in_both_byte_orders(order: str, make_tiff: MakeFile) -> None:
    data = make_tiff(256, 256, RAMP.astype(order + "u2").tobytes(), order, bits=[16])
    assert np.array_equal(grey(data), EXPECTED)


@pytest.mark.parametrize("order", ["<", ">"])
def test_signed_16_bits_are_shifted_first(order: str, make_tiff: MakeFile) -> None:
    signed = (RAMP.astype(np.int32) - 32768).astype(order + "i2")
    data = make_tiff(256, 256, signed.tobytes(), order, bits=[16], sample_format=[2])
    assert np.array_equal(grey(data), EXPECTED)
    assert decode(data).changes == ("16 bit scaled: signed",)


def test_white_is_zero_is_not_a_negative(make_tiff: MakeFile) -> None:
    data = make_tiff(256, 256, RAMP.tobytes(), "<", bits=[16], photometric=0)
    assert np.array_equal(grey(data), 255 - EXPECTED)
    floats = np.linspace(0, 1, 16, dtype=np.float32)
    data = make_tiff(16, 1, floats.tobytes(), "<", bits=[32], sample_format=[3], photometric=0)
    assert grey(data)[0].tolist() == list(range(255, -1, -17))


def test_12_bits_fill_the_range(make_tiff: MakeFile) -> None:
    packed = bytes([0x00, 0x0F, 0xFF, 0x80, 0x08, 0x00])  # 0, 4095, 2048, 2048
    assert grey(make_tiff(4, 1, packed, "<", bits=[12]))[0].tolist() == [0, 255, 128, 128]


@pytest.mark.parametrize(("kind", "fmt"), [(np.int32, 2), (np.uint32, 1)])
def test_32_bit_integers_are_stretched_from_lowest_to_highest(
    kind: type[np.int32 | np.uint32], fmt: int, make_tiff: MakeFile
) -> None:
    info = np.iinfo(kind)
    values: np.ndarray = np.array([info.min, info.max, info.min // 2 + info.max // 2], dtype=kind)
    data = make_tiff(3, 1, values.tobytes(), "<", bits=[32], sample_format=[fmt])
    assert grey(data)[0].tolist() == [0, 255, 127]
    assert decode(data).changes == (f"32 bit scaled: {info.min}..{info.max}",)


def test_16_bit_colour_keeps_its_high_byte(make_png: MakeFile, make_tiff: MakeFile) -> None:
    samples = np.array([0x1234, 0x80FF, 0xFFFF, 0x0000, 0xABCD, 0x00FF], dtype=">u2")
    high = [0x12, 0x80, 0xFF, 0x00, 0xAB, 0x00]
    png = decode(make_png(2, 1, 16, 2, b"\x00" + samples.tobytes()))
    tiff = decode(make_tiff(2, 1, samples.tobytes(), ">", bits=[16, 16, 16], samples=3, photometric=2))
    for decoded in (png, tiff):
        assert np.asarray(decoded.pixels).ravel().tolist() == high
        assert decoded.changes == ("16 bit scaled",)


def test_16_bit_netpbm_colour() -> None:
    samples = struct.pack(">6H", 0, 32768, 65535, 257, 514, 771)
    decoded = decode(b"P6 2 1 65535\n" + samples)
    assert np.asarray(decoded.pixels).ravel().tolist() == [0, 128, 255, 1, 2, 3]
    assert decoded.changes == ("16 bit scaled",)


def test_netpbm_of_an_odd_maximum_is_stretched_over_its_range() -> None:
    decoded = decode(b"P5 3 1 1000\n" + struct.pack(">3H", 0, 500, 1000))
    assert np.asarray(decoded.pixels)[0, :, 0].tolist() == [0, 128, 255]


@pytest.mark.parametrize("maximum", [1, 100, 254, 256, 1023, 4095, 65534])
@pytest.mark.parametrize("kind", [b"P5", b"P6"])
def test_raw_netpbm_of_any_maximum_agrees_with_its_plain_form(maximum: int, kind: bytes) -> None:
    samples = np.random.default_rng(maximum).integers(0, maximum + 1, 4 * 3 * 3)
    raw = b"%s 4 %d %d\n" % (kind, 9 if kind == b"P5" else 3, maximum)
    raw += samples.astype(np.uint8 if maximum < 256 else ">u2").tobytes()
    expected = np.floor(samples * 255 / maximum + 0.5).astype(int)
    shown = np.asarray(decode(raw).pixels, dtype=int)
    assert (shown[..., 0].ravel() if kind == b"P5" else shown.ravel()).tolist() == expected.tolist()
    plain = {b"P5": b"P2", b"P6": b"P3"}[kind] + raw[2 : raw.index(b"\n") + 1]
    plain += b" ".join(b"%d" % value for value in samples)
    # Pillow stretches deep plain samples to 16 bits first, which may round the other way.
    assert np.abs(np.asarray(decode(plain).pixels, dtype=int) - shown).max() <= 1
    assert decode(raw).changes == decode(plain).changes == (("16 bit scaled",) if maximum > 255 else ())
    with pytest.raises(UndecodableImageError, match="rows are missing"):
        decode(raw[:-1])


def test_samples_above_the_maximum_are_taken_as_the_maximum() -> None:
    decoded = decode(b"P5 3 1 1000\n" + struct.pack(">3H", 1000, 1001, 65535))
    assert np.asarray(decoded.pixels)[0, :, 0].tolist() == [255, 255, 255]


def float_tiff(make_tiff: MakeFile, values: list[float], order: str = "<") -> bytes:
    packed = struct.pack(f"{order}{len(values)}f", *values)
    return make_tiff(len(values), 1, packed, order, bits=[32], sample_format=[3])


@pytest.mark.parametrize("order", ["<", ">"])
def test_floats_in_0_to_1_are_taken_as_such(order: str, make_tiff: MakeFile) -> None:
    data = float_tiff(make_tiff, [0.0, 0.25, 0.5], order)
    assert grey(data)[0].tolist() == [0, 64, 128]
    assert decode(data).changes == ("float scaled: 0..1",)


def test_other_floats_are_stretched_over_their_own_range(make_tiff: MakeFile) -> None:
    data = float_tiff(make_tiff, [-10.0, 0.0, 30.0])
    assert grey(data)[0].tolist() == [0, 64, 255]
    assert decode(data).changes == ("float scaled: -10..30",)


def test_values_that_are_not_finite_are_counted_and_do_not_spoil_the_range(make_tiff: MakeFile) -> None:
    data = float_tiff(make_tiff, [np.nan, -np.inf, np.inf, 100.0, 300.0])
    assert grey(data)[0].tolist() == [0, 0, 255, 0, 255]
    assert decode(data).changes == ("float scaled: 100..300", "not finite set to black or white: 3 pixels")


def test_a_constant_float_picture_is_black_unless_in_0_to_1(make_tiff: MakeFile) -> None:
    assert grey(float_tiff(make_tiff, [7.0, 7.0]))[0].tolist() == [0, 0]
    assert grey(float_tiff(make_tiff, [1.0, 1.0]))[0].tolist() == [255, 255]


def test_a_picture_of_nan_alone_is_left_out(make_tiff: MakeFile) -> None:
    with pytest.raises(UndecodableImageError, match="without a single finite value"):
        decode(float_tiff(make_tiff, [np.nan, np.nan]))


def test_extreme_floats_overflow_nothing(make_tiff: MakeFile) -> None:
    top = float(np.finfo(np.float32).max)
    assert grey(float_tiff(make_tiff, [-top, 0.0, top]))[0].tolist() == [0, 128, 255]


def test_portable_float_map() -> None:
    # Rows run from the bottom up.
    data = b"Pf\n1 2\n-1.0\n" + struct.pack("<2f", 1.0, 0.0)
    assert grey(data)[:, 0].tolist() == [0, 255]


def test_scaling_in_blocks_changes_nothing(encode: Encode, monkeypatch: pytest.MonkeyPatch) -> None:
    from visual_search.images import sample_depth

    data = encode(Image.fromarray(RAMP), "PNG")
    whole = grey(data)
    monkeypatch.setattr(sample_depth, "_ROWS_AT_ONCE", 700)
    assert np.array_equal(grey(data), whole)


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_fewer_bits_are_spread_over_the_range_without_being_called_a_change(depth: int, make_png: MakeFile) -> None:
    top = (1 << depth) - 1
    packed = bytes([0b00011011]) if depth == 2 else bytes([0b01010101]) if depth == 1 else bytes([0x0F, 0x5A])
    levels = {1: [0, 255] * 4, 2: [0, 85, 170, 255], 4: [0, 255, 85, 170]}[depth]
    data = make_png(len(levels), 1, depth, 0, b"\x00" + packed)
    assert grey(data)[0].tolist() == levels
    assert decode(data).changes == ()
    assert top == max(levels) // (255 // top)


def test_one_bit_images(encode: Encode, photograph: Image.Image) -> None:
    drawn = photograph.convert("1")
    for name, options in (("PNG", {}), ("TIFF", {"compression": "group4"}), ("BMP", {}), ("PPM", {})):
        decoded = decode(encode(drawn, name, **options))
        assert decoded.pixels.tobytes() == drawn.convert("RGB").tobytes()
        assert (decoded.mode if name != "BMP" else "1", decoded.changes) == ("1", ())
