"""Where and with what a result was made."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["machine", "utc_now", "versions"]


def utc_now() -> str:
    """Give the time in UTC, as in ``2024-01-15T10:30:00Z``."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def versions() -> dict[str, str | None]:
    """Give the versions of what can change a number; None for what is not installed."""
    distributions = {"visual_search": "visual-search", "numpy": "numpy", "faiss": "faiss-cpu", "pillow": "pillow"}
    found = {name: _version(distribution) for name, distribution in distributions.items()}
    return found | {"onnxruntime": _version("onnxruntime"), "python": platform.python_version()}


def machine() -> dict[str, Any]:
    """Give platform, processor and number of cores; nothing that names the machine."""
    return {
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _processor() -> str | None:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or None
