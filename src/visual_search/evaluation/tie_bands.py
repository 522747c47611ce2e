"""The band between the best and the worst order of equal scores: where a number that follows an order could lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from visual_search.evaluation.result import Result
from visual_search.evaluation.text_table import decimals, text_table
from visual_search.undefined import none_if_nan

__all__ = ["TieBand"]

# Sums of thousands of terms differ by their rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class TieBand:
    """One ranking under the expectation over its ties, and under their best and worst order.

    Attributes
    ----------
    expected, best, worst : Result
        Of the same measures.

    How to read it
    --------------
    A tool that sorts prints some number between worst and best, and which one depends on how the gallery happened to be
    stored. The expectation is the mean over all orders. A wide band says that the codes tie much of the gallery.
    """

    expected: Result
    best: Result
    worst: Result

    def moving(self) -> tuple[str, ...]:
        """Measures whose mean hangs on the order of ties."""
        return tuple(text for text in self.expected if self.width(text) > _ROUNDING)

    def width(self, measure: str) -> float:
        """Best less worst mean; 0 where the measure is undefined for all queries."""
        low, high = sorted((self.worst[measure].mean, self.best[measure].mean))
        return 0.0 if np.isnan(high - low) else high - low

    def sentence(self) -> str | None:
        """What an order-dependent tool could have printed; None where every order gives the same."""
        told = {
            text: f"{text} from {decimals(self.worst[text].mean, 4)} to {decimals(self.best[text].mean, 4)}"
            for text in self.moving()
        }
        if not told:
            return None
        # Where the order decides which queries enter a mean, no order of each query is the extreme of all.
        loose = [text for text in told if getattr(self.expected[text].measure, "unfound", "") == "undefined"]
        more = f"; {' and '.join(loose)}: or beyond, since the order also decides which queries enter its mean"
        return (
            "a tool that sorts could have printed anything between the worst and the best order of equal distances, "
            f"by how the gallery happens to be stored: {'; '.join(told.values())}{more if loose else ''}"
        )

    def rows(self) -> list[dict[str, Any]]:
        """One row a measure: expected, best and worst mean, and how many queries entered them."""
        return [
            {
                "measure": text,
                **{
                    name: none_if_nan(result[text].mean)
                    for name, result in (("expected", self.expected), ("best", self.best), ("worst", self.worst))
                },
                "counted": found.counted,
                "undefined": found.undefined,
            }
            for text, found in self.expected.items()
        ]

    def as_json(self) -> dict[str, Any]:
        """As a JSON object; undefined values are null."""
        return {
            "preset": self.expected.preset,
            "num_queries": len(self.expected.queries),
            "measures": self.rows(),
            "order_dependent": self.sentence(),
            "notes": list(self.expected.notes),
        }

    def __repr__(self) -> str:
        cells = [[row["measure"], *(decimals(row[name], 4) for name in _COLUMNS)] for row in self.rows()]
        return text_table(["measure", *_COLUMNS], cells)


_COLUMNS = ("expected", "best", "worst")
