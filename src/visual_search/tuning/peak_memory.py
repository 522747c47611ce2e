"""How much memory a piece of work took at its height, by what the system counts."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

__all__ = ["PEAK_MEMORY_WORDS", "PeakMemory"]

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")

PEAK_MEMORY_WORDS = (
    "highest resident memory of this process during the build, less that before it (VmHWM, Linux); what another "
    "process holds, such as a database server, is not in it"
)


class PeakMemory:
    """Resident memory at the height of a block, less that at its begin.

    Memory that the allocator had in reserve when the block began is not counted, so small pieces of work may count 0.

    Attributes
    ----------
    peak_bytes : int or None
        After the block; None where the system does not count it.

    Examples
    --------
    >>> with PeakMemory() as memory:
    ...     held = bytearray(64 << 20)
    >>> memory.peak_bytes is None or memory.peak_bytes > 32 << 20
    True
    """

    peak_bytes: int | None = None

    def __enter__(self) -> Self:
        self._before: int | None = None
        try:
            _CLEAR.write_text("5")  # sets the high-water mark to what is resident now
            self._before = _counted("VmRSS")
        except OSError:
            pass
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        highest = None if self._before is None else _counted("VmHWM")
        if highest is not None and self._before is not None:
            self.peak_bytes = max(0, highest - self._before)


def _counted(name: str) -> int | None:
    for line in _STATUS.read_text("ascii", "replace").splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    return None
