"""Folders or indexes under their roles, to a report of what leaks and what that is worth."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from visual_search.errors import InputError
from visual_search.formats.results import read_result
from visual_search.indexing.progress import Progress
from visual_search.leaks.finding import find_leaks
from visual_search.leaks.impact import LeakImpact
from visual_search.leaks.leak_report import LeakReport
from visual_search.leaks.picture_pairs import KIND_WORDS
from visual_search.leaks.roles import RoleName
from visual_search.leaks.thresholds import LeakThresholds
from visual_search.reports.leaks_page import write_leaks_page
from visual_search.workflows.leak_impact import impact_on_result
from visual_search.workflows.leak_metadata import PictureMetadata
from visual_search.workflows.leak_roles import given_roles, signed_roles

__all__ = ["LeakCheck", "check_leaks"]

# Pairs, and left-out files, that are named in words; all are in the page and the JSON.
_SHOWN = 5

Bar = Callable[[str], AbstractContextManager[Progress | None]]


@dataclass(frozen=True, slots=True)
class LeakCheck:
    """What :func:`check_leaks` did.

    Attributes
    ----------
    report : LeakReport
    impact : LeakImpact or None
        Where a result was given.
    page : Path or None
        The HTML page.
    resumed : int
        Files that an earlier, interrupted run had finished.
    notes : tuple of str
        What else to know.
    left_out : tuple of str
        Files that could not be compared, each with its role and reason.
    saved : Path or None
        The JSON.
    """

    report: LeakReport
    impact: LeakImpact | None
    page: Path | None
    resumed: int
    notes: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    saved: Path | None = None

    def words(self) -> str:
        """The outcome in some lines: counts, the first pairs and left-out files by name, and where the whole is."""
        parts = [self.report.words(), *self._pairs(), *self._named()]
        parts += [*([] if self.impact is None else [self.impact.words()]), *self.notes]
        parts += [
            f"{what}: {path}" for what, path in (("page", self.page), ("saved", self.saved)) if path is not None
        ]
        return "\n".join(parts)

    def _pairs(self) -> list[str]:
        shown = self.report.pairs[:_SHOWN]
        lines = [
            f"  {pair.first.role} {pair.first.id} = {pair.second.role} {pair.second.id} "
            f"({KIND_WORDS[pair.kind][0]})"
            for pair in shown
        ]
        more = len(self.report.pairs) - len(shown)
        return [*lines, *([f"  ... and {more:,} more"] if more else [])]

    def _named(self) -> list[str]:
        lines = [f"left out: {words}" for words in self.left_out[:_SHOWN]]
        more = len(self.left_out) - len(lines)
        return [*lines, *([f"left out: ... and {more:,} more"] if more else [])]

    def as_json(self) -> dict[str, Any]:
        """The outcome as a JSON object."""
        return {
            **self.report.as_json(),
            "impact": None if self.impact is None else self.impact.as_json(),
            "notes": list(self.notes),
            "left_out": list(self.left_out),
            "page": None if self.page is None else str(self.page),
        }


def check_leaks(
    roles: Mapping[RoleName, Any],
    *,
    out: str | os.PathLike[str] | None = None,
    saved: str | os.PathLike[str] | None = None,
    result: str | os.PathLike[str] | None = None,
    relevance: str | os.PathLike[str] | None = None,
    metadata: str | os.PathLike[str] | None = None,
    thresholds: LeakThresholds | None = None,
    mirrored: bool = False,
    within: bool = False,
    max_pairs: int = 20_000,
    bar: Bar | None = None,
) -> LeakCheck:
    """Look for pictures that stand in two roles.

    Parameters
    ----------
    roles : mapping of "query", "gallery", "train" to a place
        A folder, glob, archive or list of pictures, or the folder of an index.
    out : path, optional
        The HTML page.
    saved : path, optional
        The report as JSON.
    result : path, optional
        A results JSON of a search of these queries in this gallery: every measure is told with and without what
        leaked. Queries and items are found by their files, else by their ids.
    relevance : path, optional
        Right answers that the result was measured by (qrels, Parquet, dataset JSON); with them measures are also
        told with the leaked gallery items ignored.
    metadata : path, optional
        A table (CSV, Parquet) of ``item`` and ``group`` or ``view`` or both.
    thresholds, mirrored, within, max_pairs
        As for :func:`visual_search.leaks.finding.find_leaks`. With ``thresholds.cosine`` every role must be an index
        made by one embedder.
    bar : callable, optional
        Gives a progress for a piece of work that it is told in a word.

    Returns
    -------
    LeakCheck

    Raises
    ------
    InputError, FileFormatError, FingerprintError
        Places without pictures, roles that cannot be compared, a result of other queries.

    Convention
    ----------
    Finished batches of signatures wait in a hidden file beside ``out`` (or ``saved``); a killed run, started again,
    decodes only what is missing or changed.
    """
    rule = thresholds or LeakThresholds()
    show: Bar = bar or (lambda _: nullcontext(None))
    if relevance is not None and result is None:
        raise InputError("relevance: right answers without a result; give the result that was measured by them")
    if len(roles) == 1 and not within:
        raise InputError(f"roles: only {next(iter(roles))}; give a second role, or look within one")
    if result is not None:
        read_result(result)  # a wrong file is known now, and not after the pictures were decoded
    beside = out if out is not None else saved
    journal = None if beside is None else _journal_path(beside)
    table = None if metadata is None else PictureMetadata.read(metadata)
    given = given_roles(roles, cosine=rule.cosine is not None)
    with show("signing") as progress:
        signed, resumed = signed_roles(given, table, journal=journal, progress=progress)
    with show("comparing") as progress:
        report = find_leaks(
            signed, thresholds=rule, mirrored=mirrored, within=within, max_pairs=max_pairs, progress=progress
        )
    impact = None if result is None else impact_on_result(report, signed, result, relevance)
    notes = () if table is None else table.notes(signed)
    page = None if out is None else write_leaks_page(report, out, impact=impact, notes=notes)
    gone = tuple(f"{role.name} {entry.id}: {entry.reason}" for role in signed for entry in role.ledger.left_out)
    check = LeakCheck(report, impact, page, resumed, notes, gone, None if saved is None else Path(saved))
    if saved is not None:
        _save(check, saved)
    if journal is not None:
        journal.unlink(missing_ok=True)
    return check


def _save(check: LeakCheck, saved: str | os.PathLike[str]) -> None:
    import json

    from visual_search.formats.atomic import write_text

    # Escaped throughout, since a file name may hold bytes that are no text.
    write_text(saved, json.dumps(check.as_json(), indent=1, ensure_ascii=True, allow_nan=False) + "\n")


def _journal_path(beside: str | os.PathLike[str]) -> Path:
    target = Path(os.path.abspath(beside))  # noqa: PTH100 - links stay links
    return target.with_name(f".{target.name}.unfinished")
