"""Counts in words that agree with them: 1 query, 2 queries."""

from __future__ import annotations

__all__ = ["counted"]


def counted(count: int, one: str, many: str) -> str:
    """Write a count and what is counted.

    Examples
    --------
    >>> counted(1, "query is", "queries are"), counted(1200, "query is", "queries are")
    ('1 query is', '1,200 queries are')
    """
    return f"{count:,} {one if count == 1 else many}"
