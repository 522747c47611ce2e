"""Splits whose numbers would say nothing of a model, refused with the reason."""

from __future__ import annotations

from visual_search.errors import ProofError, first_few
from visual_search.evaluation.protocols.conditions import Condition
from visual_search.evaluation.protocols.proving import Promises
from visual_search.evaluation.protocols.sides import Side

__all__ = ["refuse_senseless"]


def refuse_senseless(queries: Side, gallery: Side, condition: Condition, promises: Promises) -> None:
    """Refuse a view against itself.

    With the same pictures on both sides each finds itself first. With one view on both sides, own group aside, and
    classes as right answers, telling classes apart is enough, and no view of the scene needs to be known again.

    Raises
    ------
    ProofError
        Promised were views apart, and a view is on both sides.
    """
    if promises.views != "apart" or queries.view is None or gallery.view is None or "views" in promises.allowed:
        return
    theirs = dict.fromkeys(gallery.view.used())
    common = [value for value in queries.view.used() if value in theirs]
    if not common:
        return
    reasons = []
    shared = [query for query in queries.ids if query in gallery.ids] if promises.items != "unrelated" else []
    finds_itself = bool(shared) and condition.name != "same-class-other-group"
    if finds_itself:
        reasons.append(
            f"{len(shared)} items are both query and gallery (first {first_few(shared, 3)}): each finds itself at "
            "rank 1, so that R@1 = 1 whatever the model"
        )
    if condition.by_class:
        reasons.append(
            "queries and gallery show the same view and class labels are the right answers: to recognise the class is "
            "enough, no other view of a scene is ever looked for, and the number is that of a classifier"
        )
    if reasons:
        views = first_few(common, 3)
        raise ProofError(
            f"refused: view {views} is in queries and gallery.\n"
            + "\n".join(f"  - {reason}" for reason in reasons)
            + "\ntake one view of each group as query, another as gallery, and its group as the right answer: "
            "by_view(table, group=..., view=..., query=0, gallery=1)"
        )
