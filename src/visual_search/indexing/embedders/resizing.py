"""From an image of any shape to the one shape a model takes."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Literal, TypeAlias, get_args

from PIL import Image

from visual_search.errors import InputError

__all__ = ["Filter", "Resize", "ResizeRule"]

ResizeRule: TypeAlias = Literal["stretch", "shorter-side"]
Filter: TypeAlias = Literal["nearest", "box", "bilinear", "bicubic", "lanczos"]

_FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "box": Image.Resampling.BOX,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}
# Large images are first averaged over square blocks to no less than this many times the target, which costs a third
# of the time and changes vectors little (docs/explanation/embedders.md). Pillow's own reducing_gap may choose blocks
# that are no squares; those are slower and change more.
_REDUCED_TO = 1.25


@dataclass(frozen=True, slots=True)
class Resize:
    """How an image comes to ``height`` x ``width`` pixels.

    Parameters
    ----------
    height, width : int
        Target, in pixels, at least 1.
    rule : {"stretch", "shorter-side"}, default "stretch"
        ``stretch`` shows the whole image and gives up its aspect ratio; ``shorter-side`` keeps the ratio and shows
        the central part: the largest centred region of the target's ratio, narrowed to the share ``crop``.
    filter : {"nearest", "box", "bilinear", "bicubic", "lanczos"}, default "bilinear"
        Pillow's filters, which average over all source pixels when they shrink.
    crop : float, default 0.875
        Share of the region that ``shorter-side`` keeps, in (0, 1]; .875 is 224 of 256, as ImageNet's models are
        commonly evaluated. Not read by ``stretch``.

    Raises
    ------
    InputError
        A value outside the above.

    Examples
    --------
    >>> Resize(224, 224, rule="shorter-side", filter="bicubic").words
    'central 0.875 of the shorter side resized to 224x224, bicubic (large pictures averaged in whole blocks to ...)'
    >>> Resize(4, 6)(Image.new("RGB", (1, 1000))).size
    (6, 4)
    """

    height: int
    width: int
    rule: ResizeRule = "stretch"
    filter: Filter = "bilinear"
    crop: float = 0.875

    def __post_init__(self) -> None:
        if min(self.height, self.width) < 1:
            raise InputError(f"size {self.height}x{self.width}: both sides must be at least 1 pixel")
        if self.rule not in get_args(ResizeRule):
            raise InputError(f"resize {self.rule!r}: not one of {', '.join(get_args(ResizeRule))}")
        if self.filter not in _FILTERS:
            raise InputError(f"filter {self.filter!r}: not one of {', '.join(_FILTERS)}")
        if not 0 < self.crop <= 1:
            raise InputError(f"crop {self.crop}: must lie in (0, 1], the share of the shorter side that is kept")

    @property
    def words(self) -> str:
        """The rule in words, for an embedder's ``preprocessing``."""
        size = f"{self.height}x{self.width}"
        how: str = self.filter
        if self.filter != "nearest":
            how += f" (large pictures averaged in whole blocks to no less than {_REDUCED_TO:g} times that before)"
        if self.rule == "stretch":
            return f"stretched to {size}, {how}"
        return f"central {self.crop:g} of the shorter side resized to {size}, {how}"

    def __call__(self, image: Image.Image) -> Image.Image:
        """Give the image at the target size; the image itself is not changed. Thread-safe."""
        # Cutting before resizing, in one step: resizing a 1 x 10,000 image first would make millions of pixels.
        region = self._region(image)
        left, top, right, bottom = region
        block = int(min((right - left) / self.width, (bottom - top) / self.height) / _REDUCED_TO)
        if block > 1 and self.filter != "nearest":
            around = (int(left), int(top), ceil(right), ceil(bottom))
            image = image.reduce(block, box=around)
            x, y = around[:2]
            region = ((left - x) / block, (top - y) / block, (right - x) / block, (bottom - y) / block)
        return image.resize((self.width, self.height), _FILTERS[self.filter], box=region)

    def _region(self, image: Image.Image) -> tuple[float, float, float, float]:
        if self.rule == "stretch":
            return (0.0, 0.0, float(image.width), float(image.height))
        scale = min(image.width / self.width, image.height / self.height) * self.crop
        width, height = self.width * scale, self.height * scale
        left, top = (image.width - width) / 2, (image.height - height) / 2
        return (left, top, left + width, top + height)
