"""What the engines that look at everything share: nothing to learn, no tombstones, rows beside a FAISS structure."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.indexing.engines.declared_engine import DeclaredEngine
from visual_search.indexing.engines.faiss_rows import FaissRows

__all__ = ["ExhaustiveEngine"]

Int64Array = npt.NDArray[np.int64]


class ExhaustiveEngine(DeclaredEngine):
    """The part of an exact engine over FAISS that does not depend on what its vectors are.

    A subclass keeps them in ``_structure``, each at the position of its row in ``_rows``.
    """

    _structure: Any
    _rows: FaissRows

    @property
    def exact(self) -> bool:
        """Always: every vector or code is looked at."""
        return True

    @property
    def needs_training(self) -> bool:
        """Never."""
        return False

    @property
    def tombstones(self) -> int:
        """None: removal is real."""
        return 0

    def __len__(self) -> int:
        return len(self._rows)

    def train(self, vectors: npt.NDArray[Any]) -> None:
        """Nothing to learn."""

    def remove(self, rows: Int64Array) -> None:
        """Take rows out; the gaps are closed."""
        positions = self._rows.positions(rows)
        self._structure.remove_ids(positions)
        self._rows.delete(positions)
