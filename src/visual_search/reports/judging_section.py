"""Agreement of judges and what judgements do to scores, as a section of a report."""

from __future__ import annotations

from visual_search.judging.judged_study import JudgedStudy
from visual_search.reports.judging_tables import study_tables
from visual_search.reports.page_section import Section
from visual_search.reports.rendering import render_part

__all__ = ["judging_section"]


def judging_section(
    study: JudgedStudy,
    *,
    anchor: str = "judging",
    title: str = "Judgements and what they leave open",
    listed: int = 20,
) -> Section:
    """Make a study of judgements a section for :func:`visual_search.reports.page.write_report`.

    Parameters
    ----------
    study : JudgedStudy
        From :func:`visual_search.workflows.judge_agreement.judge_agreement`.
    anchor, title : str
    listed : int
        So many of the disagreements are shown.

    Returns
    -------
    Section

    How to read it
    --------------
    How far the judges agree comes first, since no score is surer than its judgements; then what they differ on; then
    each system's scores with how much was judged, both intervals and the bounds, and every rule beside the one in use.
    """
    tables = study_tables(study, listed=listed)
    return Section(anchor, title, render_part("judging_section.html.j2", anchor=anchor, tables=tables))
