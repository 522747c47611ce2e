"""Tables in plain text."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["decimals", "p_text", "text_table"]


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Align columns, the first to the left, the others to the right; a column without content is left out.

    >>> print(text_table(["", "mean", "note"], [["Recall@1", "0.5", ""], ["mAP", "0.25", ""]]))
              mean
    Recall@1   0.5
    mAP       0.25
    """
    kept = [column for column in range(len(header)) if not column or any(row[column] for row in rows)]
    lines = [[line[column] for column in kept] for line in (header, *rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(kept))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if not place else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def decimals(value: float | None, places: int = 3) -> str:
    """Write a number, or a dash where there is none.

    >>> decimals(2 / 3), decimals(float("nan"))
    ('0.667', '-')
    """
    return "-" if value is None or value != value else f"{value:.{places}f}"  # noqa: PLR0124 - NaN differs from itself


def p_text(p: float | None) -> str:
    """Write a p-value: four places, below those a bound, never 0; a dash where there is none.

    >>> p_text(0.03125), p_text(0.0001), p_text(1 / 10_001), p_text(float("nan"))
    ('0.0312', '0.0001', '< 0.0001', '-')
    """
    return "< 0.0001" if p is not None and p < 0.0001 else decimals(p, 4)
