"""Chooses between the compiled kernels and their plain twins, once per process.

The compiled ones run where they were built and pass a self-test at first use. ``VISUAL_SEARCH_KERNELS=plain`` in the
environment chooses the plain ones, ``=compiled`` makes it an error to have no others. Who calls does not know which
ran: both give the same integers.
"""

from __future__ import annotations

import importlib
import logging
import os
from functools import cache
from types import ModuleType
from typing import NamedTuple

from visual_search.errors import InputError, MissingDependencyError

__all__ = ["ENVIRONMENT_VARIABLE", "Active", "active", "kernels"]

ENVIRONMENT_VARIABLE = "VISUAL_SEARCH_KERNELS"

_log = logging.getLogger(__name__)


class Active(NamedTuple):
    """Which kernels run, and why.

    Attributes
    ----------
    name : {"compiled", "plain"}
        Which.
    reason : str
        Why, in a few words.
    """

    name: str
    reason: str


def active() -> Active:
    """Tell which kernels run.

    Raises
    ------
    InputError
        The environment variable has another value.
    MissingDependencyError
        It asks for the compiled kernels and there are none that work.

    Examples
    --------
    >>> active().name in ("compiled", "plain")
    True
    """
    return _chosen()[1]


def kernels() -> ModuleType:
    """The module whose functions run: `visual_search.kernels.compiled` or `visual_search.kernels.plain`."""
    return _chosen()[0]


@cache
def _chosen() -> tuple[ModuleType, Active]:
    wanted = os.environ.get(ENVIRONMENT_VARIABLE, "")
    if wanted not in ("", "plain", "compiled"):
        raise InputError(f"{ENVIRONMENT_VARIABLE}={wanted!r}: one of plain, compiled, or not set")
    plain = importlib.import_module("visual_search.kernels.plain")
    if wanted == "plain":
        return plain, Active("plain", f"{ENVIRONMENT_VARIABLE}=plain")
    try:
        compiled = importlib.import_module("visual_search.kernels.compiled")
    except ImportError as error:
        reason = f"the compiled kernels cannot be loaded ({error})"
    else:
        wrong = importlib.import_module("visual_search.kernels.self_test").first_difference(compiled, plain)
        if wrong is None:
            return compiled, Active("compiled", "built and passed its self-test")
        reason = f"the compiled {wrong} failed its self-test"
    if wanted == "compiled":
        raise MissingDependencyError(
            f"{ENVIRONMENT_VARIABLE}=compiled, but {reason}; install again with a C++17 compiler at hand"
        )
    _log.warning(
        "%s; the plain NumPy path gives the same numbers, slower (%s=plain silences this)", reason, ENVIRONMENT_VARIABLE
    )
    return plain, Active("plain", reason)
