"""How each measure answers to unjudged items that turn out relevant: which completions its extremes are among."""

from __future__ import annotations

from typing import NamedTuple

from visual_search.evaluation.measures.average_precision import AP
from visual_search.evaluation.measures.bpref import Bpref
from visual_search.evaluation.measures.err import ERR
from visual_search.evaluation.measures.extreme_ranks import INP, FirstRank
from visual_search.evaluation.measures.f1 import F1
from visual_search.evaluation.measures.gain import DCG, nDCG
from visual_search.evaluation.measures.hit_rate import HitRate
from visual_search.evaluation.measures.judged import Judged
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.precision import Precision
from visual_search.evaluation.measures.rbp import RBP
from visual_search.evaluation.measures.recall import Recall
from visual_search.evaluation.measures.reciprocal_rank import RR

__all__ = ["CompletionKind", "completion_kind"]

# More relevance never lowers these (never raises FirstRank): none and all are the ends.
_MONOTONE: tuple[type[Measure], ...] = (HitRate, Precision, RR, DCG, ERR, RBP, FirstRank)
# A relevant item further up never lowers these, but one more may: every number of them has to be tried.
_BY_NUMBER: tuple[type[Measure], ...] = (Recall, AP, nDCG, F1, INP)


class CompletionKind(NamedTuple):
    """How the extremes of a measure are found.

    Attributes
    ----------
    every_number : bool
        Whether all numbers of relevant items have to be tried, not none and all only.
    reason : str
        Why there is no bound; empty where there is one.
    """

    every_number: bool
    reason: str = ""


def completion_kind(measure: Measure) -> CompletionKind:
    """How this measure answers to a completion of the judgements.

    Examples
    --------
    >>> from visual_search.evaluation.measures.parsing import parse_measure
    >>> [completion_kind(parse_measure(text)).every_number for text in ("RR", "AP")]
    [False, True]
    >>> completion_kind(parse_measure("Bpref")).reason
    'it passes unjudged items over; a completion would change what it is about'
    """
    reason = next((why for why, holds in _reasons(measure).items() if holds), "")
    return CompletionKind(every_number=not reason and isinstance(measure, _BY_NUMBER), reason=reason)


def _reasons(measure: Measure) -> dict[str, bool]:
    """Why a measure may have no bound, and whether it is so."""
    quotient = measure.average == "micro" and not isinstance(measure, (Recall, Precision, F1))
    return {
        "it passes unjudged items over; a completion would change what it is about": isinstance(measure, Bpref),
        "it tells how much is judged; completed, it is 1": isinstance(measure, Judged),
        f"how {measure.name} answers to more relevant items is not proven here": not isinstance(
            measure, (*_MONOTONE, *_BY_NUMBER)
        ),
        "its cut moves with the number of relevant items, found or not": measure.depth == "R",
        "what it divides by is what was found; one more found may lower it or raise it": isinstance(measure, AP)
        and measure.denominator == "found",
        "the extremes of a quotient of sums are not those of its queries": quotient,
        "of a minimum over queries no bound is taken": measure.average == "minimum",
    }
