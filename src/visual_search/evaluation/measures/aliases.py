"""Names that other tools give to these measures."""

from __future__ import annotations

import re

__all__ = ["translated"]

# trec_eval counts a query without relevant items as 0 and breaks ties by falling id, so its names do too.
_AS_TREC = "ties=id_desc"
_EMPTY = f"empty=zero,{_AS_TREC}"

_TREC_WHOLE = {
    "map": f"AP(denominator=all,{_EMPTY})",
    "recip_rank": f"RR({_EMPTY})",
    "ndcg": f"nDCG(gain=linear,{_EMPTY})",
    "Rprec": f"RPrecision({_EMPTY})",
}
_TREC_CUT = {
    "map_cut": f"AP(denominator=all,{_EMPTY})",
    "ndcg_cut": f"nDCG(gain=linear,{_EMPTY})",
    "P": f"Precision(denominator=k,{_AS_TREC})",
    "recall": f"Recall(denominator=all,{_EMPTY})",
    "success": f"HitRate({_AS_TREC})",
}
_CUT_FORM = re.compile(r"(?P<name>[A-Za-z_]+?)[_.](?P<k>[0-9]+)")


def translated(text: str) -> str:
    """The text form of a measure that another tool names so; any other text unchanged.

    >>> translated("P_5"), translated("nDCG@10")
    ('Precision(denominator=k,ties=id_desc)@5', 'nDCG@10')
    """
    if text in _TREC_WHOLE:
        return _TREC_WHOLE[text]
    cut = _CUT_FORM.fullmatch(text)
    if cut is not None and cut["name"] in _TREC_CUT:
        return f"{_TREC_CUT[cut['name']]}@{cut['k']}"
    return text
