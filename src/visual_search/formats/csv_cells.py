"""Names as cells of CSV tables, which spreadsheets open."""

from __future__ import annotations

__all__ = ["csv_name"]


def csv_name(text: str) -> str:
    """A name that no spreadsheet takes for a formula: one that begins like one gets an apostrophe before it.

    >>> csv_name("=1+1"), csv_name("-baseline"), csv_name("resnet")
    ("'=1+1", "'-baseline", 'resnet')
    """
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
