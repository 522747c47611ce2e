"""Drawn pictures that differ in one letter or in one shade are two; copies of each are found."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from visual_search.errors import InputError
from visual_search.ids import Ids
from visual_search.leaks.finding import find_leaks
from visual_search.leaks.likeness import compare_small
from visual_search.leaks.roles import Role
from visual_search.leaks.signatures import signatures_of
from visual_search.leaks.thresholds import LeakThresholds


def plate(text: str, size: tuple[int, int] = (260, 80)) -> Image.Image:
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    draw.rectangle((3, 3, size[0] - 4, size[1] - 4), outline="black", width=3)
    draw.text((20, 15), text, fill="black", font=ImageFont.load_default(40))
    return image


def disc(level: int) -> Image.Image:
    image = Image.new("RGB", (200, 200), "white")
    ImageDraw.Draw(image).ellipse((40, 40, 160, 160), fill=(level,) * 3)
    return image


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (plate("ABC-123"), plate("ABC-128")),
        (plate("Invoice 1004", (300, 60)), plate("Invoice 1024", (300, 60))),
        (disc(90), disc(20)),
    ],
)
def test_one_letter_or_shade_makes_two_pictures(one: Image.Image, other: Image.Image) -> None:
    # Near by every other rule, so that it is the new ones that tell them apart.
    loose = LeakThresholds(local=255, shade=255)
    roles = [Role("query", Ids(["q"]), signatures_of([one])), Role("gallery", Ids(["g"]), signatures_of([other]))]
    assert len(find_leaks(roles, thresholds=loose).pairs) == 1
    assert not find_leaks(roles).pairs
    copy = one.resize((one.width // 2, one.height // 2), Image.Resampling.LANCZOS)
    again = [roles[0], Role("gallery", Ids(["g"]), signatures_of([copy]))]
    assert [pair.kind for pair in find_leaks(again).pairs] == ["near"]


def test_local_and_shade_equal_a_plain_count() -> None:
    signatures = signatures_of([plate("ABC-123"), plate("ABC-128")])
    likeness = compare_small(signatures, np.array([0]), np.array([1]))
    first, second = (one["small"].astype(float) @ [0.299, 0.587, 0.114] for one in signatures)
    apart = first - second
    shade = max(abs(apart[y : y + 2, x : x + 2].mean()) for y in range(23) for x in range(23))
    gain = np.sqrt(second.std() / first.std())
    even = (first - first.mean()) * gain - (second - second.mean()) / gain
    local = max(abs(even[y : y + 2, x : x + 2].mean()) for y in range(23) for x in range(23))
    assert likeness.shade[0] == pytest.approx(shade, abs=1e-3)
    assert likeness.local[0] == pytest.approx(local, abs=1e-3)


def test_a_wider_detail_sets_the_patch_free_unless_it_is_given() -> None:
    assert (LeakThresholds().patch, LeakThresholds(detail=0.95).patch) == (11, 255)
    assert LeakThresholds(detail=0.95, local=11).patch == 11
    with pytest.raises(InputError, match="local=0"):
        LeakThresholds(local=0)
