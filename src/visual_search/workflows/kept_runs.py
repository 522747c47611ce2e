"""Where each query's rows are in the rankings of results: found once, kept, and found again in no time."""

from __future__ import annotations

from typing import Any

from visual_search.catalogue.kept import Kept
from visual_search.catalogue.opened import OpenedResult
from visual_search.formats.query_runs import QueryRuns
from visual_search.formats.ranking_rows import RankingRows
from visual_search.formats.results import StoredResult
from visual_search.workflows.same_result import same_result
from visual_search.workflows.side_process import SideProcess
from visual_search.workflows.waiting_work import WaitingWork

__all__ = ["KeptRuns", "query_runs"]


class KeptRuns:
    """Opens rankings without reading the query of every row, where that was done before.

    Parameters
    ----------
    kept : Kept
        By the checksum of the ranking file, which is compared before it is read.
    beside : SideProcess
        Finds them for results that nobody looks at yet.
    behind : WaitingWork
        Keeps what a page found.
    """

    def __init__(self, kept: Kept, beside: SideProcess, behind: WaitingWork) -> None:
        self._kept = kept
        self._beside = beside
        self._behind = behind

    def ranking_of(self, stored: StoredResult) -> RankingRows:
        """Rows of a result's ranking.

        Raises
        ------
        FileFormatError
            As for :meth:`visual_search.formats.results.StoredResult.ranking_rows`.
        """
        checksum = stored.checksum_of("ranking")
        if checksum is not None and (found := self._kept.get(checksum)) is not None:
            return stored.ranking_rows(QueryRuns(**found))
        rows = stored.ranking_rows()
        if checksum is not None:
            self._behind.add(f"query runs {checksum}", lambda: self._kept.put(checksum, rows.runs.as_json()))
        return rows

    def prepare(self, opened: OpenedResult) -> None:
        """Find those of a result beside the pages, where they are not kept.

        Raises
        ------
        VisualSearchError
            Its ranking cannot be read.
        """
        checksum = opened.stored.checksum_of("ranking")
        if checksum is None or checksum in self._kept:
            return
        path, fingerprint = str(opened.stored.path), opened.entry.fingerprint
        found = self._beside.call(query_runs, path=path, fingerprint=fingerprint)
        if found is not None:
            self._kept.put(checksum, found)


def query_runs(path: str, fingerprint: str) -> dict[str, Any] | None:
    """Where each query's rows are in a result's ranking, as a JSON value; None where the result is no longer the same.

    Raises
    ------
    FileFormatError
        It cannot be read.
    """
    opened = same_result(path, fingerprint)
    return None if opened is None else opened.stored.ranking_rows().runs.as_json()
