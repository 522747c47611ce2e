"""Evaluates full rankings by Hamming distance: codes in words, distances counted, nothing sorted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from visual_search.evaluation.code_conventions import with_band_told
from visual_search.evaluation.code_rankings import CodeRankings
from visual_search.evaluation.full_rankings import WITHOUT_ORDER, Asked, RightAnswers
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.protocols.presets import Preset
from visual_search.evaluation.result import IntervalMaker, Result
from visual_search.evaluation.slices import Attribute
from visual_search.evaluation.ties import TieRule
from visual_search.formats.binary_codes import BinaryCodes
from visual_search.ground_truth.shared_labels import SharedLabels

__all__ = ["evaluate_codes"]


def evaluate_codes(
    query_codes: Any | BinaryCodes,
    gallery_codes: Any | BinaryCodes,
    relevance: RightAnswers | SharedLabels,
    measures: Iterable[str | Measure] | None = None,
    *,
    packed: bool = False,
    ties: TieRule | None = None,
    preset: str | Preset | None = None,
    query_ids: Iterable[Any] | None = None,
    gallery_ids: Iterable[Any] | None = None,
    groups: Attribute | None = None,
    interval: IntervalMaker | None = None,
) -> Result:
    """Measure the ranking of a whole gallery by Hamming distance, for each query.

    Parameters
    ----------
    query_codes, gallery_codes : array-like of shape (n, bits) and (m, bits)
        Codes of 0 and 1, or of -1 and 1, one element a bit; with ``packed`` uint8 of shape (n, bytes), eight bits a
        byte. Or `BinaryCodes`, which decides what a 0 among -1 and 1 is.
    relevance : Relevance, SharedLabels, or mapping
        What the right answers are; as for `visual_search.evaluate_similarity`. With `SharedLabels` of the same rows no
        pair is written down: a histogram of distances a query is enough, whatever share of the gallery is relevant.
    measures : iterable of str or Measure, optional
        As for `visual_search.evaluate`; they may be left out with a preset.
    packed : bool
        Whether the codes have eight bits a byte.
    ties : {"expected", "best", "worst"}, optional
        What is done with codes at one distance, of which there are many. The default is the preset's, or
        ``"expected"``.
    preset : str or Preset, optional
        A field's rules. Where they read the order that a sort left, which codes do not have, the expectation over all
        orders is taken, and a note tells between which numbers a tool of that field could have printed any.
    query_ids, gallery_ids : iterable, optional
        Ids of the codes, as the relevance names them; 0, 1, 2, ... by default.
    groups, interval
        As for `visual_search.evaluate`.

    Returns
    -------
    Result

    Raises
    ------
    InputError, DimensionError
        Elements that are no bits (zeros among -1 and 1 come from the sign of 0), codes of two lengths, ids or options
        that are not allowed; nothing in common between codes and relevance.

    Convention
    ----------
    A code has at most ``bits`` + 1 distances, so most of a gallery is tied with something. Tools that sort such
    distances report the order of their sort; the expectation does not depend on any. Codes that are all equal score
    as random retrieval does.

    Examples
    --------
    >>> from visual_search import Relevance
    >>> codes = [[1, -1, 1, -1], [-1, -1, 1, -1], [-1, -1, 1, -1], [1, 1, -1, -1], [-1, 1, -1, -1], [1, 1, -1, 1]]
    >>> relevance = Relevance.from_labels([1], [1, 1, 0, 0, 1, 0])
    >>> round(evaluate_codes([[1, -1, 1, 1]], codes, relevance, ["AP"])["AP"].mean, 6)
    0.740741
    """
    asked = Asked(measures, ties, preset, groups, interval)
    rankings = CodeRankings.of(
        query_codes, gallery_codes, relevance, packed=packed, query_ids=query_ids, gallery_ids=gallery_ids
    )
    if ties is None and asked.tie_rule not in WITHOUT_ORDER:
        return with_band_told(*rankings.results(asked, WITHOUT_ORDER), rule=asked.tie_rule)
    return rankings.results(asked, (asked.tie_rule,))[0]
