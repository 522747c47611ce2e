"""A run under every field's rules, side by side; and which of them a published value may have come from."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation

from visual_search.errors import InputError
from visual_search.evaluation.result import Result
from visual_search.evaluation.scoring import evaluate_presets
from visual_search.workflows.score_files import read_ranking, read_relevance

__all__ = ["of_families", "rounding_to", "side_by_side"]


def side_by_side(
    run: str | os.PathLike[str],
    qrels: str | os.PathLike[str],
    presets: Iterable[str] | None = None,
    *,
    k_values: Sequence[int] | None = None,
) -> dict[str, Result]:
    """The same run under every field's own rules; see :func:`visual_search.evaluation.scoring.evaluate_presets`."""
    relevance, said = read_relevance(qrels)
    found = evaluate_presets(read_ranking(run), relevance, presets, k_values=k_values)
    return {name: result.replaced(notes=(*result.notes, *said)) for name, result in found.items()}


def of_families(results: Mapping[str, Result], families: Collection[str]) -> dict[str, Result]:
    """The measures of some families only, of the rules that have any; all where no family is named.

    Raises
    ------
    InputError
        No rules have a measure of these families.
    """
    if not families:
        return dict(results)
    kept = {
        name: result.replaced({one.measure: one for one in result.values() if one.measure.name in families})
        for name, result in results.items()
    }
    kept = {name: result for name, result in kept.items() if len(result)}
    if not kept:
        there = sorted({one.measure.name for result in results.values() for one in result.values()})
        raise InputError(
            f"no rules have a measure of {', '.join(sorted(families))} here; there are {', '.join(there)}"
        )
    return kept


def rounding_to(reported: str) -> Callable[[float], bool]:
    """Test of whether a mean rounds to a value as it was printed, with as many decimals.

    Raises
    ------
    InputError
        Not a number.

    Examples
    --------
    >>> matches = rounding_to("0.642")
    >>> matches(0.6424), matches(0.6426)
    (True, False)
    """
    try:
        value = Decimal(reported)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite():
        raise InputError(f"reported: {reported!r} is no number; give it as it was printed, such as 0.6424")
    places = -int(value.as_tuple().exponent)
    half = 0.5 * 10.0**-places
    return lambda mean: not math.isnan(mean) and abs(mean - float(value)) <= half * (1 + 1e-9)
