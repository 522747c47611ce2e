"""A comparison as a table: for a terminal, for Markdown, LaTeX and HTML, and in full precision as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from html import escape
from typing import TypeAlias

from visual_search.counted import counted
from visual_search.errors import InputError
from visual_search.evaluation.comparison import Comparison
from visual_search.evaluation.contrast import Contrast
from visual_search.evaluation.statistics.interval import Interval
from visual_search.evaluation.text_table import p_text, text_table
from visual_search.reports.wording import markdown, printable

__all__ = ["COMPARISON_FORMATS", "comparison_notes", "comparison_table"]

COMPARISON_FORMATS = ("text", "md", "latex", "html", "csv")
Cells: TypeAlias = Sequence[Sequence[str]]

_COLUMNS = (
    *("measure", "system", "baseline", "mean", "baseline's", "difference", "interval", "p", "p Holm", "p max-T"),
    *("effect", "wins", "losses", "ties", "detectable"),
)
_WORDS = 3  # columns of words come first; numbers stand to the right
_EXACT = (
    *("measure", "system", "baseline", "mean", "baseline_mean", "difference", "low", "high", "confidence"),
    *("p", "p_holm", "p_max", "effect_size", "wins", "losses", "ties", "queries", "groups", "detectable"),
    *("groups_needed", "queries_needed"),
)
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "_": r"\_",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def comparison_table(comparison: Comparison, form: str = "text") -> str:
    r"""Write the differences as a table; names are escaped for the form they are written in.

    Parameters
    ----------
    comparison : Comparison
    form : {"text", "md", "latex", "html", "csv"}
        LaTeX needs no package; the HTML is a bare ``table``.

    Returns
    -------
    str
        In Markdown, LaTeX and HTML with the notes of :func:`comparison_notes`; CSV has numbers in full precision, and
        empty fields where they are undefined.

    Raises
    ------
    InputError
        Another form.

    Examples
    --------
    >>> from visual_search import Relevance, evaluate
    >>> from visual_search.evaluation.comparison import compare
    >>> truth = Relevance.from_dict({f"q{n}": {"a": 1} for n in range(12)})
    >>> before = evaluate({f"q{n}": {"a": 1.0, "b": 2.0 - n % 3} for n in range(12)}, truth, ["RR"])
    >>> after = evaluate({f"q{n}": {"a": 2.0, "b": 1.0} for n in range(12)}, truth, ["RR"])
    >>> print(comparison_table(compare({"a_b": before, "new": after}), "latex").splitlines()[3][:22])
    RR & new & a\_b & 1.00
    """
    if form == "csv":
        return _csv(comparison)
    rows = [_cells(one) for one in comparison.contrasts]
    if form == "text":
        return text_table(_COLUMNS, [[printable(cell) for cell in row] for row in rows])
    writers: dict[str, Callable[[Cells, Sequence[str]], str]] = {"md": _markdown, "latex": _latex, "html": _html}
    if form not in writers:
        raise InputError(f"format is {form!r}; allowed are {', '.join(COMPARISON_FORMATS)}")
    return writers[form]([[printable(cell) for cell in row] for row in rows], comparison_notes(comparison))


def comparison_notes(comparison: Comparison) -> list[str]:
    """What the columns mean, how the numbers were made, and what to bear in mind; one line each."""
    first = comparison.contrasts[0]
    intervals = [one.interval for one in comparison.contrasts if one.interval is not None]
    lines = []
    if comparison.despite is not None:
        lines.append(f"NOT COMPARABLE, compared nevertheless because: {comparison.despite}")
        lines += [f"differs: {one}" for one in comparison.differences]
    groups = counted(comparison.groups, "independent group", "independent groups")
    lines.append(
        f"{counted(comparison.queries, 'query', 'queries')} in {groups}; difference: system minus baseline"
    )
    lines += dict.fromkeys(map(_made, intervals))
    family = counted(len(comparison.contrasts), "comparison", "comparisons")
    made_by = f"paired randomisation, groups' signs flipped, {first.flips:,} flips, seed {first.seed}"
    lines += [
        f"p: {made_by}; p Holm and p max-T hold for all {family} at once",
        "effect: difference over the standard deviation of the groups' differences",
        "detectable: smallest true difference that as many groups would show four times in five",
    ]
    lines += [f"not compared: {text}: {reason}" for text, reason in comparison.left_out.items()]
    return [printable(line) for line in [*lines, *comparison.notes]]


def _made(interval: Interval) -> str:
    drawn = f", {interval.resamples:,} resamples, seed {interval.seed}" if interval.resamples else ""
    return f"interval: {interval.confidence:.0%}, {interval.method}{drawn}"


def _cells(one: Contrast) -> list[str]:
    between = "" if one.interval is None else f"{one.interval.low:+.3f} to {one.interval.high:+.3f}"
    return [
        *(
            one.measure,
            one.a,
            one.b,
            _number(one.mean_a),
            _number(one.mean_b),
            _number(one.difference, "+.3f"),
            between,
        ),
        *(_p(one.p_value), _p(one.p_holm), _p(one.p_max), _number(one.effect_size, "+.2f")),
        *(str(one.wins), str(one.losses), str(one.ties), _number(one.detectable)),
    ]


def _number(value: float, form: str = ".3f") -> str:
    return "-" if math.isnan(value) else format(value, form)


def _p(value: float) -> str:
    return p_text(value)


def _markdown(rows: Cells, notes: Sequence[str]) -> str:
    head = "| " + " | ".join(_COLUMNS) + " |"
    rule = "|" + "---|" * _WORDS + "---:|" * (len(_COLUMNS) - _WORDS)
    body = ["| " + " | ".join(markdown(cell) for cell in row) + " |" for row in rows]
    return "\n".join([head, rule, *body, "", *(f"- {markdown(note)}" for note in notes)]) + "\n"


def _latex(rows: Cells, notes: Sequence[str]) -> str:
    lines = [
        r"\begin{tabular}{" + "l" * _WORDS + "r" * (len(_COLUMNS) - _WORDS) + "}",
        " & ".join(map(_tex, _COLUMNS)) + r" \\",
        r"\hline",
        *(" & ".join(map(_tex, row)) + r" \\" for row in rows),
        r"\end{tabular}",
    ]
    return "\n".join([*lines, *(f"% {note}" for note in notes)]) + "\n"


def _tex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


def _html(rows: Cells, notes: Sequence[str]) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    head = "<tr>" + "".join(f'<th scope="col">{escape(column)}</th>' for column in _COLUMNS) + "</tr>"
    table = ["<table>", f"<thead>{head}</thead>", "<tbody>", *(row(cells, "td") for cells in rows), "</tbody>"]
    listed = ["<ul>", *(f"<li>{escape(note)}</li>" for note in notes), "</ul>"]
    return "\n".join([*table, "</table>", *listed]) + "\n"


def _csv(comparison: Comparison) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_EXACT)
    for one in comparison.contrasts:
        ends = (
            (None,) * 3 if one.interval is None else (one.interval.low, one.interval.high, one.interval.confidence)
        )
        numbers = [
            *(one.mean_a, one.mean_b, one.difference, *ends, one.p_value, one.p_holm, one.p_max, one.effect_size),
            *(one.wins, one.losses, one.ties, one.queries, one.groups, one.detectable),
            *(one.groups_needed, one.queries_needed),
        ]
        exact = ["" if n is None or (isinstance(n, float) and math.isnan(n)) else repr(n) for n in numbers]
        writer.writerow([one.measure, one.a, one.b, *exact])
    return stream.getvalue()
