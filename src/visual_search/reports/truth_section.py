"""What exact answers are exact of, and how much of them is proven, as a section of a report."""

from __future__ import annotations

from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.ground_truth.truth_facts import truth_words
from visual_search.reports.page_section import Section
from visual_search.reports.rendering import render_part

__all__ = ["truth_section"]


def truth_section(truth: ExactNeighbors, *, anchor: str = "truth", title: str = "The exact answers") -> Section:
    """Make a truth a section for :func:`visual_search.reports.page.write_report`.

    Parameters
    ----------
    truth : ExactNeighbors
    anchor, title : str

    Returns
    -------
    Section

    How to read it
    --------------
    Certified are the queries for which no nearer item can have been left out. The fingerprints say of which vectors the
    answers are; a recall against them is of these vectors and no others.
    """
    lines = truth_words(truth).split("\n")
    return Section(anchor, title, render_part("truth_section.html.j2", anchor=anchor, lines=lines))
