"""What is to be said of how independent the queries are: in one place, for every result that has intervals."""

from __future__ import annotations

from collections.abc import Sequence

from visual_search.counted import counted

__all__ = ["FEWEST_FOR_INTERVALS", "about_groups"]

# Below it intervals are mostly too narrow; see the table of coverage in the explanation of statistics.
FEWEST_FOR_INTERVALS = 20


def about_groups(groups: Sequence[object] | None, queries: int) -> list[str]:
    """Say where intervals take queries for independent that may not be, or have few independent groups.

    Parameters
    ----------
    groups : sequence of length ``queries``, optional
        Group of each query; None where it has none.
    queries : int

    Returns
    -------
    list of str
        Empty where there is nothing to warn of.

    Examples
    --------
    >>> about_groups(["a", "b", None], 3)[0]
    '1 of 3 queries has no group and is taken for independent of all others'
    >>> about_groups(None, 1)
    []
    """
    if queries < 2:
        return []
    named = [group for group in groups or () if group is not None]
    if not named:
        taken = (
            f"no groups given: intervals take the {counted(queries, 'query', 'queries')} for independent; where "
            "several show one scene, person or document they are too narrow, so name each query's group"
        )
        return [taken]
    said = []
    if alone := queries - len(named):
        fate = "has no group and is taken" if alone == 1 else "have no group and are taken"
        said.append(f"{alone:,} of {counted(queries, 'query', 'queries')} {fate} for independent of all others")
    count = len(set(named)) + alone
    if count < min(queries, FEWEST_FOR_INTERVALS):
        said.append(
            f"only {counted(count, 'independent group', 'independent groups')}: intervals over so few are too narrow"
        )
    return said
