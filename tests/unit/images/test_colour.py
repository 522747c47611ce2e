"""CMYK the right way round, other colour spaces, and embedded profiles against profiles written byte by byte."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image, ImageCms

from visual_search.images.decoding import decode

Encode = Callable[..., bytes]
MakeFile = Callable[..., bytes]


def segment(marker: int, body: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body


def flat_jpeg(levels: tuple[int, ...], adobe_transform: int | None) -> bytes:
    """An 8 x 8 JPEG of constant components, written bit by bit: independent of how any encoder treats CMYK."""
    count = len(levels)
    adobe = (
        segment(0xEE, b"Adobe" + struct.pack(">HHHB", 100, 0, 0, adobe_transform))
        if adobe_transform is not None
        else b""
    )
    quantization = segment(0xDB, b"\x00" + bytes([8] * 64))  # DC steps of 8: one grey level each
    frame = segment(
        0xC0, struct.pack(">BHHB", 8, 8, 8, count) + b"".join(bytes([i + 1, 0x11, 0]) for i in range(count))
    )
    # One code of 4 bits for each DC length 0..8, and one of 1 bit for "end of block".
    dc = segment(0xC4, b"\x00" + bytes([0, 0, 0, 9] + [0] * 12) + bytes(range(9)))
    ac = segment(0xC4, b"\x10" + bytes([1] + [0] * 15) + b"\x00")
    scan = segment(0xDA, bytes([count]) + b"".join(bytes([i + 1, 0]) for i in range(count)) + bytes([0, 63, 0]))
    bits = ""
    for level in levels:
        value = level - 128
        length = abs(value).bit_length()
        bits += f"{length:04b}"
        if length:
            bits += f"{value if value > 0 else value + (1 << length) - 1:0{length}b}"
        bits += "0"
    bits += "1" * (-len(bits) % 8)
    coded = int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\x00")
    return b"\xff\xd8" + adobe + quantization + frame + dc + ac + scan + coded + b"\xff\xd9"


def only_colour(data: bytes) -> tuple[int, ...]:
    pixels = np.asarray(decode(data).pixels).reshape(-1, 3)
    assert (pixels == pixels[0]).all()
    return tuple(pixels[0].tolist())


def test_the_handmade_jpeg_is_a_jpeg() -> None:
    assert only_colour(flat_jpeg((77,), None)) == (77, 77, 77)
    assert only_colour(flat_jpeg((200, 128, 128), None)) == (200, 200, 200)


# Adobe's files hold 255 for no ink. Without its marker, browsers and libraries take CMYK the same way.
@pytest.mark.parametrize("transform", [0, None])
@pytest.mark.parametrize(
    ("stored", "seen"),
    [
        ((255, 255, 255, 255), (255, 255, 255)),
        ((0, 255, 255, 255), (0, 255, 255)),
        ((255, 0, 255, 255), (255, 0, 255)),
        ((255, 255, 0, 255), (255, 255, 0)),
        ((255, 255, 255, 0), (0, 0, 0)),
    ],
)
def test_cmyk_jpeg_is_not_inverted(stored: tuple[int, ...], seen: tuple[int, ...], transform: int | None) -> None:
    data = flat_jpeg(stored, transform)
    assert only_colour(data) == seen
    decoded = decode(data)
    assert (decoded.mode, decoded.changes) == ("CMYK", ("CMYK converted: without a profile",))


@pytest.mark.parametrize(
    ("stored", "seen"),
    [((0, 128, 128, 255), (255, 255, 255)), ((255, 128, 128, 255), (0, 0, 0)), ((0, 128, 128, 0), (0, 0, 0))],
)
def test_ycck_jpeg_is_not_inverted(stored: tuple[int, ...], seen: tuple[int, ...]) -> None:
    # Adobe turns inverted CMY into YCC: white paper has Y = 0 and K = 255.
    assert only_colour(flat_jpeg(stored, 2)) == seen


@pytest.mark.parametrize("name", ["JPEG", "TIFF"])
def test_cmyk_as_pillow_writes_it(name: str, encode: Encode) -> None:
    for ink, seen in (
        ((255, 0, 0, 0), (0, 255, 255)),
        ((0, 0, 0, 0), (255, 255, 255)),
        ((0, 0, 0, 255), (0, 0, 0)),
    ):
        assert only_colour(encode(Image.new("CMYK", (8, 8), ink), name)) == seen


def test_16_bit_cmyk_tiff(make_tiff: MakeFile) -> None:
    inks = struct.pack("<4H", 65535, 0, 0, 0)
    data = make_tiff(1, 1, inks, "<", bits=[16] * 4, samples=4, photometric=5)
    assert only_colour(data) == (0, 255, 255)
    assert decode(data).changes == ("16 bit scaled", "CMYK converted: without a profile")


def test_lab_tiff(make_tiff: MakeFile) -> None:
    # L* 255 = 100; a*, b* signed bytes; white point D50.
    for lab, seen in ((bytes([255, 0, 0]), (255, 255, 255)), (bytes([138, 81, 70]), (255, 0, 0))):
        data = make_tiff(1, 1, lab, "<", bits=[8, 8, 8], samples=3, photometric=8)
        assert np.allclose(only_colour(data), seen, atol=6)
        assert decode(data).changes == ("colour space converted: LAB",)


def test_ycbcr_tiff(make_tiff: MakeFile) -> None:
    data = make_tiff(1, 1, bytes([76, 85, 255]), "<", bits=[8, 8, 8], samples=3, photometric=6)
    assert np.allclose(only_colour(data), (255, 0, 0), atol=2)


def first_pixel(image: Image.Image) -> list[int]:
    return [int(channel) for channel in np.asarray(image)[0, 0]]


def fixed(value: float) -> bytes:
    return struct.pack(">i", round(value * 65536))


def icc_profile(device: bytes, space: bytes, connection: bytes, tags: dict[bytes, bytes], name: bytes) -> bytes:
    """An ICC version 2 profile from its tags."""
    description = b"desc" + bytes(4) + struct.pack(">I", len(name) + 1) + name + b"\x00" + bytes(8 + 3 + 67)
    tags = {b"desc": description, b"wtpt": b"XYZ " + bytes(4) + fixed(0.9642) + fixed(1) + fixed(0.8249), **tags}
    offset = 128 + 4 + 12 * len(tags)
    table, body = struct.pack(">I", len(tags)), b""
    for tag, content in tags.items():
        table += tag + struct.pack(">II", offset + len(body), len(content))
        body += content + bytes(-len(content) % 4)
    header = struct.pack(">I4sI4s4s4s", offset + len(body), bytes(4), 0x02100000, device, space, connection)
    header += struct.pack(">6H", 2026, 1, 1, 0, 0, 0) + b"acsp" + bytes(28)
    header += fixed(0.9642) + fixed(1) + fixed(0.8249)
    return header.ljust(128, b"\x00") + table + body


def matrix_profile(columns: list[list[float]], gamma: float, name: bytes) -> bytes:
    curve = b"curv" + bytes(4) + struct.pack(">IH", 1, round(gamma * 256))
    tags = {
        tag: b"XYZ " + bytes(4) + b"".join(map(fixed, column))
        for tag, column in zip((b"rXYZ", b"gXYZ", b"bXYZ"), columns, strict=True)
    }
    return icc_profile(b"mntr", b"RGB ", b"XYZ ", {**tags, b"rTRC": curve, b"gTRC": curve, b"bTRC": curve}, name)


# Primaries adapted to D50: https://www.color.org/chardata/rgb/ (sRGB) and Display P3.
SRGB = [[0.43607, 0.22249, 0.01392], [0.38515, 0.71687, 0.09708], [0.14307, 0.06061, 0.71410]]
DISPLAY_P3 = [[0.51512, 0.24120, -0.00105], [0.29198, 0.69225, 0.04189], [0.15710, 0.06657, 0.78407]]


def to_srgb_by_formula(value: tuple[int, int, int], columns: list[list[float]], gamma: float) -> list[float]:
    linear = (np.array(value) / 255) ** gamma
    out = np.linalg.solve(np.array(SRGB).T, np.array(columns).T @ linear).clip(0, 1)
    coded = np.where(out <= 0.0031308, 12.92 * out, 1.055 * out ** (1 / 2.4) - 0.055)
    return [float(channel) * 255 for channel in coded]


def test_a_wide_gamut_profile_is_converted_as_its_formula_says(encode: Encode) -> None:
    profile = matrix_profile(DISPLAY_P3, 2.2, b"Wide gamut")
    for value in ((200, 100, 50), (120, 130, 140), (30, 200, 90)):
        decoded = decode(encode(Image.new("RGB", (4, 4), value), "PNG", icc_profile=profile))
        assert decoded.changes == ("ICC applied: Wide gamut",)
        expected = to_srgb_by_formula(value, DISPLAY_P3, 2.2)
        assert np.allclose(first_pixel(decoded.pixels), expected, atol=2)
        assert not np.allclose(value, expected, atol=2)
        assert decoded.pixels.info == {}


@pytest.mark.parametrize("name", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF"])
def test_srgb_itself_changes_nothing(name: str, encode: Encode, photograph: Image.Image) -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    with_profile, without = encode(photograph, name, icc_profile=profile), encode(photograph, name)
    assert decode(with_profile).changes == ()
    assert decode(with_profile).pixels.tobytes() == decode(without).pixels.tobytes()


def cmyk_profile(paper: tuple[int, int, int], ink: tuple[int, int, int]) -> bytes:
    """A press of one Lab colour for paper, one for each full ink, and black: 2 grid points in each of 4 inks."""
    lut = b"mft1" + bytes(4) + bytes([4, 3, 2, 0]) + b"".join(map(fixed, (1, 0, 0, 0, 1, 0, 0, 0, 1)))
    lut += bytes(range(256)) * 4
    lut += b"".join(bytes((0, 128, 128) if node & 1 else ink if node else paper) for node in range(16))
    lut += bytes(range(256)) * 3
    return icc_profile(b"prtr", b"CMYK", b"Lab ", {b"A2B0": lut}, b"Test press")


@pytest.mark.parametrize("name", ["JPEG", "TIFF"])
def test_cmyk_by_its_own_profile(name: str, encode: Encode) -> None:
    # Lab of 8 bits: L* 255 = 100, a* and b* 128 = 0. This press prints cyan as green; no arithmetic can know.
    profile = cmyk_profile((255, 128, 128), (120, 60, 180))
    data = encode(Image.new("CMYK", (8, 8), (255, 0, 0, 0)), name, icc_profile=profile)
    decoded = decode(data)
    assert decoded.changes == ("ICC applied: Test press",)
    red, green, blue = np.asarray(decoded.pixels)[4, 4].tolist()
    assert green > red + 40
    assert green > blue + 40
    white = decode(encode(Image.new("CMYK", (8, 8), (0, 0, 0, 0)), name, icc_profile=profile))
    assert min(np.asarray(white.pixels)[4, 4].tolist()) >= 253


def test_a_grey_profile_on_grey_pixels(encode: Encode) -> None:
    curve = b"curv" + bytes(4) + struct.pack(">IH", 1, 256)  # linear light
    profile = icc_profile(b"mntr", b"GRAY", b"XYZ ", {b"kTRC": curve}, b"Linear grey")
    decoded = decode(encode(Image.new("L", (4, 4), 55), "PNG", icc_profile=profile))
    assert decoded.changes == ("ICC applied: Linear grey",)
    assert np.allclose(first_pixel(decoded.pixels), (128, 128, 128), atol=2)  # 55/255 of light is sRGB 128


@pytest.mark.parametrize(
    ("profile", "reason"),
    [
        (b"not a profile at all", "it is damaged or of a kind that is not read"),
        (matrix_profile(SRGB, 2.2, b"cut")[:200], "it is damaged or of a kind that is not read"),
        (cmyk_profile((255, 128, 128), (0, 128, 128)), "a CMYK profile on RGB pixels"),
        (ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes(), "its colour space Lab is not read"),
    ],
)
def test_a_profile_that_cannot_be_used_is_named_and_the_picture_kept(
    profile: bytes, reason: str, encode: Encode, photograph: Image.Image
) -> None:
    decoded = decode(encode(photograph, "PNG", icc_profile=profile))
    assert decoded.changes == (f"ICC ignored: {reason}",)
    assert decoded.pixels.tobytes() == photograph.tobytes()


def test_a_profile_applies_before_the_background_which_is_srgb(encode: Encode) -> None:
    image = Image.new("RGBA", (2, 1), (200, 100, 50, 255))
    image.putpixel((1, 0), (200, 100, 50, 0))
    decoded = decode(encode(image, "PNG", icc_profile=matrix_profile(DISPLAY_P3, 2.2, b"Wide gamut")))
    assert np.asarray(decoded.pixels)[0, 1].tolist() == [255, 255, 255]
    assert np.allclose(first_pixel(decoded.pixels), to_srgb_by_formula((200, 100, 50), DISPLAY_P3, 2.2), atol=2)
    assert decoded.changes == ("ICC applied: Wide gamut", "alpha composited: on (255, 255, 255)")


def test_a_palette_is_converted_too(encode: Encode) -> None:
    image = Image.new("RGB", (4, 4), (200, 100, 50)).quantize(2)
    decoded = decode(encode(image, "PNG", icc_profile=matrix_profile(DISPLAY_P3, 2.2, b"Wide gamut")))
    assert np.allclose(first_pixel(decoded.pixels), to_srgb_by_formula((200, 100, 50), DISPLAY_P3, 2.2), atol=2)


def test_threads_share_a_profile(encode: Encode, photograph: Image.Image) -> None:
    data = encode(photograph.resize((300, 200)), "PNG", icc_profile=matrix_profile(DISPLAY_P3, 1.9, b"Shared"))
    expected = decode(data).pixels.tobytes()
    seen: list[bool] = []

    def work() -> None:
        seen.extend(decode(data).pixels.tobytes() == expected for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 20
