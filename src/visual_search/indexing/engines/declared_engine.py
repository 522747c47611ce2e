"""What engines tell from their declarations: name, metric, dimension, settings and how these are changed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, ClassVar

from visual_search.errors import DimensionError, InputError, MissingDependencyError
from visual_search.indexing.engines.contract import VECTOR_METRICS, Metric, Settings
from visual_search.indexing.engines.settings import AnySetting, checked_settings

__all__ = ["DeclaredEngine", "engine_package"]


class DeclaredEngine:
    """The part of an engine that does not depend on its structure.

    Parameters
    ----------
    dimension : int
        Length of a vector, at least 1.
    metric : str
        What scores mean, one of ``metrics``; under ``cosine`` the vectors that come are of unit length.
    settings : mapping, optional
        The engine's own settings; an unknown or impossible one is an error that lists what is allowed.

    Attributes
    ----------
    metrics : tuple of str
        Metrics it takes; those of float32 vectors unless an engine says otherwise.
    SETTINGS : tuple
        All settings, declared once; checks, help and messages come from here.
    LARGEST_DIMENSION : int
    """

    name: ClassVar[str]
    metrics: ClassVar[tuple[Metric, ...]] = VECTOR_METRICS
    SETTINGS: ClassVar[tuple[AnySetting, ...]] = ()
    LARGEST_DIMENSION: ClassVar[int] = (1 << 31) - 1  # a C int

    def __init__(self, *, dimension: int, metric: Metric, settings: Settings | None = None) -> None:
        if metric not in self.metrics:
            raise InputError(f"metric: got {metric!r}; engine {self.name!r} takes {', '.join(self.metrics)}")
        if type(dimension) is not int or dimension < 1:
            raise InputError(f"dimension: got {dimension!r}; must be a whole number of at least 1")
        if dimension > self.LARGEST_DIMENSION:
            raise DimensionError(
                f"dimension: got {dimension}; engine {self.name!r} takes up to {self.LARGEST_DIMENSION}"
            )
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
    def settings(self) -> Mapping[str, Any]:
        """Every setting, those left at their default too."""
        return MappingProxyType(self._settings)

    def configure(self, /, **settings: int | float | str | bool) -> None:
        """Change search-time settings; the error of an unknown one lists them."""
        self._settings |= checked_settings(self.name, self.SETTINGS, settings, when="search")


def engine_package(package: str, *, engine: str, extra: str) -> Any:
    """Import the package that an engine stands on.

    Raises
    ------
    MissingDependencyError
        It is not installed, or something it needs is not; the message has the command.
    """
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingDependencyError(
            f"engine {engine!r} needs {package}, which cannot be imported ({error}); "
            f"run: pip install 'visual-search[{extra}]'"
        ) from error
