"""A gallery made ready once, to be searched exactly with several sets of queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.formats.arrays import as_numpy
from visual_search.ground_truth.fast_screen import FastScreen, pack_block
from visual_search.ground_truth.gallery_blocks import Block, block_borders, blocks_of
from visual_search.ground_truth.metric_names import MetricName
from visual_search.ground_truth.screened_vectors import ScreenSpace
from visual_search.ground_truth.vector_checks import check_search
from visual_search.kernels import dispatch
from visual_search.kernels.int8_codes import PackedRows
from visual_search.kernels.plain_pairs import VectorMetric
from visual_search.kernels.threads import thread_count

__all__ = ["PackedGallery", "pack_gallery"]

AnyArray: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class PackedGallery:
    """A gallery with the int8 codes of its rows; made by `pack_gallery`.

    Parameters
    ----------
    gallery : array of shape (n, d)
        The rows themselves, which decide; they must not change.
    space : ScreenSpace
    borders : list of int
        Where blocks begin, and the end.
    blocks : dict of int to PackedRows
        By first row; empty where the plain path is the faster one, which needs no codes.
    """

    gallery: AnyArray
    space: ScreenSpace
    borders: list[int]
    blocks: dict[int, PackedRows]

    @property
    def metric(self) -> VectorMetric:
        """What it was packed for."""
        return self.space.metric

    @property
    def nbytes(self) -> int:
        """Bytes of the codes, about a quarter of a float32 gallery."""
        return sum(packed.nbytes for packed in self.blocks.values())


def pack_gallery(
    gallery: Any, *, metric: MetricName = "l2", memory_bytes: int = 1 << 30, threads: int | None = None
) -> PackedGallery:
    """Make a gallery ready to be searched exactly, once for all queries.

    Parameters
    ----------
    gallery : array-like of shape (n, d)
        As for `search_exactly`. It is kept, not copied, and must not change.
    metric : {"l2", "inner_product", "cosine"}
        ``ip`` is taken for ``inner_product``. Bits have no such form.
    memory_bytes : int
        For a block while it is packed.
    threads : int, optional
        All processors by default.

    Returns
    -------
    PackedGallery
        To be given to `search_exactly` in the place of the gallery.

    Raises
    ------
    InputError, NonFiniteError, ZeroVectorError
        As for `search_exactly`.

    Examples
    --------
    >>> import numpy as np
    >>> from visual_search.ground_truth.exact_search import search_exactly
    >>> packed = pack_gallery(np.array([[0.0, 0.0], [3.0, 4.0]]))
    >>> [search_exactly(packed, np.array([[x, x]]), 1).positions.tolist() for x in (1.0, 3.0)]
    [[[0]], [[1]]]
    """
    metric = "inner_product" if metric == "ip" else metric
    gallery = as_numpy(gallery, what="gallery")
    check_search(gallery, gallery, 1, metric)
    if metric not in ("l2", "inner_product", "cosine"):
        raise InputError(f"metric {metric!r}: one of l2, inner_product, cosine; bits are searched as they are")
    space = ScreenSpace(gallery, metric)
    borders = block_borders(
        len(gallery), FastScreen.row_bytes(gallery), memory_bytes=memory_bytes // 2, least=min(len(gallery), 1024)
    )
    blocks = {}
    if dispatch.fast_screen():
        for first, rows in blocks_of(gallery, borders):
            blocks[first] = pack_block(space, Block(rows, first), threads=threads or thread_count())
    return PackedGallery(gallery, space, borders, blocks)
