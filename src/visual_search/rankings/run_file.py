"""A ranking that stays in its file."""

from __future__ import annotations

import os
from dataclasses import dataclass

__all__ = ["RunFile"]


@dataclass(frozen=True, slots=True)
class RunFile:
    r"""A TREC run, read only when it is evaluated, and then once, without keeping its lines.

    `Ranking.from_trec` gives every line an object's worth of memory, so that lists can be looked at. An evaluation
    needs only where the judged items stand, which takes a fraction of the time and of the memory.

    Attributes
    ----------
    path : path
        The file, plain or gzip: ``query Q0 item rank score tag``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from visual_search import Relevance, evaluate
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "run.txt")
    ...     _ = path.write_text("q1 Q0 d1 1 0.9 mine\nq1 Q0 d2 2 0.4 mine\n")
    ...     result = evaluate(RunFile(path), Relevance.from_dict({"q1": {"d2": 1}}), ["RR"])
    >>> result["RR"].mean
    0.5
    """

    path: str | os.PathLike[str]
