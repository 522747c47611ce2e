"""What the engines over FAISS share: names, settings, and the check of a file against what was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from visual_search.errors import FileFormatError, InputError
from visual_search.indexing.engines.contract import METRICS, Metric, Settings
from visual_search.indexing.engines.settings import Setting, checked_settings

__all__ = ["FaissEngine"]

_LARGEST_DIMENSION = (1 << 31) - 1  # a C int


class FaissEngine:
    """The part of an engine that does not depend on its structure.

    Parameters
    ----------
    dimension : int
        Length of a vector, at least 1.
    metric : "cosine", "ip" or "l2"
        What scores mean; under ``cosine`` the vectors that come are of unit length.
    settings : mapping, optional
        The engine's own settings; an unknown or impossible one is an error that lists what is allowed.
    """

    name: ClassVar[str]
    SETTINGS: ClassVar[tuple[Setting, ...]] = ()
    file_suffix: ClassVar[str] = "faiss"

    def __init__(self, *, dimension: int, metric: Metric, settings: Settings | None = None) -> None:
        if metric not in METRICS:
            raise InputError(f"metric: got {metric!r}; must be one of {', '.join(METRICS)}")
        if type(dimension) is not int or dimension < 1:
            raise InputError(f"dimension: got {dimension!r}; must be a whole number of at least 1")
        if dimension > _LARGEST_DIMENSION:
            raise InputError(f"dimension: got {dimension}; FAISS takes up to {_LARGEST_DIMENSION}")
        self._dimension = dimension
        self._metric: Metric = metric
        self._settings = checked_settings(self.name, self.SETTINGS, settings or {})

    @property
    def metric(self) -> Metric:
        """What the scores mean."""
        return self._metric

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    @property
    def settings(self) -> Mapping[str, int]:
        """Every setting, those left at their default too."""
        return MappingProxyType(self._settings)

    @property
    def library(self) -> str:
        """The FAISS that is running."""
        import faiss

        return f"faiss {faiss.__version__}"

    def configure(self, /, **settings: int | float | str | bool) -> None:
        """Change search-time settings; the error of an unknown one lists them."""
        self._settings |= checked_settings(self.name, self.SETTINGS, settings, when="search")

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
