"""Reads the text form of a measure: ``Name(parameter=value,...)@k``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from visual_search.errors import InputError
from visual_search.evaluation.measures.aliases import family_of, reworded, translated
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.parameters import declared
from visual_search.evaluation.measures.registry import measure_class

__all__ = ["parse_measure", "parse_measures"]

_FORM = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*(?:\((?P<inside>[^()]*)\))?\s*(?:@\s*(?P<k>[\w.+-]+))?")

Defaults = Mapping[str, Mapping[str, Any]]


def parse_measure(text: str | Measure, *, defaults: Defaults | None = None) -> Measure:
    """Read a measure from its text form.

    Defaults may be left out, names of ir_measures and trec_eval are understood, and ``parse_measure(str(m)) == m``.

    Parameters
    ----------
    text : str
        ``"nDCG@10"``, ``"AP(denominator=min)@100"``, ``"P_5"``, ``"map"``, ... A measure is returned as it is.
    defaults : mapping, optional
        For a family's name, values of parameters for a text that chooses none; a preset's.

    Returns
    -------
    Measure
        A frozen value.

    Raises
    ------
    UnknownNameError
        No measure of that name.
    InputError
        A text of another form, an unknown parameter, or a value that is not allowed.

    Examples
    --------
    >>> str(parse_measure("nDCG@10"))
    'nDCG(gain=linear)@10'
    >>> parse_measure("Precision(denominator=min)@5") == parse_measure("Recall(denominator=min)@5")
    True
    """
    if isinstance(text, Measure):
        return text
    if not isinstance(text, str):
        raise InputError(f"measure {text!r}: {type(text).__name__}; a text form is needed, as in 'nDCG@10'")
    form = _FORM.fullmatch(translated(text.strip()))
    if form is None:
        raise InputError(f"measure {text!r}: the form is Name(parameter=value,...)@k, as in AP(denominator=min)@10")
    name, inside, k = family_of(form["name"]), form["inside"] or "", form["k"]
    given = reworded(text, name, _given(text, inside))
    if k is not None:
        if "k" in given:
            raise InputError(f"measure {text!r}: k is given twice, as @{k} and as k={given['k']}")
        given["k"] = k
    family = measure_class(name)
    table = declared(family)
    unknown = [parameter for parameter in given if parameter not in table]
    if unknown:
        allowed = ", ".join(table)
        raise InputError(f"measure {text!r}: {name} has no parameter {', '.join(unknown)}; it has {allowed}")
    values = {key: table[key][1].read(value) if key in table else value for key, value in given.items()}
    if defaults is None or name not in defaults or values.keys() & _choices(family):
        return family.from_parameters(values)
    try:
        return family.from_parameters({**defaults[name], **values})
    except InputError:
        # A default that does not go with what was given (min(R, k) without a k) is not what was meant.
        return family.from_parameters(values)


def parse_measures(texts: Iterable[str | Measure], *, defaults: Defaults | None = None) -> tuple[Measure, ...]:
    """Read several measures; those that are the same appear once, in the order of their first mention."""
    if isinstance(texts, str):
        raise InputError(f"measures={texts!r} is one text; give a list of them, [{texts!r}]")
    return tuple(dict.fromkeys(parse_measure(text, defaults=defaults) for text in texts))


def _choices(family: type[Measure]) -> set[str]:
    """Parameters that make a convention; whoever gives one has chosen, and no default changes it."""
    shared = declared(Measure)
    return {name for name, (_, parameter) in declared(family).items() if parameter.kind == "choice"} - shared.keys()


def _given(text: str, inside: str) -> dict[str, str]:
    given: dict[str, str] = {}
    for part in inside.split(",") if inside.strip() else ():
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise InputError(f"measure {text!r}: {part.strip()!r} is not of the form parameter=value")
        if key in given:
            raise InputError(f"measure {text!r}: {key} is given twice")
        given[key] = value
    return given
