"""Judgements looked at whole: how far judges agree, what they differ on, and what that does to scores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from visual_search.evaluation.statistics.interval import Resampling
from visual_search.evaluation.text_table import text_table
from visual_search.evaluation.ties import TieRule
from visual_search.judging.aggregation import DEFAULT_RULE, checked_rule
from visual_search.judging.agreement import agreement
from visual_search.judging.disagreements import disagreements
from visual_search.judging.judged_study import JudgedStudy, JudgedSystem
from visual_search.judging.judgements_needed import judgements_needed
from visual_search.judging.rule_effects import rule_effects
from visual_search.judging.score_effect import score_effect
from visual_search.workflows.judge_runs import pooled_runs
from visual_search.workflows.judgement_files import read_judgements
from visual_search.workflows.score_files import query_values

__all__ = ["judge_agreement", "study_words", "write_agreement_page"]

DEFAULT_MEASURES = ("nDCG@10", "AP", "Precision@10")


def judge_agreement(
    judgements: str | os.PathLike[str],
    runs: Sequence[str] = (),
    measures: Sequence[str] = (),
    *,
    rule: str = DEFAULT_RULE,
    ties: TieRule | None = None,
    groups: str | os.PathLike[str] | None = None,
    judges_per_pair: int = 1,
    resampling: Resampling | None = None,
) -> JudgedStudy:
    """Look at judgements, and at what they do to the scores of rankings.

    Parameters
    ----------
    judgements : str or path
        A store, or a table; see :func:`visual_search.workflows.judgement_files.read_judgements`.
    runs : sequence of str
        Results or run files, ``NAME=FILE`` names the system; without any only the judges are looked at.
    measures : sequence of str
        Text forms; a usual set where there are none.
    rule : str
        How several grades become one.
    ties : str, optional
    groups : path, optional
        A table of query and independent group.
    judges_per_pair : int
        For the forecast: how many judgements each pair is to get.
    resampling : Resampling, optional

    Returns
    -------
    JudgedStudy
    """
    used = checked_rule(rule)
    systems = pooled_runs(list(runs)) if runs else []
    table = read_judgements(judgements, ids=systems[0].ranking.queries.kind if systems else None)
    by_group = None if groups is None else query_values(groups, table.queries)
    chosen = list(measures) or list(DEFAULT_MEASURES)
    scored = [
        JudgedSystem(
            one.name,
            score_effect(one.ranking, table, chosen, rule=used, ties=ties, groups=by_group, resampling=resampling),
            rule_effects(one.ranking, table, chosen, rule=used, ties=ties, groups=by_group, resampling=resampling),
        )
        for one in systems
    ]
    needed = [
        (
            systems[0].name,
            one.name,
            judgements_needed(
                systems[0].ranking, one.ranking, table, chosen[0], rule=used, ties=ties, groups=by_group,
                judges_per_pair=judges_per_pair,
            ),
        )
        for one in systems[1:]
    ]  # fmt: skip
    return JudgedStudy(
        used,
        agreement(table, groups=by_group, resampling=resampling),
        disagreements(table),
        tuple(scored),
        tuple(needed),
    )


def study_words(study: JudgedStudy, *, listed: int = 10) -> str:
    """A study as tables in text, with so many of its disagreements."""
    from visual_search.reports.judging_tables import study_tables

    parts = []
    for table in study_tables(study, listed=listed):
        body = [text_table(table.head, table.rows)] if table.rows else []
        parts.append("\n".join([table.title, *body, *(f"note: {note}" for note in table.notes)]))
    return "\n\n".join(parts)


def write_agreement_page(study: JudgedStudy, out: str | os.PathLike[str]) -> Path:
    """A study as one self-contained HTML page."""
    from visual_search.reports.judging_section import judging_section
    from visual_search.reports.section_page import write_section_page

    return write_section_page([judging_section(study)], out, title="Judgements")
