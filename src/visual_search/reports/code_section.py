"""Hash codes as a part of a report, and as a page of its own: curves against bits, bands of ties, the tables."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from markupsafe import Markup

from visual_search.errors import InputError
from visual_search.evaluation.code_study import CodeStudy
from visual_search.evaluation.result import Result
from visual_search.reports.figures import Curve, curve_figure
from visual_search.reports.page_section import Section
from visual_search.reports.rendering import render_part
from visual_search.reports.section_page import write_section_page
from visual_search.reports.wording import value

__all__ = ["code_section", "write_code_page"]

# Points of a curve over ranks; more would run into each other.
_RANKS = np.array([1, 3, 10, 30, 100, 1000, 10_000, 100_000, 1_000_000])


def code_section(
    studies: Mapping[str, CodeStudy],
    *,
    vectors: Result | None = None,
    anchor: str = "codes",
    title: str = "Hash codes",
) -> Section:
    """One section about codes.

    Parameters
    ----------
    studies : mapping of name to CodeStudy
        At most eight, of the same queries, gallery and measures: several lengths, or several ways to hash.
    vectors : Result, optional
        The same measures of the float embedding the codes came from.
    anchor, title : str
        As for `Section`.

    Returns
    -------
    Section
        For `visual_search.reports.page.write_report`, or for `write_code_page`.
    """
    if not studies:
        raise InputError("studies: none given; a section needs at least one CodeStudy by name")
    first = next(iter(studies.values()))
    body = render_part(
        "_codes.html.j2",
        anchor=anchor,
        names=list(studies),
        rows=_rows(studies, vectors),
        vectors=vectors is not None,
        figures=_figures(studies, vectors, anchor),
        remarks=[(name, study.sentences()) for name, study in studies.items()],
        empty=first.radius.empty,
        radius_rows=_radius_rows(studies),
    )
    return Section(anchor, title, body)


def write_code_page(
    sections: Sequence[Section], out: str | os.PathLike[str], *, title: str = "How well do the codes find?"
) -> Path:
    """Write one self-contained HTML page of sections about codes.

    Parameters
    ----------
    sections : sequence of Section
        Made by `code_section`, each with an anchor of its own.
    out : path
        The HTML file; written whole or not at all.
    title : str
        Heading of the page.
    """
    return write_section_page(sections, out, title=title)


def _rows(studies: Mapping[str, CodeStudy], vectors: Result | None) -> list[dict[str, object]]:
    rows = []
    for name, study in studies.items():
        for row in study.table():
            text = row["measure"]
            own = vectors is not None and not row["rules"] and text in vectors
            quality = vectors[text].mean if vectors is not None and own else None
            rows.append({"name": name, **row, "vectors": quality})
    return rows


# A caption, the drawing, and role and label of each line.
Figure: TypeAlias = tuple[str, Markup, list[tuple[str, str]]]


def _figures(studies: Mapping[str, CodeStudy], vectors: Result | None, anchor: str) -> list[Figure]:
    roles = {name: f"series-{at + 1}" for at, name in enumerate(list(studies)[:8])}
    made: list[Figure] = []
    if len({study.bits for study in studies.values()}) > 1:
        text = next(iter(next(iter(studies.values())).band.expected))
        made.append(_against_bits(list(studies.values()), text, vectors, anchor))
    at_n = [_at_n(name, study, roles[name]) for name, study in list(studies.items())[:8]]
    made.append(
        (
            "Precision among the first N; shaded between the worst and the best order of ties",
            curve_figure(
                at_n, title="Precision@N", description=f"Precision@N of {_all(at_n)}", key=f"{anchor}-n", axis="N"
            ),
            _legend(at_n),
        )
    )
    by_rank = [_precision_recall(name, study, roles[name]) for name, study in list(studies.items())[:8]]
    made.append(
        (
            "Precision against recall as the list grows, means over queries, ties in expectation",
            curve_figure(
                by_rank,
                title="Precision and recall",
                description=f"Precision against recall of {_all(by_rank)}",
                key=f"{anchor}-pr",
                axis="recall",
                linear=True,
            ),
            _legend(by_rank),
        )
    )
    return made


def _legend(curves: Sequence[Curve]) -> list[tuple[str, str]]:
    return [(curve.role, curve.label) for curve in curves]


def _all(curves: Sequence[Curve]) -> str:
    return ", ".join(curve.label for curve in curves)


def _against_bits(studies: Sequence[CodeStudy], text: str, vectors: Result | None, anchor: str) -> Figure:
    ordered = sorted(studies, key=lambda study: study.bits)
    bits = [float(study.bits) for study in ordered]
    means = [[getattr(study.band, part)[text].mean for study in ordered] for part in ("expected", "worst", "best")]
    curves = [Curve("codes", "series-1", bits, *means)]
    references = [("random", "random order", ordered[0].chance), ("ceiling", "float embedding", vectors)]
    for role, label, result in references:
        if result is not None and not np.isnan(result[text].mean):
            curves.append(Curve(label, role, bits, [result[text].mean] * len(bits)))
    title = f"{text} against bits"
    svg = curve_figure(
        curves, title=title, description=f"{text} of {_all(curves)}", key=f"{anchor}-bits", axis="bits"
    )
    return f"{title}; shaded between the worst and the best order of ties", svg, _legend(curves)


def _at_n(name: str, study: CodeStudy, role: str) -> Curve:
    curve = study.ranks
    wanted = _RANKS[curve.ranks[-1] >= _RANKS]
    chosen = np.unique(np.abs(curve.ranks - wanted[:, None]).argmin(axis=1))
    return Curve(
        name,
        role,
        curve.ranks[chosen].tolist(),
        curve.precision[chosen].tolist(),
        curve.worst_precision[chosen].tolist(),
        curve.best_precision[chosen].tolist(),
    )


def _precision_recall(name: str, study: CodeStudy, role: str) -> Curve:
    curve = next(c for c in study.precision_recall if (c.by, c.average) == ("rank", "macro"))
    known = np.flatnonzero(~np.isnan(curve.recall))
    chosen = (
        known[np.unique(np.linspace(0, max(len(known) - 1, 0), 24).round().astype(int))] if len(known) else known
    )
    return Curve(name, role, curve.recall[chosen].tolist(), curve.precision[chosen].tolist())


def _radius_rows(studies: Mapping[str, CodeStudy]) -> list[list[str]]:
    rows = []
    for name, study in studies.items():
        curve = study.radius
        for radius in range(min(3, len(curve.radii))):
            values = (curve.macro_precision, curve.micro_precision, curve.macro_recall, curve.micro_recall)
            shown = [value(None if np.isnan(each[radius]) else float(each[radius])) for each in values]
            rows.append([name, str(radius), *shown, str(int(curve.empty_balls[radius]))])
    return rows
