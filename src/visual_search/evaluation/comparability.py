"""Whether two results answer the same questions, and in words what differs; all of it at once."""

from __future__ import annotations

from visual_search.counted import counted
from visual_search.errors import first_few
from visual_search.evaluation.compared import ComparedResult

__all__ = ["differences"]

# Part -> what it is; the order in which differences are told.
_PARTS = {
    "gallery": "the items that were searched",
    "queries": "the queries",
    "relevance": "the right answers",
    "exclusions": "what is left out of the lists",
    "metric": "how likeness is measured",
    "ties": "the rule for equal scores",
    "preset": "the rules for queries without right answers",
}


def differences(first: ComparedResult, second: ComparedResult) -> list[str]:
    """Say what keeps two results from being compared; empty where nothing does.

    A part that neither can tell, such as the gallery behind two run files, is no difference.
    """
    said = []
    for part, words in _PARTS.items():
        ours, theirs = first.parts.get(part), second.parts.get(part)
        if part == "preset":
            if ours != theirs:
                names = f"{ours or 'none'} in {first.name!r}, {theirs or 'none'} in {second.name!r}"
                said.append(f"{part} ({words}): {names}")
        elif ours is not None and theirs is not None:
            if ours != theirs:
                said.append(f"{part} ({words}): {_what_differs(part, first, second)}")
            elif part == "queries" and set(first.queries) != set(second.queries):
                said.append(
                    f"{part} ({words}): other than a fingerprint says: {_queries(first, second)}; evaluate again"
                )
        elif not (ours is None and theirs is None and _may_be_untold(part, first, second)) and part != "metric":
            silent = [f"{one.name!r}" for one, found in ((first, ours), (second, theirs)) if found is None]
            does = "does" if len(silent) == 1 else "do"
            said.append(f"{part} ({words}): {' and '.join(silent)} {does} not tell; evaluate again to have it told")
    ours, theirs = (side.parts.get("query_pictures") for side in (first, second))
    if ours != theirs and ours is not None and theirs is not None and set(first.queries) == set(second.queries):
        said.append(
            "query pictures (the queries' files): other files under the same ids: "
            f"{_what_differs('query_pictures', first, second)}"
        )
    return said


def _may_be_untold(part: str, first: ComparedResult, second: ComparedResult) -> bool:
    """Whether silence on both sides agrees: nothing is left out, or neither is of a kind that could tell."""
    return part == "exclusions" or (part not in first.parts and part not in second.parts)


def _what_differs(part: str, first: ComparedResult, second: ComparedResult) -> str:
    if part == "queries":
        return _queries(first, second)
    ours, theirs = str(first.parts[part]), str(second.parts[part])
    short = [
        text[:19] + "..." if text.startswith("sha256:") and len(text) > 22 else text for text in (ours, theirs)
    ]
    return f"{short[0]} in {first.name!r}, {short[1]} in {second.name!r}"


def _queries(first: ComparedResult, second: ComparedResult) -> str:
    ours, theirs = dict.fromkeys(first.queries), dict.fromkeys(second.queries)
    told = []
    for one, mine, others in ((first, ours, theirs), (second, theirs, ours)):
        lone = [query for query in mine if query not in others]
        if lone:
            told.append(
                f"{counted(len(lone), 'query', 'queries')} only in {one.name!r}, first {first_few(lone, 3)}"
            )
    return "; ".join(told) or "the fingerprints differ, though the ids are the same"
