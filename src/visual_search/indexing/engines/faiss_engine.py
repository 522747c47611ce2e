"""What the engines over FAISS share: the library, and the check of a file against what was asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from visual_search.errors import FileFormatError
from visual_search.indexing.engines.declared_engine import DeclaredEngine

__all__ = ["FaissEngine"]


class FaissEngine(DeclaredEngine, ABC):
    """The part of an engine over FAISS that does not depend on its structure."""

    file_suffix: ClassVar[str] = "faiss"

    @property
    def library(self) -> str:
        """The FAISS that is running."""
        import faiss

        return f"faiss {faiss.__version__}"

    @property
    @abstractmethod
    def memory_bytes(self) -> int:
        """Bytes the index holds in memory, vectors included."""

    @property
    def index_bytes(self) -> int:
        """As ``memory_bytes``: the vectors are what a search goes through."""
        return self.memory_bytes

    @property
    def _faiss_metric(self) -> int:
        import faiss

        code: int = faiss.METRIC_L2 if self._metric == "l2" else faiss.METRIC_INNER_PRODUCT
        return code

    def _check_structure(self, structure: Any, kinds: tuple[Any, ...], path: Path) -> None:
        """Refuse a structure that is of another kind or metric than this engine's."""
        if not isinstance(structure, kinds):
            wanted = " or ".join(kind.__name__ for kind in kinds)
            raise FileFormatError(
                f"{path}: holds a FAISS {type(structure).__name__}; engine {self.name!r} reads {wanted}"
            )
        if structure.metric_type != self._faiss_metric:
            raise FileFormatError(
                f"{path}: FAISS metric {structure.metric_type} in the file, but metric {self._metric!r} "
                f"was asked for, which is FAISS metric {self._faiss_metric}"
            )
