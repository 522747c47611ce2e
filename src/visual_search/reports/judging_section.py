"""Agreement of judges and what judgements do to scores, as a section of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from visual_search.errors import FileFormatError, Problems
from visual_search.formats.json_shapes import COUNT, FLAG, ID, NUMBER, TEXT, Each, There
from visual_search.formats.result_extensions import INTERVAL
from visual_search.judging.judged_study import JudgedStudy
from visual_search.reports.judging_tables import record_tables
from visual_search.reports.page_section import Section, checked
from visual_search.reports.rendering import render_part

__all__ = ["judging_record_section", "judging_section"]

_COEFFICIENT = {"name": TEXT, "value": NUMBER, "pairs": COUNT, "interval": INTERVAL}
_JUDGE_PAIR = {
    "judges": There([ID]),
    "pairs": COUNT,
    "shift": NUMBER,
    "scale": There([NUMBER]),
    "confusion": There([There([COUNT])]),
    "coefficients": There([There(_COEFFICIENT)]),
}
_AGREEMENT = {
    "overall": There([There(_COEFFICIENT)]),
    "judges": There([There({"judge": ID, "judged": COUNT, "could_not_tell": COUNT, "mean_grade": NUMBER})]),
    "judge_pairs": There([There(_JUDGE_PAIR)]),
    "notes": There([TEXT]),
}
_DISAGREEMENT = {
    "query": ID,
    "item": ID,
    "said": There([There({"judge": ID, "grade": NUMBER})]),
    "dispute": NUMBER,
    "matters": FLAG,
}
_BOUNDS = {"low": NUMBER, "high": NUMBER, "reason": TEXT}
_MEASURE = {
    "measure": TEXT,
    "mean": NUMBER,
    "queries_only": INTERVAL,
    "interval": INTERVAL,
    "judges_share_of_variance": NUMBER,
    "reason": TEXT,
    "depth": COUNT,
    "judged": NUMBER,
    "judged_only": NUMBER,
    "bounds_of_lists": _BOUNDS,
    "bounds_of_gallery": _BOUNDS,
}
_RULE = {
    "rule": TEXT,
    "measure": TEXT,
    "mean": NUMBER,
    "relevant_pairs": COUNT,
    "difference": {"difference": NUMBER, "interval": INTERVAL, "p_value": NUMBER},
}
_SYSTEM = {
    "rule": TEXT,
    "bpref": NUMBER,
    "measures": There([There(_MEASURE)]),
    "notes": There([TEXT]),
    "rules": There([There(_RULE)]),
}
_SHAPE = {
    "rule": TEXT,
    "rule_words": TEXT,
    "agreement": There(_AGREEMENT),
    "disagreements": There([There(_DISAGREEMENT)]),
    "systems": There(Each(There(_SYSTEM))),
    "judgements_needed": There([There({"first": TEXT, "second": TEXT, "words": TEXT})]),
}


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
    return judging_record_section(study.as_json(), anchor=anchor, title=title, listed=listed)


def judging_record_section(
    record: Mapping[str, Any],
    *,
    anchor: str = "judging",
    title: str = "Judgements and what they leave open",
    listed: int = 20,
) -> Section:
    """Make the record that ``judge agreement --json`` prints a section; as `judging_section` of its study.

    Raises
    ------
    FileFormatError
        Values of another kind than the record has, all of them by their places.
    """
    told = checked(record, _SHAPE, title, needed=("rule", "agreement", "disagreements", "systems"))
    _check_judge_pairs(told["agreement"]["judge_pairs"], title)
    tables = record_tables(told, listed=listed)
    return Section(anchor, title, render_part("judging_section.html.j2", anchor=anchor, tables=tables))


def _check_judge_pairs(pairs: Sequence[Mapping[str, Any]], title: str) -> None:
    problems = Problems(title)
    for row, one in enumerate(pairs):
        place, size = f"agreement.judge_pairs[{row}]", len(one["scale"])
        for key, number in (("judges", 2), ("coefficients", 4), ("confusion", size)):
            if len(one[key]) != number:
                problems.add(f"{place}.{key}: {number} are needed; got {len(one[key])}")
        if any(len(line) != size for line in one["confusion"]):
            problems.add(f"{place}.confusion: each row needs {size} numbers, one for each grade of the scale")
    problems.raise_if_any(FileFormatError)
