"""Names that trec_eval, ir_measures and the literature give to these measures."""

from __future__ import annotations

import re

from visual_search.errors import InputError

__all__ = ["FAMILY_ALIASES", "TREC_CUT", "TREC_WHOLE", "family_of", "reworded", "translated"]

# trec_eval counts a query without relevant items as 0 and breaks ties by falling id, so its names do too.
_TIES = "ties=id_desc"
_ZERO = f"empty=zero,{_TIES}"

TREC_WHOLE = {
    "map": f"AP(denominator=all,{_ZERO})",
    "recip_rank": f"RR({_ZERO})",
    "ndcg": f"nDCG(gain=linear,{_ZERO})",
    "Rprec": f"RPrecision({_ZERO})",
    "bpref": f"Bpref(negative=unjudged,{_ZERO})",
}
TREC_CUT = {
    "map_cut": f"AP(denominator=all,{_ZERO})",
    "ndcg_cut": f"nDCG(gain=linear,{_ZERO})",
    "P": f"Precision(denominator=k,{_TIES})",
    "recall": f"Recall(denominator=all,{_ZERO})",
    "success": f"HitRate({_TIES})",
}

# One formula under several names; the choices that change the number stay in the parameters.
FAMILY_ALIASES = {
    "P": "Precision",
    "R": "Recall",
    "Success": "HitRate",
    "CMC": "HitRate",
    "MAP": "AP",
    "mAP": "AP",
    "MRR": "RR",
    "mrr": "RR",
    "NDCG": "nDCG",
    "RPrec": "RPrecision",
    "BPref": "Bpref",
    "mINP": "INP",
}
_DCG_FORMS = {"log2": "linear", "exp-log2": "exponential"}
# Keys of the evaluation guide's results, such as recall_at_5.
_GUIDE_NAMES = {
    "recall": "Recall(denominator=all)",
    "precision": "Precision(denominator=k)",
    "ndcg": "nDCG(gain=linear)",
    "hit_rate": "HitRate",
    "map": "AP(denominator=all)",
    "mrr": "RR",
}
_GUIDE_FORM = re.compile(rf"(?P<name>{'|'.join(_GUIDE_NAMES)})_at_(?P<k>[0-9]+)")
_CUT_FORM = re.compile(r"(?P<name>[A-Za-z]+(?:_cut)?)[_.](?P<k>[0-9]+)")


def translated(text: str) -> str:
    """The text form of a measure that trec_eval or the evaluation guide names so; any other text unchanged.

    >>> translated("P_5"), translated("ndcg_cut.10"), translated("nDCG@10")
    ('Precision(denominator=k,ties=id_desc)@5', 'nDCG(gain=linear,empty=zero,ties=id_desc)@10', 'nDCG@10')
    >>> translated("recall_at_5")
    'Recall(denominator=all)@5'
    """
    if (guided := _GUIDE_FORM.fullmatch(text)) is not None:
        return f"{_GUIDE_NAMES[guided['name']]}@{guided['k']}"
    if text in TREC_WHOLE:
        return TREC_WHOLE[text]
    cut = _CUT_FORM.fullmatch(text)
    if cut is not None and cut["name"] in TREC_CUT:
        return f"{TREC_CUT[cut['name']]}@{cut['k']}"
    return text


def family_of(name: str) -> str:
    """The family that goes by this name.

    >>> family_of("Success"), family_of("nDCG")
    ('HitRate', 'nDCG')
    """
    return FAMILY_ALIASES.get(name, name)


def reworded(text: str, family: str, given: dict[str, str]) -> dict[str, str]:
    """Parameters of ir_measures as those of this package.

    Raises
    ------
    InputError
        A discount that ir_measures does not have either.

    Examples
    --------
    >>> reworded("nDCG(dcg='exp-log2')@10", "nDCG", {"dcg": "'exp-log2'"})
    {'gain': 'exponential'}
    """
    if family not in ("nDCG", "DCG") or "dcg" not in given:
        return given
    form = given["dcg"].strip("'\"")
    if form not in _DCG_FORMS or "gain" in given:
        raise InputError(f"measure {text!r}: dcg is one of {', '.join(_DCG_FORMS)}; here it is called gain")
    return {**{key: value for key, value in given.items() if key != "dcg"}, "gain": _DCG_FORMS[form]}
