"""The same codes under every convention of hashing, side by side, each with the band that ties leave open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from visual_search.evaluation.code_rankings import CodeRankings
from visual_search.evaluation.full_rankings import WITHOUT_ORDER, Asked
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.protocols.presets import Preset, preset_named
from visual_search.evaluation.result import Result
from visual_search.evaluation.tie_bands import TieBand
from visual_search.evaluation.ties import TIE_WORDS, TieRule
from visual_search.ground_truth.relevance import Relevance
from visual_search.ground_truth.shared_labels import SharedLabels

__all__ = ["CODE_PRESETS", "code_band", "code_conventions", "with_band_told"]

CODE_PRESETS = ("cross-modal-hashing", "deephash", "deephash-thulab")


def code_band(
    query_codes: Any,
    gallery_codes: Any,
    relevance: Relevance | SharedLabels,
    measures: Iterable[str | Measure] | None = None,
    *,
    packed: bool = False,
    preset: str | Preset | None = None,
    query_ids: Iterable[Any] | None = None,
    gallery_ids: Iterable[Any] | None = None,
) -> TieBand:
    """Measure codes under the expectation over ties and under the best and worst order at once.

    Parameters
    ----------
    query_codes, gallery_codes, relevance, measures, packed, preset, query_ids, gallery_ids
        As for `visual_search.evaluate_codes`.

    Returns
    -------
    TieBand

    Examples
    --------
    >>> codes = [[1, -1, 1, -1], [-1, -1, 1, -1], [-1, -1, 1, -1], [1, 1, -1, -1], [-1, 1, -1, -1], [1, 1, -1, 1]]
    >>> code_band([[1, -1, 1, 1]], codes, Relevance.from_labels([1], [1, 1, 0, 0, 1, 0]), ["AP"])
    measure              expected    best   worst
    AP(denominator=all)    0.7407  0.8333  0.6667
    """
    rankings = CodeRankings.of(
        query_codes, gallery_codes, relevance, packed=packed, query_ids=query_ids, gallery_ids=gallery_ids
    )
    return _band(rankings, measures, None if preset is None else preset_named(preset))


def code_conventions(
    query_codes: Any,
    gallery_codes: Any,
    relevance: Relevance | SharedLabels,
    presets: Iterable[str | Preset] = CODE_PRESETS,
    *,
    k_values: Sequence[int] | None = None,
    packed: bool = False,
    query_ids: Iterable[Any] | None = None,
    gallery_ids: Iterable[Any] | None = None,
) -> dict[str, TieBand]:
    """Measure the same codes under several fields' rules, which differ more than many methods do.

    Parameters
    ----------
    query_codes, gallery_codes, relevance, packed, query_ids, gallery_ids
        As for `visual_search.evaluate_codes`.
    presets : iterable of str or Preset
        Those of hashing by default.
    k_values : sequence of int, optional
        Cut-offs for every preset; each field's usual ones by default.

    Returns
    -------
    dict
        For each preset's name its band.

    Convention
    ----------
    The fields' own tools sort distances and print what the order of the gallery makes of ties. Here each preset has
    its own formula, its own denominator and its own empty queries, under the exact expectation over all orders; the
    best and worst order stand beside it.

    Examples
    --------
    >>> codes = [[1, -1, 1, -1], [-1, -1, 1, -1], [-1, -1, 1, -1], [1, 1, -1, -1], [-1, 1, -1, -1], [1, 1, -1, 1]]
    >>> truth = Relevance.from_labels([1], [1, 1, 0, 0, 1, 0])
    >>> bands = code_conventions([[1, -1, 1, 1]], codes, truth, ["cross-modal-hashing", "deephash"], k_values=[2])
    >>> [round(band.expected["AP@2"].mean, 4) for band in bands.values()]
    [0.8611, 1.0]
    """
    rankings = CodeRankings.of(
        query_codes, gallery_codes, relevance, packed=packed, query_ids=query_ids, gallery_ids=gallery_ids
    )
    chosen = [preset_named(preset) for preset in presets]
    return {rules.name: _band(rankings, rules.measures_at(k_values), rules) for rules in chosen}


def _band(rankings: CodeRankings, measures: Iterable[str | Measure] | None, rules: Preset | None) -> TieBand:
    asked = Asked(measures, None, rules, None, None)
    expected, best, worst = rankings.results(asked, WITHOUT_ORDER)
    if asked.tie_rule not in WITHOUT_ORDER:
        expected = with_band_told(expected, best, worst, rule=asked.tie_rule)
    return TieBand(expected, best, worst)


def with_band_told(expected: Result, best: Result, worst: Result, *, rule: TieRule) -> Result:
    """The expectation with a note that the preset's rule reads an order, and what its tools could have printed."""
    band = TieBand(expected, best, worst).sentence()
    note = (
        f"ties: the preset's own rule ({rule}: {TIE_WORDS[rule]}) needs an order, which equal distances do not have; "
        f"these are exact expectations over all orders; {band or 'here every order gives the same'}"
    )
    return expected.replaced(notes=(*expected.notes, note))
