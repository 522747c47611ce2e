"""How far a store of judgements is, in words and numbers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from visual_search.counted import counted
from visual_search.evaluation.text_table import text_table
from visual_search.judging.store import JudgementStore
from visual_search.judging.store_progress import Progress
from visual_search.judging.task import JudgingTask

__all__ = ["JudgingStatus", "judging_status"]


@dataclass(frozen=True, slots=True)
class JudgingStatus:
    """What is asked in a store, and how much of it is done."""

    task: JudgingTask
    progress: Progress

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {"task": self.task.as_json(), **self.progress.as_json()}

    def words(self, *, queries: bool = False) -> str:
        """In lines, with a table of judges and, where asked for, one of queries."""
        done, task = self.progress, self.task
        share = f"{done.given / done.wanted:.0%}" if done.wanted else "nothing"
        pairs = counted(done.pairs, "pair", "pairs")
        several = f", of {task.overlap:.0%} of them {task.overlap_wanted}" if task.overlap else ""
        lines = [
            f"{done.judged:,} of {pairs} judged; {done.given:,} of {done.wanted:,} judgements wanted, {share}",
            f"wanted per pair: {task.wanted}{several}; order: {task.order}",
        ]
        if done.judges:
            rows = [
                [name, str(one.judged), str(one.cannot_tell), str(one.undone), _seconds(one.seconds)]
                for name, one in done.judges.items()
            ]
            lines += ["", text_table(["judge", "judged", "cannot tell", "taken back", "median time"], rows)]
        if queries:
            rows = [[str(query), str(one.pairs), str(one.judged)] for query, one in done.queries.items()]
            lines += ["", text_table(["query", "pairs", "judged"], rows)]
        return "\n".join(lines)


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} s"


def judging_status(store: str | os.PathLike[str]) -> JudgingStatus:
    """Look into a store, which must be there.

    Raises
    ------
    InputError, FileFormatError
        No such store, or something else.
    """
    with JudgementStore(store, create=False) as held:
        return JudgingStatus(held.task, held.progress())
