"""Hash codes as a part of a report, and as a page of its own: curves against bits, bands of ties, the tables."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from visual_search.errors import FileFormatError, InputError, Problems
from visual_search.evaluation.code_study import CodeStudy
from visual_search.evaluation.result import Result
from visual_search.formats.json_shapes import COUNT, NUMBER, TEXT, Each, There, whole
from visual_search.reports.figures import Curve, curve_figure
from visual_search.reports.page_section import Section, checked
from visual_search.reports.rendering import render_part
from visual_search.reports.section_page import write_section_page
from visual_search.reports.wording import value

__all__ = ["code_section", "codes_record_section", "write_code_page"]

# Points of a curve over ranks; more would run into each other.
_RANKS = np.array([1, 3, 10, 30, 100, 1000, 10_000, 100_000, 1_000_000])
_MOST = 8  # lines of a figure
_LINE = There([NUMBER])
_ROW = whole("measure", measure=There(TEXT), rules=TEXT, expected=NUMBER, worst=NUMBER, best=NUMBER, chance=NUMBER)
_RADIUS_LINES = ("macro_precision", "micro_precision", "macro_recall", "micro_recall", "empty_balls")
_STUDY = {
    "bits": There(COUNT),
    "measures": There([There(_ROW)]),
    "within_radius": There({"empty_ball": TEXT, **dict.fromkeys(_RADIUS_LINES, _LINE)}),
    "at_n": There(dict.fromkeys(("n", "precision", "worst_precision", "best_precision"), _LINE)),
    "precision_recall": There([There({"by": TEXT, "average": TEXT, "recall": _LINE, "precision": _LINE})]),
    "notes": There([TEXT]),
}
_SHAPE = Each(There(_STUDY))
_VECTORS = {"measures": There(Each(There({"mean": NUMBER})))}

Study: TypeAlias = Mapping[str, Any]


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
    told = {name: study.as_json() | {"notes": study.sentences()} for name, study in studies.items()}
    measured = None if vectors is None else vectors.as_json()
    return codes_record_section(told, vectors=measured, anchor=anchor, title=title)


def codes_record_section(
    studies: Mapping[str, Any],
    *,
    vectors: Mapping[str, Any] | None = None,
    anchor: str = "codes",
    title: str = "Hash codes",
) -> Section:
    """Make the section of one direction of what ``visual-search codes --out`` wrote.

    Parameters
    ----------
    studies : mapping of name to mapping
        ``there`` or ``back`` of the file.
    vectors : mapping, optional
        Its ``vectors``.
    anchor, title : str

    Raises
    ------
    FileFormatError
        Values of another kind, curves whose lines differ in length, or nothing at all.
    """
    told: dict[str, Study] = checked(studies, _SHAPE, title)
    floats = None if vectors is None else checked(vectors, _VECTORS, f"{title}, float embedding")
    _check_lines(told, title)
    first = next(iter(told.values()))
    body = render_part(
        "_codes.html.j2",
        anchor=anchor,
        rows=_rows(told, floats),
        vectors=floats is not None,
        figures=_figures(told, floats, anchor),
        remarks=[(name, study["notes"]) for name, study in told.items()],
        empty=first["within_radius"]["empty_ball"],
        radius_rows=_radius_rows(told),
    )
    return Section(anchor, title, body)


def _check_lines(studies: Mapping[str, Study], title: str) -> None:
    problems = Problems(title)
    if not studies:
        problems.add("no codes in it")
    for name, study in studies.items():
        for key in ("bits", "measures", "within_radius", "at_n", "precision_recall"):
            if study[key] is None:
                problems.add(f"{name}: {key} is missing")
        curves = [study["at_n"], study["within_radius"], *(study["precision_recall"] or ())]
        for curve in filter(None, curves):
            if len({len(line) for line in curve.values() if isinstance(line, list)} - {0}) > 1:
                problems.add(f"{name}: the lines of a curve differ in length")
        at_n = study["at_n"]
        if at_n and (not at_n["n"] or not all(isinstance(n, int) and n >= 1 for n in at_n["n"])):
            problems.add(f"{name}: at_n.n: whole numbers from 1 are needed")
    problems.raise_if_any(FileFormatError)


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


def _rows(studies: Mapping[str, Study], vectors: Study | None) -> list[dict[str, object]]:
    rows = []
    for name, study in studies.items():
        for row in study["measures"]:
            own = None if vectors is None or row["rules"] else (vectors["measures"] or {}).get(row["measure"])
            rows.append({"name": name, **row, "vectors": own["mean"] if own else None})
    return rows


# A caption, the drawing, and role and label of each line.
Figure: TypeAlias = tuple[str, Markup, list[tuple[str, str]]]


def _figures(studies: Mapping[str, Study], vectors: Study | None, anchor: str) -> list[Figure]:
    shown = list(studies.items())[:_MOST]
    roles = {name: f"series-{at + 1}" for at, (name, _) in enumerate(shown)}
    made: list[Figure] = []
    if len({study["bits"] for study in studies.values()}) > 1 and all(s["measures"] for s in studies.values()):
        made.append(_against_bits(list(studies.values()), vectors, anchor))
    at_n = [_at_n(name, study, roles[name]) for name, study in shown]
    made.append(
        (
            "Precision among the first N; shaded between the worst and the best order of ties",
            curve_figure(
                at_n, title="Precision@N", description=f"Precision@N of {_all(at_n)}", key=f"{anchor}-n", axis="N"
            ),
            _legend(at_n),
        )
    )
    by_rank = [_precision_recall(name, study, roles[name]) for name, study in shown]
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


def _against_bits(studies: Sequence[Study], vectors: Study | None, anchor: str) -> Figure:
    ordered = sorted(studies, key=lambda study: study["bits"])
    text = studies[0]["measures"][0]["measure"]
    firsts: list[Study] = [
        next((row for row in study["measures"] if row["measure"] == text), {}) for study in ordered
    ]
    bits = [float(study["bits"]) for study in ordered]
    drawn = [(x, row) for x, row in zip(bits, firsts, strict=True) if row.get("expected") is not None]
    worst, best = ([row.get(part) for _, row in drawn] for part in ("worst", "best"))
    curves = [Curve("codes", "series-1", [x for x, _ in drawn], [row["expected"] for _, row in drawn], worst, best)]
    embedding = ((vectors or {}).get("measures") or {}).get(text)
    references = [
        ("random", "random order", firsts[0].get("chance")),
        ("ceiling", "float embedding", embedding["mean"] if embedding else None),
    ]
    curves += [
        Curve(label, role, bits, [height] * len(bits)) for role, label, height in references if height is not None
    ]
    title = f"{text} against bits"
    svg = curve_figure(
        curves, title=title, description=f"{text} of {_all(curves)}", key=f"{anchor}-bits", axis="bits"
    )
    return f"{title}; shaded between the worst and the best order of ties", svg, _legend(curves)


def _line(curve: Mapping[str, Any], name: str) -> npt.NDArray[np.float64]:
    return np.array([np.nan if one is None else one for one in curve[name]], dtype=np.float64)


def _at_n(name: str, study: Study, role: str) -> Curve:
    curve = study["at_n"]
    ranks = _line(curve, "n")
    wanted = _RANKS[ranks[-1] >= _RANKS]
    chosen = np.unique(np.abs(ranks - wanted[:, None]).argmin(axis=1))
    lines = [_line(curve, line)[chosen].tolist() for line in ("precision", "worst_precision", "best_precision")]
    return Curve(name, role, ranks[chosen].tolist(), *lines)


def _precision_recall(name: str, study: Study, role: str) -> Curve:
    curve = next((c for c in study["precision_recall"] if (c["by"], c["average"]) == ("rank", "macro")), None)
    if curve is None:
        return Curve(name, role, [], [])
    recall, precision = _line(curve, "recall"), _line(curve, "precision")
    known = np.flatnonzero(~np.isnan(recall))
    chosen = (
        known[np.unique(np.linspace(0, max(len(known) - 1, 0), 24).round().astype(int))] if len(known) else known
    )
    return Curve(name, role, recall[chosen].tolist(), precision[chosen].tolist())


def _radius_rows(studies: Mapping[str, Study]) -> list[list[str]]:
    rows = []
    for name, study in studies.items():
        curve = study["within_radius"]
        for radius in range(min(3, len(curve["empty_balls"]))):
            shown = [value(curve[line][radius]) for line in _RADIUS_LINES[:-1]]
            rows.append([name, str(radius), *shown, str(curve["empty_balls"][radius])])
    return rows
